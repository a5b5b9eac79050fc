"""The solvers: how items are asked in each setting, whom it needs besides the model under test, what its calls rest on."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from pydantic import ValidationError

from schemas.benchmark import Rows
from schemas.chat import ModelEntry
from schemas.errors import UsageError, summarize, unknown_name
from schemas.plan import Plan
from schemas.question_types import QuestionType
from schemas.roles import JUDGES
from schemas.usage import TESTED, Role
from schemas.vocabulary import ContextTask
from tasks.solvers.infer_job import RESERVED
from tasks.solvers.prompts import OwnPrompts
from tasks.solvers.state import (
    NO_OPTIONS,
    AskedItem,
    NoOptions,
    OptionsT,
    SolverCode,
    SolverOptions,
    SolverOutput,
    SolverPlan,
    SolverResources,
)

Solve = Callable[[AskedItem, SolverOptions[OptionsT], SolverResources, int], Awaitable[SolverOutput]]
"""Ask one item: from the item, the options, the models and the number of its calls among equal ones."""

PlanSolver = Callable[[SolverOptions[OptionsT], ContextTask | None, ModelEntry], SolverPlan]
"""Plan how a dataset's items are asked: from the options, the task its contexts are built for, and the model under test."""


@dataclass(frozen=True)
class Solver(Generic[OptionsT]):
    """How items are asked in one setting.

    Attributes:
        title: its name for readers.
        solve: asks one item.
        codes: what its calls rest on; of several the first whose versions a key states.
        plans: says how a dataset is asked; null = by its code and its options alone.
        options: type of its own parameters, which `solvers.<setting>` of a plan gives.
        roles: helpers, and what each does; where a plan names none, the model under test plays them itself.
        optional: those of the roles that nobody plays where a plan names none.
        question_types: of items that it asks; null = any.
        by_task: whether it asks items with a context built for them as their task says, whatever their type.
        retrieves: whether it ranks chunks of the item's context; its items then need one that was built for them.
        asks_again: whether it may ask more often than a forecast with invented replies does.
        invented: what a forecast has helpers reply, where a text of usual length would lead to other calls.
        words: what the model under test sees; empty = not said.
    """

    setting: str
    title: str
    solve: Solve[OptionsT]
    codes: tuple[SolverCode, ...]
    plans: PlanSolver[OptionsT] | None = None
    options: type[OptionsT] = NO_OPTIONS.__class__
    roles: Mapping[Role, str] = field(default_factory=dict)
    optional: frozenset[Role] = frozenset()
    question_types: Collection[QuestionType] | None = None
    by_task: bool = False
    retrieves: bool = False
    asks_again: bool = False
    invented: str | None = None
    words: str = ""

    def asks(self, question_type: QuestionType, task: ContextTask | None) -> bool:
        """Return whether it asks items of a type, with a context built for a task; null = without one."""
        if task is None and self.retrieves:
            return False
        return self.question_types is None or question_type in self.question_types or (self.by_task and task is not None)

    def plan(self, options: SolverOptions[OptionsT], task: ContextTask | None, entry: ModelEntry) -> SolverPlan:
        """Plan how a dataset's items are asked; a task of null = no context was built for them."""
        if self.plans is not None:
            return self.plans(options, task, entry)
        own = options.own.model_dump(mode="json")
        return SolverPlan(self.codes[0], {"options": own} if own else {})

    def players(self, tested: ModelEntry, model_of: Callable[[Role], ModelEntry | None]) -> dict[Role, ModelEntry]:
        """Return the models by role: the one under test, and its helpers; one that is not named is that model, or nobody."""
        unnamed = {role: None if role in self.optional else tested for role in self.roles}
        helpers = {role: model_of(role) or other for role, other in unnamed.items()}
        return {TESTED: tested, **{role: entry for role, entry in helpers.items() if entry}}

    def read_options(self, given: Mapping[str, Any]) -> OptionsT:
        """Return its own parameters as a plan gives them; raise UsageError if they are not of its type."""
        try:
            return self.options.model_validate(given)
        except ValidationError as error:
            fields = ", ".join(self.options.model_fields)
            raise UsageError(
                f"invalid options for setting {self.setting}" if fields else f"setting {self.setting} has no options",
                where=f"solvers.{self.setting}",
                expected=f"fields {fields}" if fields else "none",
                got=summarize(error) if fields else ", ".join(given),
                next_step="moodflow options lists them",
            ) from error


