"""What the document of a run says of scores below the total: abilities, weakest tasks, unread replies."""

from pydantic import Field

from schemas.base import Frozen


class PartScore(Frozen):
    """A score below the total of a model and setting, on 0-100."""

    model: str
    setting: str
    id: str
    title: str
    score: float | None = Field(description="null = nothing was scored")
    ci_low: float | None = Field(description="95 % interval, put together from those of its datasets; of the gate resampled")
    ci_high: float | None


class AbilityScore(PartScore):
    """A main ability."""

    threshold: float | None = Field(description="that a gate must reach; null = it is no gate")


class WeakTask(PartScore):
    """One of the tasks with the lowest scores."""

    ability: str = Field(description="title of its main ability")
    dataset: str = Field(description="the one with its lowest score")


class UnreadReplies(Frozen):
    """Replies of a model in a setting that cannot be read as an answer."""

    model: str
    setting: str
    unread: int
    total: int = Field(description="replies that came and are read")
    datasets: dict[str, int] = Field(description="unread ones by dataset, the most first")
