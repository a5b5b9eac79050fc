import polars as pl
import pytest

from tasks.scoring.reduction import reduce_item_scores
from tests.tasks.scoring.samples import items


def row(*parts: pl.DataFrame) -> dict[str, object]:
    reduced = reduce_item_scores(pl.concat(parts).lazy())
    assert reduced.height == 1
    return reduced.row(0, named=True)


COUNTS = ("value", "n_scored", "n_unparsed", "n_total")


@pytest.mark.parametrize(
    ("values", "status", "expected"),
    [
        # Counted: 1, 0.5, 0 (unparsed). Mean 1.5 / 3. Asked: 5.
        ([1, 0.5, 0, None, None], ["scored", "scored", "unparsed", "call_failed", "judge_failed"], (0.5, 3, 1, 5)),
        # Fillers are not asked for.
        ([1, None, 0, None], ["scored", "not_counted", "scored", "not_counted"], (0.5, 2, 0, 2)),
        # Nothing scored is null, a true zero is zero.
        ([None, None], None, (None, 0, 0, 2)),
        ([0, 0], None, (0.0, 2, 0, 2)),
    ],
)
def test_the_mean_of_what_was_scored(
    values: list[float | None], status: list[str] | None, expected: tuple[float | None, int, int, int]
) -> None:
    found = row(items("d", values, status=status))
    assert tuple(found[name] for name in COUNTS) == expected


def test_every_scored_repetition_weighs_the_same() -> None:
    # Item 0: 1, 1, 1; item 1: 0, failed, failed. Rows: 3 / 4; the item whose calls failed weighs less.
    values: list[list[float | None]] = [[1, 0], [1, None], [1, None]]
    found = row(*(items("d", said, repetition=number) for number, said in enumerate(values)))
    assert [found[name] for name in COUNTS] == [0.75, 4, 0, 6]


def test_groups_differ_in_every_part_of_the_key() -> None:
    parts = [
        items("d", [1]),
        items("d", [1], model="n"),
        items("e", [1]),
        items("d", [1], method="other"),
        items("d", [1], metric="exact_match"),
        items("d", [1], setting="rag"),
    ]
    assert reduce_item_scores(pl.concat(parts).lazy()).height == 6


def test_nothing_scored_is_null_for_f1_too() -> None:
    found = row(items("d", [None], metric="macro_f1"))
    assert found["value"] is None
