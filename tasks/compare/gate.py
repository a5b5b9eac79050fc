"""Check the differences between two runs by conditions such as `total < -2`: on whole intervals, not on points."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from schemas.documents.comparison import GateCheck, GateResult, GateVerdict, RunComparison, SystemComparison
from schemas.errors import UsageError, unknown_name
from tasks.runs.run_tables import System, from_row
from tasks.statistics.paired import FEWEST_CLUSTERS
from tasks.text.number_format import listed

KINDS = ("total", "ability", "dataset", "dimension")
"""Scores that a comparison has differences with intervals of."""

FORM = "'total < -2', 'ability NAME < -5', 'dataset NAME < -5', 'dimension NAME < -0.2', or with > where a rise is bad"
PATTERN = re.compile(r"\s*(\w+)\s*(.*?)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*")


class Condition(NamedTuple):
    """What makes a gate fail. `limit`: in points of 100; of a dimension in points of its scale."""

    text: str
    kind: str
    name: str
    operator: str
    limit: float

    def is_of(self, row: "GateDifference") -> bool:
        """Say whether it is about a difference; a dimension may be named without its dataset."""
        own = row.score.rpartition(": ")[2] if row.kind == "dimension" else row.score
        return row.kind == self.kind and (self.kind == "total" or self.name in {row.score, own})


class GateDifference(NamedTuple):
    """A difference of a system over the items of both runs; null = there are none, or too few for an interval."""

    kind: str
    score: str
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n_items: int = 0


def parse_condition(text: str) -> Condition:
    """Read a condition; UsageError: it has another form."""
    match = PATTERN.fullmatch(text)
    if match is None or bool(match[2]) == (match[1] == "total"):
        step = "moodflow docs gate explains conditions"
        raise UsageError("a condition cannot be read", where="--fail-if", expected=FORM, got=text, next_step=step)
    if match[1] not in KINDS:
        raise unknown_name("kind of condition", match[1], KINDS, "--fail-if", f"write {FORM}")
    return Condition(text, match[1], match[2], match[3], float(match[4]))


def check_gate(comparison: RunComparison, conditions: Sequence[Condition]) -> GateResult:
    """Check a comparison by conditions; one about a dimension of several datasets is checked in each.

    UsageError: no compared system has the score of a condition.
    """
    by_system = [(system, [*_differences(system)]) for system in comparison.models]
    for condition in conditions:
        of_kind = [row for _, rows in by_system for row in rows if row.kind == condition.kind]
        if not any(map(condition.is_of, of_kind)):
            names = dict.fromkeys(row.score.rpartition(": ")[2] for row in of_kind)
            raise unknown_name(condition.kind, condition.name, names, "--fail-if", "moodflow compare lists the scores")
    checks = tuple(
        _check(condition, system, row)
        for system, rows in by_system
        for condition in conditions
        for row in [*filter(condition.is_of, rows)] or [GateDifference(condition.kind, condition.name)]
    )
    worst = min((check.verdict for check in checks), key=get_args(GateVerdict).index)
    sides = {"run": comparison.after, "against": comparison.before, "benchmark": comparison.benchmark}
    systems = len(comparison.models) + len(comparison.only_after)
    return GateResult(
        **sides,
        verdict=worst,
        compared=len(comparison.models),
        systems=systems,
        remarks=tuple(_remarks(comparison)),
        warnings=comparison.warnings,
        checks=checks,
    )


def _remarks(comparison: RunComparison) -> Iterator[str]:
    """Yield what no condition speaks of: models without a counterpart, and totals that are no plain numbers."""
    for run, others in ((comparison.before, comparison.only_after), (comparison.after, comparison.only_before)):
        if others:
            yield f"Not in {run}, so not compared: {listed([System(each.model, each.setting).label for each in others])}"
    yield from (each.after.headline for each in comparison.models if each.after.verdict != "scored")


def _differences(system: SystemComparison) -> Iterator[GateDifference]:
    """Yield every difference that a condition can name; without a value where the runs have no items in common."""
    rows: dict[tuple[str, str], GateDifference] = {("total", "total"): GateDifference("total", "total")}
    rows |= {(row.kind, row.id): GateDifference(row.kind, row.id) for row in system.stored}
    for row in system.common:
        score = row.kind if row.kind == "total" else row.id
        rows[row.kind, score] = GateDifference(row.kind, score, row.difference, row.ci_low, row.ci_high, row.n_items)
    yield from rows.values()
    for rated in system.dimension_scores:
        interval = (rated.ci_low, rated.ci_high, rated.n_items)
        yield GateDifference("dimension", f"{rated.dataset}: {rated.dimension}", rated.common_difference, *interval)


def _check(condition: Condition, system: SystemComparison, row: GateDifference) -> GateCheck:
    reason, verdict = "", "passed"
    # A rise above a limit is a fall below the negated limit.
    sign = -1 if condition.operator == ">" else 1
    if row.difference is None:
        reason = "no items in both runs"
    elif system.unchanged and row.kind != "dimension":
        verdict = "passed" if sign * condition.limit <= 0 else "failed"
    elif row.ci_low is None or row.ci_high is None:
        reason = f"no interval: fewer than {FEWEST_CLUSTERS} clusters of items in both runs, or a grade"
    else:
        low, high = sorted((sign * row.ci_low, sign * row.ci_high))
        verdict = "failed" if high < sign * condition.limit else "passed"
        reason = "the interval spans the limit" if low < sign * condition.limit <= high else ""
    of = {"condition": condition.text, "model": system.after.model, "setting": system.after.setting}
    return from_row(GateCheck, row._asdict(), **of, verdict="undecided" if reason else verdict, reason=reason)