@dataclass(frozen=True)
class ContextSolver:
    """How the setting `base` asks items with a context that a benchmark builds for tasks of its own.

    Attributes:
        solve: asks one item.
        code: what its calls rest on.
        plans: says how a dataset is asked.
        longest_reply: of a task with the prompts of a blueprint, in tokens of the embedded model.
        joins: of question types whose answer is made of several replies, the text of that answer; null = one is missing. Of
            rows of the responses layer with the item's `language`, in order.
        demanded_tokens: what the prompts of a task ask a reply to be longer than, unless `contexts.length_demand` is false.
        remarks: what a report says about a run of tasks in settings.
    """

    tasks: tuple[ContextTask, ...]
    solve: Solve[NoOptions]
    code: SolverCode
    plans: PlanSolver[NoOptions]
    longest_reply: Callable[[ContextTask, OwnPrompts], int]
    joins: Mapping[QuestionType, Callable[[Iterable[Mapping[str, Any]]], str | None]] = field(default_factory=dict)
    demanded_tokens: Mapping[ContextTask, int] = field(default_factory=dict)
    remarks: Callable[[Collection[ContextTask], Sequence[str]], Iterable[str]] = lambda _tasks, _settings: ()


def require_free_roles(solver: Solver[Any]) -> None:
    """Raise UsageError if a role of a solver has a name that is taken."""
    versions = {name for code in solver.codes for name in code.versions}
    taken = RESERVED | versions | {TESTED} | JUDGES.keys() | Plan.model_fields.keys()
    if reserved := sorted(taken & solver.roles.keys()):
        raise UsageError(
            f"a solver uses the reserved name {reserved[0]} for a role",
            where=f"solver of setting {solver.setting}",
            expected=f"a name other than {', '.join(sorted(taken))}",
            got=", ".join(solver.roles),
            next_step="give the role of the installed package another name",
        )


SOLVERS = Rows("solvers", Solver, "setting", require_free_roles)
"""One row per setting, in the order in which they are shown."""


def find_solver(setting: str, where: str = "--settings") -> Solver[Any]:
    """Return the solver of a setting; raise UsageError, with the nearest setting, if there is none."""
    if setting in SOLVERS:
        return SOLVERS[setting]
    raise unknown_name("setting", setting, SOLVERS, where, f"moodflow run BENCHMARK --settings {','.join([*SOLVERS][:2])}")


def require_prompts(own: OwnPrompts) -> None:
    """Raise UsageError if a prompt file of the user's own is read by no solver, with the nearest one that is, or is broken."""
    kinds = (code.prompts for solver in SOLVERS.values() for code in solver.codes if code.prompts)
    files = {file: kind for kind in kinds for file in kind.files()}
    for file in own:
        if file not in files:
            raise unknown_name("prompt", file, files, "prompts", "data/prompts has files to begin with")
        files[file].load(own)


def code_behind(setting: str, settings: Mapping[str, Any]) -> SolverCode | None:
    """Return the code that the calls of a stored partition rest on, by the settings of its key; null if its setting is gone."""
    codes = SOLVERS[setting].codes if setting in SOLVERS else ()
    fitting = [code for code in reversed(codes) if code.versions.keys() <= settings.keys()]
    return max(fitting, key=lambda code: len(code.versions), default=None)


def helper_roles(settings: Iterable[str] = SOLVERS) -> dict[Role, str]:
    """Return the helpers that settings need, by default any of them, with what each does."""
    roles: dict[Role, dict[str, None]] = {}
    for role, does in (pair for name in SOLVERS if name in settings for pair in SOLVERS[name].roles.items()):
        roles.setdefault(role, {})[does] = None
    return {role: ", or ".join(does) for role, does in roles.items()}


def settings_with(role: Role) -> list[str]:
    """List the settings that need a helper."""
    return [setting for setting, solver in SOLVERS.items() if role in solver.roles]


def is_optional(role: Role) -> bool:
    """Return whether nobody plays a role where a plan names no model for it; any other is the model's under test."""
    return any(role in solver.optional for solver in SOLVERS.values())


def require_role(role: str, where: str) -> None:
    """Raise UsageError, with the nearest role, if this one neither judges nor belongs to a setting."""
    if role == TESTED:
        step = "give the model under test with --model"
        raise UsageError(f"{TESTED} is not a role", where=where, got=role, next_step=step)
    if role not in (roles := (*JUDGES, *helper_roles())):
        raise unknown_name("role", role, roles, where, "for example --role judge=NAME@URL")


def setting_title(setting: str) -> str:
    """Return the name of a setting for readers."""
    return SOLVERS[setting].title if setting in SOLVERS else setting


def setting_order(setting: str) -> tuple[int, str]:
    """Return a sort key: settings as they are shown, unknown ones last by name."""
    names = list(SOLVERS)
    return (names.index(setting) if setting in names else len(names), setting)
