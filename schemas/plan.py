"""The plan of a run, the one parameter of every flow: what each field is about, and the message for one that is refused."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from schemas.addresses import hide_credentials
from schemas.base import Frozen, omittable
from schemas.canary import SCHEDULED_CANARY, CanaryFinding
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.context import ContextOptions, RetrievalOptions
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, LakeAddress
from schemas.json_yaml import read_json
from schemas.lineage import CallCounts, Missing
from schemas.printing import printable
from schemas.roles import JUDGE, JUDGES, PANEL, RoleModels, WrittenRole, gather_roles
from schemas.usage import Usage
from schemas.vocabulary import CORRECTED, PaidAs, Profile, Runner, TooLong

Setting = Annotated[
    str,
    BeforeValidator(lambda name: name.replace("-", "_") if isinstance(name, str) else name),
    Field(pattern=r"^[a-z0-9_]+$"),
]
"""How items are asked: a name in the registry of solvers, in whichever spelling."""

SHOWN_MODELS = 2
SHOWN_LENGTH = 40


def shown_names(names: Iterable[str]) -> str:
    """Return the names of models for a title: the first few without their organisation, and how many more there are."""
    short = [name.rsplit("/", 1)[-1] for name in names]
    cut = [name if len(name) <= SHOWN_LENGTH else f"{name[: SHOWN_LENGTH - 1]}…" for name in short[:SHOWN_MODELS]]
    more = f" and {len(short) - SHOWN_MODELS} more" if len(short) > SHOWN_MODELS else ""
    return f"{', '.join(cut)}{more}"


Kind = Literal["place", "limit", "system", "evaluation"]
"""What a field of a plan is about.

`place`: where a run works and finds files, of which the content counts and not the place; what its pages show. `limit`: what it
may cost, its intervals and ranks; no answer and no score of an item. `system`: what is paired before two runs are compared, and
the models that take part besides. `evaluation`: which items are asked, and how they are asked and scored.
"""

T = TypeVar("T")
Place = Annotated[T, "place"]
Limit = Annotated[T, "limit"]
System = Annotated[T, "system"]
Evaluation = Annotated[T, "evaluation"]
"""Types of a plan's fields, by what they are about."""


