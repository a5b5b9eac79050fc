import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from tasks.metrics.options import label_f1, set_equality

INDICES = st.sets(st.integers(0, 5), min_size=1)


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [((1,), (1,), 1.0), ((1,), (2,), 0.0), ((0, 2), (2, 0), 1.0), ((0, 2), (0,), 0.0), ((), (0,), 0.0)],
)
def test_set_equality(predicted: tuple[int, ...], gold: tuple[int, ...], expected: float) -> None:
    assert set_equality(predicted, gold) == expected


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ((0, 2), (0, 2), 1.0),
        # one of two chosen is right, one of two right ones is found: p = 1/2, r = 1/2, F1 = 1/2
        ((0, 1), (0, 2), 0.5),
        # p = 1/3, r = 1/1, F1 = 2 * (1/3) / (4/3) = 1/2
        ((0, 1, 2), (2,), 0.5),
        # p = 1/1, r = 1/3, F1 = 1/2
        ((1,), (1, 2, 3), 0.5),
        # p = 2/3, r = 2/2, F1 = 2 * (2/3) / (5/3) = 4/5
        ((0, 1, 2), (0, 1), 0.8),
        ((3,), (0, 1), 0.0),
        ((), (0, 1), 0.0),
    ],
)
def test_label_f1(predicted: tuple[int, ...], gold: tuple[int, ...], expected: float) -> None:
    assert label_f1(predicted, gold) == pytest.approx(expected)


@given(predicted=INDICES, gold=INDICES)
def test_label_f1_agrees_with_scikit_learn(predicted: set[int], gold: set[int]) -> None:
    theirs = f1_score([index in gold for index in range(6)], [index in predicted for index in range(6)])
    assert label_f1(predicted, gold) == pytest.approx(theirs)
