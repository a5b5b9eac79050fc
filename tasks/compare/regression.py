"""Decide whether a model regressed between two runs of the same plan, over the items scored in both.

A score (the total before the veto, a main ability, the gate's too, or a rated dimension) falls by more than its interval if both
hold: it falls by more than the distance from its earlier value to the lower limit of that value's own 95 % interval, and the
whole 95 % interval of its change lies below 0. Why both: docs/decisions/0017. Of a dimension whose low end is the good one, a
rise is judged likewise. A fall without an interval (fewer than five clusters, grades) is reported and not judged.

Further findings: the veto is newly triggered, or undecided where it was decided; coverage drops, that is fewer datasets are
scored than before, or the share of scored items falls below what the blueprint asks of a ranked model. What only helpers or the
judge lost, no call of the model having failed there, is a warning and no finding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, Regression, ScoreDifference
from schemas.usage import TESTED
from tasks.text.number_format import bracketed, counted, number

_ROUNDING = 1e-9
"""Scores closer than this are the same number computed in two ways."""


@dataclass(frozen=True)
class SystemScores:
    """What a run says of one model and setting besides its scores; null = undecided or not asked."""

    vetoed: bool | None
    coverage: float
    item_coverage: float | None
    datasets: frozenset[str]
    """Those with a score."""

    failed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Whose failures cost items, by dataset: the model under test as `tested`, others as readers know them."""

    lost_by_others: float = 0.0
    """Share of all items that have no score through helpers or the judge alone."""

    def lost_through_others(self, datasets: Iterable[str]) -> frozenset[str]:
        """Return those of the datasets that lack items, but none that the model under test failed on."""
        return frozenset(name for name in datasets if self.failed.get(name) and TESTED not in self.failed[name])

    def through(self, datasets: Iterable[str]) -> str:
        """Say which helpers, or whether the judge, cost the datasets items."""
        others = {role for name in datasets for role in self.failed[name]} - {TESTED}
        return f" because of failures of {list_some(sorted(others))}, not of the model"


def find_regressions(
    changes: Sequence[ScoreDifference], before: SystemScores, after: SystemScores, blueprint: Blueprint
) -> tuple[Regression, ...]:
    """Find every way in which a model and setting regressed, the total first.

    By the changes of its scores and by what both runs say of it; the blueprint says what share of items a ranked model needs.
    """
    vetoed = bool(before.vetoed or after.vetoed)
    total = "Total (before the veto)" if vetoed else "Total"
    titles = {TOTAL: total, **{main.id: main.title for main in blueprint.abilities}}
    falls = (_fall(change, titles.get(change.what, change.label)) for change in changes if fell_beyond_interval(change))
    return (*falls, *_veto(before, after, blueprint), *_coverage(before, after, blueprint.rank_item_coverage))


def fell_beyond_interval(change: ScoreDifference) -> bool:
    """Return whether a score fell by more than its interval; not without one."""
    if change.change is None or change.allowed is None or change.ci_low is None or change.ci_high is None:
        return False
    fall, least = (-change.change, -change.ci_high) if change.better == "high" else (change.change, change.ci_low)
    return fall > change.allowed + _ROUNDING and least > _ROUNDING


def _fall(change: ScoreDifference, title: str) -> Regression:
    digits = 2 if change.rubric else 1
    moved, noise = ("fell", "no drop counts as noise") if change.better == "high" else ("rose", "no rise counts as noise")
    if change.allowed and change.allowed >= _ROUNDING:
        noise = f"{'drops' if change.better == 'high' else 'rises'} up to {number(change.allowed, digits)} count as noise"
    message = (
        f"{title} {moved} from {number(change.before, digits)} to {number(change.after, digits)}: {number(change.change, digits)}"
        f"{bracketed(change.ci_low, change.ci_high, digits)} on the {counted(change.n_items, 'item')} both runs scored; {noise}"
    )
    return Regression(what=change.what, before=change.before, after=change.after, allowed=change.allowed, message=message)


