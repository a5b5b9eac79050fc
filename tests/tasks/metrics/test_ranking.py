import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata
from sklearn.metrics import label_ranking_average_precision_score

from tasks.metrics.options import order_accuracy, rank_by_logprobs, recall_at_k, reciprocal_rank

PERMUTATIONS = st.integers(2, 7).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "expected"),
    [
        ((2, 0, 1), (2,), 1, 1.0),
        ((0, 2, 1), (2,), 1, 0.0),
        ((0, 2, 1), (2,), 2, 1.0),
        # one of the two relevant options is among the first two
        ((0, 2, 1, 3), (2, 3), 2, 0.5),
        # two relevant options cannot both come first
        ((2, 3, 0, 1), (2, 3), 1, 0.5),
        # what was not named is not found
        ((0,), (2,), 3, 0.0),
    ],
)
def test_recall_at_k(ranking: tuple[int, ...], relevant: tuple[int, ...], k: int, expected: float) -> None:
    assert recall_at_k(ranking, relevant, k) == expected


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        ((2, 0, 1), (2,), 1.0),
        ((0, 2, 1), (2,), 0.5),
        ((0, 1, 2), (2,), 1 / 3),
        # the first relevant one counts: option 3 in second place
        ((0, 3, 2), (2, 3), 0.5),
        ((0, 1), (2,), 0.0),
    ],
)
def test_reciprocal_rank(ranking: tuple[int, ...], relevant: tuple[int, ...], expected: float) -> None:
    assert reciprocal_rank(ranking, relevant) == pytest.approx(expected)


@settings(max_examples=300, deadline=None)
@given(ranking=st.integers(2, 8).flatmap(lambda n: st.permutations(range(n))), data=st.data())
def test_reciprocal_rank_agrees_with_scikit_learn(ranking: list[int], data: st.DataObject) -> None:
    relevant = data.draw(st.integers(0, len(ranking) - 1))
    # With one relevant option, label-ranking average precision is its reciprocal rank; a higher score means named earlier.
    truth = [[int(index == relevant) for index in range(len(ranking))]]
    scores = [[-ranking.index(index) for index in range(len(ranking))]]
    assert reciprocal_rank(ranking, [relevant]) == pytest.approx(label_ranking_average_precision_score(truth, scores))


@pytest.mark.parametrize(
    ("order", "gold", "expected"),
    [
        ((1, 3, 0, 2), (1, 3, 0, 2), 1.0),
        ((2, 0, 3, 1), (1, 3, 0, 2), 0.0),
        # one neighbouring pair of the six is swapped: 5 / 6
        ((3, 1, 0, 2), (1, 3, 0, 2), 5 / 6),
        # the last event moved to the front: its three pairs are wrong, 3 / 6
        ((2, 1, 3, 0), (1, 3, 0, 2), 0.5),
        ((0, 1), (1, 0), 0.0),
    ],
)
def test_order_accuracy(order: tuple[int, ...], gold: tuple[int, ...], expected: float) -> None:
    assert order_accuracy(order, gold) == pytest.approx(expected)


@settings(max_examples=300, deadline=None)
@given(ranking=st.integers(2, 8).flatmap(lambda n: st.permutations(range(n))), data=st.data())
def test_mean_reciprocal_rank_from_the_ranks_of_scores(ranking: list[int], data: st.DataObject) -> None:
    """Several relevant options, or none among those named: the best rank of a relevant one, by scipy's ranks of scores."""
    named = ranking[: data.draw(st.integers(0, len(ranking)))]
    relevant = data.draw(st.sets(st.sampled_from(range(len(ranking))), min_size=1))
    scores = np.array([len(ranking) - named.index(index) if index in named else -np.inf for index in range(len(ranking))])
    ranks = np.where(np.isinf(scores), np.inf, rankdata(-scores, method="min"))
    assert reciprocal_rank(named, relevant) == pytest.approx(1 / ranks[sorted(relevant)].min())


@settings(max_examples=300, deadline=None)
@given(orders=PERMUTATIONS)
def test_order_accuracy_is_kendalls_tau_on_zero_to_one(orders: tuple[list[int], list[int]]) -> None:
    order, gold = orders
    tau = kendalltau([order.index(index) for index in range(len(order))], [gold.index(index) for index in range(len(gold))])
    assert order_accuracy(order, gold) == pytest.approx((tau.statistic + 1) / 2)


@given(orders=PERMUTATIONS)
def test_reversed_order_earns_what_is_left(orders: tuple[list[int], list[int]]) -> None:
    order, gold = orders
    assert order_accuracy(order, gold) + order_accuracy(order[::-1], gold) == pytest.approx(1)


@pytest.mark.parametrize(
    ("tokens", "ranking"),
    [
        ([("A", -2.0), ("B", -0.5), ("C", -1.0)], (1, 2, 0)),
        # " B" is likelier than "A", and of two tokens for B the likelier counts, wherever it stands
        ([("B", -3.0), ("A", -1.0), (" B", -0.1)], (1, 0)),
        ([(" B", -0.1), ("A", -1.0), ("B", -3.0)], (1, 0)),
        # equal ones in the order of the letters
        ([("C", -1.0), ("B", -1.0), ("A", -1.0)], (0, 1, 2)),
        ([("(b", -0.2), ("C.", -0.1), (" (A.", -0.3)], (2, 1, 0)),
        # D is not shown; the others are words, digits and marks
        ([("D", -0.1), ("The", -0.2), ("AB", -0.3), ("1", -0.4), ("(", -0.5), ("", -0.6), ("A)", -0.7)], ()),
        ([("C", -4.0)], (2,)),
        ([], ()),
    ],
)
def test_letters_are_ranked_by_their_log_probabilities(tokens: list[tuple[str, float]], ranking: tuple[int, ...]) -> None:
    assert rank_by_logprobs(tokens, 3) == ranking


def test_where_a_sentence_begins_its_less_likely_tokens_rank_nothing() -> None:
    assert rank_by_logprobs([("The", -0.2), (" I", -2.5), ("A", -3.0)], 9) == ()
    # As likely as the likeliest is likely enough.
    assert rank_by_logprobs([("The", -1.0), ("B", -1.0), ("A", -3.0)], 9) == (1, 0)
