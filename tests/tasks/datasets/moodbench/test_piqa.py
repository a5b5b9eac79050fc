"""PIQA: labels that stand in a file of their own."""

import pytest

from schemas.errors import SourceError
from schemas.item import Record
from tasks.datasets.building import build_of_records
from tasks.datasets.catalogue import find_dataset
from tests.tasks.datasets.real_datasets import make_items

GOAL = {"goal": "Dry a cup.", "sol1": "Use a towel.", "sol2": "Use a brick."}


def records(n_goals: int, labels: str) -> list[Record]:
    goals = [Record(fields={**GOAL, "goal": f"{GOAL['goal']} {row}"}, file="valid.jsonl", row=row) for row in range(n_goals)]
    return [*goals, *(Record(fields={"line": label}, file="valid-labels.lst", row=row) for row, label in enumerate(labels))]


def test_piqa_labels_are_joined_by_line() -> None:
    items = make_items(find_dataset("piqa"), records(3, "012"))
    assert items["gold_indices"].to_list() == [[0], [1], None]
    assert items["options"].to_list()[0] == ["Use a towel.", "Use a brick."]
    assert items["context"].to_list()[0] == "Dry a cup. 0"
    built = build_of_records(find_dataset("piqa"), records(3, "012"), None, 0)
    assert (built.items.height, built.rejected.height) == (2, 1)


def test_piqa_with_another_number_of_labels_is_refused() -> None:
    with pytest.raises(SourceError) as refused:
        make_items(find_dataset("piqa"), records(3, "01"))
    assert refused.value.got == "ValueError: 3 goals and 2 labels"
