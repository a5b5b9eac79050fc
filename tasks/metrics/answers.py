"""From a reply to a typed answer, and from an answer to the value of one metric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.blueprint import MetricSpec
from schemas.letters import option_letters
from schemas.vocabulary import Metric, QuestionType
from tasks.metrics.choice import label_f1, set_equality
from tasks.metrics.overlap import exact_match, rouge_l, token_f1
from tasks.metrics.parsing import parse_choice, parse_choices, parse_free_text, parse_order
from tasks.metrics.questionnaire import is_filler, points_share
from tasks.metrics.ranking import order_accuracy, recall_at_k, reciprocal_rank

LABELLED: frozenset[QuestionType] = frozenset({"single_choice", "multiple_answer", "ordered_recall", "ranking"})
"""Question types whose gold is options: their label columns are filled."""

_TEXT: frozenset[QuestionType] = frozenset({"extractive", "open_ended"})
_CHOICE: frozenset[QuestionType] = frozenset({"single_choice", "multiple_answer"})

SUITED: Mapping[Metric, frozenset[QuestionType]] = {
    "accuracy": _CHOICE | {"extractive"},
    "macro_f1": _CHOICE,
    "micro_f1": _CHOICE,
    "exact_match": _TEXT | {"multiple_answer"},
    "token_f1": _TEXT,
    "rouge_l": _TEXT | {"judged_summary"},
    "recall_at_k": frozenset({"ranking"}),
    "mrr": frozenset({"ranking"}),
    "order_accuracy": frozenset({"ordered_recall"}),
    "questionnaire_points": frozenset({"questionnaire"}),
    "judged_rating": frozenset({"judged_summary", "open_ended"}),
}
"""Question types each metric can score. Accuracy of an extractive item is exact match: exams mix both kinds."""


@dataclass(frozen=True)
class Question:
    """What scoring needs of an item; which fields are set follows from `question_type` as in schemas.item."""

    item_id: str
    question_type: QuestionType
    options: tuple[str, ...]
    gold_indices: tuple[int, ...]
    references: tuple[str, ...]
    option_points: tuple[float | None, ...]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Question":
        """The question of one row of the items layer."""
        return cls(
            item_id=row["item_id"],
            question_type=row["question_type"],
            options=tuple(row["options"] or ()),
            gold_indices=tuple(row["gold_indices"] or ()),
            references=tuple(row["references"] or ()),
            option_points=tuple(row["option_points"] or ()),
        )

    @property
    def is_filler(self) -> bool:
        """Whether it belongs to a questionnaire and earns no points."""
        return self.question_type == "questionnaire" and is_filler(self.option_points)

    def labels(self, indices: tuple[int, ...]) -> list[str] | None:
        """Option texts of these indices; null where the gold is not options."""
        return [self.options[index] for index in indices] if self.question_type in LABELLED else None


@dataclass(frozen=True)
class Answer:
    """What a reply was read as: `shown` for people, and either options or a text."""

    shown: str
    indices: tuple[int, ...] = ()


def read_answer(question: Question, reply: str, *, cut: bool = False) -> Answer | None:
    """The reply as an answer to this type of question; null if it cannot be read.

    An order must name every option; a ranking may stop early, what it leaves out is not found.

    Args:
        question: the item.
        reply: the model's last turn.
        cut: the reply ended at its token limit.
    """
    if question.question_type in ("single_choice", "questionnaire"):
        index = parse_choice(reply, question.options, cut=cut).index
        return None if index is None else _lettered(question, (index,))
    if question.question_type == "multiple_answer":
        indices = parse_choices(reply, question.options, cut=cut).indices
        return None if indices is None else _lettered(question, tuple(sorted(indices)))
    if question.question_type in ("ordered_recall", "ranking"):
        order = parse_order(reply, question.options, cut=cut)
        usable = order.indices is not None and (order.complete or question.question_type == "ranking")
        return _lettered(question, order.indices or ()) if usable else None
    text = parse_free_text(reply).text
    return None if text is None else Answer(text)


def measure(question: Question, answer: Answer, metric: MetricSpec) -> float:
    """The item's share of a metric, in [0, 1]; the metric must suit the question type.

    Raises:
        ScoringError: if the item's points or references do not allow a number.
    """
    return _MEASURES[metric.metric](question, answer, metric)


def _lettered(question: Question, indices: tuple[int, ...]) -> Answer:
    letters = option_letters(len(question.options))
    return Answer(",".join(letters[index] for index in indices), indices)


def _accuracy(question: Question, answer: Answer, _metric: MetricSpec) -> float:
    if question.question_type in _TEXT:
        return exact_match(answer.shown, question.references)
    return set_equality(answer.indices, question.gold_indices)


def _label_f1(question: Question, answer: Answer, _metric: MetricSpec) -> float:
    return label_f1(answer.indices, question.gold_indices)


def _recall(question: Question, answer: Answer, metric: MetricSpec) -> float:
    return recall_at_k(answer.indices, question.gold_indices, metric.k or 1)


_MEASURES: Mapping[Metric, Callable[[Question, Answer, MetricSpec], float]] = {
    "accuracy": _accuracy,
    "macro_f1": _label_f1,
    "micro_f1": _label_f1,
    "exact_match": _accuracy,
    "token_f1": lambda question, answer, _metric: token_f1(answer.shown, question.references),
    "rouge_l": lambda question, answer, _metric: rouge_l(answer.shown, question.references),
    "recall_at_k": _recall,
    "mrr": lambda question, answer, _metric: reciprocal_rank(answer.indices, question.gold_indices),
    "order_accuracy": lambda question, answer, _metric: order_accuracy(answer.indices, question.gold_indices),
    "questionnaire_points": lambda question, answer, _metric: points_share(question.option_points, answer.indices[0]),
}
