"""The first difference of two tables, all differences of two documents."""

import polars as pl

from schemas.tables.scores import TaskScores
from tasks.runs.differences import ABSENT, TreeChange, first_difference, tree_changes
from tests.rows import each_row


def table(**scores: float | None) -> pl.DataFrame:
    fixed = {"model": "m", "setting": "base", "datasets_total": 1, "n_total": 8}
    rows = [
        {**fixed, "task": task, "score_0_100": score, "datasets_scored": int(score is not None), "n_scored": 8}
        for task, score in scores.items()
    ]
    return pl.DataFrame(rows, schema=TaskScores.create_empty().schema)


def cell(task: str, *pair: str, column: str = "score_0_100") -> tuple[str, ...]:
    return f"model m, setting base, task {task}", column, *pair


@each_row(
    ("left", "right", "expected"),
    [
        (table(a=1.0, b=2.0), table(b=2.0, a=1.0), None),
        (table(a=1.0, b=2.0, c=3.0), table(a=1.0, b=2.5, c=3.5), cell("b", "2.0", "2.5")),
        (table(a=1.0), table(a=1.0, b=2.0), cell("b", ABSENT, "present", column="row")),
        (table(a=1.0, b=2.0), table(b=2.0), cell("a", "present", ABSENT, column="row")),
        (table(a=0.1 + 0.2), table(a=0.3), cell("a", "0.30000000000000004", "0.3")),
        (table(a=0.0), table(a=-0.0), cell("a", "0.0", "-0.0")),
    ],
)
def test_first_difference(left: pl.DataFrame, right: pl.DataFrame, expected: tuple[str, ...] | None) -> None:
    assert first_difference(left, right, TaskScores) == expected


def test_entries_of_a_list_are_compared_by_name() -> None:
    before = {"abilities": [{"id": "x", "weight": 1.0}, {"id": "y", "tasks": [{"id": "t", "level": "low"}]}], "version": "1"}
    after = {"abilities": [{"id": "y", "tasks": [{"id": "t", "level": "high"}]}, {"id": "z"}], "version": "1", "new": 1}
    assert list(tree_changes(before, after)) == [
        TreeChange("abilities[x]", {"id": "x", "weight": 1.0}, ABSENT),
        TreeChange("abilities[y].tasks[t].level", "low", "high"),
        TreeChange("abilities[z]", ABSENT, {"id": "z"}),
        TreeChange("new", ABSENT, 1),
    ]


def test_an_order_alone_is_a_change() -> None:
    entries = [{"metric": "accuracy"}, {"metric": "rouge_1"}]
    changes = list(tree_changes(entries, entries[::-1], "metrics"))
    assert changes == [TreeChange("metrics.order", ["accuracy", "rouge_1"], ["rouge_1", "accuracy"])]
    assert list(tree_changes(entries, entries)) == []
    # Lists without names change as a whole.
    assert list(tree_changes({"a": [1, 2]}, {"a": [1, 3]})) == [TreeChange("a", [1, 2], [1, 3])]
    # So does a document that becomes a number.
    assert list(tree_changes({"a": {"b": 1}}, {"a": 2})) == [TreeChange("a", {"b": 1}, 2)]


def test_entries_of_a_list_are_compared_by_number() -> None:
    before = {"a": [{"id": "x"}, {"id": "y"}], "b": [1], "c": None}
    after = {"a": [{"id": "x"}, {"id": "z", "more": 1}], "b": [1, 2]}
    assert list(tree_changes(before, after, by_name=False)) == [
        TreeChange("a.1.id", "y", "z"),
        TreeChange("a.1.more", None, 1),
        TreeChange("b", [1], [1, 2]),
    ]
