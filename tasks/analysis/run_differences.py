"""What differs between two runs besides their scores, and which of it makes their scores incomparable."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.plan import EFFECTS
from tasks.analysis.comparable_runs import HARMLESS
from tasks.analysis.past_run import PastRun

Row = dict[str, Any]

CALL = (
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "connect_timeout_s",
    "first_byte_timeout_s",
    "timeout_s",
    "http2",
    "api_key_env",
)
"""Fields of a model's entry that change how it is called, not what it answers."""


def find_differences(before: PastRun, after: PastRun) -> list[Row]:
    """Everything that differs: plan, blueprint, versions and datasets; one row each of `what`, `before` and `after`."""
    old, new = before.manifest, after.manifest
    rows = list(_flat_differences("plan", _settings(old.plan), _settings(new.plan)))
    rows += _flat_differences("blueprint", old.blueprint, new.blueprint)
    for name in ("package_version", "git_commit", "redacted"):
        if getattr(old, name) != getattr(new, name):
            rows.append({"what": name, "before": getattr(old, name), "after": getattr(new, name)})
    notices = [{notice.id: notice.model_dump(mode="json") for notice in run.datasets} for run in (old, new)]
    if all(notices):
        common = [name for name in notices[1] if name in notices[0]]
        for name in common:
            rows += _flat_differences(f"datasets.{name}", notices[0][name], notices[1][name])
    return rows


def warnings(before: PastRun, after: PastRun) -> list[str]:
    """Why scores of the two runs cannot simply be compared; none if they can."""
    old, new = before.manifest, after.manifest
    found = []
    if old.blueprint_sha256 != new.blueprint_sha256:
        found.append(
            "the blueprint is another one: weights, methods or datasets differ; both are weighed by that of the run after"
        )
    for name, effect in EFFECTS.items():
        values = [_meaning(run.plan.get(name)) for run in (old, new)]
        if effect.difference is not None and values[0] != values[1]:
            found.append(f"{name} differs, so {effect.difference}")
    versions = [{notice.id: notice.evaluation_version for notice in run.datasets} for run in (old, new)]
    found += [
        f"dataset {name} is evaluated by version {versions[1][name]} after and by {versions[0][name]} before"
        for name in sorted(versions[0].keys() & versions[1].keys())
        if versions[0][name] != versions[1][name]
    ]
    found += _scored_otherwise(before, after)
    return found


def _scored_otherwise(before: PastRun, after: PastRun) -> Iterator[str]:
    """Another version of the code that reads replies: equal replies may have other scores."""
    versions = []
    for run in (before, after):
        refs = run.partitions("item_scores")
        settings = run.lake.read_footer(refs[0]).settings if refs else {}
        versions.append(settings.get("evaluation_version"))
    if versions[0] != versions[1]:
        yield f"replies are read and scored by version {versions[1]} of the code after and by {versions[0]} before"


def _settings(plan: Mapping[str, Any]) -> Row:
    return {
        name: _meaning(value) if name not in ("models", "panel") else [_meaning(each) for each in value or ()]
        for name, value in plan.items()
        if name not in HARMLESS
    }


def _meaning(value: Any) -> Any:
    """A value without what only changes how a model is called; a field that is not there is null."""
    if isinstance(value, dict):
        return {name: _meaning(each) for name, each in value.items() if name not in CALL and each is not None}
    return value


def _flat_differences(path: str, before: Any, after: Any) -> Iterator[Row]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from _flat_differences(f"{path}.{name}", before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _flat_differences(f"{path}.{number}", old, new)
    elif before != after:
        yield {"what": path, "before": before, "after": after}
