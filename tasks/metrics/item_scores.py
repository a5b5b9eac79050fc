"""Score answers for `item_scores`: read each, compare it with its item's gold, give it a status.

Whose failure it was decides: a reply that cannot be read is the model's and counts as wrong (value 0, the lowest points in a
questionnaire); a failed call or an unusable judge is ours, and its value is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.tables.scores import ItemScores
from schemas.vocabulary import ItemStatus, Metric
from tasks.lake.fingerprint import partition_key
from tasks.metrics.answers import METRIC_ROWS, ParsedAnswer, Question, measure, read_answer
from tasks.solvers.answers import ANSWER, ASKED, ITEM, SAID


class Rating(NamedTuple):
    """A rating and the ends of its scale."""

    rating: int
    lowest: int
    highest: int


def rating_share(ratings: Sequence[Rating]) -> float:
    """Return the mean of the ratings' places on their scales: 0 at the lowest, 1 at the highest. MoodBench's way."""
    return fmean((rating - lowest) / (highest - lowest) for rating, lowest, highest in ratings)


def rating_level(ratings: Sequence[Rating]) -> float:
    """Return the mean of rating / highest. LongEmotion's way: 20 x the mean on 1 to 5 or 0 to 5 is 100 x this.

    Raises:
        ScoringError: if a scale reaches below 0.
    """
    if wrong := [rating for rating in ratings if rating.lowest < 0 or rating.highest <= 0]:
        raise ScoringError(
            "mean_rating divides a rating by the highest one, and a scale reaches below 0",
            expected="scales from 0 or above",
            got=f"a scale from {wrong[0].lowest} to {wrong[0].highest}",
            next_step="score the dataset by judged_rating, or give the rubric another scale",
        )
    return fmean(rating / highest for rating, _, highest in ratings)


RATED: Mapping[Metric, Callable[[Sequence[Rating]], float]] = {"judged_rating": rating_share, "mean_rating": rating_level}
"""Metrics that are made of a judge's ratings."""


METRICS_VERSION = "4"
"""Bumped when a reply is read or scored differently; enters the fingerprint of item_scores."""

RUN = ["model", "setting", "repetition"]

AnswerKey = tuple[Any, ...]
"""Values of ANSWER."""


@dataclass(frozen=True)
class ScoredAnswer:
    """Value and status of one item under one metric."""

    value: float | None
    status: ItemStatus


RatingsOfOne = dict[int, dict[str, Rating | None]]
"""Ratings of one answer by judge repetition and dimension, null where the judge failed."""


@dataclass(frozen=True)
class Ratings:
    """A judge's ratings of all answers, and the dimensions it was asked for."""

    by_answer: Mapping[AnswerKey, RatingsOfOne]
    dimensions: frozenset[str]

    def rate(self, answer: AnswerKey, metric: Metric) -> ScoredAnswer:
        """Return the mean over the judge's repetitions of what the metric makes of all dimensions.

        A repetition in which a dimension is missing is left out; with none left the value is missing.
        """
        asked = self.by_answer.get(answer, {}).values()
        known = [[rating for rating in ratings.values() if rating is not None] for ratings in asked]
        complete = [RATED[metric](ratings) for ratings in known if ratings and len(ratings) == len(self.dimensions)]
        return ScoredAnswer(fmean(complete), "scored") if complete else ScoredAnswer(None, "judge_failed")


