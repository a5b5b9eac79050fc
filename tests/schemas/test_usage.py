"""Sums of usage: missing is never zero."""

import pytest

from schemas.usage import Amounts, Expectation, Usage, by_model, merge, total

KNOWN = Amounts(calls=2, sent=2, prompt_tokens=20, completion_tokens=4, paid_prompt_tokens=10, cost=3.0, paid_cost=1.0)
UNPRICED = KNOWN.model_copy(update={"cost": None, "paid_cost": None})
UNCOUNTED = Amounts(
    calls=1, sent=1, uncounted=1, prompt_tokens=None, completion_tokens=None, paid_prompt_tokens=None, paid_completion_tokens=None
)


def usage(dataset: str, model: str, role: str = "tested", amounts: Amounts = KNOWN) -> Usage:
    return Usage.model_validate({"dataset": dataset, "model": model, "role": role, **amounts.model_dump()})


@pytest.mark.parametrize(
    ("rows", "tokens", "cost"),
    [
        ([], 0, None),
        ([KNOWN, KNOWN], 40, 6.0),
        # A part of the money is not the whole.
        ([KNOWN, UNPRICED], 40, None),
        # What was not counted is in `uncounted`, and the rest a lower bound.
        ([KNOWN, UNCOUNTED], 20, 3.0),
        ([UNCOUNTED, UNCOUNTED], None, None),
        ([UNCOUNTED, Amounts()], None, None),
    ],
)
def test_sums(rows: list[Amounts], tokens: int | None, cost: float | None) -> None:
    done = total(rows)
    assert (done.prompt_tokens, done.cost) == (tokens, cost)
    assert done.uncounted == sum(row.uncounted for row in rows)


def test_setting_rows_become_one_per_dataset() -> None:
    rows = merge([usage("b", "m"), usage("a", "m"), usage("a", "m"), usage("a", "j", "judge")])
    assert [(row.dataset, row.model, row.role, row.calls) for row in rows] == [
        ("a", "j", "judge", 2),
        ("a", "m", "tested", 4),
        ("b", "m", "tested", 2),
    ]
    assert [(row.model, row.role, row.prompt_tokens, row.cost) for row in by_model(rows)] == [
        ("m", "tested", 60, 9.0),
        ("j", "judge", 20, 3.0),
    ]


def test_expectations_add_up() -> None:
    paid = Expectation(calls=1, prompt_tokens=5, cost=2.0)
    assert paid + Expectation(in_journal=3, upper_bound=True) == Expectation(
        calls=1, in_journal=3, prompt_tokens=5, cost=2.0, upper_bound=True
    )
    assert (paid + Expectation(calls=1, cost=None)).cost is None
