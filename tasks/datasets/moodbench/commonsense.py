"""Everyday knowledge in English: Cosmos QA, PIQA, TruthfulQA."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold
from tasks.datasets.adapters.placement import order_matters


def adapt_cosmos_qa(record: Record) -> Iterable[Item]:
    """`answer0` to `answer3` are the options, `label` the 0-based number of the right one, as text."""
    fields = record.fields
    options = tuple(fields[f"answer{number}"].strip() for number in range(4))
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=fields["context"].strip(),
            question=fields["question"].strip(),
            options=options,
            gold_indices=find_gold({str(number): number for number in range(4)}, fields["label"]),
            fixed_order=order_matters(options),
        )
    ]


def join_piqa_labels(records: Sequence[Record]) -> list[Record]:
    """Give each goal the label that stands on the line of its number.

    Raises:
        ValueError: there are not as many labels as goals.
    """
    goals = [record for record in records if "goal" in record.fields]
    labels = [record.fields["line"].strip() for record in records if "line" in record.fields]
    if len(goals) != len(labels):
        raise ValueError(f"{len(goals)} goals and {len(labels)} labels")
    return [replace(goal, fields={**goal.fields, "label": label}) for goal, label in zip(goals, labels, strict=True)]


def adapt_piqa(record: Record) -> Iterable[Item]:
    """`goal` is what is to be done, `sol1` and `sol2` are the ways; `label` "0" = the first is right, "1" = the second."""
    fields = record.fields
    return [
        Item(
            language="en",
            question_type="single_choice",
            context=fields["goal"].strip() or None,
            question="Which of these solutions reaches the goal?",
            options=(fields["sol1"].strip(), fields["sol2"].strip()),
            gold_indices=find_gold({"0": 0, "1": 1}, fields["label"]),
        )
    ]


def adapt_truthfulqa(record: Record) -> Iterable[Item]:
    """`mc1_targets` and `mc2_targets` map answers to 1 (true) or 0 (false).

    The reply is written freely and compared with both kinds.
    """
    fields = record.fields
    answers = [*fields["mc1_targets"].items(), *fields["mc2_targets"].items()]
    return [
        Item(
            language="en",
            question_type="open_ended",
            question=fields["question"].strip(),
            references=_distinct(answers, true=1),
            wrong_references=_distinct(answers, true=0),
        )
    ]


def _distinct(answers: Sequence[tuple[str, int]], true: int) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(text.strip() for text, label in answers if label == true)) or None