def _veto(before: SystemScores, after: SystemScores, blueprint: Blueprint) -> Iterator[Regression]:
    was = {None: "undecided", False: "passed", True: "failed"}[before.vetoed]
    if after.vetoed and not before.vetoed:
        message = f"newly vetoed: the gate was {was} before"
    elif after.vetoed is None and before.vetoed is not None and not _gate_lost_through_others(after, blueprint):
        message = f"the veto is now undecided: the gate was {was} before"
    else:
        return
    yield Regression(what="veto", before=before.vetoed, after=after.vetoed, message=message)


def _coverage(before: SystemScores, after: SystemScores, needed: float) -> Iterator[Regression]:
    if after.coverage < before.coverage - _ROUNDING:
        gone = before.datasets - after.datasets
        lost = sorted(gone - after.lost_through_others(gone))
        message = f"{_dropped(before, after)}{f': no score for {list_some(lost)}' if lost else ''}"
        if lost or not gone:
            yield Regression(what="coverage", before=before.coverage, after=after.coverage, message=message)
    if _too_few(before, after, needed, after.lost_by_others):
        message = f"{_scored(before, after)}; a ranked model needs {100 * needed:g} %"
        yield Regression(what="item coverage", before=before.item_coverage, after=after.item_coverage, message=message)


def _too_few(before: SystemScores, after: SystemScores, needed: float, excused: float = 0.0) -> bool:
    was, now = before.item_coverage, after.item_coverage
    return was is not None and was >= needed and (now or 0.0) + excused < needed - _ROUNDING


def _dropped(before: SystemScores, after: SystemScores) -> str:
    return f"coverage dropped from {100 * before.coverage:.1f} % to {100 * after.coverage:.1f} % of the datasets"


def _scored(before: SystemScores, after: SystemScores) -> str:
    now = "none" if after.item_coverage is None else f"{100 * after.item_coverage:.1f} %"
    return f"{now} of the items have a score, before it was {100 * (before.item_coverage or 0.0):.1f} %"


def find_warnings(before: SystemScores, after: SystemScores, blueprint: Blueprint) -> tuple[str, ...]:
    """Find changes of the veto and of coverage that are no regression; arguments as above."""
    remarks = []
    if after.vetoed is False and before.vetoed is not False:
        remarks.append("the veto is lifted" if before.vetoed else "the gate, undecided before, is passed")
    if after.coverage > before.coverage + _ROUNDING:
        remarks.append(f"coverage rose from {100 * before.coverage:.1f} % to {100 * after.coverage:.1f} % of the datasets")
    gate = _gate_lost_through_others(after, blueprint)
    if gate and after.vetoed is None and before.vetoed is not None:
        remarks.append(f"the veto is undecided{after.through(gate)}")
    if gone := after.lost_through_others(before.datasets - after.datasets):
        remarks.append(f"{_dropped(before, after)}{after.through(gone)}: no score for {list_some(sorted(gone))}")
    needed = blueprint.rank_item_coverage
    if _too_few(before, after, needed) and not _too_few(before, after, needed, after.lost_by_others):
        remarks.append(f"{_scored(before, after)}{after.through(after.failed)}")
    return tuple(remarks)


def _gate_lost_through_others(after: SystemScores, blueprint: Blueprint) -> frozenset[str]:
    """Return the gate's datasets that lack items; none of them if the model under test failed on one."""
    gate = blueprint.gate.ability if blueprint.gate else None
    lacking = {name for main in blueprint.abilities if main.id == gate for name in main.dataset_ids if after.failed.get(name)}
    return frozenset(lacking) if after.lost_through_others(lacking) == lacking else frozenset()


def list_some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names and how many more there are."""
    listing = ", ".join(names[:most])
    return listing if len(names) <= most else f"{listing} and {len(names) - most} more"
