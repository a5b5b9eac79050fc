"""Baselines of datasets whose answers are a choice: the scores of always giving the same answer.

A constant answer is a place, written as the letter shown there, of labels as the letter it would have, of segments as their
index; a majority answer is a label, the text of an option, wherever it is shown.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from schemas.blueprint import Blueprint
from schemas.item import option_letters
from schemas.metrics import METRICS, Baseline, Metric
from schemas.question_types import QUESTION_TYPES, answered_by
from tasks.metrics.classes import name_classes
from tasks.metrics.measures import POSITIVE, points_share
from tasks.scoring.aggregation import aggregate_scores, total_scores
from tasks.scoring.published import BASE_SETTING, TOTAL
from tasks.scoring.reduction import normalise_scores
from tasks.scoring.tree import tree_tables
from tasks.solvers.presentation import Order
from tasks.text.number_format import number

Orders = Mapping[tuple[str, str], Sequence[Order]]
"""By dataset and item id, the order of each time it was asked; an item that is left out was asked once, in its own order."""

Labels = frozenset[str]
Score = Callable[[list[Labels], list[Labels]], float]


@dataclass(frozen=True)
class FixedAnswer:
    """Always the same letter (index, of segments), or the label that is right most often; and what it earns, in [0, 1]."""

    answer: str
    share: float


@dataclass(frozen=True)
class Baselines:
    """What answers without reading earn on one metric of a dataset. Null: the metric or the dataset has no such answer.

    `ends`: of a questionnaire, always the first and always the last option, as far as they are not the best constant answer.
    """

    constant: FixedAnswer | None = None
    majority: FixedAnswer | None = None
    ends: tuple[FixedAnswer, ...] = ()


@dataclass(frozen=True)
class ShownItem:
    """A choice as it is shown; `gold` and `options` are texts, `points` those of a questionnaire.

    `first` is the item's own first option, wherever it is shown: the positive class where there is one.
    """

    options: tuple[str, ...]
    first: str
    gold: Labels
    question_type: str
    points: tuple[float | None, ...]


def no_better(score: float | None, constant: float | None, answer: str | None = None, digits: int = 3) -> str:
    """Return that a score is no better than constant answers, in words; empty where it is better, or one of them is not known.

    `answer`: the constant one; null = each dataset has its own.
    """
    if score is None or constant is None or score > constant:
        return ""
    always = f"always answering {answer}" if answer else "the best constant answers"
    return f"no better than {always} ({number(constant, digits)})"


def tell_no_better(title: str, score: float | None, constant: float | None) -> Iterator[str]:
    """Yield that a score on 0-100 is no better than the best constant answers, with its title, if so."""
    if said := no_better(score, constant, digits=1):
        yield f"{title} ({number(score)}) is {said}"


def measure_baselines(items: pl.DataFrame, metric: Metric, orders: Orders | None = None) -> Baselines:
    """Return the baselines of one metric of one dataset; empty if it compares no choices with the gold, or more than these.

    `items`: rows of that dataset. Accuracy allows items of other types among the choices, as exams have them: a letter never
    answers those. `orders`: in which the options were shown.
    """
    kinds, baseline = set(items["question_type"].unique()), METRICS[metric].baseline
    if baseline == "points" and kinds <= set(answered_by("scale")):
        return _of_questionnaire(shown_items(items, orders))
    closed = answered_by("letter", "letters", "label", "index")
    score, choices = _SCORES.get(baseline), items.filter(pl.col("question_type").is_in(closed))
    if score is None or choices.is_empty() or (baseline != "equality" and not kinds <= set(closed)):
        return Baselines()
    cases, answerable = shown_items(choices, orders), choices.height / items.height
    if baseline == "macro_f1":
        cases = shown_items(choices.with_columns(options=name_classes(choices)), orders)
    if baseline == "binary_f1":
        cases = [_as_classes(item) for item in cases]
        always = [frozenset({POSITIVE})] * len(cases)
        return Baselines(_best(_letter_scores(cases, score)), FixedAnswer(POSITIVE, score(always, [item.gold for item in cases])))
    return Baselines(_best(_letter_scores(cases, score), answerable), _majority(cases, score, answerable))


def measure_datasets(blueprint: Blueprint, items: pl.DataFrame, answers: pl.DataFrame) -> dict[tuple[str, Metric], Baselines]:
    """Return the baselines by dataset and metric of a blueprint; datasets without rows of `items` are left out.

    `answers` say in which orders options were shown.
    """
    orders, by_dataset = orders_shown(answers), items.partition_by("dataset", as_dict=True)
    return {
        (dataset, spec.metric): measure_baselines(by_dataset[dataset,], spec.metric, orders)
        for dataset, entry in blueprint.datasets.items()
        if (dataset,) in by_dataset
        for method in entry.methods
        for spec in method.metrics
    }


def score_constant_answers(blueprint: Blueprint, baselines: Mapping[tuple[str, Metric], Baselines]) -> dict[str, float]:
    """Return what a model earns that gives the best constant answer everywhere, by main ability, and as TOTAL before a veto.

    Its answers are scored as those of a model are, over the datasets that have baselines. A score is left out where one of these
    below it has no constant answer.
    """
    rows = []
    for name in {name: None for name, _ in baselines}:
        counting = [
            (method.id, spec.metric) for method in blueprint.datasets[name].methods for spec in method.metrics if spec.weight
        ]
        best = [baselines[name, metric].constant for _, metric in counting]
        rows += [("asked", name, *key, 0.0) for key in counting]
        if all(best):
            rows += [("constant", name, *key, answer.share) for key, answer in zip(counting, best, strict=True) if answer]
    if not rows:
        return {}
    raw = pl.DataFrame(rows, schema=["model", "dataset", "method", "metric", "value"], orient="row").with_columns(
        setting=pl.lit(BASE_SETTING), n_scored=1, n_total=1
    )
    tree = tree_tables(blueprint)
    mains = aggregate_scores(normalise_scores(raw, tree), tree).nodes.filter(pl.col("parent").is_null())
    asked = mains.filter(pl.col("datasets_scored") > 0, model="asked").select("node", "datasets_scored")
    complete = mains.filter(model="constant").join(asked, ["node", "datasets_scored"]).rename({"node": "ability"})
    scores = dict(complete.select("ability", "score_0_100").iter_rows())
    if {*asked["node"]} - {*scores} <= {tree.gate} and scores:
        (scores[TOTAL],) = total_scores(complete.drop("weight"), blueprint)["total_before_veto"]
    return {name: score for name, score in scores.items() if score is not None}


def orders_shown(answers: pl.DataFrame) -> Orders:
    """Return the order each item's options were shown in, once per repetition; datasets that were not permuted are left out.

    `answers` may be of any number of models: all are asked in the same orders.
    """
    permuted = answers.filter(pl.col("option_order").is_not_null())["dataset"].unique()
    key = ["dataset", "item_id", "repetition"]
    rows = answers.filter(pl.col("dataset").is_in(permuted.implode())).unique(key, keep="first").sort(key)
    orders: dict[tuple[str, str], tuple[Order, ...]] = {}
    for dataset, item, order in rows.select("dataset", "item_id", "option_order").iter_rows():
        orders[dataset, item] = (*orders.get((dataset, item), ()), None if order is None else tuple(order))
    return orders


def shown_items(items: pl.DataFrame, orders: Orders | None = None) -> list[ShownItem]:
    """Return the rows of `items` that have options, as they are shown, once per order."""
    by_item = orders or {}
    wanted = ("dataset", "item_id", "question_type", "options", "gold_indices", "option_points")
    rows = items.select(wanted).filter(pl.col("options").is_not_null())
    return [
        ShownItem(
            options=tuple(options[index] for index in order or range(len(options))),
            first=options[0],
            gold=frozenset(options[index] for index in gold or ()),
            question_type=kind,
            points=tuple(points[index] for index in order or range(len(options))) if points else (),
        )
        for dataset, item, kind, options, gold, points in rows.iter_rows()
        for order in by_item.get((dataset, item), (None,))
    ]


def _letter_scores(cases: list[ShownItem], score: Score) -> dict[str, float]:
    gold = [item.gold for item in cases]
    places = max((len(item.options) for item in cases), default=0)
    numbered = all(QUESTION_TYPES[item.question_type].answer == "index" for item in cases)
    names = [str(index) for index in range(places)] if numbered else option_letters(places)
    return {name: score([frozenset(item.options[index : index + 1]) for item in cases], gold) for index, name in enumerate(names)}


def _as_classes(item: ShownItem) -> ShownItem:
    """Return the item with its options called positive or not at all."""
    options = tuple(POSITIVE if text == item.first else "" for text in item.options)
    return replace(item, options=options, gold=frozenset({POSITIVE} if item.first in item.gold else ()))


def _best(scores: Mapping[str, float], answerable: float = 1.0) -> FixedAnswer | None:
    """Return the best letter; of equal ones the first. `answerable`: share of the items that a letter answers."""
    best = max(scores, key=scores.__getitem__, default=None)
    return None if best is None else FixedAnswer(best, answerable * scores[best])


def _majority(cases: list[ShownItem], score: Score, answerable: float) -> FixedAnswer | None:
    """Return the most frequent right label; of equal ones the first by its text. None where labels seldom repeat."""
    times = Counter(label for item in cases for label in item.gold)
    # Options written for one item are no classes: a class is right for two items or more on average.
    if not times or 2 * len(times) > times.total():
        return None
    label = min(times, key=lambda text: (-times[text], text))
    return FixedAnswer(label, answerable * score([frozenset({label})] * len(cases), [item.gold for item in cases]))


def _of_questionnaire(cases: list[ShownItem]) -> Baselines:
    """Share of points of always the same place, fillers left out; places that not every item has are not tried."""
    given = [tuple(points for points in item.points if points is not None) for item in cases]
    counted = [points for points, item in zip(given, cases, strict=True) if points and len(points) == len(item.points)]
    if not counted or any(max(points) == min(points) for points in counted):
        return Baselines()
    places = min(len(points) for points in counted)
    shares = ([points_share(points, index) for points in counted] for index in range(places))
    scores = {letter: sum(earned) / len(earned) for letter, earned in zip(option_letters(places), shares, strict=True)}
    best, answers = _best(scores), [FixedAnswer(*score) for score in scores.items()]
    return Baselines(best, None, tuple(end for end in (answers[0], answers[-1]) if end != best))


def _accuracy(predicted: list[Labels], gold: list[Labels]) -> float:
    return sum(map(frozenset.__eq__, predicted, gold)) / len(gold)


def _binary_f1(predicted: list[Labels], gold: list[Labels]) -> float:
    """F1 of the positive class; the other class is no label."""
    return _micro_f1([labels & {POSITIVE} for labels in predicted], gold, nothing=1.0)


def _micro_f1(predicted: list[Labels], gold: list[Labels], nothing: float = 0.0) -> float:
    total = sum(map(len, predicted)) + sum(map(len, gold))
    return 2 * sum(map(len, map(frozenset.__and__, predicted, gold))) / total if total else nothing


def _macro_f1(predicted: list[Labels], gold: list[Labels]) -> float:
    """Mean F1 over the labels that occur, as the score itself is defined."""
    times = Counter(label for labels in (*predicted, *gold) for label in labels)
    hits = Counter(label for both in map(frozenset.__and__, predicted, gold) for label in both)
    return sum(2 * hits[label] / n for label, n in times.items()) / len(times) if times else 0.0


_SCORES: Mapping[Baseline | None, Score] = {
    "equality": _accuracy,
    "micro_f1": _micro_f1,
    "macro_f1": _macro_f1,
    "binary_f1": _binary_f1,
}
