"""What `moodflow serve` runs, and the automations of a server."""

from pydantic import ConfigDict, Field

from schemas.base import Frozen
from schemas.deployment import ScheduleEntry
from schemas.documents.document import Document


class LoginHint(Frozen):
    """How to log in to the server."""

    file: str | None = Field(description="that keeps the login; null = the environment has it")
    made: str | None = Field(description="USER:PASSWORD, made just now; null = the login is kept already")


class ServedDeployment(Frozen):
    """A deployment that the server has."""

    name: str = Field(description="FLOW/DEPLOYMENT, as commands of Prefect take it")
    id: str
    page: str = Field(description="its address in the UI")
    schedules: tuple[ScheduleEntry, ...]
    next_run: str | None = Field(description="time, ISO 8601; null = on demand")
    missed: int = Field(description="runs that were due while nothing served them")
    lake: str


class ServedSession(Document):
    """Where server, reports and deployments are."""

    ui: str
    api: str
    reports: str
    config: str = Field(description="file of the deployments")
    login: LoginHint
    webhook: bool = Field(description="one is called on a regression")
    deployments: tuple[ServedDeployment, ...]


class Automations(Document):
    """What became of each automation of a server, by its name: made, as it was, mended, removed, not asked for."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]
