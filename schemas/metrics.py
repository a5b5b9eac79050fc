"""What every part of the program knows of a metric, and how its score is put on 0-100.

The row also says what computes it: tasks.metrics.metric.Metric.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from schemas.base import Frozen
from schemas.benchmark import Rows, require_name
from schemas.extras import Extra


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

SHARE, RATIO = (0.0, 1.0), RatioNormalisation()

Reduction = Literal["items", "clusters", "macro_f1", "micro_f1", "binary_f1", "bias", "preference"]
"""What a dataset's score is made of its items'.

`items`: the mean of their values. `clusters`: the mean over clusters, each of which counts the same. The others are counted from
the labels of all items together: F1 over labels, over all labels, over the positive class; BBQ's bias scores; StereoSet's.
"""

Baseline = Literal["equality", "macro_f1", "micro_f1", "binary_f1", "points"]
"""How constant answers are scored: whether the right options are named, by the same F1, by the points of a questionnaire."""


@dataclass(frozen=True)
class MetricRow:
    """What is known of a metric.

    Attributes:
        name: in blueprints and tables.
        words: what it is, in a sentence for the report.
        bounds: lowest and highest value that an item, and with it a dataset, can have.
        reduction: what a dataset's score is made of its items'.
        normalisation: that of blueprints that give none.
        baseline: how constant answers are scored; null = not at all.
        rating: what a judge's rating is turned into; null = the answer itself is measured.
        has_cut_off: whether it needs a `k`.
        graded: whether its values are shares, even where each item of a run happens to earn all or nothing.
        question_types: of items that it suits, besides those whose rows name it.
        extra: of MoodFlow's install, without which it cannot be computed.
    """

    name: str
    words: str
    bounds: tuple[float, float] = SHARE
    reduction: Reduction = "items"
    normalisation: Normalisation = RATIO
    baseline: Baseline | None = None
    rating: str | None = None
    has_cut_off: bool = False
    graded: bool = False
    question_types: tuple[str, ...] = ()
    extra: Extra | None = None


METRICS = Rows("metrics", MetricRow)
"""In the order in which rows of a table are sorted: new ones come last."""


Metric = Annotated[str, AfterValidator(partial(require_name, registry=METRICS))]
"""Names are checked where data is read, so that a row is all that a new one needs."""


def reduced_by(*ways: Reduction) -> list[Metric]:
    """List the metrics whose dataset scores are made in one of these ways."""
    return [name for name, row in METRICS.items() if row.reduction in ways]
