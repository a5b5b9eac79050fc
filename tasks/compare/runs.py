"""Compare two runs of a benchmark: scores, items that changed, and whether they may be compared at all."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import polars as pl

from schemas.changes import ScoreDifference
from schemas.documents.answered_item import AnsweredItem
from schemas.documents.comparison import (
    DimensionChange,
    FlippedItem,
    Flips,
    ItemCounts,
    RunComparison,
    RunDifference,
    ScoreKind,
    StoredScore,
    SystemComparison,
)
from schemas.documents.document import SystemName
from schemas.documents.leaderboard import DimensionMean
from schemas.errors import UsageError, try_each
from schemas.folders import Folder
from schemas.lineage import PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Judgements
from tasks.compare.scores import compare_scores, dimension_changes, find_flips
from tasks.judging.rubrics import falling_dimensions
from tasks.runs.comparable_runs import find_differences, warnings
from tasks.runs.evidence import answered_item, read_evidence
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import System, from_row
from tasks.runs.verdict import judge_run, total_of
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.gains import MARGIN

STORED: Mapping[ScoreKind, str] = {"ability": "ability_scores", "dataset": "dataset_scores"}
ASKED = ("question", "context", "options", "gold_indices", "references", "option_points", "question_type")
"""Columns of an item that say what is asked and what would be right."""

Side = tuple[PastRun, System]
"""A run with one of its models and settings: what is compared."""


def compare_runs(folder: Folder, names: tuple[str, str], flips: int, margin: float = MARGIN) -> RunComparison:
    """Compare two runs; with warnings, they are not comparable in every respect.

    Args:
        folder: of the lake.
        names: of the runs, the earlier one first.
        flips: items that changed to be shown with their replies, per model, setting and direction.
        margin: difference in points that would matter.

    Raises:
        UsageError: there is no such run, they are of different benchmarks, or have no model and setting in common.
    """
    before, after = try_each(partial(reopen, folder), names)
    old, new = before.manifest, after.manifest
    # A run in the reference profile has a blueprint of another name.
    if old.benchmark != new.benchmark and old.plan["benchmark"] != new.plan["benchmark"]:
        raise UsageError(
            "the two runs are of different benchmarks: there is nothing to compare",
            where="RUN RUN",
            expected="two runs of one benchmark",
            got=f"{old.benchmark} and {new.benchmark}",
            next_step="moodflow runs list names the benchmark of each",
        )
    pairs = _pair_systems(before, after)
    return RunComparison(
        before=before.name,
        after=after.name,
        benchmark=new.benchmark,
        warnings=tuple(warnings(before, after)),
        differences=tuple(RunDifference(what=path, before=was, after=now) for path, was, now in find_differences(before, after)),
        models=tuple(_compare_pair((before, was), (after, now), flips, margin) for was, now in pairs),
        only_before=_others(before, [was for was, _ in pairs]),
        only_after=_others(after, [now for _, now in pairs]),
    )


def _others(run: PastRun, compared: Sequence[System]) -> tuple[SystemName, ...]:
    return tuple(SystemName(**system._asdict()) for system in run.systems if system not in compared)


def _pair_systems(before: PastRun, after: PastRun) -> list[tuple[System, System]]:
    """Pair models and settings of both runs; if each has one model and they differ, these two in each common setting."""
    common = [system for system in after.systems if system in before.systems]
    if common:
        return [(system, system) for system in common]
    if all(len({model for model, _ in run.systems}) == 1 for run in (before, after)):
        if len(before.systems) == len(after.systems) == 1:
            return [(before.systems[0], after.systems[0])]
        was = {system.setting: system for system in before.systems}
        if shared := [(was[now.setting], now) for now in after.systems if now.setting in was]:
            return shared
    raise UsageError(
        "the two runs share no model and setting",
        where="RUN RUN",
        expected="a model asked in the same setting in both, or one model in each",
        got="; ".join(f"{run.name} has {', '.join(' '.join(system) for system in run.systems)}" for run in (before, after)),
        next_step="moodflow runs show RUN lists the models",
    )


def _compare_pair(before: Side, after: Side, most_flips: int, margin: float) -> SystemComparison:
    changed = _changed_items(before[0], after[0])
    earlier, later = (run.read("item_scores", **system._asdict()) for run, system in (before, after))
    was, now = (rows.join(changed, on=["dataset", "item_id"], how="anti") for rows in (earlier, later))
    flips = tuple(find_flips(was, now, after[0].blueprint))
    old_total, new_total = (total_of(*system.rows(judge_run(run))) for run, system in (before, after))
    return SystemComparison(
        before=old_total,
        after=new_total,
        unchanged=scored_alike(before, after),
        common=compare_scores(was, now, after[0].blueprint, margin),
        stored=tuple(_stored_changes(before, after)),
        dimension_scores=tuple(_dimension_changes(before, after, changed)),
        flips=flips,
        flipped=tuple(_flipped(before, after, flips, most_flips)),
        items=tuple(_item_counts(earlier, later, changed)),
    )


def scored_alike(before: Side, after: Side) -> bool:
    """Return whether a system has the same item scores in two runs."""
    was, now = (
        {(ref.key("dataset"), ref.content_sha256) for ref in run.partitions("item_scores", **system._asdict())}
        for run, system in (before, after)
    )
    return was == now


def _changed_items(before: PastRun, after: PastRun) -> pl.DataFrame:
    """Return items of both runs that have one id and are not the same question: dataset, item_id."""
    changed = [pl.DataFrame(schema={"dataset": pl.String, "item_id": pl.String})]
    earlier = {ref.key("dataset"): ref for ref in before.partitions("items")}
    for ref in after.partitions("items"):
        old = earlier.get(ref.key("dataset"))
        if old is not None and old.content_sha256 != ref.content_sha256:
            both = _asked(before, old).join(_asked(after, ref), on=["dataset", "item_id"], suffix="_after")
            changed.append(both.filter(pl.col("question") != pl.col("question_after")).select("dataset", "item_id"))
    return pl.concat(changed)


def _asked(run: PastRun, ref: PartitionRef) -> pl.DataFrame:
    return run.lake.read(ref, Items).select("dataset", "item_id", question=pl.struct(ASKED).struct.json_encode())


def _stored_changes(before: Side, after: Side) -> Iterator[StoredScore]:
    """Yield main abilities and datasets as each run has them, over all of its own items."""
    for kind, layer in STORED.items():
        old, new = (dict(system.of(run.layers[layer]).select(kind, "score_0_100").iter_rows()) for run, system in (before, after))
        for name in dict.fromkeys([*new, *old]):
            was, now = old.get(name), new.get(name)
            if (was, now) != (None, None):
                yield StoredScore(kind=kind, id=name, before=was, after=now, difference=_difference(was, now))


def _difference(was: float | None, now: float | None) -> float | None:
    return None if was is None or now is None else now - was


def _common_dimensions(before: Side, after: Side, changed: pl.DataFrame) -> Iterator[ScoreDifference]:
    """Yield changes of rated dimensions over the items rated in both runs."""
    old, new = (run.counted_judgements(system) for run, system in (before, after))
    for dataset in sorted(old.keys() & new.keys()):
        earlier, later = (after[0].lake.read(refs[dataset], Judgements) for refs in (old, new))
        items = after[0].read("items", dataset=dataset).join(changed, on=["dataset", "item_id"], how="anti")
        yield from dimension_changes(earlier, later, items, after[0].blueprint.own_rubrics)


def _dimension_changes(before: Side, after: Side, changed: pl.DataFrame) -> Iterator[DimensionChange]:
    """Yield means of rated dimensions as each run has them, over all answers rated there; and over the items of both."""
    common = {(row.what, row.rubric): row for row in _common_dimensions(before, after, changed)}
    old, new = (
        {
            (row["dataset"], row["rubric"], row["dimension"]): from_row(DimensionMean, row)
            for row in system.rows(judges_first(run.dimension_scores))
        }
        for run, system in (before, after)
    )
    for dataset, rubric, dimension in sorted(old.keys() | new.keys()):
        was, now = (means.get((dataset, rubric, dimension)) for means in (old, new))
        # Means on other scales have no difference.
        alike = was and now and (was.scale_min, was.scale_max) == (now.scale_min, now.scale_max)
        difference = _difference(was.mean, now.mean) if was and now and alike else None
        better = "low" if dimension in falling_dimensions(rubric, after[0].blueprint.own_rubrics) else "high"
        row = DimensionChange(
            dataset=dataset, rubric=rubric, dimension=dimension, better=better, before=was, after=now, difference=difference
        )
        if both := common.get((f"{dataset}: {dimension}", rubric)):
            paired = {"common_difference": both.change, "ci_low": both.ci_low, "ci_high": both.ci_high, "n_items": both.n_items}
            row = row.model_copy(update=paired)
        yield row


def _item_counts(before: pl.DataFrame, after: pl.DataFrame, changed: pl.DataFrame) -> Iterator[ItemCounts]:
    """Yield items of each dataset that only one of the runs asked, or that changed."""
    grouped = (rows.group_by("dataset").agg(pl.col("item_id").unique()) for rows in (before, after, changed))
    old, new, other = ({dataset: set(ids) for dataset, ids in rows.iter_rows()} for rows in grouped)
    for dataset in sorted(old.keys() | new.keys()):
        was, now, differing = (ids.get(dataset, set()) for ids in (old, new, other))
        yield ItemCounts(
            dataset=dataset,
            common=len((was & now) - differing),
            only_before=tuple(sorted(was - now)),
            only_after=tuple(sorted(now - was)),
            changed=tuple(sorted(differing)),
        )


def _flipped(before: Side, after: Side, flips: Sequence[Flips], most: int) -> Iterator[FlippedItem]:
    """Yield items that fell or rose, with question and both replies, so many of each; metrics in turn, each item once."""
    directions: tuple[Literal["fell", "rose"], ...] = ("fell", "rose")
    for direction in directions if most else ():
        moved = [(flip, item) for flip in flips for item in getattr(flip, direction)]
        unique = {(flip.dataset, item): flip for flip, item in reversed(moved)}
        for (dataset, item), flip in list(reversed(unique.items()))[:most]:
            yield FlippedItem(
                direction=direction,
                dataset=dataset,
                item_id=item,
                method=flip.method,
                metric=flip.metric,
                before=_replies(*before, dataset, item),
                after=_replies(*after, dataset, item),
            )


def _replies(run: PastRun, system: System, dataset: str, item: str) -> tuple[AnsweredItem, ...]:
    evidence, options = read_evidence(run, dataset, system), run.options(system)
    return tuple(answered_item(run, evidence, key, options) for key in evidence.answers if key[0] == item)
