"""How far the judges of a run agree with people."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document


class Certificate(Frozen):
    """A statistic of the ratings of one dimension, or its mean over dimensions. What is undefined is null.

    It is of a judge and people; of the judge `people`, it is of people among each other.
    """

    source: str = Field(description="dataset")
    judge: str = Field(description="a judge, a text metric, or `people`")
    rubric: str = Field(description="empty for text metrics and people")
    dimension: str
    statistic: str
    level: str = Field(description="pooled, by_item or by_system")
    value: float | None = Field(description="of the judge with people")
    value_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = no interval")
    value_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = no interval")
    value_undefined_draws: int | None = Field(default=None, description="resamples without a value")
    undefined_because: str | None = Field(description="why there is no value; null = there is one")
    human_value: float | None = Field(default=None, description="of each person with the others")
    human_value_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = no interval")
    human_value_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = no interval")
    human_value_undefined_draws: int | None = Field(default=None, description="resamples without a value")
    human_undefined_because: str | None = Field(default=None, description="why people have no value; null = they have one")
    same_targets_value: float | None = Field(default=None, description="of the judge with those other people")
    constant_value: float | None = Field(default=None, description="of the best constant with people")
    n_units: int | None = Field(default=None, description="answers that the judge and people rated; null = a mean of dimensions")
    n_pairs: int | None = Field(default=None, description="ratings by people of these answers")
    n_clusters: int | None = Field(default=None, description="clusters of these answers")
    n_items_left_out: int | None = Field(default=None, description="items without three unlike systems, at level by_item")
    design_effect: float | None = Field(default=None, description="variance of the mean over that of as many answers drawn alone")


class JudgeCheck(Document):
    """Ratings by people beside those of a run's judges."""

    run: str
    human: str = Field(description="file of ratings by people")
    read: int = Field(description="rows of the file")
    good: int
    refused: int
    refused_by_rule: dict[str, int] = Field(description="rows by the rule they break; one may break several")
    left_out: dict[str, int] = Field(description="good ratings that were not used, by reason")
    certificates: tuple[Certificate, ...]
