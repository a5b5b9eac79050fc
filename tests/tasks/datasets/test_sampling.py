"""The draw: its order rests on the seed and on what is drawn, never on the order of the files."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.context import Sample
from schemas.item import Item, Record
from tasks.datasets.building import rank, rank_samples

TEXTS = st.lists(st.text(min_size=1, max_size=3), unique=True, min_size=1, max_size=30)
MADE = Item(question="What?"), None


def sample(name: str, text: str = "", unit: str | None = "") -> Sample:
    return Sample(name, Record(fields={"text": text}, file="f", row=0), lambda: MADE, unit)


def drawn(samples: Sequence[Sample], size: int | None = None, seed: int = 0) -> list[str]:
    return [one.item_id for one in rank_samples(samples, seed)[:size]]


def of_texts(texts: Sequence[str]) -> list[Sample]:
    return [sample(f"set-{text}", text) for text in texts]


def test_rank_by_hand() -> None:
    # printf '7:abc' | sha256sum
    assert rank(7, "abc") == "d9d02ef46913e78745d85b7ee05d3e0e27006b67a080a426be4414c506b82aab"


def test_the_smallest_ranks_come_first() -> None:
    # HASH of a record: printf '{"text": "a"}' | sha256sum; printf '0:HASH' | sha256sum of a, b, c, d begins with c6, 28, 6d, 22.
    assert drawn(of_texts("abcd")) == ["set-d", "set-b", "set-c", "set-a"]


@given(texts=TEXTS, seed=st.integers(0, 5), data=st.data())
def test_order_of_rows_does_not_matter(texts: list[str], seed: int, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(texts))
    assert drawn(of_texts(texts), seed=seed) == drawn(of_texts(shuffled), seed=seed)


@given(texts=TEXTS, size=st.integers(1, 30), extra=st.text(min_size=4, max_size=6))
def test_a_row_more_displaces_at_most_one(texts: list[str], size: int, extra: str) -> None:
    before, after = set(drawn(of_texts(texts), size)), set(drawn(of_texts([*texts, extra]), size))
    assert after - before <= {f"set-{extra}"}
    assert len(before - after) <= 1


def test_another_seed_is_another_draw() -> None:
    samples = of_texts([str(number) for number in range(100)])
    # Two independent draws of 50 from 100 share 25 on average, standard deviation 2.5; equal draws would share 50.
    assert 10 < len(set(drawn(samples, 50, seed=0)) & set(drawn(samples, 50, seed=1))) < 40


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("", ["x", "x-2", "x-3"]), ("u", ["x-2", "x", "x-3"])],
    ids=["of an adapter, by name", "of one unit, as they are listed"],
)
def test_samples_of_one_record_that_are_drawn_together(unit: str, expected: list[str]) -> None:
    assert drawn([sample(name, unit=unit) for name in ("x-2", "x", "x-3")]) == expected


def test_samples_of_one_record_without_a_unit_are_ranked_apart() -> None:
    names = [f"d{number}" for number in range(30)]
    samples = [sample(name, unit=None) for name in names]
    assert sorted(drawn(samples)) == sorted(names)
    assert drawn(samples) not in (names, names[::-1])
    assert drawn(samples) == drawn(samples[::-1])