def score_items(
    items: dy.DataFrame[Items],
    answers: dy.DataFrame[Answers],
    judgements: dy.DataFrame[Judgements] | None,
    method: MethodSpec,
) -> dy.DataFrame[ItemScores]:
    """Score the answers to a dataset by one method.

    Args:
        items: the dataset's items.
        answers: each (model, setting, repetition) covers every item.
        judgements: of these answers, needed by a judged method; rows of other rubrics are ignored.
        method: names the metrics, one row each.

    Returns:
        One row per answer and metric, sorted by key. Where the gold is options, `predicted` and `gold` hold their texts
        (or roles, see Question.predicted_labels): null is an answer that never came. Answers, letters and labels are in the
        item's own order of options; `chosen_place` and `gold_place` are the places as they were shown.

    Raises:
        ScoringError: if items are without answer or answers without item, the method is of another profile, a metric does not
            suit an item's type, the order of shown options is none of the item's, or a judged method has no judgements or those
            of several judges.
    """
    check_coverage(items, answers)
    check_metrics(items, method)
    questions = {(row["dataset"], row["item_id"]): Question.from_row(row) for row in items.iter_rows(named=True)}
    ratings = read_ratings(judgements, method) if method.judged else Ratings({}, frozenset())
    rows = [
        row
        for answer in answers.with_columns(said=SAID).iter_rows(named=True)
        for row in _score_answer(questions[answer["dataset"], answer["item_id"]], answer, ratings, method)
    ]
    frame = pl.DataFrame(rows, schema=ItemScores.create_empty().schema)
    return ItemScores.validate(frame.sort(ItemScores.primary_key()))


def check_coverage(items: dy.DataFrame[Items], answers: pl.DataFrame) -> None:
    """Raise ScoringError unless every run answers exactly the items there are."""
    asked = items.select(ITEM).join(answers.select(RUN).unique(), how="cross")
    lacking = asked.join(answers, on=ASKED, how="anti") if not answers.is_empty() else items.select(ITEM)
    unknown = answers.join(items, on=ITEM, how="anti").select(ASKED)
    for frame, what in ((lacking, "items have no answer"), (unknown, "answers belong to no item")):
        if not frame.is_empty():
            first = frame.sort(frame.columns).row(0, named=True)
            raise ScoringError(
                what,
                where=", ".join(f"{name} {value}" for name, value in first.items()),
                expected="an answer per item, model, setting and repetition, failed ones included",
                got=f"{frame.height} without counterpart; the first is named above",
                next_step="run the infer stage again for this dataset",
            )


def check_metrics(items: dy.DataFrame[Items], method: MethodSpec) -> None:
    """Raise ScoringError if the method is of the reference profile or a metric of it cannot score one of the question types."""
    if method.profile != "corrected":
        raise ScoringError(
            "replies were to be read by the rules of another profile",
            where=f"method {method.id}",
            expected="profile corrected",
            got=f"profile {method.profile}",
            next_step="ask for the profile on the command line (--set profile=reference), not in a method of the blueprint",
        )
    for spec in method.metrics:
        suited = sorted(METRIC_ROWS[spec.metric].suits)
        wrong = items.filter(~pl.col("question_type").cast(pl.String).is_in(suited))
        if not wrong.is_empty():
            first = wrong.row(0, named=True)
            raise ScoringError(
                f"metric {spec.metric} cannot score {first['question_type']} items",
                where=f"{first['dataset']}, item {first['item_id']}, method {method.id}",
                expected=f"question types {', '.join(suited)}",
                got=first["question_type"],
                next_step="give the dataset a method whose metrics suit its items",
            )


def check_order(question: Question, order: Sequence[int]) -> None:
    """Raise ScoringError unless the order in which options were shown names each of them once."""
    if sorted(order) != list(range(len(question.options))):
        raise ScoringError(
            "the order in which options were shown is not one of the item's options",
            where=f"item {question.item_id}, column option_order of the answers",
            expected=f"each of the places 0 to {len(question.options) - 1} once" if question.options else "null",
            got=str(list(order)),
            next_step="run the infer stage again for this dataset",
        )


