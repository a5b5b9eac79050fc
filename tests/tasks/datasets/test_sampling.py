"""The draw: its order rests on the seed and on what is drawn, never on the order of the files."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.context import Sample
from schemas.item import Item, Record
from tasks.datasets.building import rank, rank_samples

TEXTS = st.lists(st.text(min_size=1, max_size=3), unique=True, min_size=1, max_size=30)
MADE = Item(question="What?"), None


def sample(name: str, text: str = "", unit: str | None = "", cluster: str | None = None) -> Sample:
    return Sample(name, Record(fields={"text": text}, file="f", row=0), lambda: MADE, cluster, unit)


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


def in_clusters(texts: Sequence[str], clusters: int) -> list[Sample]:
    return [sample(f"set-{text}", text, cluster=f"c{sum(map(ord, text)) % clusters}") for text in texts]


@given(texts=TEXTS, size=st.integers(1, 30), extra=st.text(min_size=4, max_size=6), clusters=st.integers(1, 9))
def test_a_row_more_displaces_at_most_one(texts: list[str], size: int, extra: str, clusters: int) -> None:
    for listed in (of_texts, lambda chosen: in_clusters(chosen, clusters)):
        before, after = set(drawn(listed(texts), size)), set(drawn(listed([*texts, extra]), size))
        assert after - before <= {f"set-{extra}"}
        assert len(before - after) <= 1


@given(texts=TEXTS, size=st.integers(1, 30), clusters=st.integers(1, 9))
def test_every_cluster_gives_one_before_any_second(texts: list[str], size: int, clusters: int) -> None:
    listed = in_clusters(texts, clusters)
    of, every = {one.item_id: one.cluster for one in listed}, Counter(one.cluster for one in listed)
    given = Counter(of[name] for name in drawn(listed, size))
    most = max(given.values())
    assert all(given[cluster] >= min(most - 1, there) for cluster, there in every.items())


def test_clusters_take_turns_by_hand() -> None:
    # By rank the samples come as d, b, c, a, see above. b and d are of one cluster: c and a go before b.
    assert drawn([sample(f"set-{text}", text, cluster={"b": "x", "d": "x"}.get(text)) for text in "abcd"]) == [
        *("set-d", "set-c", "set-a", "set-b")
    ]


def test_which_question_about_tweet_comes_first_is_drawn() -> None:
    """Of 300 tweets with eleven questions each 300 / 11 = 27.3 give each number first, with a standard deviation of 5."""
    listed = [sample(f"t{tweet}.{number}", str(tweet), cluster=f"t{tweet}") for tweet in range(300) for number in range(1, 12)]
    first = [name.split(".") for name in drawn(listed, 300)]
    assert len({tweet for tweet, _ in first}) == 300
    counts = Counter(number for _, number in first)
    assert len(counts) == 11
    assert max(abs(count - 300 / 11) for count in counts.values()) < 4 * 5


@pytest.mark.parametrize("unit", ["", "u"], ids=["of an adapter", "of one unit"])
def test_equal_ranks_are_ordered_by_name(unit: str) -> None:
    assert drawn([sample(name, unit=unit) for name in ("x-2", "x", "x-3")]) == ["x", "x-2", "x-3"]


def test_samples_without_unit_are_ranked_apart() -> None:
    names = [f"d{number}" for number in range(30)]
    samples = [sample(name, unit=None) for name in names]
    assert sorted(drawn(samples)) == sorted(names)
    assert drawn(samples) not in (names, names[::-1])
    assert drawn(samples) == drawn(samples[::-1])
