"""How a raw score is put on 0-100; paper P of docs/methodology.md, section 4.2."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Frozen


class NumericNormalisation(Frozen):
    """(raw - min) / (max - min) x 100; bounds are theoretical, never observed."""

    type: Literal["numeric"] = "numeric"
    min: float
    max: float

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if not self.min < self.max:
            raise ValueError(f"min must be below max, got min {self.min} and max {self.max}")
        return self


class GradeNormalisation(Frozen):
    """Look the raw grade up in a table of scores on 0-100."""

    type: Literal["grade"] = "grade"
    table: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(min_length=1)


class RatioNormalisation(Frozen):
    """raw x 100; raw lies in [0, 1]."""

    type: Literal["ratio"] = "ratio"


class CentredNormalisation(Frozen):
    """(1 - |raw - best| / span) x 100: the best score lies between two bad ones, each `span` away from it."""

    type: Literal["centred"] = "centred"
    best: Annotated[float, Field(allow_inf_nan=False)]
    span: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class NoNormalisation(Frozen):
    """The raw score is already on 0-100."""

    type: Literal["none"] = "none"


Normalisation = Annotated[
    NumericNormalisation | GradeNormalisation | RatioNormalisation | CentredNormalisation | NoNormalisation,
    Field(discriminator="type"),
]
