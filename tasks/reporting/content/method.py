"""Describe how the benchmark is built and how its numbers are computed, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint, Gate
from schemas.lineage import DatasetNotice, RunManifest
from schemas.metrics import METRICS, Metric
from schemas.roles import JUDGE
from tasks.analysis.number_format import counted, listed, number, percent, share_of
from tasks.analysis.run_tables import ReportData
from tasks.reporting.content.benchmark import has_levels, metric_paths, paper_of, task_paths

PROFILES = {
    "corrected": "Scored by the corrected profile: replies are read in the forms models write, errors of the gold are mended.",
    "reference": "Scored by the reference profile: the released code's pattern, gold and metrics, failed calls as wrong.",
}
TOO_LONG = {
    "cut_middle": "An item longer than the model's context is asked again with a part of the middle of its context left out.",
    "cut_start": "An item longer than the model's context is asked again with the end of its context only.",
}
MISSING_TOO_LONG = "An item longer than the model's context is missing, not shortened."


@dataclass(frozen=True)
class MethodNotes:
    """What a reader must know to understand the numbers. `formulas` and `metrics`: what is said of each step, of each metric.

    `deviations`: datasets that are asked or scored otherwise than in their papers; empty for manifests that do not record them.
    """

    formulas: Mapping[str, str]
    metrics: Mapping[Metric, str]
    decisions: tuple[str, ...]
    deviations: tuple[DatasetNotice, ...]


def describe_method(data: ReportData) -> MethodNotes:
    """Describe everything about the method that a reader of this run needs."""
    return MethodNotes(
        formulas=_formulas(data.blueprint),
        metrics={path.spec.metric: METRICS[path.spec.metric].words for path in metric_paths(data.blueprint)},
        decisions=(*_decisions(data.manifest, data.blueprint), *_design_effects(data.raw)),
        deviations=tuple(notice for notice in data.manifest.datasets if notice.differences),
    )


def _formulas(blueprint: Blueprint) -> dict[str, str]:
    return {
        "On 0–100": "A raw value is put on 0–100 by the theoretical bounds of its metric, never by what was observed, so a new "
        "model moves no other one. A value out of bounds is an error, not a clamp.",
        "Dataset and task": "A dataset is the weighted mean of its metrics, a task that of its datasets. A metric of weight 0 is "
        "shown and does not count.",
        **({"Levels": _level_words(blueprint)} if has_levels(blueprint) else {}),
        "Ability": "The weighted mean of what is scored below it.",
        "Total": _total_words(blueprint),
        **({"Veto": _veto_words(blueprint, blueprint.gate)} if blueprint.gate else {}),
        "Missing is never zero": "A mean is taken over what has a score and carries its coverage: datasets scored of those of "
        "the benchmark. Ranked are models with all datasets scored and at least "
        f"{percent(blueprint.rank_item_coverage)} of the items. An unreadable reply is wrong; a failed call is missing.",
        "Intervals": "95 % percentile intervals from a seeded bootstrap over items; those that share a passage, dialogue, book "
        "or person are drawn together. The total's is carried through the whole tree. Those marked ≈ are put together from the "
        "intervals of their parts (MOVER; Zou and Donner 2008). They tell how far the choice of items moves a number, not how "
        "much a model varies when asked again.",
    }


def _veto_words(blueprint: Blueprint, gate: Gate) -> str:
    title = next(main.title for main in blueprint.abilities if main.id == gate.ability)
    return (
        f"Below {number(gate.threshold, 0)} in {title} the total is 0 and there is no rank; the total before the veto stays "
        "beside it. Without a score there, the veto is open."
    )


def _level_words(blueprint: Blueprint) -> str:
    rules = [rule.weights for rule in blueprint.level_rules if len(rule.weights) > 1]
    told = "; ".join(", ".join(f"{level} {weight:g}" for level, weight in rule.items()) for rule in rules)
    return f"Tasks of one level are averaged; levels are weighed by which of them are there: {told}; one alone counts fully."


def _total_words(blueprint: Blueprint) -> str:
    gate = blueprint.gate.ability if blueprint.gate else None
    counted_in = [main for main in blueprint.abilities if main.evaluated and main.id != gate]
    sums = " + ".join(f"{main.weight:g} × {main.title}" for main in counted_in)
    return f"{sums}, divided by the weights of those that have a score."


def _decisions(manifest: RunManifest, blueprint: Blueprint) -> Iterator[str]:
    plan = manifest.plan
    if plan.get("sample") is not None:
        yield (
            f"At most {counted(plan['sample'], 'item')} per dataset, drawn by the hash of seed {plan.get('seed', 0)} and "
            "content: the same everywhere."
        )
    yield PROFILES[plan.get("profile", "corrected")]
    resamples = plan.get("bootstrap")
    if resamples is not None:
        yield f"Intervals rest on {resamples:,d} resamples." if resamples else "No interval was computed: bootstrap=0."
    yield TOO_LONG.get(plan.get("too_long") or blueprint.too_long or "", MISSING_TOO_LONG)
    yield from _decisions_on_asking(plan)
    yield _decision_on_judging(manifest)
    if plan.get("datasets"):
        yield f"Only {counted(len(plan['datasets']), 'dataset')} {'was' if len(plan['datasets']) == 1 else 'were'} selected."
    if plan.get("rank_incomplete"):
        yield "Models below full coverage are ranked too, as asked for by rank_incomplete."


def _design_effects(raw: pl.DataFrame) -> Iterator[str]:
    known = raw.filter(pl.col("design_effect").is_not_null()).sort("design_effect", "dataset")
    if not known.is_empty():
        least, most = known.row(0, named=True), known.row(-1, named=True)
        yield (
            "Items that share a source were drawn together: by the design effect, that multiplies the variance of a mean, "
            f"{number(least['design_effect'], 2)} ({least['dataset']}) to {number(most['design_effect'], 2)} ({most['dataset']})."
        )


def _decisions_on_asking(plan: dict[str, Any]) -> Iterator[str]:
    orders, times = plan.get("permute") or 0, plan.get("repeat") or 1
    yield (
        f"Each single choice was asked in {counted(orders, 'cyclic order')} of its options."
        if orders > 1
        else "Options stand as the dataset's adapter orders them; permute was not set."
    )
    if times > 1:
        yield f"Each item was asked {times} times."
    capped = [
        f"{model['name']} {model['sampling']['max_tokens']:,d}"
        for model in plan.get("models", ())
        if (model.get("sampling") or {}).get("max_tokens")
    ]
    if capped:
        yield f"Longest reply in tokens: {listed(capped)}."


def _decision_on_judging(manifest: RunManifest) -> str:
    judges, times = manifest.names_in(JUDGE), manifest.plan.get("judge_repeat") or 1
    if not judges:
        return "No judge was named, so nothing that needs one was scored."
    return f"{listed(judges)} rated the free-text answers, each {counted(times, 'time')}."


@dataclass(frozen=True)
class DesignRow:
    """Counts of one ability that has tasks."""

    ability: str
    sub_ability: str
    tasks: int
    datasets: int
    methods: int


@dataclass(frozen=True)
class Design:
    """Counts per ability and the shares of languages among the datasets that were built for this run."""

    rows: tuple[DesignRow, ...]
    built: int
    english: int
    chinese: int
    bilingual: int
    has_targets: bool

    @property
    def tasks(self) -> int:
        """Tasks of the blueprint."""
        return sum(row.tasks for row in self.rows)

    @property
    def datasets(self) -> int:
        """Datasets of the blueprint."""
        return sum(row.datasets for row in self.rows)

    @property
    def methods(self) -> int:
        """Methods of all datasets."""
        return sum(row.methods for row in self.rows)

    @property
    def ratios(self) -> tuple[tuple[str, float | None, float], ...]:
        """Name, how many of the second come on one of the first, and the paper's target; empty where the paper has none."""
        if not self.has_targets:
            return ()
        return (
            ("sub-ability : task", share_of(self.tasks, len(self.rows)), 3.0),
            ("task : dataset", share_of(self.datasets, self.tasks), 2.0),
            ("dataset : method", share_of(self.methods, self.datasets), 1.0),
        )


def describe_design(data: ReportData) -> Design:
    """Count what the blueprint names and which languages the built items are in."""
    rows = []
    for _, group in groupby(task_paths(data.blueprint), key=lambda path: path.parent.id):
        paths = list(group)
        names = [entry.id for path in paths for entry in path.task.datasets]
        methods = sum(len(data.blueprint.datasets[name].methods) for name in names)
        rows.append(DesignRow(paths[0].main.title, paths[0].parent.title, len(paths), len(names), methods))
    has_targets = paper_of(data.blueprint).design_targets
    languages = data.items.group_by("dataset").agg(pl.col("language").cast(pl.String).unique().sort())
    spoken = [tuple(found) for found in languages["language"]]
    return Design(tuple(rows), len(spoken), spoken.count(("en",)), spoken.count(("zh",)), spoken.count(("en", "zh")), has_targets)
