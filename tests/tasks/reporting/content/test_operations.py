"""Calls, tokens, cost and partitions as a report shows them."""

from datetime import date

import pytest

from schemas.lineage import PartitionRef
from schemas.provider import Price, PriceTable
from schemas.table import Cell
from schemas.usage import Usage
from tasks.reporting.content.operations import (
    amount_columns,
    amount_values,
    cost_notes,
    latency_table,
)
from tasks.text.number_format import money
from tasks.text.tables import cell_words
from tests.tasks.reporting.example_run import example_data, manifest
from tests.tasks.reporting.pages import render_html, section


def test_tokens_and_latency() -> None:
    # alpha answered in 1 to 6 s: median 3.5; the 95th percentile lies at place 0.95 x 5 = 4.75, so 5 + 0.75 x (6 - 5).
    # beta's server counts no tokens; gamma has no answer, so no latency.
    assert latency_table(example_data()).rows == [
        ("alpha", 6, 6, 0, 1, 60, 12, 0, 3.5, 5.75),
        ("beta", 3, 3, 0, 0, None, None, 3, 1.0, 1.0),
        ("gamma", 4, 0, 4, 0, None, None, 0, None, None),
    ]


TESTED = Usage(
    dataset="mood",
    model="alpha",
    role="tested",
    calls=1234,
    from_journal=200,
    sent=1000,
    unsent=34,
    failed=40,
    prompt_tokens=50_000,
    completion_tokens=2_000,
    paid_prompt_tokens=40_000,
    paid_completion_tokens=1_600,
    uncounted=3,
    cost=1.5,
    paid_cost=0.25,
)
JUDGE = Usage(dataset="tale", model="<b>rater</b>", role="judge", calls=3, sent=3, prompt_tokens=30, completion_tokens=6)
PRICES = PriceTable(
    currency="USD",
    prices=(Price(model="alpha", input_per_million=1, output_per_million=1, as_of=date(2026, 1, 31), source="a test"),),
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0 USD"),
        (1234.567, "1,234.57 USD"),
        (0.0524, "0.0524 USD"),
        (0.00038, "0.000380 USD"),
        (3e-8, "under 0.000001 USD"),
    ],
)
def test_money(value: float | None, text: str) -> None:
    assert money(value, "USD").replace("\u00a0", " ") == text


def test_a_lower_bound_says_so() -> None:
    pairs = zip(amount_values(TESTED), amount_columns("USD"), strict=True)
    assert [cell_words(*pair).replace("\u00a0", " ") for pair in pairs] == [
        *("1,234", "1,000", "200", "50,000 (or more)", "2,000 (or more)", "1.50 USD (or more)"),
        *("40,000", "1,600", "0.2500 USD"),
    ]
    assert amount_values(JUDGE)[3:6] == (Cell(30), Cell(6), Cell(None))


def test_what_has_to_be_known_about_the_numbers() -> None:
    assert list(cost_notes([TESTED, JUDGE])) == [
        "Cost unknown: no prices for <b>rater</b>. Add them with --set prices=FILE.",
        "3 answers came without token counts: the sums are lower bounds. A budget counts such answers by estimate.",
        "34 of 1,237 calls not sent: the budget was spent. The same command with a larger budget continues.",
    ]


def test_an_unseen_cut_of_long_contexts_is_told() -> None:
    contexts = PartitionRef(layer="contexts", place=(), fingerprint="0" * 64, path="p", rows=1, content_sha256="0" * 64)
    seen = JUDGE.model_copy(update={"cost": 0.0, "paid_cost": 0.0})
    notes = list(cost_notes([TESTED, seen], [contexts]))
    assert len(notes) == len(list(cost_notes([TESTED, seen]))) + 1
    assert "Without token counts it cannot be seen whether a server cut a long prompt; moodflow models check tries one." in notes
    assert list(cost_notes([seen], [contexts])) == []


def test_the_section_of_the_report() -> None:
    data = example_data(manifest=manifest(usage=(TESTED, JUDGE), prices=PRICES))
    html = render_html(data)
    words = section(html, "costs")
    assert "<b>rater</b> judge 3 3 0 30 6 – 0 0 –" in words
    # 50,000 + 30 and 2,000 + 6; the judge has no price, so the sum has none.
    assert "All models 1,237 1,003 200 50,030 or more 2,006 or more – 40,000 1,600 –" in words
    assert "&lt;b&gt;rater&lt;/b&gt;" in html
    assert "<b>rater</b>" not in html
    assert html.count("50,030") == 2
    assert '<a href="#costs">Tokens and cost</a>' in html


def test_what_was_paid_by_batch_is_told() -> None:
    batch = TESTED.model_copy(update={"paid_as": "batch", "calls": 300, "cost": 0.2, "unsent": 0, "uncounted": 0})
    seen = JUDGE.model_copy(update={"cost": 0.0, "paid_cost": 0.0})
    assert list(cost_notes([seen, batch])) == ["300 calls of 303: paid at the price of batches."]
    words = section(render_html(example_data(manifest=manifest(usage=(batch, TESTED), prices=PRICES))), "costs")
    assert "batch 300 1,000 200" in words
    assert "live 1,234 1,000 200" in words
