"""Panels of judges: what they say of each unit, of missing members and of ties."""

from math import nan

import numpy as np
import pytest

from tasks.certificates.panels import How, panel

TABLE = np.array([[1, 2, 5], [2, 2, 4], [1, nan, 3], [nan, nan, 4], [nan, nan, nan]])


@pytest.mark.parametrize(
    ("how", "least", "expected"),
    [
        ("mean", None, [8 / 3, 8 / 3, nan, nan, nan]),
        ("median", None, [2, 2, nan, nan, nan]),
        ("majority", None, [nan, 2, nan, nan, nan]),
        ("mean", 2, [8 / 3, 8 / 3, 2, nan, nan]),
        ("median", 1, [2, 2, 2, 4, nan]),
        ("majority", 1, [nan, 2, nan, 4, nan]),
    ],
)
def test_members_of_a_panel_may_be_missing(how: How, least: int | None, expected: list[float]) -> None:
    assert panel(TABLE, how, least=least).tolist() == pytest.approx(expected, nan_ok=True)


def test_weights_are_learned_on_other_clusters() -> None:
    # Clusters 0 to 4 are the five folds. The first member is off by 9 in cluster 0, else by 1; the second by 2.
    target = np.array([10.0, 10, 10, 10, 10])
    table = np.column_stack((target + np.array([9, 1, 1, 1, 1]), target + 2))
    found = panel(table, "weighted", clusters=np.arange(5), target=target)
    # Cluster 0: weights 1 and 1/2. The others: the first is off by (9 + 3) / 4 = 3, so 1/3 and 1/2.
    assert found == pytest.approx([(19 + 12 / 2) / 1.5, *[(11 / 3 + 12 / 2) / (5 / 6)] * 4])
    # Who is never off elsewhere has all the weight, and others where it is missing have none.
    table = np.column_stack((target, target + 2))
    table[3, 0] = nan
    found = panel(table, "weighted", clusters=np.arange(5), target=target, least=1)
    assert found.tolist() == pytest.approx([10, 10, 10, nan, 10], nan_ok=True)


def test_a_weighted_panel_needs_people() -> None:
    with pytest.raises(ValueError, match="needs clusters and a target"):
        panel(TABLE, "weighted")
