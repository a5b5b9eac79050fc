"""Questionnaires about oneself: Empathy Quotient, emotional intelligence, relationships, communication."""

from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import read_differences

# Baron-Cohen and Wheelwright 2004, doi:10.1023/B:JADD.0000022607.19833.00: items that score for agreement, items that score for
# disagreement; the other 20 of the 60 are fillers. Numbers count from 1, in the order of the instrument and of the file.
AGREEMENT_SCORES = frozenset((1, 6, 19, 22, 25, 26, 35, 36, 37, 38, 41, 42, 43, 44, 52, 54, 55, 57, 58, 59, 60))
DISAGREEMENT_SCORES = frozenset((4, 8, 10, 11, 12, 14, 15, 18, 21, 27, 28, 29, 32, 34, 39, 46, 48, 49, 50))
FOR_AGREEMENT = {"完全不同意": 0.0, "不同意": 0.0, "中立": 0.0, "同意": 1.0, "完全同意": 2.0}
FOR_DISAGREEMENT = {"完全不同意": 2.0, "不同意": 1.0, "中立": 0.0, "同意": 0.0, "完全同意": 0.0}


def adapt_empathy_quotient(record: Record) -> Item:
    """A statement scored by the published key, not by the file's `Score`."""
    number, choices = record.row + 1, record.fields["Choices"]
    points: tuple[float | None, ...]
    if number in AGREEMENT_SCORES:
        subset, points = "agreement scores", tuple(FOR_AGREEMENT[choice] for choice in choices)
    elif number in DISAGREEMENT_SCORES:
        subset, points = "disagreement scores", tuple(FOR_DISAGREEMENT[choice] for choice in choices)
    else:
        subset, points = "filler", (None,) * len(choices)
    return _item(record, points).model_copy(update={"subset": subset})


def adapt_questionnaire(record: Record) -> Item:
    """A statement, or the beginning of one, scored by the file: `Score` holds the points of each of `Choices`."""
    return _item(record, tuple(float(points) for points in record.fields["Score"]))


def _item(record: Record, points: tuple[float | None, ...]) -> Item:
    return Item(
        language="zh",
        question_type="questionnaire",
        question=record.fields["Question"].strip(),
        options=tuple(record.fields["Choices"]),
        option_points=points,
    )


def _questionnaire(name: str, title: str, file: str, rows: int, **fields: Any) -> DatasetSpec:
    """Describe a questionnaire of this many items."""
    unreadable = "The released code gives a failed call the lowest points of its item; here it is a missing value."
    return moodbench_entry(
        id=name,
        title=title,
        files=(moodbench_file(f"values/mental_health/liangbiao/data/meq/{file}.json"),),
        question_types=("questionnaire",),
        languages=("zh",),
        expected_rows=rows,
        differences=(*read_differences(name), unreadable),
        **{"adapter": adapt_questionnaire, "licence": "not stated", **fields},
    )


EQ60 = _questionnaire(
    "eq60",
    "Empathy Quotient, 60 items",
    "EQ-60共情商量表-中文",
    60,
    adapter=adapt_empathy_quotient,
    licence="Autism Research Centre, research use (as known upstream, not verified); translation of unknown origin",
    paper="Baron-Cohen and Wheelwright 2004, The Empathy Quotient, Journal of Autism and Developmental Disorders 34",
)

IRI30 = _questionnaire("iri30", "Emotional intelligence, 30 items (IRI30)", "IRI30项情商问卷", 30, paper="none known")

_POPULAR = "none known: a popular test of {} items"

INTERPERSONAL_RELATIONSHIP = _questionnaire(
    "interpersonal_relationship", "Interpersonal relationship test", "人际关系测试16道", 16, paper=_POPULAR.format(16)
)

EFFECTIVE_COMMUNICATION = _questionnaire(
    "effective_communication", "Effective communication test", "有效沟通测试", 15, paper=_POPULAR.format(15)
)
