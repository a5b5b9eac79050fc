"""Votes on which of two persons is more human: strengths by hand and by an independent fit, orders, ties, people's files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from schemas.errors import RecordError, UsageError
from tasks.compare.votes import Vote, compare_persons, fit_strengths, votes_of_people
from tasks.statistics.resampling import RESAMPLES, draw_weights


def votes(first: str, second: str, points: Sequence[float], rater: str = "j", start: int = 0, model: str = "m") -> list[Vote]:
    """One vote per card, cards numbered from `start`."""
    return [Vote(f"card-{number}", first, second, won, rater, model) for number, won in enumerate(points, start)]


def test_strengths_of_two_are_as_their_wins() -> None:
    # Of eight votes a wins five, b two; one tie is half a win of each: 5.5 to 2.5.
    document = compare_persons(votes("a", "b", [1, 1, 1, 0, 0, 0.5]) + votes("b", "a", [0, 0], start=6))
    a, b = document.persons
    assert (a.person, b.person) == ("a", "b")
    assert (a.strength, b.strength) == pytest.approx((5.5 / 8, 2.5 / 8))
    assert a.ci_low is not None and a.strength is not None and a.ci_high is not None  # noqa: PT018  for the type checker
    assert a.ci_low < a.strength < a.ci_high
    assert b.ci_low == pytest.approx(1 - a.ci_high)
    assert (document.votes, document.cards, document.raters, document.both_orders, document.turned) == (8, 8, ("j",), 0, None)


def test_three_strengths_equal_an_independent_fit() -> None:
    wins = np.array([[0, 7.5, 9], [2.5, 0, 6], [1, 4, 0]])

    def loss(logs: np.ndarray) -> float:
        """Minus the logarithm of the likelihood; the third strength is 1."""
        values = np.exp([*logs, 0])
        chances = values[:, None] / (values[:, None] + values[None])
        return -float((wins * np.log(chances)).sum())

    values = np.exp([*minimize(loss, [0, 0], tol=1e-12).x, 0])
    assert fit_strengths(wins[:, :, None])[:, 0] == pytest.approx(values / values.sum(), abs=1e-5)


def test_strengths_without_a_finite_fit_are_null() -> None:
    # a always wins against b, and b against c: the likelihood has no maximum, in no draw either.
    document = compare_persons(votes("a", "b", [1] * 4) + votes("b", "c", [1] * 4))
    assert [tuple(row.model_dump().values())[1:] for row in document.persons] == [(None, None, None)] * 3
    assert document.undefined_draws == RESAMPLES
    assert str(document.undefined_because).startswith("some persons win every vote against the others")


def test_draws_without_a_finite_fit_are_left_out() -> None:
    # Each wins one of two cards, so that only draws of both cards have strengths, which are equal.
    document = compare_persons(votes("a", "b", [1, 0]))
    one_card = (draw_weights("votes", 2, RESAMPLES, seed=0) == 0).any(axis=0).sum()
    assert (document.undefined_draws, document.undefined_because) == (one_card, None)
    assert [(row.strength, row.ci_low, row.ci_high) for row in document.persons] == [pytest.approx((0.5, 0.5, 0.5))] * 2


def test_votes_that_turn_with_the_order_are_counted() -> None:
    first, second = votes("a", "b", [1, 1, 0, 0.5]), votes("b", "a", [0, 1, 0, 0.5])
    # Card 0: a twice. Card 1: whoever stands first. Card 2: whoever stands second. Card 3: a tie twice.
    document = compare_persons([*first, *second, *votes("a", "b", [1], "other")])
    assert (document.both_orders, document.turned) == (4, 0.5)
    # With m1 x is the more human of the two, with m2 y, in both orders.
    with_m1 = votes("x", "y", [1], model="m1") + votes("y", "x", [0], model="m1")
    with_m2 = votes("x", "y", [0], model="m2") + votes("y", "x", [1], model="m2")
    document = compare_persons(with_m1 + with_m2)
    assert (document.both_orders, document.turned) == (2, 0.0)


def test_persons_that_no_votes_link_are_refused() -> None:
    for unlinked in ([], [*votes("a", "b", [1]), *votes("c", "d", [1])]):
        with pytest.raises(UsageError, match="do not connect all persons"):
            compare_persons(unlinked)


def test_votes_of_people_are_read_from_a_file(tmp_path: Path) -> None:
    file, head = tmp_path / "votes.csv", "card_id,first,second,winner,rater\n"
    file.write_text(f"{head}c1,a,b, b,ann\nc1,b,a,tie,bob\n", encoding="utf-8-sig")
    assert [*votes_of_people(file)] == [Vote("c1", "a", "b", 0, "ann"), Vote("c1", "b", "a", 0.5, "bob")]
    file.write_text("card_id,first,second,winner,rater,model\nc1,a,b,a,ann,m1\nc1,a,b,b,ann,m2\n", encoding="utf-8")
    assert [*votes_of_people(file)] == [Vote("c1", "a", "b", 1, "ann", "m1"), Vote("c1", "a", "b", 0, "ann", "m2")]
    for row in ("c2,a,b,c,ann", "c2,a,a,a,ann", "c2,a,b,,ann", "c2,a,b,b,", ",a,b,b,ann", "c1,a,b,a,ann", "c2,a,b,b"):
        file.write_text(f"{head}c1,a,b,b,ann\n{row}\n", encoding="utf-8")
        with pytest.raises(RecordError, match="no vote on two persons") as caught:
            [*votes_of_people(file)]
        assert "line 3" in str(caught.value)
