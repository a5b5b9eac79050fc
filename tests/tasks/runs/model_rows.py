"""Rows of leaderboards that are written out by hand."""

from typing import Any

from schemas.documents.leaderboard import PublishedRow, StoredRow
from schemas.model_description import ModelDescription
from schemas.paper import Comparability, Likeness
from tasks.runs.exhibits import ModelRow

NULL = dict.fromkeys(("ci_low", "ci_high", "gate_score", "gate_ci_low", "gate_ci_high", "gate_coverage", "gate_item_coverage"))
COUNTS = {"coverage": 1.0, "item_coverage": 1.0, "datasets_scored": 2, "datasets_total": 2, "n_scored": 9, "n_total": 9}
SAID = {"veto_reason": None, "why": None, "unranked": None, "headline": "", "verdict": "scored", "vetoed": False}


def model_row(model: str, total: float | None, rank: int | None = 1, *, is_own: bool = True, **fields: Any) -> ModelRow:
    """A row of a run, or a paper's; `about` is a dictionary, `likeness` a verdict on how far it may be compared."""
    about, likeness, setting = fields.pop("about", None), fields.pop("likeness", None), fields.get("setting", "base")
    row = {"model": model, "setting": setting, "total": total, "total_before_veto": total, "rank": rank, "abilities": {}}
    row |= {**NULL, **COUNTS, **SAID, "comparability": comparable(model, setting, likeness) if likeness else None} | fields
    row |= {"about": ModelDescription.model_validate(about) if about else None}
    return StoredRow.model_validate({"run": "r", "group": 1, "fuller_run": None} | row) if is_own else PublishedRow(**row)


def comparable(model: str, setting: str, verdict: Likeness) -> Comparability:
    empty: dict[str, Any] = {"reasons": (), "abilities": {}, "datasets": (), "position": None, "languages": {}}
    return Comparability(model=model, setting=setting, paper="P", verdict=verdict, **empty)
