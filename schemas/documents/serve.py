"""Deployments as `prefect.yaml` describes them, what `moodflow serve` runs of them, automations, and pages to open."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from schemas.base import Frozen
from schemas.documents.document import Document

FLOWS = ("flows.refresh.refresh", "flows.evaluate.evaluate")
"""The flows that can be served."""

ParametersT = TypeVar("ParametersT")


def _is_known(entrypoint: str) -> str:
    module = entrypoint.replace("/", ".").replace(".py:", ".")
    if module not in FLOWS:
        raise ValueError(f"moodflow serve runs only {' and '.join(FLOWS)}; for your own flows use prefect deploy and a worker")
    return module


class ScheduleEntry(Frozen):
    """When a deployment runs."""

    cron: str = Field(min_length=1, description="five fields: minute, hour, day of the month, month, day of the week")
    timezone: str = Field(default="UTC", description="whose clock the fields are read by, such as Europe/Berlin")
    slug: str = Field(min_length=1, description="name of the schedule: what a later file has under it replaces this")
    active: bool = Field(default=True, description="whether it starts runs")


class ConcurrencyEntry(Frozen):
    """How many runs of a deployment there may be at once."""

    limit: int = Field(ge=1, description="most runs at once")
    collision_strategy: Literal["ENQUEUE", "CANCEL_NEW"] = Field(
        default="CANCEL_NEW", description="what becomes of a run beyond the limit"
    )


class DeploymentEntry(Frozen, Generic[ParametersT]):
    """One deployment, with the parameters of its flow."""

    name: str = Field(min_length=1, description="shown in the UI")
    entrypoint: Annotated[str, AfterValidator(_is_known)] = Field(description=f"the flow: {FLOWS[0]} or flows/refresh.py:refresh")
    description: str | None = None
    tags: tuple[str, ...] = ()
    parameters: ParametersT
    schedules: tuple[ScheduleEntry, ...] = ()
    concurrency_limit: int | ConcurrencyEntry | None = Field(default=None, description="most runs at once")
    work_pool: dict[str, Any] | None = Field(default=None, description="whose workers run it; `moodflow serve` runs it itself")
    version: str | None = None


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

    ui: str = Field(description="address of its pages")
    api: str = Field(description="address of the server")
    reports: str = Field(description="address of the first page of the reports, with the token that lets a browser in")
    config: str = Field(description="file of the deployments")
    login: LoginHint
    webhook: bool = Field(description="one is called on a regression")
    deployments: tuple[ServedDeployment, ...]


class ServedPages(Document):
    """Where the pages about the runs of a lake are."""

    address: str = Field(description="with the token that lets a browser in; with `--to`, the file of the first page")
    runs: tuple[str, ...] = Field(description="that were named, by their full names; none = all of the lake")
    lake: str


class DocumentationPage(Document):
    """Where a page of the documentation is."""

    page: str = Field(description="its place on the site, without suffix")
    file: str = Field(
        description="the page as HTML, its Markdown next to it; only the Markdown in a checkout whose site is not built"
    )
    pages: tuple[str, ...] = Field(description="all pages that can be named")


class Automations(Document):
    """What became of each automation of a server, by its name: made, as it was, mended, removed, not asked for."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]
