"""The item_scores layer: every response read, compared with its item's gold, and given a status.

Whose failure it was decides: a reply that cannot be read is the model's and counts as wrong (value 0, the lowest points in a
questionnaire); a failed call or an unusable judge is ours, and its value is missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import ItemScores
from schemas.vocabulary import ItemStatus, Metric
from tasks.metrics.answers import SUITED, ParsedAnswer, Question, check_order, measure, read_answer
from tasks.metrics.ratings import RATED, Rating

METRICS_VERSION = "3"
"""Bumped when a reply is read or scored differently; enters the fingerprint of item_scores."""

ITEM = ["dataset", "item_id"]
RUN = ["model", "setting", "repetition"]
RESPONSE = [*ITEM, *RUN]

ResponseKey = tuple[str, str, str, str, int]
"""Values of RESPONSE."""


@dataclass(frozen=True)
class ScoredAnswer:
    """Value and status of one item under one metric."""

    value: float | None
    status: ItemStatus


RatingsOfOne = dict[int, dict[str, Rating | None]]
"""Ratings of one response by judge repetition and dimension, null where the judge failed."""


@dataclass(frozen=True)
class Ratings:
    """A judge's ratings of all responses, and the dimensions it was asked for."""

    by_response: Mapping[ResponseKey, RatingsOfOne]
    dimensions: frozenset[str]

    def rate(self, response: ResponseKey, metric: Metric) -> ScoredAnswer:
        """Mean over the judge's repetitions of what the metric makes of all dimensions.

        A repetition in which a dimension is missing is left out; with none left the value is missing.
        """
        asked = self.by_response.get(response, {}).values()
        known = [[rating for rating in ratings.values() if rating is not None] for ratings in asked]
        complete = [RATED[metric](ratings) for ratings in known if ratings and len(ratings) == len(self.dimensions)]
        return ScoredAnswer(fmean(complete), "scored") if complete else ScoredAnswer(None, "judge_failed")


def score_items(
    items: dy.DataFrame[Items],
    responses: dy.DataFrame[Responses],
    judgements: dy.DataFrame[Judgements] | None,
    method: MethodSpec,
) -> dy.DataFrame[ItemScores]:
    """Score the responses to a dataset by one method.

    Args:
        items: the dataset's items.
        responses: one or more turns per (item, model, setting, repetition); the last turn is the answer, unless a turn failed.
            Each (model, setting, repetition) covers every item.
        judgements: of these responses, needed by a judged method; rows of other rubrics are ignored.
        method: names the metrics, one row each.

    Returns:
        One row per response item and metric, sorted by key. Where the gold is options, `predicted` and `gold` hold their texts
        (or roles, see Question.predicted_labels): null is an answer that never came. Answers, letters and labels are in the
        item's own order of options; `chosen_place` and `gold_place` are the places as they were shown.

    Raises:
        ScoringError: if items are without response or responses without item, the method is of another profile, a metric does not
            suit an item's type, the order of shown options is none of the item's, or a judged method has no judgements or those
            of several judges.
    """
    answers = last_turns(responses)
    check_coverage(items, answers)
    check_metrics(items, method)
    questions = {(row["dataset"], row["item_id"]): Question.from_row(row) for row in items.iter_rows(named=True)}
    ratings = read_ratings(judgements, method) if method.judged else Ratings({}, frozenset())
    rows = [
        row
        for response in answers.iter_rows(named=True)
        for row in _score_response(questions[response["dataset"], response["item_id"]], response, ratings, method)
    ]
    frame = pl.DataFrame(rows, schema=ItemScores.create_empty().schema)
    return ItemScores.validate(frame.sort(ItemScores.primary_key()))


def last_turns(responses: dy.DataFrame[Responses]) -> pl.DataFrame:
    """One row per (item, model, setting, repetition): its last turn, or a turn that failed: then there is no whole answer."""
    return responses.sort(pl.col("status") == "failed", "turn").unique(RESPONSE, keep="last", maintain_order=True)


