from hashlib import sha256

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.datasets.item_rows import rank_row, sample_items

TEXTS = st.lists(st.text(min_size=1, max_size=3), unique=True, min_size=1, max_size=30)


def frame(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "item_id": [f"set-{text}" for text in texts],
            "source_row_sha256": [sha256(text.encode()).hexdigest() for text in texts],
            "text": texts,
        },
        schema={"item_id": pl.String, "source_row_sha256": pl.String, "text": pl.String},
    )


def members(texts: list[str], size: int, seed: int = 0) -> set[str]:
    return set(sample_items(frame(texts), size, seed)["text"])


def test_rank_by_hand() -> None:
    # printf '7:abc' | sha256sum
    assert rank_row(7, "abc") == "d9d02ef46913e78745d85b7ee05d3e0e27006b67a080a426be4414c506b82aab"


def test_the_smallest_ranks_are_kept_and_sorted_by_id() -> None:
    # printf '0:%064d' N | sha256sum starts, for N = 1, 2, 3, 4, with ab, 36, cc, 74: N = 2 and 4 rank first.
    items = pl.DataFrame({"item_id": ["d", "c", "b", "a"], "source_row_sha256": [f"{number:064d}" for number in (1, 2, 3, 4)]})
    kept = sample_items(items, 2, 0)
    assert kept["item_id"].to_list() == ["a", "c"]
    assert kept.columns == ["item_id", "source_row_sha256"]


@given(texts=TEXTS, size=st.integers(1, 30), seed=st.integers(0, 5), data=st.data())
def test_order_of_rows_does_not_matter(texts: list[str], size: int, seed: int, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(texts))
    assert sample_items(frame(texts), size, seed).equals(sample_items(frame(shuffled), size, seed))


@given(texts=TEXTS, size=st.integers(1, 30), extra=st.text(min_size=4, max_size=6))
def test_a_row_more_displaces_at_most_one(texts: list[str], size: int, extra: str) -> None:
    before, after = members(texts, size), members([*texts, extra], size)
    assert after - before <= {extra}
    assert len(before - after) <= 1


@given(texts=TEXTS, size=st.integers(1, 30))
def test_size_is_kept_and_a_larger_sample_holds_the_smaller(texts: list[str], size: int) -> None:
    assert len(members(texts, size)) == min(size, len(texts))
    assert members(texts, size) <= members(texts, size + 1)


@pytest.mark.parametrize("size", [4, 100, None])
def test_all_rows_if_there_are_not_more(size: int | None) -> None:
    assert sample_items(frame(["c", "a", "d", "b"]), size, 0)["text"].to_list() == ["a", "b", "c", "d"]


def test_another_seed_is_another_draw() -> None:
    texts = [str(number) for number in range(100)]
    # Two independent draws of 50 from 100 share 25 on average, standard deviation 2.5; equal draws would share 50.
    assert 10 < len(members(texts, 50, seed=0) & members(texts, 50, seed=1)) < 40


def test_rows_of_equal_content_are_told_apart_by_id() -> None:
    items = pl.DataFrame({"item_id": ["x-2", "x", "x-3"], "source_row_sha256": ["0" * 64] * 3})
    assert sample_items(items, 2, 0)["item_id"].to_list() == ["x", "x-2"]
