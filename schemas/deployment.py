"""Deployments as `prefect.yaml` describes them: what is run, with what, and when."""

from typing import Any, Literal

from pydantic import Field

from schemas.base import Frozen

CollisionStrategy = Literal["ENQUEUE", "CANCEL_NEW"]


class ScheduleEntry(Frozen):
    """When a deployment runs."""

    cron: str = Field(min_length=1, description="five fields: minute, hour, day of the month, month, day of the week")
    timezone: str = Field(default="UTC", description="whose clock the fields are read by, such as Europe/Berlin")
    slug: str = Field(min_length=1, description="name of the schedule: what a later file has under it replaces this")
    active: bool = Field(default=True, description="whether it starts runs")


class ConcurrencyEntry(Frozen):
    """How many runs of a deployment there may be at once."""

    limit: int = Field(ge=1, description="most runs at once")
    collision_strategy: CollisionStrategy = Field(default="CANCEL_NEW", description="what becomes of a run beyond the limit")


class DeploymentEntry(Frozen):
    """One deployment."""

    name: str = Field(min_length=1, description="shown in the UI")
    entrypoint: str = Field(min_length=1, description="the flow: flows.refresh.refresh or flows/refresh.py:refresh")
    description: str | None = None
    tags: tuple[str, ...] = ()
    parameters: dict[str, Any] = Field(description="the flow's only parameter, by its name")
    schedules: tuple[ScheduleEntry, ...] = ()
    concurrency_limit: int | ConcurrencyEntry | None = Field(default=None, description="most runs at once")
    work_pool: dict[str, Any] | None = Field(default=None, description="whose workers run it; `moodflow serve` runs it itself")
    version: str | None = None

    @property
    def concurrency(self) -> ConcurrencyEntry | None:
        """The limit, with the strategy that `prefect deploy` takes where only a number is written; null if there is none."""
        if isinstance(self.concurrency_limit, int):
            return ConcurrencyEntry(limit=self.concurrency_limit, collision_strategy="ENQUEUE")
        return self.concurrency_limit
