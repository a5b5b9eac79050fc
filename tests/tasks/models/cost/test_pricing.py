"""Price tables: read, found, refused, applied."""

from pathlib import Path
from typing import Any

import pytest

from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError
from schemas.plan import Plan
from schemas.provider import FREE, PriceTable
from schemas.usage import Usage
from tasks.models.cost.pricing import check_budget, find_rate, load_prices, price_usage

ROOT = Path(__file__).resolve().parents[4]
SERVER = "https://api.example.org/v1"
TABLE = """
currency: USD
prices:
  - {model: "large-mini*", input_per_million: 0.5, output_per_million: 2, as_of: 2026-01-31, source: "https://example.org/a"}
  - {model: "large*", input_per_million: 2.5, output_per_million: 10, as_of: 2026-01-31, source: "https://example.org/a"}
  - {model: "*", base_url: "http://localhost:80", input_per_million: 0, output_per_million: 0, as_of: 2026-01-31, source: own}
"""


@pytest.fixture
def table(tmp_path: Path) -> PriceTable:
    path = tmp_path / "prices.yaml"
    path.write_text(TABLE, encoding="utf-8")
    table = load_prices(path)
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("large-mini-2", SERVER, 2.0),
        ("large-2", SERVER, 10.0),
        ("Large-2", SERVER, None),
        ("small", SERVER, None),
        ("small", "http://localhost:80/v1", 0.0),
        # Port 80 is not the beginning of port 8000.
        ("small", "http://localhost:8000/v1", None),
    ],
)
def test_the_first_price_that_fits_counts(table: PriceTable, model: str, base_url: str, expected: float | None) -> None:
    rate = find_rate(model, base_url, table)
    assert (rate and rate.output_per_million) == expected


def test_without_table_only_embedded_model_has_price() -> None:
    assert find_rate("large", SERVER, None) is None
    assert find_rate("smollm2", None, None) == FREE


def test_usage_is_priced_by_model_and_role(table: PriceTable) -> None:
    row = Usage(dataset="d", model="large", role="tested", prompt_tokens=1000, completion_tokens=100, paid_prompt_tokens=400)
    judge = row.model_copy(update={"role": "judge", "model": "small"})
    uncounted = row.model_copy(update={"prompt_tokens": None, "completion_tokens": None})
    small, large = ({"name": name, "base_url": SERVER} for name in ("small", "large"))
    asked = plan(None, "large", roles={"judge": small, "panel": [large]})
    assert price_usage([row.model_copy(update={"role": "panel"})], asked, table)[0].cost == pytest.approx(0.0035)
    costs = [(done.cost, done.paid_cost) for done in price_usage([row, judge, uncounted], asked, table)]
    # 1,000 x 2.5 + 100 x 10 = 3,500 millionths; of this paid now 400 x 2.5 = 1,000.
    assert costs == [(pytest.approx(0.0035), pytest.approx(0.001)), (None, None), (None, pytest.approx(0.001))]


def plan(prices: Path | None, *names: str, **helpers: Any) -> Plan:
    """A plan whose cost is limited."""
    models = [{"name": name, "base_url": None if name == EMBEDDED_MODEL else SERVER} for name in names]
    return Plan.model_validate({"benchmark": "longemotion", "models": models, "budget": 1, "prices": prices, **helpers})


def test_a_budget_in_money_needs_every_price(table: PriceTable, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    assert check_budget(plan(prices, "large", EMBEDDED_MODEL)) == table
    with pytest.raises(UsageError, match="there is none for small") as caught:
        check_budget(plan(prices, "large", "small"))
    assert "3 prices in USD" in str(caught.value)
    with pytest.raises(UsageError, match="there is none for large, small"):
        check_budget(plan(None, "large", "small"))


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("role", ["judge", "panel", "sage", "critic"])
def test_budget_in_money_needs_price_of_every_helper(role: str, tmp_path: Path) -> None:
    helper = {"name": "helper", "base_url": SERVER}
    with pytest.raises(UsageError, match="there is none for helper"):
        check_budget(plan(tmp_path / "prices.yaml", "large", roles={role: helper}))


def test_the_table_of_the_documentation(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    table = load_prices(path)
    found = table and table.find("my-model-2", "https://api.example.org/v1")
    assert (found and found.cost(1_000_000, 0)) == 2.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (TABLE.replace("2.5", "-1"), "prices.1.input_per_million"),
        (TABLE.replace("2.5", ".nan"), "a finite number"),
        (TABLE.replace("01-31", "02-30"), "day is out of range"),
        (TABLE.replace("model:", "modle:"), "prices.0.model"),
        ("- a list", "valid dictionary"),
        ("currency: USD", "prices"),
        ("a: [", "parsing"),
        (None, "No such file"),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = tmp_path / "prices.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="price table cannot be read") as caught:
        load_prices(path)
    assert str(path) in str(caught.value)
    assert complaint in f"{caught.value.got}"
