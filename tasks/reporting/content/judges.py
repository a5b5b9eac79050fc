"""Describe how far judges can be trusted: agreement, and what else than the answer moves their ratings."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.analysis.number_format import listed, number, setting_order, signed
from tasks.analysis.run_tables import ReportData, System, from_row

LEAST_ALPHA = 0.67
"""Krippendorff (2004): below .667 not even tentative conclusions."""

MOST_CORRELATION = 0.5
MAX_NAMED = 4
HOW_TO_READ = (
    "Alpha (Krippendorff's, for intervals) says how far ratings of the same answer agree: 1 is full agreement, 0 what chance "
    "would give; from 0.80 on ratings are reliable, below 0.67 nothing should be concluded from them. Length: rank correlation "
    "of rating and length of the answer; far from 0, a judge may rate length. Place: mean rating of a dimension asked first "
    "minus that of the same one asked last, in points of its scale; 0 is best."
)


@dataclass(frozen=True)
class AgreementRow:
    """One dimension of one dataset's ratings. `doubts` says what speaks against them, empty if nothing does."""

    title: str
    system: str
    dimension: str
    judges: tuple[str, ...]
    n_answers: int
    n_ratings: int
    alpha: float | None
    length_correlation: float | None
    place_effect: float | None
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class JudgeReport:
    """All dimensions, and one warning per dataset and system with a doubtful one."""

    rows: tuple[AgreementRow, ...]
    warnings: tuple[str, ...]


def describe_judges(data: ReportData) -> JudgeReport | None:
    """Describe what is known about the judges; null if nothing is."""
    if data.agreements.is_empty():
        return None
    rows = sorted(
        data.agreements.with_columns(pl.col("judges").list.sort()).to_dicts(),
        key=lambda row: (data.dataset_order(row["dataset"]), row["model"], setting_order(row["setting"])),
    )
    shown = tuple(_row(row, data.titles) for row in rows)
    return JudgeReport(shown, _warnings(shown))


def _row(row: dict[str, Any], titles: dict[str, str]) -> AgreementRow:
    return from_row(
        AgreementRow,
        row,
        title=titles.get(row["dataset"], row["dataset"]),
        system=System(row["model"], row["setting"]).label,
        dimension=row["dimension"].replace("_", " "),
        judges=tuple(row["judges"]),
        doubts=_doubts(row["alpha"], row["length_correlation"]),
    )


def _doubts(alpha: float | None, correlation: float | None) -> tuple[str, ...]:
    found = []
    if alpha is not None and alpha < LEAST_ALPHA:
        found.append(f"alpha {number(alpha, 2)}")
    if correlation is not None and abs(correlation) > MOST_CORRELATION:
        found.append(f"length {signed(correlation, 2)}")
    return tuple(found)


def _warnings(rows: tuple[AgreementRow, ...]) -> tuple[str, ...]:
    groups: dict[tuple[str, str], list[AgreementRow]] = {}
    for row in rows:
        groups.setdefault((row.title, row.system), []).append(row)
    return tuple(_warn(key, group) for key, group in groups.items() if any(row.doubts for row in group))


def _warn(key: tuple[str, str], group: list[AgreementRow]) -> str:
    doubtful = [row for row in group if row.doubts]
    named = [f"{row.dimension} ({', '.join(row.doubts)})" for row in doubtful[:MAX_NAMED]]
    named += [f"{len(doubtful) - MAX_NAMED} more"] if len(doubtful) > MAX_NAMED else []
    title, system = key
    return f"{title}, {system}: read the ratings with doubt, {len(doubtful)} of {len(group)} dimensions: {listed(named)}."
