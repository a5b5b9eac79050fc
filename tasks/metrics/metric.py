"""Rows of two registries: a metric, with what is said of it and what computes it; a profile, another way to read replies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.benchmark import Rows
from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec, MetricSpec
from schemas.lineage import PartitionKey, PartitionRef
from schemas.metrics import MetricRow
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.tables.scores import ItemScores
from schemas.usage import Role
from schemas.vocabulary import Profile
from tasks.metrics.answer_forms import FORMS, ParsedAnswer, Question
from tasks.metrics.labels import Indices
from tasks.metrics.measures import Rating

AnswerMeasure = Callable[[Question, ParsedAnswer, MetricSpec], float | None]


class Labels(NamedTuple):
    """What a dataset's score is counted from: labels of the options that are named, of a reply that cannot be read, of the gold.

    Null: the answer is no option that is a class.
    """

    predicted: Callable[[Question, Indices], list[str] | None]
    unread: Callable[[Question], list[str] | None]
    gold: Callable[[Question], list[str] | None]


def _texts(question: Question, indices: Indices) -> list[str] | None:
    return [question.options[index] for index in indices] if FORMS[question.form].has_labels else None


def _classes(question: Question, indices: Indices) -> list[str] | None:
    return _texts(replace(question, options=question.classes or question.options), indices)


CLASSES = Labels(_classes, lambda question: _classes(question, ()), lambda question: _classes(question, question.gold_indices))
OPTIONS = Labels(_texts, lambda question: _texts(question, ()), lambda question: _texts(question, question.gold_indices))


def is_filler(question: Question) -> bool:
    """Return whether the item of a questionnaire is asked but not counted: no option earns anything."""
    return question.form == "scale" and all(earned is None for earned in question.option_points)


class WholeMeasure(NamedTuple):
    """Measures all answers to an item together, by gold that has layers of its own.

    `gold`: from the items, and the rows of the layers of gold by name, to what is known of each item, by its id. `values`: from
    what is known of an item, what each part of it says (null = the call failed) and the profile to the value of each metric;
    null = lost with a call that failed, left out = there is nothing to score. `is_unread`: from a part and the object that its
    reply holds to whether that lacks what was asked for. `judge`: the role that is asked the parts that end in `judge`.
    """

    gold: Callable[[pl.DataFrame, Mapping[str, pl.DataFrame]], Mapping[str, Any]]
    values: Callable[[Any, Mapping[str, str | None], Profile], Mapping[str, float | None]]
    is_unread: Callable[[str, Mapping[str, Any]], bool]
    judge: Role


@dataclass(frozen=True)
class Metric(MetricRow):
    """A metric with what computes the values of its items: one of `answer`, `ratings` and `whole`.

    Attributes:
        answer: the value of an answer that was read; null = it leaves open what is asked (a ranking that stops early).
        ratings: the value of a judge's ratings.
        whole: the values of all parts of an item.
        labels: what the score of a dataset is counted from, where it is no mean.
        counts: whether an item enters the score at all.
    """

    answer: AnswerMeasure | None = None
    ratings: Callable[[Sequence[Rating]], float] | None = None
    whole: WholeMeasure | None = None
    labels: Labels = OPTIONS
    counts: Callable[[Question], bool] = lambda question: not is_filler(question)


@dataclass(frozen=True)
class ScoringProfile:
    """How replies are scored by other rules; `corrected`, by ours, has no row.

    Attributes:
        name: in plans and methods.
        version: bumped when a reply is scored differently.
        blueprint: from a blueprint to the same with the methods of the profile, under a name of its own.
        gap: why a dataset has no score in it, as the end of a sentence; null = it has one.
        key: of the item scores of a partition of answers, by some methods.
        score: scores the answers to a dataset by one method.
    """

    name: str
    version: str
    blueprint: Callable[[Blueprint], Blueprint]
    gap: Callable[[str, BlueprintDataset], str | None]
    key: Callable[[PartitionRef, Sequence[MethodSpec]], PartitionKey]
    score: Callable[[dy.DataFrame[Items], dy.DataFrame[Answers], MethodSpec], dy.DataFrame[ItemScores]]


PROFILES = Rows("profiles", ScoringProfile)
