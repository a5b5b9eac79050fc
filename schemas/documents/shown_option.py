"""An option of a choice as it was shown."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True)
class ShownOption:
    """An option as shown to the model."""

    letter: str
    index: Annotated[int, Field(description="its place in the item")]
    text: str
    gold: bool
    chosen: bool
    points: float | None = Field(
        default=None, exclude_if=lambda points: points is None, description="of a questionnaire; absent = it has none"
    )
