"""Ranks of the same models with another helper: coefficients by hand, intervals, and which groups are compared."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from tasks.leaderboard.across_models import compare_helpers, correlate_ranks
from tasks.leaderboard.ranking import LeaderboardData
from tasks.runs.comparable_runs import group_runs
from tests.tasks.runs.test_comparable_runs import manifest
from tests.tasks.scoring.samples import gated

SAGE = {"name": "s", "base_url": "http://s/v1"}
ORDERS = {"one": [10.0, 20, 30, 40], "two": [10.0, 30, 20, 40]}


def board(first: dict[str, Any], second: dict[str, Any], models: int = 4) -> LeaderboardData:
    """Two runs with these plans, whose totals are those of ORDERS."""
    manifests = tuple(manifest(f"2026010{day}-x", plan=plan) for day, plan in ((2, first), (1, second)))
    groups = group_runs(manifests, {})
    rows = [
        {"model": f"m{number}", "setting": "coem", "total": total, "run": each.run, "group": group.number}
        for group, each, totals in zip(groups, manifests, ORDERS.values(), strict=False)
        for number, total in enumerate(totals[:models])
    ]
    totals = pl.DataFrame(rows)
    return LeaderboardData(gated(), totals, totals.clear(), totals.clear(), manifests, groups=groups)


def test_coefficients_and_intervals_by_hand() -> None:
    totals = np.array(list(ORDERS.values()))
    # Ranks 1 2 3 4 and 1 3 2 4: rho 1 - 6 x (1 + 1) / (4 x 15); of six pairs five agree: tau (5 - 1) / 6.
    assert correlate_ranks(totals, 0, 0) == {
        "spearman": pytest.approx(0.8),
        "spearman_low": None,
        "spearman_high": None,
        "kendall_tau_b": pytest.approx(2 / 3),
        "kendall_tau_b_low": None,
        "kendall_tau_b_high": None,
    }
    found = correlate_ranks(totals, 400, 0)
    # Resamples of the two that changed places alone have -1, those without one of the two 1.
    assert (found["spearman_low"], found["spearman_high"]) == (-1, 1)
    assert correlate_ranks(totals, 400, 0) == found
    # With ties: ranks 1 2 3 and 1.5 1.5 3. Tau-b = 2 / sqrt(3 x 2); rho = Pearson of the ranks = 1.5 / sqrt(2 x 1.5).
    tied = correlate_ranks(np.array([[1.0, 2, 3], [5.0, 5, 6]]), 0, 0)
    assert [tied["kendall_tau_b"], tied["spearman"]] == pytest.approx([2 / 6**0.5, 1.5 / 3**0.5])
    assert set(correlate_ranks(np.array([[1.0, 2, 3], [5.0, 5, 5]]), 10, 0).values()) == {None}


def test_groups_that_differ_in_one_helper_are_correlated() -> None:
    other = {"roles": {"sage": {**SAGE, "name": "t"}}, "bootstrap": 0}
    data = board({"roles": {"sage": SAGE}, "bootstrap": 0}, other)
    (found,) = compare_helpers(data)
    assert {name: found[name] for name in ("role", "groups", "setting", "models")} == {
        "role": "sage",
        "groups": [1, 2],
        "setting": "coem",
        "models": ["m0", "m1", "m2", "m3"],
    }
    assert found["spearman"] == pytest.approx(0.8)
    # The model under test is its own sage in the second run.
    assert [one["role"] for one in compare_helpers(board({"roles": {"sage": SAGE}}, {}))] == ["sage"]


def test_groups_that_differ_otherwise_and_few_models_are_not() -> None:
    assert list(compare_helpers(board({"roles": {"sage": SAGE}}, {"seed": 1}))) == []
    assert list(compare_helpers(board({}, {"seed": 1}))) == []
    assert list(compare_helpers(board({}, {}))) == []
    assert list(compare_helpers(board({"roles": {"sage": SAGE}}, {}, models=2))) == []
