"""The fields of a plan, and what its run would send, estimated without calling a model."""

from typing import Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document
from schemas.lineage import Missing
from schemas.usage import Expectation, Role


class DatasetForecast(Expectation):
    """Calls that remain for one model and one dataset."""

    dataset: str = Field(description="its id")
    model: str = Field(description="its name")
    role: Role


class ModelForecast(Expectation):
    """Calls that remain for one model."""

    model: str = Field(description="its name")
    role: Role
    basis: str = Field(description="what its tokens are estimated from")


class RunForecast(Document):
    """Calls, tokens and cost that remain of a run: calls are counted, tokens and cost estimated."""

    dry_run: Literal[True] = True
    benchmark: str = Field(description="id of its blueprint")
    currency: str | None = Field(description="null = no price table was named")
    datasets: tuple[DatasetForecast, ...]
    models: tuple[ModelForecast, ...]
    total: Expectation
    notes: tuple[str, ...] = Field(description="what has to be known about the numbers")
    missing: tuple[Missing, ...]


class PlanOption(Frozen):
    """A field of a plan."""

    path: str = Field(description="such as `retrieval.top_k`")
    type: str = Field(description="in words")
    default: str = Field(description="as `--set` takes it; empty for what has fields of its own or has to be set")
    description: str = Field(description="what it says")


class PlanOptionList(Document):
    """Every field of a plan."""

    options: tuple[PlanOption, ...]
