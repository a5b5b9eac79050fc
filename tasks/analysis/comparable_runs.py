"""Which earlier run a run can be compared with."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemas.chat import ModelEntry
from schemas.lineage import RunManifest
from schemas.plan import Plan, fields_of

HARMLESS = frozenset(fields_of("place", "limit"))
"""Fields of a plan that say where and how a run works, how it is shown or what it may cost, not what is asked and scored."""

HELPERS = fields_of("role")

NOT_COMPARED = HARMLESS | {*fields_of("system", "role")}
"""Fields of a plan that may differ. The benchmark is compared by its blueprint, models and settings one by one, helpers by how
they are asked. Any other field must be the same."""


class ScoredSystem(NamedTuple):
    """One model asked in one way."""

    model: str
    setting: str


def units_of(manifest: RunManifest) -> dict[ScoredSystem, None]:
    """Models and settings that a run has item scores of, in its order."""
    scored = (ref for ref in manifest.partitions if ref.layer == "item_scores")
    return dict.fromkeys(ScoredSystem(ref.key("model"), ref.key("setting")) for ref in scored)


def difference(run: RunManifest, earlier: RunManifest, unit: ScoredSystem) -> str | None:
    """Why a model and setting of a run cannot be compared with those of an earlier one; null if they can.

    Server addresses and transport settings may differ: that a server was moved or renewed is what a comparison is to show.
    """
    return next(_differences(run, earlier, unit), None)


def _plan(manifest: RunManifest) -> Plan | None:
    try:
        return Plan.model_validate(manifest.plan)
    except ValidationError:
        return None


def _differences(run: RunManifest, earlier: RunManifest, unit: ScoredSystem) -> Iterator[str]:
    if earlier.ablation is not None:
        yield "it is an ablation"
    if earlier.benchmark != run.benchmark:
        yield f"it is of {earlier.benchmark}"
    mine, theirs = _plan(run), _plan(earlier)
    if mine is None or theirs is None:
        yield "its plan was written by another version and cannot be read"
        return
    if mine.profile != theirs.profile:
        yield f"it was scored in the {theirs.profile} profile"
    if earlier.blueprint_sha256 != run.blueprint_sha256:
        yield "its blueprint is another one"
    if unit not in units_of(earlier):
        yield f"it has no scores of {unit.model} with setting {unit.setting}"
    yield from _plan_differences(mine, theirs, unit.model)


def _plan_differences(mine: Plan, theirs: Plan, model: str) -> Iterator[str]:
    own, other = (plan.model_dump(mode="json", exclude=set(NOT_COMPARED)) for plan in (mine, theirs))
    for name in own:
        if own[name] != other[name]:
            yield f"its {name}: {_shown(other[name])} instead of {_shown(own[name])}"
    if _asked(mine.models, model) != _asked(theirs.models, model):
        yield f"{model} was asked with other parameters"
    for name in HELPERS:
        if _named(getattr(mine, name)) != _named(getattr(theirs, name)):
            yield f"its {name} is another one, or was asked with other parameters"


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)[:80]


def _asked(entries: tuple[ModelEntry, ...], model: str) -> list[dict[str, Any]]:
    return [_meaning(entry) for entry in entries if entry.name == model]


def _named(helpers: ModelEntry | tuple[ModelEntry, ...] | None) -> list[tuple[str, dict[str, Any]]]:
    entries = helpers if isinstance(helpers, tuple) else () if helpers is None else (helpers,)
    return [(entry.name, _meaning(entry)) for entry in entries]


def _meaning(entry: ModelEntry) -> dict[str, Any]:
    meaning = {name: value for name, value in entry.meaning.items() if name != "identity"}
    return {**meaning, "token_probabilities": entry.token_probabilities}
