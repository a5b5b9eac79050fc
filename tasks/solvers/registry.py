"""The solvers: how items are asked in each setting, whom it needs besides the model under test, what its calls rest on."""

from collections.abc import Iterable, Mapping
from typing import Any

from schemas.benchmark import Rows
from schemas.errors import UsageError, unknown_name
from schemas.plan import Plan
from schemas.roles import JUDGES
from schemas.usage import TESTED, Role
from tasks.solvers.infer_job import RESERVED
from tasks.solvers.solver import Solver
from tasks.solvers.state import SolverCode


def require_free_roles(solver: Solver[Any]) -> None:
    """Raise UsageError if a role of a solver has a name that is taken."""
    versions = {name for code in solver.codes for name in code.versions}
    taken = RESERVED | versions | {TESTED} | JUDGES.keys() | Plan.model_fields.keys()
    if reserved := sorted(taken & solver.roles.keys()):
        raise UsageError(
            f"a solver has a role {reserved[0]}, which means something else",
            where=f"solver of setting {solver.setting}",
            expected=f"a name that is none of {', '.join(sorted(taken))}",
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


def require_prompts(own: Iterable[str]) -> None:
    """Raise UsageError, with the nearest prompt file, if a blueprint has one that no solver reads."""
    codes = [code for solver in SOLVERS.values() for code in solver.codes if code.prompts]
    known = dict.fromkeys(file for code in codes if code.prompts for file in code.prompts.files())
    for file in own:
        if file not in known:
            raise unknown_name("prompt", file, known, "prompts of the blueprint", "data/prompts has files to begin with")


def code_behind(setting: str, settings: Mapping[str, Any]) -> SolverCode | None:
    """Return the code that the calls of a stored partition rest on, by the settings of its key; null if its setting is gone."""
    codes = SOLVERS[setting].codes if setting in SOLVERS else ()
    return next((code for code in codes if code.versions.keys() <= settings.keys()), None)


def helper_roles(settings: Iterable[str] = SOLVERS) -> dict[Role, str]:
    """Return the helpers that settings need, by default any of them, with what each does."""
    found: dict[Role, dict[str, None]] = {}
    for role, does in (pair for name in SOLVERS if name in settings for pair in SOLVERS[name].roles.items()):
        found.setdefault(role, {})[does] = None
    return {role: ", or ".join(does) for role, does in found.items()}


def settings_with(role: Role) -> list[str]:
    """List the settings that need a helper."""
    return [setting for setting, solver in SOLVERS.items() if role in solver.roles]


def is_optional(role: Role) -> bool:
    """Return whether nobody plays a role where a plan names no model for it; any other is the model's under test."""
    return any(role in solver.optional for solver in SOLVERS.values())


def require_role(role: str, where: str) -> None:
    """Raise UsageError, with the nearest role, if this one neither judges nor belongs to a setting."""
    if role == TESTED:
        step = "name it with --model, and helpers and judges by their own roles"
        raise UsageError("the model under test is named by no role", where=where, got=role, next_step=step)
    if role not in (known := (*JUDGES, *helper_roles())):
        raise unknown_name("role", role, known, where, "for example --role judge=NAME@URL")


def setting_title(setting: str) -> str:
    """Return the name of a setting for readers."""
    return SOLVERS[setting].title if setting in SOLVERS else setting


def setting_order(setting: str) -> tuple[int, str]:
    """Return a sort key: settings as they are shown, unknown ones last by name."""
    names = list(SOLVERS)
    return (names.index(setting) if setting in names else len(names), setting)
