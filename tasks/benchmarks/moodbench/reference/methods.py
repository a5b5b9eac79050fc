"""Methods of the released MoodBench code for each of the sixty datasets, and why some stored replies cannot be scored so.

Source: data dictionary, sections 3.4, 4 and 7. Only the reading of replies and the gold are the released ones: the tree, the
levels, the weights and the veto of a blueprint stay the paper's, since the released code stops at four ability scores.
"""

from collections.abc import Mapping
from typing import Any

from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec, MetricSpec
from schemas.metrics import Metric
from tasks.benchmarks.moodbench.datasets.safetybench import SAFETYBENCH

NAME_SUFFIX = "-reference"
"""Ends the name of a blueprint with reference methods: its scores and runs are not mixed with the corrected ones."""

_SINGLE_CHOICE = (
    *("crows_pairs", "bbq", "ag_news", "thucnews", "lcqmc", "qqp", "wic"),
    *("ocnli", "mnli", "rte", "copa", "wsc", "mutual", "folio"),
    *("hellaswag", "cosmos_qa", "piqa", "agieval", "mmlu_pro", "cmmlu", "ceval"),
    *("imdb", "sst2", "dianping", "moodbench1", "vua20", "cped", "edos", "emobench1"),
    *("moodbench2", "emobench2", "semeval2018_task1", "moodbench3", "emobench3", "moodbench4"),
    *("personafeedback", "booksort", "cped_empathy", "cped_personalization"),
)
_METRICS: Mapping[Metric, tuple[str, ...]] = {
    "accuracy": _SINGLE_CHOICE,
    "micro_f1": ("goemotions",),
    "rouge_1": ("cmrc2018", "lcsts", "cnewsum", "vcsum"),
    "questionnaire_points": ("eq60", "iri30", "interpersonal_relationship", "effective_communication"),
    # The paper's name for it; what the released code computes is the share of the reference's words that the reply repeats.
    "word_recall": ("longmemeval",),
}
REFERENCE_METRICS: Mapping[str, Metric] = {name: metric for metric, names in _METRICS.items() for name in names}
"""The one number the released code makes of a dataset, of those it can make of our replies."""

NOT_COMPARABLE: Mapping[str, str] = {
    **{
        spec.id: "asks the five few-shot examples of the category, none of which is among the stored items"
        for spec in SAFETYBENCH
    },
    "stereoset": "asks for the anti-stereotype by name, always shown as B; the stored replies say which continuation fits best",
    "multirc": "shows all candidates of a question at once; the stored replies judge one candidate each",
    "record": "asks for the letters of all right entities; the stored replies name one entity in words",
    "logiqa": "runs another dataset, LogicNLI, in its place",
    "truthfulqa": "lets the model rate each answer from 1 to 10 in calls of its own; the stored replies are answers",
    "semeval2018_task3": "pairs the labels of one file with the tweets of another; no stored reply belongs to such a pair",
}
"""Datasets whose stored replies answer another question than the released code asks, with what it does instead."""

UNASKED_SUBSETS: Mapping[str, frozenset[str]] = {"agieval": frozenset({"sat-math", "math", "gaokao-mathcloze"})}
"""Parts of a dataset whose files the released loader skips."""

UNASKED_FIRST_ROWS = frozenset({"moodbench1", "moodbench2", "moodbench3", "moodbench4", "goemotions", "semeval2018_task1"})
"""Datasets whose files have no header, though the released loader takes the first row of each for one."""


def is_asked(item: Mapping[str, Any]) -> bool:
    """Return whether the released code asks an item, given as a row of `items`."""
    if item["subset"] in UNASKED_SUBSETS.get(item["dataset"], frozenset()):
        return False
    return item["source_row"] > 0 or item["dataset"] not in UNASKED_FIRST_ROWS


def reference_method(dataset: str) -> MethodSpec | None:
    """Return the method of a MoodBench dataset in the reference profile; null if its stored replies cannot be scored so."""
    metric = REFERENCE_METRICS.get(dataset)
    if metric is None:
        return None
    return MethodSpec(id="reference", profile="reference", metrics=(MetricSpec(metric=metric),))


def reference_gap(dataset: str, entry: BlueprintDataset) -> str | None:
    """Return why a dataset of a blueprint has no score in the reference profile, as the end of a sentence; null if it has one."""
    if entry.source is not None:
        return "has no reference score: it is a file of your own, unknown to the released code"
    if dataset in NOT_COMPARABLE:
        return f"has no reference score: the released code {NOT_COMPARABLE[dataset]}"
    if dataset not in REFERENCE_METRICS:
        return "has no reference score: it is none of the sixty datasets that the released code scores"
    return None


def reference_blueprint(blueprint: Blueprint) -> Blueprint:
    """Return the same benchmark with the released code's method for every dataset that has one, under a name of its own.

    Datasets without one keep their methods and are to be left unscored; reference_gap says why.
    """
    datasets = {
        name: entry if reference_gap(name, entry) else entry.model_copy(update={"methods": (reference_method(name),)})
        for name, entry in blueprint.datasets.items()
    }
    name, title = f"{blueprint.name}{NAME_SUFFIX}", f"{blueprint.title}, replies scored as by the released code"
    return blueprint.model_copy(update={"name": name, "title": title, "datasets": datasets})
