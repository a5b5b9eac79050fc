"""How the numbers of a run come about, in words: formulas, what this run decided, and where it leaves the papers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemas.blueprint import Blueprint
from schemas.vocabulary import Metric
from tasks.analysis.number_format import counted, listed, number, percent
from tasks.analysis.run_tables import ReportData
from tasks.reporting.content.blueprint_paths import has_levels, metric_places
from tasks.reporting.content.metric_words import METRIC_WORDS

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
class MethodNote:
    """A step of the computation: its name, and what it does."""

    title: str
    text: str


@dataclass(frozen=True)
class Deviation:
    """A dataset and where it is asked or scored otherwise than in its paper."""

    dataset: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class MethodNotes:
    """What a reader must know to understand the numbers. `deviations` is empty for manifests that do not record them."""

    formulas: tuple[MethodNote, ...]
    metrics: tuple[MethodNote, ...]
    decisions: tuple[str, ...]
    deviations: tuple[Deviation, ...]


def describe_method(data: ReportData) -> MethodNotes:
    """Everything about the method that a reader of this run needs."""
    return MethodNotes(
        formulas=tuple(_formulas(data.blueprint)),
        metrics=tuple(_metrics(data.blueprint)),
        decisions=tuple(_decisions(data.manifest.plan, data.blueprint)),
        deviations=tuple(Deviation(notice.title, notice.differences) for notice in data.manifest.datasets if notice.differences),
    )


def _metrics(blueprint: Blueprint) -> Iterator[MethodNote]:
    used: dict[Metric, None] = dict.fromkeys(place.spec.metric for place in metric_places(blueprint))
    for metric in used:
        yield MethodNote(metric, METRIC_WORDS[metric])


def _formulas(blueprint: Blueprint) -> Iterator[MethodNote]:
    yield MethodNote(
        "On 0–100",
        "A raw value is put on 0–100 by the theoretical bounds of its metric, never by what was observed, so a new model moves "
        "no other one. A value out of bounds is an error, not a clamp.",
    )
    yield MethodNote(
        "Dataset and task",
        "A dataset is the weighted mean of its metrics, a task that of its datasets. A metric of weight 0 is shown and does not "
        "count.",
    )
    if has_levels(blueprint):
        yield MethodNote("Levels", _level_words(blueprint))
    yield MethodNote("Ability", "The weighted mean of what is scored below it.")
    yield MethodNote("Total", _total_words(blueprint))
    if blueprint.gate:
        title = next(main.title for main in blueprint.abilities if main.id == blueprint.gate.ability)
        yield MethodNote(
            "Veto",
            f"Below {number(blueprint.gate.threshold, 0)} in {title} the total is 0 and there is no rank; the total before the "
            "veto stays beside it. Without a score there, the veto is open.",
        )
    yield MethodNote(
        "Missing is never zero",
        "A mean is taken over what has a score and carries its coverage: datasets scored of those of the benchmark. Ranked are "
        f"models with all datasets scored and at least {percent(blueprint.rank_item_coverage)} of the items. An unreadable reply "
        "is wrong; a failed call is missing.",
    )
    yield MethodNote(
        "Intervals",
        "95 % percentile intervals from a seeded bootstrap over items; the total's is carried through the whole tree. Those "
        "marked ≈ are put together from the intervals of their parts (MOVER; Zou and Donner 2008). They tell how far the "
        "choice of items moves a number, not how much a model varies when asked again.",
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


def _decisions(plan: dict[str, Any], blueprint: Blueprint) -> Iterator[str]:
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
    yield from _decisions_on_judging(plan)
    if plan.get("datasets"):
        yield f"Only {counted(len(plan['datasets']), 'dataset')} {'was' if len(plan['datasets']) == 1 else 'were'} selected."
    if plan.get("rank_incomplete"):
        yield "Models below full coverage are ranked too, as asked for by rank_incomplete."


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


def _decisions_on_judging(plan: dict[str, Any]) -> Iterator[str]:
    judge, times = plan.get("judge"), plan.get("judge_repeat") or 1
    if judge is None:
        yield "No judge was named, so nothing that needs one was scored."
        return
    yield f"{judge['name']} rated the free-text answers, each {counted(times, 'time')}."
