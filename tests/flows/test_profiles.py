"""The same stored replies in both profiles: replies over real HTTP, and the runs of both held against each other."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.commands.run import run_command
from flows.planning.resolve import resolve
from schemas.chat import ModelEntry
from schemas.errors import SourceMissingError
from schemas.plan import Plan
from tests.flows.scripted import policy
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer


def plan_for(server: ModelServer | None, lake: Path, **fields: Any) -> Plan:
    """The plan for a model; without a server, none of its calls could be answered."""
    entry = ModelEntry(name="scripted", base_url=server.base_url if server else "http://127.0.0.1:9/v1", concurrency=16)
    given = {
        "benchmark": "moodbench",
        "mirror": MIRROR if MIRROR.is_dir() else None,
        "models": (entry,),
        "lake": lake,
        "bootstrap": 0,
    }
    return Plan.model_validate({**given, **fields})


@needs_mirror
def test_failed_calls_are_missing_or_wrong(tmp_path: Path) -> None:
    def fault(number: int) -> Any:
        return "401" if number % 2 else None

    with ModelServer(policy(("copa",), "gold", MIRROR), fault=fault) as server:
        corrected = plan_for(server, tmp_path, datasets=("copa",))
        run_command("build", resolve(corrected))
        run_command("infer", resolve(corrected))
    for profile in ("corrected", "reference"):
        run_command("score", resolve(corrected.model_copy(update={"profile": profile})))
    raw = pl.concat(map(pl.read_parquet, (tmp_path / "raw_scores").rglob("*.parquet")), how="diagonal")
    assert sorted(raw.select("value", "n_scored").iter_rows()) == [(0.5, 100), (1.0, 50)]
    assert [len(list((tmp_path / layer).rglob("*.parquet"))) for layer in ("item_scores", "responses")] == [2, 1]


def test_bundled_items_have_no_reference_score(tmp_path: Path) -> None:
    plan = plan_for(None, tmp_path, benchmark="moodbench-mini", profile="reference")
    expected = "none of the datasets of moodbench-mini can be had in the reference profile"
    with pytest.raises(SourceMissingError, match=expected) as caught:
        run_command("build", resolve(plan))
    assert "it is none of the sixty datasets that the released code scores" in str(caught.value)
