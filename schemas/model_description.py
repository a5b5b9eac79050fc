"""What is said of a model besides how it is asked: who made it, how large and how open it is. It moves no call and no score."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from schemas.base import Frozen

_BILLIONS = {"M": 0.001, "B": 1.0, "T": 1000.0}
_SIZE = re.compile(r"~?(\d+(?:\.\d+)?)([MBT])?(?:[-–](\d+(?:\.\d+)?)([MBT]))?(?=[ /]|$)")
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def parse_size(text: str) -> tuple[float, float] | None:
    """Return lowest and highest billions of parameters of `671B/37B (Total/Activated Parameters)` or `50-60B (Estimated)`.

    The size before a slash counts all experts; null for words.
    """
    match = _SIZE.match(text)
    if match is None:
        return None
    low, unit, high, last_unit = match.groups(default="")
    unit, last_unit = unit or last_unit, last_unit or unit
    return (float(low) * _BILLIONS[unit], float(high or low) * _BILLIONS[last_unit]) if unit else None


class ModelSize(Frozen):
    """Number of parameters, in billions, of all experts. Its text alone stands for it; a number alone is in billions."""

    text: str = Field(description="as written: 7B, 50-60B (estimated), 671B/37B")
    low: float = Field(gt=0, le=100_000, description="billions; for a range, the lower end")
    high: float = Field(description="billions; the same as low if it is not a range")
    is_estimate: bool = Field(description="whether it is marked as an estimate, by a tilde or a word such as estimated")

    @property
    def middle(self) -> float:
        """Return the middle of the range, in billions."""
        return (self.low + self.high) / 2

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: Any) -> Any:
        written = dict(value) if isinstance(value, Mapping) else {"text": value}
        text = written.get("text")
        text = f"{text:g}B" if isinstance(text, int | float) and not isinstance(text, bool) else str(text).strip()
        if (size := parse_size(text)) is None:
            raise ValueError("a size is a number with M, B or T, such as 7B, 50-60B (estimated) or 671B/37B")
        if size[1] < size[0]:
            raise ValueError(f"the range is reversed: {size[0]:g} to {size[1]:g} billions")
        is_estimate = text.startswith("~") or "estimat" in text.casefold()
        read = {"text": text, "low": size[0], "high": size[1], "is_estimate": is_estimate}
        for name in ("low", "high", "is_estimate"):
            if written.get(name, read[name]) != read[name]:
                raise ValueError(f"the size does not match its text: {name} means {read[name]}")
        return written | read


class ModelDescription(Frozen):
    """What a user says of a model; null = not said."""

    institution: Name | None = Field(default=None, description="its maker")
    series: Name | None = Field(default=None, description="family, such as Qwen")
    openness: Literal["open", "closed", "domain"] | None = Field(default=None, description="domain = of the benchmark's field")
    parameters: ModelSize | None = Field(default=None, title="Parameters", description="7B, 50-60B (estimated), 671B/37B")
    released: str | None = Field(default=None, description="month or day: 2025-04 or 2025-04-28")

    @field_validator("openness", mode="before")
    @classmethod
    def _spell(cls, value: Any) -> Any:
        return re.sub(r"[- ](source|specific)$", "", value.lower()) if isinstance(value, str) else value

    @field_validator("released", mode="before")
    @classmethod
    def _read_date(cls, value: Any) -> Any:
        text = str(value)
        if value is not None and not _DATE.fullmatch(text):
            raise ValueError("a month or a day is written as 2025-04 or 2025-04-28")
        return value and date.fromisoformat(f"{text}-01"[: len("2025-04-28")]) and text

    def words(self, field: str) -> str | None:
        """Return what a field says, a size as it is written."""
        value: ModelSize | str | None = getattr(self, field)
        return value.text if isinstance(value, ModelSize) else value

    @property
    def cells(self) -> dict[str, str | float | None]:
        """Return the words of each field and, as `billions`, the middle of the size."""
        size = self.parameters
        words = {name: self.words(name) for name in type(self).model_fields}
        return {**words, "billions": size.middle if size else None}
