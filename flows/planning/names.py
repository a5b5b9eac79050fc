"""Check the names of a plan before anything is imported that takes seconds."""

from collections.abc import Callable, Iterable
from functools import partial

from schemas.blueprint import Blueprint
from schemas.errors import UsageError, suggest, try_each
from schemas.plan import Plan
from tasks.solvers.registry import find_solver, require_role


def require_names(plan: Plan, blueprint: Blueprint) -> None:
    """Raise one UsageError about every setting, role and dataset of the plan that is not there."""
    places: dict[str, Iterable[str]] = {"--datasets": plan.datasets or (), "folders": plan.folders}
    places |= {f"roles.{name}.datasets": role.datasets for name, role in plan.roles.items()}
    checks: list[Callable[[], object]] = [
        *(partial(find_solver, name) for name in plan.settings),
        *(partial(find_solver, name, "solvers") for name in plan.solvers),
        *(partial(require_role, name, "--role, roles") for name in plan.roles),
        *(partial(_require_dataset, name, blueprint, where) for where, names in places.items() for name in names),
    ]
    try_each(lambda check: check(), checks)


def _require_dataset(name: str, blueprint: Blueprint, where: str) -> None:
    if name not in blueprint.datasets:
        raise UsageError(
            f"benchmark {blueprint.name} has no dataset {name}",
            where=where,
            expected=f"one of its {len(blueprint.datasets)} datasets",
            got=name,
            next_step=suggest(name, blueprint.datasets, "moodflow datasets list shows them all", most=3),
        )
