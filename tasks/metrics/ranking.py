"""Metrics of ordered options, per item, all in [0, 1]."""

from collections.abc import Collection, Sequence
from itertools import combinations


def recall_at_k(ranking: Sequence[int], relevant: Collection[int], k: int) -> float:
    """Share of the relevant options among the first `k` named. Options that were not named are not found."""
    return len(set(ranking[:k]) & set(relevant)) / len(set(relevant))


def reciprocal_rank(ranking: Sequence[int], relevant: Collection[int]) -> float:
    """1 / place of the first relevant option (1 = named first); 0 if none was named. Its mean over items is the MRR."""
    return next((1 / place for place, index in enumerate(ranking, start=1) if index in relevant), 0.0)


def order_accuracy(order: Sequence[int], gold: Sequence[int]) -> float:
    """Share of option pairs in the right order: 1 for the true order, 0 for its reverse, 1/2 expected of a random one.

    This is (Kendall's tau + 1) / 2. Both arguments are permutations of the same options, two at least.
    """
    place = {index: position for position, index in enumerate(order)}
    pairs = [place[first] < place[second] for first, second in combinations(gold, 2)]
    return sum(pairs) / len(pairs)