def read_ratings(judgements: dy.DataFrame[Judgements] | None, method: MethodSpec) -> Ratings:
    """Return the ratings a judged method needs.

    The dimensions are those the judge was asked for anywhere: the executor writes a row for each, also where the judge failed.
    """
    if judgements is None:
        raise ScoringError(
            f"method {method.id} needs a judge's ratings",
            expected=f"judgements by rubric {method.rubric}",
            got="none",
            next_step="run the infer stage with a judge",
        )
    of_rubric = judgements.filter(pl.col("rubric") == method.rubric)
    if of_rubric["judge"].n_unique() > 1:
        raise ScoringError(
            f"method {method.id} was given the ratings of several judges",
            expected="one judge",
            got=", ".join(sorted(of_rubric["judge"].unique())),
            next_step="score each judge's ratings on their own",
        )
    by_answer: dict[AnswerKey, RatingsOfOne] = {}
    for row in of_rubric.iter_rows(named=True):
        rating = None if row["rating"] is None else Rating(row["rating"], row["lowest"], row["highest"])
        by_answer.setdefault(_answer_key(row), {}).setdefault(row["judge_repetition"], {})[row["dimension"]] = rating
    return Ratings(by_answer, frozenset(of_rubric["dimension"]))


def _answer_key(row: Mapping[str, Any]) -> AnswerKey:
    return tuple(row[name] for name in ANSWER)


def _score_answer(
    question: Question, answer: Mapping[str, Any], ratings: Ratings, method: MethodSpec
) -> Iterator[dict[str, Any]]:
    said, order = answer["said"], answer["option_order"]
    if order is not None:
        check_order(question, order)
    cut = answer["finish_reason"] == "length"
    tokens = [(entry["token"], entry["logprob"]) for entry in answer["token_logprobs"] or ()]
    parsed = None if said is None else read_answer(question, said, cut=cut, order=order, token_logprobs=tokens)
    for spec in method.metrics:
        rated = ratings.rate(_answer_key(answer), spec.metric) if spec.metric in RATED else None
        outcome = _outcome(question, parsed, spec, rated, answered=said is not None)
        read = None if outcome.status == "unparsed" else parsed
        yield {
            **{name: answer[name] for name in ANSWER},
            "cluster": question.cluster,
            "method": method.id,
            "metric": spec.metric,
            "parsed_answer": read.shown if read else None,
            "predicted": None if said is None else _labels(question, spec.metric, read),
            "gold": question.gold_labels(spec.metric),
            "chosen_place": shown_place(question, read.indices if read else (), order),
            "gold_place": shown_place(question, question.gold_indices, order),
            "value": outcome.value,
            "status": outcome.status,
        }


def _labels(question: Question, metric: Metric, read: ParsedAnswer | None) -> list[str] | None:
    return question.predicted_labels(metric, read.indices) if read else question.unread_labels(metric)


def _outcome(
    question: Question, answer: ParsedAnswer | None, spec: MetricSpec, rated: ScoredAnswer | None, *, answered: bool
) -> ScoredAnswer:
    if not question.is_counted_by(spec.metric):
        return ScoredAnswer(None, "not_counted")
    if not answered:
        return ScoredAnswer(None, "call_failed")
    if answer is None:
        return ScoredAnswer(0.0, "unparsed")
    if rated is not None:
        return rated
    value = measure(question, answer, spec)
    return ScoredAnswer(0.0, "unparsed") if value is None else ScoredAnswer(value, "scored")


def shown_place(question: Question, indices: Sequence[int], order: Sequence[int] | None) -> int | None:
    """Return the 0-based place of a single choice's option as shown; null for other types and where there is no option."""
    if question.question_type != "single_choice" or not indices:
        return None
    return indices[0] if order is None else order.index(indices[0])


def item_scores_key(answers: PartitionRef, judgements: Sequence[PartitionRef], methods: Sequence[MethodSpec]) -> PartitionKey:
    """Return the key of the scored items of one partition of answers.

    Weights and normalisation are left out: they act later, so changing them does not score the items again.
    """
    asked = [
        {
            "method": method.id,
            "rubric": method.rubric,
            "profile": method.profile,
            "metrics": [{"metric": metric.metric, "k": metric.k} for metric in method.metrics],
        }
        for method in methods
    ]
    parents = [answers.identity, *(ref.identity for ref in judgements)]
    return partition_key("item_scores", dict(answers.place), {"methods": asked}, parents, METRICS_VERSION)
