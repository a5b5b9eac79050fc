"""Every needle at every length and depth."""

from dataclasses import replace

import pytest

from schemas.context import ContextOptions
from schemas.errors import UsageError
from schemas.item import Record
from tasks.datasets.needle.haystacks import lay_out
from tasks.datasets.needle.needles import list_grid
from tests.tasks.datasets.needle.test_needles import needle

HAYSTACK = lay_out(tuple(f"Number {number} is here. It stays." for number in range(100)), "b", "matched")
NEEDLES = [
    replace(needle(f"Mira left house {row}."), record=Record(fields={"row": row}, file="f", row=row), needle_id=str(row))
    for row in range(2)
]


def test_a_grid_has_every_needle_at_every_length_and_depth() -> None:
    samples = list_grid(NEEDLES, HAYSTACK, ContextOptions(lengths=(200, 400), depths=(0, 12.5)), (1, 2), seed=3)
    assert [sample.item_id for sample in samples] == [
        f"{name}-len{length}-depth{depth}" for name in ("n", "n-2") for length in (200, 400) for depth in ("0", "12.5")
    ]
    assert [sample.record.row for sample in samples] == [0] * 4 + [1] * 4
    for sample in samples:
        item, context = sample.build()
        assert item.item_id == sample.item_id
        assert f"-len{context.target_tokens}-depth{context.target_depth_percent:g}" in sample.item_id
        assert abs(context.tokens - (context.target_tokens or 0)) <= 5  # a sentence has 5 tokens or fewer


def test_what_is_not_given_is_drawn_within_bounds_and_stays_when_the_other_is_given() -> None:
    free = [sample.build()[1] for sample in list_grid(NEEDLES, HAYSTACK, ContextOptions(), (150, 400), seed=3)]
    assert [sample.item_id for sample in list_grid(NEEDLES, HAYSTACK, ContextOptions(), (150, 400), seed=3)] == ["n", "n-2"]
    assert all(150 <= (context.target_tokens or 0) <= 400 for context in free)
    given = list_grid(NEEDLES, HAYSTACK, ContextOptions(lengths=(300,)), (150, 400), seed=3)
    assert [sample.build()[1].target_depth_percent for sample in given] == [context.target_depth_percent for context in free]
    assert len({context.target_depth_percent for context in free}) == 2
    many = [list_grid(NEEDLES[:1], HAYSTACK, ContextOptions(), (150, 152), seed)[0].build()[1] for seed in range(60)]
    assert {context.target_tokens for context in many} == {150, 151, 152}
    assert min(context.target_depth_percent or 0 for context in many) < 15
    assert max(context.target_depth_percent or 0 for context in many) > 85


@pytest.mark.parametrize(
    ("options", "got", "next_step"),
    [
        (ContextOptions(lengths=(200, 200)), "200, 200", "name each of the lengths once"),
        (ContextOptions(depths=(50.0, 50.0000001)), "50.0, 50.0000001", "name each of the depths once"),
    ],
)
def test_lengths_and_depths_that_make_no_grid_are_refused(options: ContextOptions, got: str, next_step: str) -> None:
    with pytest.raises(UsageError, match="cannot be used") as caught:
        list_grid(NEEDLES, HAYSTACK, options, (1, 2), seed=0)
    assert (caught.value.got, caught.value.next_step) == (got, next_step)
