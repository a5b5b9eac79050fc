"""Set the models of a leaderboard side by side: tasks, differences of any two, and how far the ranks hold.

Only models that are ranked together are: those of one group and setting. Differences are paired over the items that both models
have scored, as tasks.scoring.gains pairs two settings. Of pairs that do not differ, one in twenty is told apart by chance.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.documents.leaderboard import (
    AcrossModels,
    Chosen,
    HelperRanks,
    ModelScore,
    PairDifference,
    RankedSystems,
    StoredDimensionScore,
    StoredRow,
    TaskAcross,
    VariedRanks,
)
from schemas.folders import Folder
from schemas.tables.layers import LAYERS
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.comparable_runs import basis
from tasks.runs.differences import fields_apart
from tasks.runs.past_run import past_run
from tasks.runs.run_tables import System, ordered
from tasks.scoring.aggregation import SYSTEM
from tasks.scoring.benchmark import list_variations, rank_varied
from tasks.scoring.gains import (
    Pairing,
    compare_totals,
    dataset_weights,
    pair_models,
    weigh_scores,
)
from tasks.scoring.published import LANGUAGE, published_of, score_published
from tasks.scoring.tree import tree_tables
from tasks.solvers.registry import helper_roles, setting_title
from tasks.statistics.raters import CORRELATIONS, correlate
from tasks.statistics.reliability import FEWEST_PAIRS, rank_correlation
from tasks.statistics.resampling import Floats, draw_weights, limits_of
from tasks.text.number_format import counted, interval, listed, number

_WEAKEST = 5
_FULL_SCORE = 100.0


def compare_models(data: LeaderboardData, folder: Folder) -> tuple[AcrossModels, ...]:
    """Compare the models of a leaderboard, those of each group and setting with each other, where there are two or more."""
    if data.is_published:
        models = [row["model"] for row in ordered(data.totals)]
        # Without a gate nothing can be varied, as no scores of tasks are printed; and a model may have several settings.
        varied = tuple(_vary(data.totals, None, data.blueprint, models)) if data.blueprint.gate else ()
        return (AcrossModels(group=None, setting=None, models=tuple(models), variations=varied),) if varied else ()
    lake = Lake(folder, read_code_version())
    cohorts = data.totals.sort(GROUP, "setting").partition_by(GROUP, "setting", maintain_order=True)
    return tuple(each for totals in cohorts if totals.height > 1 for each in _across(totals, data, lake))


def _across(totals: pl.DataFrame, data: LeaderboardData, lake: Lake) -> Iterator[AcrossModels]:
    """Yield what a group and setting has; nothing if there are no task scores."""
    layers = [read_rows(layer, totals, data, lake) for layer in ("task_scores", "normalized_scores", "item_scores")]
    if layers[0].is_empty():
        return
    manifest = next(manifest for manifest in data.manifests if manifest.run in totals[RUN])
    blueprint = past_run(manifest, lake).blueprint
    pairing = pair_models(layers[2].lazy(), blueprint.datasets, tree_tables(blueprint))
    models = [row["model"] for row in ordered(totals)]
    with_total = [row["model"] for row in ordered(totals) if row["total"] is not None]
    tasks, pairs = tuple(_tasks(layers[0], models, blueprint, pairing)), tuple(_differences(with_total, blueprint, pairing))
    decided = [pair.differs for pair in pairs if pair.ci_low is not None]
    published = _published_totals(totals, blueprint)
    yield AcrossModels(
        group=totals[GROUP][0],
        setting=totals["setting"][0],
        models=tuple(models),
        variations=tuple(_vary(totals, layers[1], blueprint, models)),
        tasks=tasks,
        weakest=tuple(task.title for task in tasks if task.weakest_of == len(models)),
        pairs=pairs,
        told_apart=sum(decided) / len(decided) if decided else None,
        published_models=tuple(published),
        published_correlation=rank_correlation(*zip(*published.values(), strict=True)) if published else None,
    )


def read_rows(layer: str, totals: pl.DataFrame, data: LeaderboardData, lake: Lake) -> pl.DataFrame:
    """Read the rows of a layer that are about these models, each from its run."""
    frames: list[pl.DataFrame] = [LAYERS[layer].schema.create_empty()]
    for manifest in data.manifests:
        own = totals.filter(pl.col(RUN) == manifest.run).select(SYSTEM)
        for ref in manifest.partitions if own.height else ():
            keys = dict(ref.place)
            if ref.layer == layer and all(keys.get(name, own[name][0]) in own[name] for name in SYSTEM):
                frames.append(lake.read(ref, LAYERS[layer].schema).join(own, on=SYSTEM, how="semi"))
    return pl.concat(frames)


def _tasks(tasks: pl.DataFrame, models: Sequence[str], blueprint: Blueprint, pairing: Pairing) -> Iterator[TaskAcross]:
    """Yield the tasks that a model has a score of."""
    scored = tasks.select("model", "task", "score_0_100").drop_nulls()
    # As in a model's own report: a full score is not weak.
    short = scored.filter(pl.col("score_0_100") < _FULL_SCORE).sort("score_0_100", "task")
    weak = Counter(short.group_by("model", maintain_order=True).head(_WEAKEST)["task"])
    by_task = scored.rows_by_key("task")
    for _, task in blueprint.tasks():
        by_model = dict(by_task.get(task.id, ()))
        own = {model: by_model[model] for model in models if model in by_model}
        if own:
            cells = _mark(own, {entry.id: entry.weight for entry in task.datasets}, pairing)
            quartiles = tuple(np.quantile(list(own.values()), [0, 0.25, 0.5, 0.75, 1]).tolist())
            scores = tuple(cells.get(model, ModelScore(model=model)) for model in models)
            yield TaskAcross(id=task.id, title=task.title, scores=scores, quartiles=quartiles, weakest_of=weak[task.id])


def _mark(scores: Mapping[str, float], datasets: Mapping[str, float], pairing: Pairing) -> dict[str, ModelScore]:
    """Mark the highest score of a task with these datasets and weights, the second, equal ones alike, and ties with the best."""
    first, second, *_ = *sorted({round(score, 9) for score in scores.values()}, reverse=True), None
    best = next(model for model, score in scores.items() if round(score, 9) == first)
    marks: dict[float | None, Literal["best", "second"]] = {second: "second", first: "best"}
    cells = {}
    for model, score in scores.items():
        mark = marks.get(round(score, 9))
        tied = mark == "best" or _tied(best, model, datasets, pairing)
        cells[model] = ModelScore(model=model, score=score, mark=mark, tied=tied)
    return cells


def _tied(best: str, model: str, datasets: Mapping[str, float], pairing: Pairing) -> bool | None:
    pairs = pairing.pair(best, model, datasets)
    weights = {
        spec: datasets[dataset] * weight / sum(of_one.values())
        for dataset, of_one in dataset_weights(pairing.tree, pairs).items()
        for spec, weight in of_one.items()
    }
    if not any(weights.values()):
        return None
    difference = weigh_scores(pairs, weights).difference
    return not difference.differs if difference.is_tested else None


def _differences(models: Sequence[str], blueprint: Blueprint, pairing: Pairing) -> Iterator[PairDifference]:
    """Yield the differences of any two models that have items in common."""
    for (first, second), score in compare_totals(models, blueprint, pairing):
        ends = {"ci_low": score.difference.ci_low, "ci_high": score.difference.ci_high, "differs": score.difference.differs}
        gap = score.after - score.before
        yield PairDifference(first=first, second=second, difference=gap, n_items=score.n_items, **ends)


def _published_totals(totals: pl.DataFrame, blueprint: Blueprint) -> dict[str, tuple[float | None, float | None]]:
    """Return totals after the veto, own and published, of the models of full coverage that a paper lists too.

    A model is the paper's if it has its name, whatever the case and the names of providers before it.
    """
    published = published_of(blueprint)
    # A table by language has no total over languages.
    rows = score_published(published, blueprint).to_dicts() if published is not None and LANGUAGE not in published.columns else []
    printed = {(row["model"].casefold(), row["setting"]): row["total"] for row in rows}
    own = {(row["model"].rsplit("/", 1)[-1].casefold(), row["setting"]): row for row in ordered(totals) if row["coverage"] == 1}
    return {row["model"]: (row["total"], printed[key]) for key, row in own.items() if key in printed}


def _vary(
    totals: pl.DataFrame, normalized: pl.DataFrame | None, blueprint: Blueprint, models: Sequence[str]
) -> Iterator[VariedRanks]:
    """Yield ranks by other weights, where there are scores to weigh, and thresholds; none if no model is ranked."""
    ranks = dict(totals.select("model", "rank").iter_rows())
    before = [ranks[model] for model in models]
    for variation in list_variations(blueprint) if any(before) else ():
        if normalized is not None or variation.tree is None:
            varied = dict(rank_varied(totals.drop_nulls("total"), normalized, variation).select("model", "rank").iter_rows())
            after = tuple(map(varied.get, models))
            moved = sum(old != new for old, new in zip(before, after, strict=True))
            correlation = rank_correlation(before, after)
            yield VariedRanks(title=variation.title, ranks=after, rank_correlation=correlation, moved=moved)


def describe_leaderboard(data: LeaderboardData, across: tuple[AcrossModels, ...]) -> RankedSystems:
    """Return a leaderboard as a document, with what `compare_models` returned of it."""
    dimensions = (StoredDimensionScore(**row) for row in data.dimensions.iter_rows(named=True))
    return RankedSystems(
        models=tuple(data.rows),
        published=data.beside or None,
        chosen=None if data.chosen == Chosen() else data.chosen,
        groups=None if data.is_published else data.groups,
        dimension_scores=None if data.is_published else tuple(dimensions),
        helper_ranks=None if data.is_published else tuple(compare_helpers(data)),
        across=across,
    )


def compare_helpers(data: LeaderboardData) -> Iterator[HelperRanks]:
    """Yield how the ranks of models agree between any two groups that differ in one helper alone, setting by setting.

    Nothing is said of fewer models than FEWEST_PAIRS.
    """
    by_run = {manifest.run: manifest for manifest in data.manifests}
    runs = {group.number: by_run[run] for group in data.groups for run in group.runs if run in by_run}
    for pair in combinations(sorted(runs), 2):
        apart = fields_apart(*(basis(runs[number]) for number in pair))
        if len(apart) > 1 or apart[0] not in helper_roles():
            continue
        mine, theirs = (data.totals.filter(pl.col(GROUP) == number).drop_nulls("total") for number in pair)
        both = mine.join(theirs, on=["model", "setting"], suffix="_other").sort("setting", "model")
        for rows in both.partition_by("setting", maintain_order=True):
            if rows.height >= FEWEST_PAIRS:
                plan, totals = runs[pair[0]].plan, rows.select("total", "total_other").to_numpy().T
                ranks = correlate_ranks(totals, plan.get("bootstrap", 0), plan.get("seed", 0))
                setting, models = rows["setting"][0], tuple(rows["model"])
                yield HelperRanks(role=apart[0], groups=pair, setting=setting, models=models, **ranks)


def correlate_ranks(totals: Floats, resamples: int, seed: int) -> dict[str, float | None]:
    """Return `spearman` and `kendall_tau_b` of totals, [2, models]; each with `_low` and `_high`, its 95 % interval.

    Resamples of the models in which a row does not vary, or with few models, are left out. Null where a row of totals does not
    vary.
    """
    weights = np.hstack((np.ones((totals.shape[1], 1)), draw_weights("models", totals.shape[1], resamples, seed)))
    whole, drawn = np.split(correlate(totals[0], totals[1], weights), [1], axis=1)
    limits = limits_of(drawn).with_columns(value=pl.Series(whole[:, 0], nan_to_null=True))
    rows = {name: row for name, row in zip(CORRELATIONS, limits.iter_rows(named=True), strict=True) if name != "pearson"}
    ends = {"": "value", "_low": "ci_low", "_high": "ci_high"}
    return {f"{name}{end}": row[column] for name, row in rows.items() for end, column in ends.items()}


def groups_said(data: LeaderboardData) -> Iterator[str]:
    """Say which models are shown, what is ranked apart and why, and which row stands for fewer items than an earlier run has."""
    if (chosen := data.chosen).where:
        unknown = f" Of {counted(chosen.unknown, 'further row')} it is not said." if chosen.unknown else ""
        yield f"Only models with {chosen.where}, ranked among themselves.{unknown}"
    if len(data.groups) > 1:
        apart = "; ".join(f"group {group.number}: {group.words}" for group in data.groups)
        yield f"Ranks hold within a group: totals of different groups rest on different questions or ratings. {apart}."
        yield from map(_agreement_said, compare_helpers(data))
    for row in data.rows:
        if isinstance(row, StoredRow) and row.fuller_run:
            model, items = System(row.model, row.setting).label, counted(row.n_scored, "item")
            yield f"{model}: the newest run has {items} scored, fewer than the earlier {row.fuller_run}."


def _agreement_said(ranks: HelperRanks) -> str:
    rho = f"{number(ranks.spearman, 2)} ({interval(ranks.spearman_low, ranks.spearman_high, 2)})"
    tau = f"{number(ranks.kendall_tau_b, 2)} ({interval(ranks.kendall_tau_b_low, ranks.kendall_tau_b_high, 2)})"
    groups = listed([str(group) for group in ranks.groups])
    where = f"{counted(len(ranks.models), 'model')} of groups {groups}, {setting_title(ranks.setting)}"
    return f"With another {ranks.role} the order of {where}: Spearman's rho {rho}, Kendall's tau-b {tau}."