class Plan(Frozen):
    """The plan of a run: what is evaluated, with which models, and where its files go."""

    benchmark: System[str] = Field(description="name of a blueprint under data/blueprints, or path of a YAML file")
    models: System[tuple[ModelEntry, ...]] = Field(
        description="models under test; building items needs none", json_schema_extra={"minItems": 1}
    )
    roles: System[dict[str, WrittenRole]] = Field(
        default_factory=dict,
        description="models besides those under test, by role; a helper without an entry is the model itself, or nobody",
    )
    judge_repeat: Evaluation[int] = Field(default=1, ge=1, le=20, description="times each judge rates an answer; the mean counts")
    judge_gold: Limit[bool] = omittable(
        default=False, description="also have the judge rate gold replies, as a baseline for the models; one call each"
    )
    simulation_rubric: Limit[str | None] = omittable(
        description="rubric for the judge's review of what a simulated person says; one call per dialogue"
    )
    datasets: Evaluation[tuple[str, ...] | None] = Field(
        default=None, min_length=1, description="only these; null = all of the blueprint"
    )
    settings: System[tuple[Setting, ...]] = Field(default=("base",), min_length=1, description="how items are asked")
    contexts: Evaluation[ContextOptions] = Field(
        default=ContextOptions(), title="Contexts", description="how long contexts are built"
    )
    retrieval: Evaluation[RetrievalOptions] = Field(
        default=RetrievalOptions(), title="Retrieval", description="how chunks are made, ranked and chosen"
    )
    solvers: Evaluation[dict[Setting, dict[str, Any]]] = Field(
        default_factory=dict,
        exclude_if=lambda options: not options,  # so that a plan without them has the name it had before there were any
        description="options of each setting, by setting",
    )
    sample: Evaluation[int | None] = Field(
        default=None, ge=1, description="items per dataset, all if it has fewer; null = the blueprint's number, else 300"
    )
    seed: Evaluation[int] = Field(default=0, ge=0, description="seed of sampling")
    bootstrap: Limit[int] = Field(
        default=1000, ge=0, le=100_000, description="resamples for the intervals of rank correlations; 0 = none"
    )
    permute: Evaluation[int] = Field(
        default=0, ge=0, le=26, description="cyclic orders of options per single choice; 0 = as given"
    )
    repeat: Evaluation[int] = Field(default=1, ge=1, le=100, description="times each item is asked; each time is a separate call")
    too_long: Evaluation[TooLong | None] = Field(
        default=None,
        description="what to do with items longer than the model's context; null = the blueprint's choice, else missing",
    )
    canary: Limit[int | None] = omittable(
        ge=0,
        le=1000,
        description="stored calls per model to repeat, twice each, to notice a model that changed under the same name; "
        f"null = {SCHEDULED_CANARY} in refreshes of a deployment or with `ask_changed`, else none",
    )
    ask_changed: Limit[bool] = omittable(
        default=False,
        description="if a canary found a model changed, ask it everything again, in this and later runs of the plan",
    )
    batch: Limit[bool] = omittable(
        default=False,
        description="have the provider answer calls as batches, for less money and later; exit status 3 while calls wait",
    )
    wait: Limit[bool] = omittable(default=False, description="with batch: wait for the batches instead of ending")
    batch_below: Limit[int] = omittable(
        default=20, ge=1, description="with batch: fewer calls of a model than this are sent at once, which saves a wait"
    )
    requests_to: Place[Path | None] = omittable(description="file for the calls, which another machine answers")
    live_too: Limit[bool] = omittable(default=False, description="also send calls that a batch has; they may be paid twice")
    budget_tokens: Limit[int | None] = Field(default=None, ge=1, description="most tokens this run may use; null = no limit")
    budget: Limit[float | None] = Field(
        default=None, gt=0, description="most money this run may cost, in the currency of the prices"
    )
    prices: Place[Path | None] = Field(default=None, description="price table, a YAML file; needed for a budget in money")
    profile: Evaluation[Profile] = Field(
        default=CORRECTED, description="how replies are scored: corrected, or reference (as the released code scores)"
    )
    mirror: Place[Path | None] = Field(default=None, description="folder of source files, laid out host/owner/repo/path")
    folders: Place[dict[str, Path]] = Field(
        default_factory=dict,
        exclude_if=lambda folders: not folders,
        description="the user's folder with a dataset's files, by dataset; `moodflow datasets show` lists the files",
    )
    prompts: Place[Path | None] = omittable(
        description="folder of prompts and rubrics in your or a paper's words; all others stay as they are"
    )
    lake: Place[LakeAddress] = Field(default=DEFAULT_LAKE, description="folder of the Parquet layers, or s3://BUCKET/PREFIX")
    require_certificate: Limit[bool] = omittable(
        default=False,
        description="refuse to run if a judge whose ratings count has no certificate to score items or to rank systems",
    )
    rank_incomplete: Limit[bool] = Field(default=False, description="also rank models below full coverage")
    runner: Place[Runner] = Field(default="local", description="where items are built and replies scored: here, or on a cluster")
    runner_address: Place[str | None] = Field(
        default=None,
        pattern=r"^[^\s@?#]+$",
        description="address of a running Dask scheduler, such as tcp://10.0.0.5:8786",
    )
    redact: Place[bool] = Field(default=False, description="leave texts that must not be passed on out of the report")

    @model_validator(mode="before")
    @classmethod
    def _roles_have_one_form(cls, values: Any) -> Any:
        return gather_roles(values) if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _only_the_panel_is_several(self) -> Self:
        for name, role in self.roles.items():
            if name != PANEL and any(len(models) > 1 for models in (role.default, *role.datasets.values())):
                raise UsageError(
                    f"role {name} takes one model; only the {PANEL} takes several",
                    where=f"--role {name}, roles.{name}",
                    expected="one model, or one by dataset",
                    got=", ".join(entry.name for entry in self.named(name)),
                    next_step="give one of them; give further judges with --role panel=NAME",
                )
        return self

    @model_validator(mode="after")
    def _can_be_read_from_its_manifest(self) -> Self:
        read_json(self.model_dump_json())
        return self

    @model_validator(mode="after")
    def _fields_fit(self) -> Self:
        if self.requests_to and (self.batch or self.live_too):
            raise ValueError("requests_to sends no call, so neither batch nor live_too goes with it")
        if not self.batch and self.batch_below != Plan.model_fields["batch_below"].default:
            raise ValueError("batch_below needs batch")
        if (self.runner == "local") != (self.runner_address is None):
            message = "runner dask needs the address of its cluster, runner_address"
            raise ValueError("runner_address needs runner dask" if self.runner_address else message)
        return self

    @property
    def paid_as(self) -> PaidAs:
        """Return how its calls are paid."""
        return "batch" if self.batch else "live"

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """Return every model that may be called, each once: those under test first, then those in a role."""
        return tuple(dict.fromkeys((*self.models, *self.named())))

    def named(self, *roles: str) -> tuple[ModelEntry, ...]:
        """Return the models named for these roles, by default for all, whatever dataset they are for; each once."""
        chosen = [self.roles[role] for role in roles or self.roles if role in self.roles]
        models = (models for role in chosen for models in (role.default, *role.datasets.values()))
        return tuple(dict.fromkeys(chain.from_iterable(models)))

    def role_models(self, role: str, dataset: str) -> tuple[ModelEntry, ...]:
        """Return who has a role for a dataset; none if the plan names none."""
        of_role = self.roles.get(role, RoleModels())
        return of_role.datasets.get(dataset, of_role.default)

    def role_model(self, role: str, dataset: str) -> ModelEntry | None:
        """Return the model that has a role for a dataset; null if the plan names none."""
        return next(iter(self.role_models(role, dataset)), None)

    def judges(self, dataset: str) -> tuple[ModelEntry, ...]:
        """Return the judge of a dataset, whose ratings count, then the panel; none if no judge was named."""
        judge, panel = (self.role_models(role, dataset) for role in JUDGES)
        return tuple(dict.fromkeys((*judge, *panel))) if judge else ()

    def rater_role(self, judge: str, dataset: str) -> str:
        """Return in which role one of the judges of a dataset rates: as its judge, or of the panel."""
        return PANEL if judge in [entry.name for entry in self.judges(dataset)[1:]] else JUDGE

    def require_models(self) -> None:
        """Raise UsageError if the plan names no model, for everything but a build."""
        if not self.models:
            raise UsageError(
                "no model given", where="--model", next_step=f"add --model {EMBEDDED_MODEL}, or --model NAME --base-url URL"
            )

    def map_entries(self, change: Callable[[ModelEntry], ModelEntry]) -> Self:
        """Return the same plan with every model's entry changed."""
        roles = {name: role.map_entries(change) for name, role in self.roles.items()}
        return self.model_copy(update={"models": tuple(map(change, self.models)), "roles": roles})

    @property
    def title(self) -> str:
        """Return the name of the run in the Prefect UI: benchmark, models, settings."""
        models = f": {shown_names(model.name for model in self.models)}" if self.models else ""
        return printable(f"{Path(self.benchmark).stem}{models} ({', '.join(self.settings)})")

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the words by which a run is found in the Prefect UI: benchmark, models, settings, profile."""
        names = (printable(model.name) for model in self.models)
        return (Path(self.benchmark).stem, *names, *self.settings, self.profile)


class ReportRequest(Frozen):
    """What only a run itself knows when its scores are in the lake."""

    run: str = Field(description="name of the run, beginning with its start time")
    started_at: str = Field(description="ISO 8601, UTC")
    calls: CallCounts = CallCounts()
    missing: tuple[Missing, ...] = ()
    usage: tuple[Usage, ...] = Field(default=(), description="measured by the infer stage; empty if it had nothing to ask")
    canaries: tuple[CanaryFinding, ...] = ()


def fields_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the fields of a plan that are of these kinds."""
    return tuple(name for name, info in Plan.model_fields.items() if set(kinds) & set(info.metadata))


def refused(error: ValidationError, command: str = "run") -> UsageError:
    """Return the first fault of a plan or an entry as one message, which repeats no key that was put in a wrong place."""
    first = error.errors()[0]
    return UsageError(
        f"invalid option: {first['msg'].removeprefix('Value error, ')}",
        # As it may be written: a role's only model needs neither `roles` nor `default`.
        where=re.sub(r"^roles\.(\w+)\.default(\.0)?", r"\1", ".".join(str(part) for part in first["loc"])),
        got=None if first["type"] == "extra_forbidden" else _shown(first["input"]),
        next_step=f"moodflow {command} --help lists the options, moodflow options every field of a plan",
    )


def _shown(value: Any) -> str:
    text = f"a mapping with {', '.join(map(str, value)) or 'nothing'}" if isinstance(value, Mapping) else str(value)
    return hide_credentials(text)[:200] or "nothing"
