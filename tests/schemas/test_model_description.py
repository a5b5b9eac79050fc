"""What is said of a model: the sizes, spellings and dates that are read, and those that are refused."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.model_description import ModelDescription, ModelSize, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32B", (32.0, 32.0)),
        ("0.6B", (0.6, 0.6)),
        ("250M", (0.25, 0.25)),
        ("1.8T (Total MoE Parameters)", (1800.0, 1800.0)),
        ("671B/37B (Total/Activated Parameters)", (671.0, 671.0)),
        ("66.5B-130B (Estimated)", (66.5, 130.0)),
        ("50-60B (Estimated)", (50.0, 60.0)),
        ("500B-1.2T", (500.0, 1200.0)),
        ("50 (Estimated)", None),
        ("Hundreds of Billions (Estimated)", None),
    ],
)
def test_sizes_are_read_from_text(text: str, size: tuple[float, float] | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("written", "text", "low", "high", "is_estimate"),
    [
        (7.5, "7.5B", 7.5, 7.5, False),
        ("~50B", "~50B", 50, 50, True),
        ("50–60B (estimate)", "50–60B (estimate)", 50, 60, True),
        ({"text": "7B", "low": 7.0}, "7B", 7, 7, False),
    ],
)
def test_sizes_keep_their_text(written: Any, text: str, low: float, high: float, is_estimate: bool) -> None:
    size = ModelSize.model_validate(written)
    assert size.model_dump() == {"text": text, "low": low, "high": high, "is_estimate": is_estimate}
    assert ModelSize.model_validate_json(size.model_dump_json()) == size


def test_names_openness_and_dates_have_one_form() -> None:
    assert ModelDescription(institution=" Qwen Team\n", series="Qwen ") == ModelDescription(
        institution="Qwen Team", series="Qwen"
    )
    spellings = ["open", "Open-source", "Closed-source", "domain-specific", "Domain"]
    read = [ModelDescription.model_validate({"openness": text}).openness for text in spellings]
    assert read == ["open", "open", "closed", "domain", "domain"]
    dates = ["2025-04", "2025-04-28", date(2025, 4, 28)]
    assert [ModelDescription.model_validate({"released": each}).released for each in dates] == ["2025-04", *["2025-04-28"] * 2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"institution": " "}, "at least 1 character"),
        ({"series": "\t"}, "at least 1 character"),
        ({"parameters": "many"}, "a size is a number with M, B or T"),
        ({"parameters": 7e9}, "a size is a number with M, B or T"),
        ({"parameters": "60-50B"}, "the range is reversed: 60 to 50 billions"),
        ({"parameters": {"text": "7B", "high": 8}}, "the size does not match its text: high means 7.0"),
        ({"released": "2025"}, "a month or a day is written as 2025-04"),
        ({"released": "2025-13"}, "month must be in 1..12"),
        ({"openness": "half"}, "'open', 'closed' or 'domain'"),
        ({"licence": "MIT"}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ModelDescription.model_validate(fields)
