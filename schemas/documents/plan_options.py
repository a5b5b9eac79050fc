"""Fields of a plan, as `--set` and configuration files reach them."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import Document


class PlanOption(Frozen):
    """A field of a plan."""

    path: str = Field(description="such as `retrieval.top_k`")
    type: str = Field(description="in words")
    default: str = Field(description="as `--set` takes it; empty for what has fields of its own or has to be set")
    description: str


class PlanOptionList(Document):
    """Every field of a plan."""

    options: tuple[PlanOption, ...]
