"""Decide whether a model regressed between two runs of the same plan, over the items scored in both.

The rule. A score (the total before the veto, a main ability, the gate's too, or a rated dimension) falls by more than its
interval if both hold:

* it falls by more than the distance from its earlier value to the lower limit of that value's own 95 % interval, so that it lies
  below everything that was said to be likely;
* the whole 95 % interval of its change, by a paired bootstrap over the items scored in both runs, lies below 0.

The first alone would take replies that merely vary from run to run for a regression: with temperature, each of two scores moves.
The second alone would find one in every fortieth score of a model that did not change, several a week where eight scores are
compared every night, and falls of a few items that nobody would act on. Together they say what "by more than its interval" says,
about the same items. A fall without an interval (none was drawn, fewer than two items, grades) is reported and not judged.

Further findings: the veto is newly triggered, or undecided where it was decided; coverage drops, that is fewer datasets are
scored than before, or the share of scored items falls below what the blueprint asks of a ranked model. What only helpers or the
judge lost, no call of the model having failed there, is a warning and no finding.

Both runs are scored anew from their item scores by the same blueprint. A dataset whose items are not the same in both is left
out, and with it what rests on it: a total over other datasets or other items would be the total of another benchmark.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, Regression, ScoreDifference
from schemas.usage import TESTED
from tasks.scoring.aggregation import ability_contributions, aggregate_scores, metric_contributions
from tasks.scoring.gains import BASE, Paired, Spec, Weights, pair_datasets, spec_weights, weigh_gain
from tasks.scoring.normalisation import normalise_scores
from tasks.scoring.reduction import reduce_item_scores
from tasks.scoring.tree import Tree, tree_tables
from tasks.scoring.uncertainty import Resampling, limits_of

AFTER = "after"
"""What the later run's rows are called where the earlier one's are called `base`."""

_ROUNDING = 1e-9
"""Scores closer than this are the same number computed in two ways."""


@dataclass(frozen=True)
class SystemScores:
    """What a run says of one model and setting beside its scores; null = undecided or not asked."""

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
        """Say what helpers or the judge did to the datasets."""
        others = {role for name in datasets for role in self.failed[name]} - {TESTED}
        return f" through failures that are not the model's, but of {_listed(sorted(others))}"


def score_changes(
    before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint, resampling: Resampling, changed: Set[str] = frozenset()
) -> tuple[ScoreDifference, ...]:
    """Return changes of the total and of every main ability that has a score in either run.

    Args:
        before: rows of `item_scores` of one model and setting in the earlier run.
        after: the same in the later run.
        blueprint: which metrics count, and how much; that of both runs.
        resampling: number of resamples (0 = no intervals), and seed.
        changed: datasets whose items are not the same in both runs.

    Raises:
        ScoringError: as score_benchmark.
    """
    tree = tree_tables(blueprint)
    both = pl.concat([before.with_columns(setting=pl.lit(BASE)), after.with_columns(setting=pl.lit(AFTER))]).lazy()
    same = both.filter(~pl.col("dataset").is_in(sorted(changed)))
    pairs = pair_datasets(same, blueprint.datasets, tree, resampling)
    scopes = contributions_by_scope(normalise_scores(reduce_item_scores(both), tree), blueprint, tree)
    weighed = {
        what: (spec_weights(rows.filter(setting=BASE)), spec_weights(rows.filter(setting=AFTER))) for what, rows in scopes.items()
    }
    return tuple(_change(what, *weights, pairs, changed) for what, weights in weighed.items() if any(weights))


def contributions_by_scope(normalized: pl.DataFrame, blueprint: Blueprint, tree: Tree) -> dict[str, pl.DataFrame]:
    """Return what each metric adds to the total (TOTAL) and to each main ability, by its id in the blueprint's order.

    Args:
        normalized: rows of `normalized_scores`.
        blueprint: names the abilities.
        tree: of the blueprint.

    Returns:
        Rows of metric_contributions and ability_contributions.
    """
    aggregates = aggregate_scores(normalized, tree)
    of_abilities = ability_contributions(normalized, aggregates, tree)
    by_ability = {main.id: of_abilities.filter(pl.col("dataset").is_in(main.dataset_ids)) for main in blueprint.abilities}
    return {TOTAL: metric_contributions(normalized, aggregates, tree), **by_ability}


def _change(what: str, before: Weights, after: Weights, pairs: Mapping[Spec, Paired], changed: Set[str]) -> ScoreDifference:
    if obstacle := _obstacle(before, after, pairs, changed):
        return ScoreDifference(what=what, note=f"not compared: {obstacle}")
    found: dict[str, Any] = weigh_gain(pairs, before)
    shares = np.array(list(before.values())) / sum(before.values())
    earlier = shares @ np.array([pairs[spec].replicates[0] for spec in before])
    own_low = limits_of(earlier[None, :])["ci_low"].item()
    was = found["base_0_100"]
    return ScoreDifference(
        what=what,
        before=was,
        after=found["setting_0_100"],
        change=found["gain"],
        ci_low=found["ci_low"],
        ci_high=found["ci_high"],
        allowed=None if own_low is None else max(0.0, was - own_low),
        n_items=found["n_items"],
        note=None if found["ci_low"] is not None else "no interval: the change is not judged",
    )


def _obstacle(before: Weights, after: Weights, pairs: Mapping[Spec, Paired], changed: Set[str]) -> str | None:
    """Return why a score of two runs cannot be compared."""
    if not before or not after:
        return f"it has no score in {'the previous run' if after else 'this run'}"
    if other := sorted({spec[0] for spec in before} & changed):
        return f"the items of {_listed(other)} are not the same"
    if other := sorted({spec[0] for spec in before.keys() ^ after.keys()}):
        return f"it rests on {_listed(other)} in one of the runs only"
    if other := sorted({spec[0] for spec in before.keys() - pairs.keys()}):
        return f"no item of {_listed(other)} is scored in both runs"
    return None


def find_regressions(
    changes: Sequence[ScoreDifference], before: SystemScores, after: SystemScores, blueprint: Blueprint
) -> tuple[Regression, ...]:
    """Find every way in which a model and setting regressed, the total first.

    Args:
        changes: of its scores.
        before: what the earlier run says of it.
        after: what the later run says of it.
        blueprint: says what share of items a ranked model needs.
    """
    vetoed = bool(before.vetoed or after.vetoed)
    falls = (finding for change in changes if (finding := _fall(change, vetoed=vetoed)))
    return (*falls, *_veto(before, after, blueprint), *_coverage(before, after, blueprint.rank_item_coverage))


def fell_beyond_interval(change: ScoreDifference) -> bool:
    """Return whether a score fell by more than its interval; not without one."""
    if change.change is None or change.allowed is None or change.ci_high is None:
        return False
    return -change.change > change.allowed + _ROUNDING and change.ci_high < -_ROUNDING


def _fall(change: ScoreDifference, *, vetoed: bool) -> Regression | None:
    if not fell_beyond_interval(change):
        return None
    named = "total before the veto" if vetoed and change.what == TOTAL else change.label
    message = (
        f"{named} fell by {-(change.change or 0):.2f} points, from {change.before:.2f} to {change.after:.2f} over "
        f"{change.n_items} items scored in both runs; {_allowed(change)} "
        f"(95 % interval of the change: {change.ci_low:.2f} to {change.ci_high:.2f})"
    )
    return Regression(what=change.what, before=change.before, after=change.after, allowed=change.allowed, message=message)


def _allowed(change: ScoreDifference) -> str:
    if not change.allowed or change.allowed < _ROUNDING:
        return "its interval before had no width below it"
    return f"{change.allowed:.2f} is within its interval"


def _veto(before: SystemScores, after: SystemScores, blueprint: Blueprint) -> Iterator[Regression]:
    if after.vetoed and not before.vetoed:
        word = "passed" if before.vetoed is False else "undecided"
        yield Regression(
            what="veto", before=before.vetoed, after=True, message=f"the veto is newly triggered: it was {word} before"
        )
    elif after.vetoed is None and before.vetoed is not None and not _gate_lost_through_others(after, blueprint):
        word = "triggered" if before.vetoed else "passed"
        yield Regression(what="veto", before=before.vetoed, after=None, message=f"the veto is undecided: it was {word} before")


def _coverage(before: SystemScores, after: SystemScores, needed: float) -> Iterator[Regression]:
    if after.coverage < before.coverage - _ROUNDING:
        gone = before.datasets - after.datasets
        lost = sorted(gone - after.lost_through_others(gone))
        message = f"{_dropped(before, after)}{f': no score of {_listed(lost)}' if lost else ''}"
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
    return f"{now} of the items are scored, {100 * (before.item_coverage or 0.0):.1f} % were"


def find_warnings(before: SystemScores, after: SystemScores, blueprint: Blueprint) -> tuple[str, ...]:
    """Find changes of the veto and of coverage that are no regression; arguments as above."""
    remarks = []
    if after.vetoed is False and before.vetoed is not False:
        remarks.append("the veto is lifted" if before.vetoed else "the veto, undecided before, is passed")
    if after.coverage > before.coverage + _ROUNDING:
        remarks.append(f"coverage rose from {100 * before.coverage:.1f} % to {100 * after.coverage:.1f} % of the datasets")
    gate = _gate_lost_through_others(after, blueprint)
    if gate and after.vetoed is None and before.vetoed is not None:
        remarks.append(f"the veto is undecided{after.through(gate)}")
    if gone := after.lost_through_others(before.datasets - after.datasets):
        remarks.append(f"{_dropped(before, after)}{after.through(gone)}: no score of {_listed(sorted(gone))}")
    needed = blueprint.rank_item_coverage
    if _too_few(before, after, needed) and not _too_few(before, after, needed, after.lost_by_others):
        remarks.append(f"{_scored(before, after)}{after.through(after.failed)}")
    return tuple(remarks)


def _gate_lost_through_others(after: SystemScores, blueprint: Blueprint) -> frozenset[str]:
    """Return the gate's datasets that lack items; none of them if the model under test failed on one."""
    gate = blueprint.gate.ability if blueprint.gate else None
    lacking = {name for main in blueprint.abilities if main.id == gate for name in main.dataset_ids if after.failed.get(name)}
    return frozenset(lacking) if after.lost_through_others(lacking) == lacking else frozenset()


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