def check_coverage(items: dy.DataFrame[Items], answers: pl.DataFrame) -> None:
    """Raise ScoringError unless every run answers exactly the items there are."""
    asked = items.select(ITEM).join(answers.select(RUN).unique(), how="cross")
    lacking = asked.join(answers, on=RESPONSE, how="anti") if not answers.is_empty() else items.select(ITEM)
    unknown = answers.join(items, on=ITEM, how="anti").select(RESPONSE)
    for frame, what in ((lacking, "Items have no response row."), (unknown, "Responses belong to no item.")):
        if not frame.is_empty():
            first = frame.sort(frame.columns).row(0, named=True)
            raise ScoringError(
                what,
                where=", ".join(f"{name} {value}" for name, value in first.items()),
                expected="one response per item, model, setting and repetition, failed calls included",
                got=f"{frame.height} without counterpart; the first is named above",
                next_step="run the infer stage again for this dataset",
            )


def check_metrics(items: dy.DataFrame[Items], method: MethodSpec) -> None:
    """Raise ScoringError if the method is of the reference profile or a metric of it cannot score one of the question types."""
    if method.profile != "corrected":
        raise ScoringError(
            "Replies were to be read by the rules of another profile.",
            where=f"method {method.id}",
            expected="profile corrected",
            got=f"profile {method.profile}",
            next_step="ask for the profile on the command line (--set profile=reference), not in a method of the blueprint",
        )
    for spec in method.metrics:
        wrong = items.filter(~pl.col("question_type").cast(pl.String).is_in(sorted(SUITED[spec.metric])))
        if not wrong.is_empty():
            first = wrong.row(0, named=True)
            raise ScoringError(
                f"Metric {spec.metric} cannot score {first['question_type']} items.",
                where=f"{first['dataset']}, item {first['item_id']}, method {method.id}",
                expected=f"question types {', '.join(sorted(SUITED[spec.metric]))}",
                got=first["question_type"],
                next_step="give the dataset a method whose metrics suit its items",
            )


def read_ratings(judgements: dy.DataFrame[Judgements] | None, method: MethodSpec) -> Ratings:
    """The ratings a judged method needs.

    The dimensions are those the judge was asked for anywhere: the executor writes a row for each, also where the judge failed.
    """
    if judgements is None:
        raise ScoringError(
            f"Method {method.id} needs a judge's ratings.",
            expected=f"judgements by rubric {method.rubric}",
            got="none",
            next_step="run the infer stage with a judge",
        )
    of_rubric = judgements.filter(pl.col("rubric") == method.rubric)
    if of_rubric["judge"].n_unique() > 1:
        raise ScoringError(
            f"Method {method.id} was given the ratings of several judges.",
            expected="one judge",
            got=", ".join(sorted(of_rubric["judge"].unique())),
            next_step="score each judge's ratings on their own",
        )
    by_response: dict[ResponseKey, RatingsOfOne] = {}
    for row in of_rubric.iter_rows(named=True):
        rating = None if row["rating"] is None else Rating(row["rating"], row["lowest"], row["highest"])
        by_response.setdefault(_response_key(row), {}).setdefault(row["judge_repetition"], {})[row["dimension"]] = rating
    return Ratings(by_response, frozenset(of_rubric["dimension"]))


def _response_key(row: Mapping[str, Any]) -> ResponseKey:
    return (row["dataset"], row["item_id"], row["model"], row["setting"], row["repetition"])


def _score_response(
    question: Question, response: Mapping[str, Any], ratings: Ratings, method: MethodSpec
) -> Iterator[dict[str, Any]]:
    reply, order = response["reply"], response["option_order"]
    if order is not None:
        check_order(question, order)
    cut = response["finish_reason"] == "length"
    tokens = [(entry["token"], entry["logprob"]) for entry in response["token_logprobs"] or ()]
    answer = None if reply is None else read_answer(question, reply, cut=cut, order=order, token_logprobs=tokens)
    for spec in method.metrics:
        rated = ratings.rate(_response_key(response), spec.metric) if spec.metric in RATED else None
        outcome = _outcome(question, answer, spec, rated, answered=reply is not None)
        read = None if outcome.status == "unparsed" else answer
        yield {
            **{name: response[name] for name in RESPONSE},
            "method": method.id,
            "metric": spec.metric,
            "parsed_answer": read.shown if read else None,
            "predicted": None if reply is None else _labels(question, spec.metric, read),
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
    """0-based place at which the option of a single choice was shown; null for other types and where there is no option."""
    if question.question_type != "single_choice" or not indices:
        return None
    return indices[0] if order is None else order.index(indices[0])
