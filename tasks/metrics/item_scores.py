"""Score answers for `item_scores`: read each, compare it with its item's gold, give it a status.

Whose failure it was decides: a reply that cannot be read is the model's and counts as wrong (value 0, the lowest points in a
questionnaire); a failed call or an unusable judge is ours, and its value is missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.benchmark import Rows
from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import MoodflowError, ScoringError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.question_types import suited_types
from schemas.roles import PEOPLE
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.tables.scores import ItemScores
from schemas.vocabulary import CORRECTED, ItemStatus
from tasks.lake.frames import frame_of_rows, sort_keys
from tasks.lake.partitions import partition_key
from tasks.metrics.answer_forms import ParsedAnswer, Question, read_answer
from tasks.metrics.classes import name_classes
from tasks.metrics.measures import Rating, read_ratings
from tasks.metrics.metric import Metric, WholeMeasure
from tasks.solvers.answers import ANSWER, ASKED, ITEM, OWN_WORDS, require_counterparts

METRICS_VERSION = "10"
"""Bumped when a reply is read or scored differently; enters the fingerprint of item_scores."""

SCHEMA = ItemScores.create_empty().schema
MEASURED = Rows("metrics", Metric)


class ScoredAnswer(NamedTuple):
    """One answer under one metric; fields as the columns of ItemScores."""

    value: float | None
    status: ItemStatus
    parsed_answer: str | None = None
    predicted: list[str] | None = None
    gold: list[str] | None = None
    chosen_place: int | None = None
    gold_place: int | None = None
    error: str | None = None


def score_items(
    items: dy.DataFrame[Items],
    answers: dy.DataFrame[Answers],
    judgements: dy.DataFrame[Judgements] | None,
    method: MethodSpec,
    gold: Mapping[str, pl.DataFrame] | None = None,
) -> dy.DataFrame[ItemScores]:
    """Score the answers to a dataset by one method.

    Of `answers` each (model, setting, repetition) covers every item. A judged method needs `judgements` of them; rows of other
    rubrics are ignored. `gold`: rows of the layers that hold it, by name, where it is not in the items.

    Returns:
        One row per answer and metric, sorted by key; of a metric that measures all parts of an item one per item. Where the gold
        is options, `predicted` and `gold` hold their texts (or what else the metric counts, see tasks.metrics.metric.Labels):
        null is an answer that never came. Answers, letters and labels are in the item's own order of options; `chosen_place` and
        `gold_place` are the places as they were shown.

    Raises:
        ScoringError: if items are without answer or answers without item, the method is of another profile, a metric does not
            suit an item's type, the order of shown options is none of the item's, or a judged method has no judgements.
    """
    check_metrics(items, method)
    if wholes_of([method]):
        return _score_wholes(items, answers, method, gold or {})
    named = items.with_columns(classes=name_classes(items))
    questions = {(row["dataset"], row["item_id"]): Question.from_row(row) for row in named.iter_rows(named=True)}
    ratings = read_ratings(judgements, method) if method.judged else {}

    def score(answer: Mapping[str, Any]) -> Iterator[ScoredAnswer]:
        key = tuple(answer[name] for name in ANSWER)
        return _score_answer(questions[key[:2]], answer, ratings.get(key, ()), method)

    return score_answers(items, answers.with_columns(own_words=OWN_WORDS), method, score)


def wholes_of(methods: Sequence[MethodSpec]) -> list[WholeMeasure]:
    """Return what measures all parts of an item together, of the metrics of these methods."""
    return list({measure: None for method in methods for spec in method.metrics if (measure := MEASURED[spec.metric].whole)})


def _score_wholes(
    items: dy.DataFrame[Items], answers: pl.DataFrame, method: MethodSpec, gold: Mapping[str, pl.DataFrame]
) -> dy.DataFrame[ItemScores]:
    whole = wholes_of([method])[0]
    by_item = whole.gold(items, gold)
    together = answers.group_by(ASKED, maintain_order=True).agg(parts="part", own_words=OWN_WORDS).with_columns(part=pl.lit(""))

    def score(answer: Mapping[str, Any]) -> Iterator[ScoredAnswer]:
        values = whole.values(
            by_item[answer["item_id"]], dict(zip(answer["parts"], answer["own_words"], strict=True)), method.profile
        )
        for spec in method.metrics:
            value = values.get(spec.metric)
            missing: ItemStatus = "call_failed" if spec.metric in values else "not_counted"
            yield ScoredAnswer(value, missing if value is None else "scored")

    return score_answers(items, together, method, score)


Score = Callable[[Mapping[str, Any]], Iterable[ScoredAnswer]]
"""From the row of an answer, with all that the model says in it as `own_words`, to its score under each metric."""


def score_answers(
    items: dy.DataFrame[Items], answers: pl.DataFrame, method: MethodSpec, score: Score
) -> dy.DataFrame[ItemScores]:
    """Return the rows of `item_scores` that a profile makes of the answers, sorted by key.

    ScoringError: items are without answer or answers without item.
    """
    check_coverage(items, answers)
    clusters = {(dataset, item): cluster for dataset, item, cluster in items.select(*ITEM, "cluster").iter_rows()}
    rows = [
        {
            **{name: answer[name] for name in ANSWER},
            "cluster": clusters[answer["dataset"], answer["item_id"]],
            "method": method.id,
            "metric": spec.metric,
            **scored._asdict(),
        }
        for answer in answers.iter_rows(named=True)
        for spec, scored in zip(method.metrics, _score_anyhow(score, answer), strict=True)
    ]
    return ItemScores.cast(frame_of_rows(rows, SCHEMA).sort(sort_keys(ItemScores.primary_key())))


def _score_anyhow(score: Score, answer: Mapping[str, Any]) -> list[ScoredAnswer]:
    """Score an answer. An error in reading it makes it unreadable, as if the model had said nothing, and ends no run."""
    try:
        return list(score(answer))
    except (MoodflowError, ImportError, OSError, MemoryError):  # of items, methods or this machine, not of the reply
        raise
    except Exception as error:  # noqa: BLE001  named in the row
        blanks = "" if isinstance(answer.get("own_words"), str) else [part and "" for part in answer.get("own_words") or ()]
        silent = {**answer, "text": "", "own_words": blanks, "token_logprobs": None}
        unread = [score_row._replace(error=type(error).__name__) for score_row in score(silent)]
        return [score_row._replace(status="unparsed") if score_row.status == "scored" else score_row for score_row in unread]


def check_coverage(items: dy.DataFrame[Items], answers: pl.DataFrame) -> None:
    """Raise ScoringError unless every run answers exactly the items there are."""
    expected = "an answer per item, model, setting and repetition, failed ones included"
    expected_answers = items.select(ITEM).join(answers.select("model", "setting", "repetition").unique(), how="cross")
    require_counterparts(items, answers, ITEM, "items have no answer", expected)
    require_counterparts(expected_answers, answers, ASKED, "items have no answer", expected)
    require_counterparts(answers, items, ITEM, "answers belong to no item", expected)


def check_metrics(items: dy.DataFrame[Items], method: MethodSpec) -> None:
    """Raise ScoringError if the method is of the reference profile or a metric of it cannot score one of the question types."""
    if method.profile != CORRECTED and not wholes_of([method]):
        raise ScoringError(
            "this method cannot use another profile",
            where=f"method {method.id}",
            expected="profile corrected",
            got=f"profile {method.profile}",
            next_step="set the profile for the run (--set profile=reference), not in the method",
        )
    asked = set(items["question_type"])
    for spec in method.metrics:
        suited = suited_types(spec.metric)
        if not asked <= {*suited}:
            first = items.filter(~pl.col("question_type").is_in(suited)).row(0, named=True)
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


def _score_answer(
    question: Question, answer: Mapping[str, Any], rated: Sequence[Sequence[Rating]], method: MethodSpec
) -> Iterator[ScoredAnswer]:
    text, order = answer["own_words"], answer["option_order"]
    if order is not None:
        check_order(question, order)
    cut = answer["finish_reason"] == "length"
    tokens = [(entry["token"], entry["logprob"]) for entry in answer["token_logprobs"] or ()]
    parsed = None if text is None else read_answer(question, text, cut=cut, order=order, token_logprobs=tokens)
    for spec in method.metrics:
        value, status = _outcome(question, parsed, spec, rated, answered=text is not None)
        labels = MEASURED[spec.metric].labels
        read = None if status == "unparsed" else parsed
        predicted = labels.predicted(question, read.indices) if read else labels.unread(question)
        yield ScoredAnswer(
            value,
            status,
            parsed_answer=read.text if read else None,
            predicted=None if text is None else predicted,
            gold=labels.gold(question),
            chosen_place=shown_place(question, read.indices if read else (), order),
            gold_place=shown_place(question, question.gold_indices, order),
        )


def _outcome(
    question: Question, answer: ParsedAnswer | None, spec: MetricSpec, rated: Sequence[Sequence[Rating]], *, answered: bool
) -> tuple[float | None, ItemStatus]:
    measure = MEASURED[spec.metric]
    if not measure.counts(question):
        return None, "not_counted"
    if not answered:
        return None, "call_failed"
    if answer is None:
        return 0.0, "unparsed"
    if measure.answer is not None:
        value = measure.answer(question, answer, spec)
        return (0.0, "unparsed") if value is None else (value, "scored")
    if measure.ratings is None or not rated:
        return None, "judge_failed"
    return fmean(map(measure.ratings, rated)), "scored"


def shown_place(question: Question, indices: Sequence[int], order: Sequence[int] | None) -> int | None:
    """Return the 0-based place of a single choice's option as shown; null for other types and where there is no option."""
    if question.form != "letter" or not indices:
        return None
    return indices[0] if order is None else order.index(indices[0])


def item_scores_key(answers: PartitionRef, others: Sequence[PartitionRef], methods: Sequence[MethodSpec]) -> PartitionKey:
    """Return the key of the scored items of one partition of answers; `others`: judgements and gold that they rest on.

    Weights and normalisation are left out: they act later, so changing them does not score the items again.
    """
    specs = [
        {
            "method": method.id,
            "rubric": method.rubric,
            **({"raters": PEOPLE} if method.raters == PEOPLE else {}),
            "profile": method.profile,
            "metrics": [{"metric": metric.metric, "k": metric.k} for metric in method.metrics],
        }
        for method in methods
    ]
    parents = [answers.identity, *(ref.identity for ref in others)]
    return partition_key("item_scores", dict(answers.place), {"methods": specs}, parents, METRICS_VERSION)
