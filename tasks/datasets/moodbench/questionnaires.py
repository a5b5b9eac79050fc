"""Questionnaires about oneself: Empathy Quotient, emotional intelligence, relationships, communication."""

from collections.abc import Iterable

from schemas.item import Item, Record

# Baron-Cohen and Wheelwright 2004, doi:10.1023/B:JADD.0000022607.19833.00: items that score for agreement, items that score for
# disagreement; the other 20 of the 60 are fillers. Numbers count from 1, in the order of the instrument and of the file.
AGREEMENT_SCORES = frozenset((1, 6, 19, 22, 25, 26, 35, 36, 37, 38, 41, 42, 43, 44, 52, 54, 55, 57, 58, 59, 60))
DISAGREEMENT_SCORES = frozenset((4, 8, 10, 11, 12, 14, 15, 18, 21, 27, 28, 29, 32, 34, 39, 46, 48, 49, 50))
FOR_AGREEMENT = {"完全不同意": 0.0, "不同意": 0.0, "中立": 0.0, "同意": 1.0, "完全同意": 2.0}
FOR_DISAGREEMENT = {"完全不同意": 2.0, "不同意": 1.0, "中立": 0.0, "同意": 0.0, "完全同意": 0.0}


def adapt_empathy_quotient(record: Record) -> Iterable[Item]:
    """A statement scored by the published key, not by the file's `Score`. `subset`: the key it falls under."""
    number, choices = record.row + 1, record.fields["Choices"]
    if set(choices) != set(FOR_AGREEMENT):
        raise ValueError(f"the choices are {choices}, not the five levels of agreement")
    points: tuple[float | None, ...]
    if number in AGREEMENT_SCORES:
        subset, points = "agreement scores", tuple(FOR_AGREEMENT[choice] for choice in choices)
    elif number in DISAGREEMENT_SCORES:
        subset, points = "disagreement scores", tuple(FOR_DISAGREEMENT[choice] for choice in choices)
    else:
        subset, points = "filler", (None,) * len(choices)
    return [_item(record, points).model_copy(update={"subset": subset})]


def adapt_questionnaire(record: Record) -> Iterable[Item]:
    """A statement, or the beginning of one, scored by the file: `Score` holds the points of each of `Choices`."""
    return [_item(record, tuple(float(points) for points in record.fields["Score"]))]


def _item(record: Record, points: tuple[float | None, ...]) -> Item:
    return Item(
        language="zh",
        question_type="questionnaire",
        question=record.fields["Question"].strip(),
        options=tuple(record.fields["Choices"]),
        option_points=points,
    )
