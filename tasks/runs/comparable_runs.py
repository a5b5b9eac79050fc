"""Find out whether two runs can be compared, and what differs between them besides their scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.api_capabilities import Sampling
from schemas.chat import ModelEntry
from schemas.documents.leaderboard import Group
from schemas.lineage import OWN_AS_PINNED, RunManifest
from schemas.plan import Plan, fields_of
from schemas.roles import JUDGE, PANEL, RoleModels
from schemas.tables.layers import LAYERS
from tasks.lake.partitions import canonical_json, hash_settings
from tasks.runs.differences import TreeChange, fields_apart, tree_changes
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.solvers.registry import helper_roles, is_optional

HARMLESS = frozenset(fields_of("place", "limit"))
"""Fields of a plan that say where and how a run works, how it is shown or what it may cost, not what is asked and scored."""

NOT_COMPARED = HARMLESS | {*fields_of("system")}
"""Fields of a plan that may differ. The benchmark is compared by its blueprint, models and settings one by one, roles by how
their models are asked. Any other field must be the same."""


def systems_of(manifest: RunManifest) -> dict[System, None]:
    """Return models and settings that a run has item scores of, in its order."""
    scored = (ref for ref in manifest.partitions if ref.layer == "item_scores")
    return dict.fromkeys(System(ref.key("model"), ref.key("setting")) for ref in scored)


def difference(run: RunManifest, earlier: RunManifest, system: System) -> str | None:
    """Return why a model and setting of a run cannot be compared with those of an earlier one; null if they can.

    Server addresses and transport settings may differ: that a server was moved or renewed is what a comparison is to show.
    """
    return next(_differences(run, earlier, system), None)


def basis(run: RunManifest) -> dict[str, object]:
    """Return what the totals of a run rest on besides models and settings: only where it is equal are they ranked together.

    That is the plan's fields that say what is asked and how it is scored, the models in its roles with their parameters (a panel
    moves no score, nor does a judge, or how often it is asked, where nothing is judged), the hash of the blueprint, and those of
    the items of the user's own datasets and folders, whose files may change, unless they are as pinned. In dialogues with a
    simulated person, who plays that person, named or not.
    """
    plan, datasets = _plan(run), run.blueprint.get("datasets", {})
    fields = plan.model_dump(mode="json") if plan else run.plan
    chosen = [dataset for name, dataset in datasets.items() if name in (fields.get("datasets") or datasets)]
    judged = any(method["judged"] for dataset in chosen for method in dataset["methods"])
    own = {name for name, dataset in datasets.items() if dataset.get("source")} | fields.get("folders", {}).keys()
    own -= {notice.id for notice in run.datasets if all(source.startswith(OWN_AS_PINNED) for source in notice.sources)}
    left_out = NOT_COMPARED if judged else NOT_COMPARED | {"judge_repeat"}
    record = {name: value for name, value in fields.items() if name not in left_out}
    for role in plan.roles if plan else run.plan.get("roles", {}):
        if role != PANEL and (judged or role != JUDGE):
            record[role] = _models_in(plan, role) if plan else run.names_in(role)
    if plan and any(ref.layer == "simulation_faults" for ref in run.partitions):
        unnamed = [role for role in helper_roles(plan.settings) if role not in plan.roles and not is_optional(role)]
        record |= {role: {"": _asked(plan.models)} for role in unnamed}
    items: dict[str, list[str]] = {}  # and gold, which may stand beside them
    for ref in sorted(run.partitions, key=lambda ref: ref.layer):
        if ref.layer in LAYERS and LAYERS[ref.layer].written_by == "build" and ref.key("dataset") in own:
            items.setdefault(ref.key("dataset"), []).append(ref.content_sha256[:8])
    return {
        **record,
        "blueprint": _blueprint_sha256(run)[:12],
        "items": {name: " ".join(hashes) for name, hashes in items.items()},
    }


def _blueprint_sha256(run: RunManifest) -> str:
    """Return the hash of a run's blueprint, wherever files of the user's own lie and however their prompts end."""
    blueprint, datasets = run.blueprint, run.blueprint.get("datasets", {})
    if not blueprint.get("own_prompts") and not any(dataset.get("source") for dataset in datasets.values()):
        return run.blueprint_sha256
    own = {
        "datasets": {name: {**dataset, "source": bool(dataset.get("source"))} for name, dataset in datasets.items()},
        "own_prompts": _stripped(blueprint.get("own_prompts")),
        "wording": None,
    }
    return hash_settings({**blueprint, **own})


def _stripped(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: _stripped(value) for name, value in content.items()}
    return content.strip() if isinstance(content, str) else content


def parameters_of(run: RunManifest, model: str) -> dict[str, object]:
    """Return what moves the replies of a model of a run, without what is as usual; nothing if the run has not asked it.

    All that is said of the model where the plan cannot be read.
    """
    plan = _plan(run)
    if plan is None:
        return next((dict(entry) for entry in run.plan.get("models", ()) if entry["name"] == model), {})
    return next((_answering_parameters(entry) for entry in plan.models if entry.name == model), {})


def _plan(manifest: RunManifest) -> Plan | None:
    return _read_plan(to_json(manifest.plan))


@lru_cache  # a plan is that of many nights
def _read_plan(text: bytes) -> Plan | None:
    try:
        return Plan.model_validate_json(text)
    except ValidationError:
        return None


def _differences(run: RunManifest, earlier: RunManifest, system: System) -> Iterator[str]:
    if earlier.benchmark != run.benchmark:
        yield f"it is of {earlier.benchmark}"
    mine, theirs = _plan(run), _plan(earlier)
    if mine is None or theirs is None:
        yield "its plan was written by another version and cannot be read"
        return
    if mine.profile != theirs.profile:
        yield f"it was scored in the {theirs.profile} profile"
    own, other = basis(run), basis(earlier)
    apart = fields_apart(other, own)
    if "blueprint" in apart:
        yield "its blueprint is another one"
    if system not in systems_of(earlier):
        yield f"it has no scores of {system.model} with setting {system.setting}"
    # Scores are compared over the items that are the same; whoever plays a part that nobody is named for is the system itself.
    named = {*mine.roles, *theirs.roles}
    apart = [name for name in apart if name not in ("blueprint", "items") and (name in named or name not in helper_roles())]
    for name in apart:
        if name in named:
            yield f"its {name} is another one, or was asked with other parameters"
        else:
            for place, there, here in tree_changes(other.get(name), own.get(name), name):
                yield f"its {place}: {in_words(there)} instead of {in_words(here)}"
    if parameters_of(run, system.model) != parameters_of(earlier, system.model):
        yield f"{system.model} was asked with other parameters"


def in_words(value: Any) -> str:
    """Return a value of a plan as a sentence has it, without the brackets of Python."""
    if isinstance(value, Mapping):
        value = [f"{name} {in_words(each)}".strip() for name, each in value.items() if each not in (None, [], {})]
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value))[:80] or "none"
    return "not set" if value is None else str(value)[:80]


def _models_in(plan: Plan, role: str) -> dict[str, list[Any]]:
    models = plan.roles.get(role, RoleModels())
    return {dataset: _asked(entries) for dataset, entries in {"": models.default, **models.datasets}.items()}


def _asked(entries: Iterable[ModelEntry]) -> list[Any]:
    return [(entry.name, *_answering_parameters(entry).items()) for entry in entries]


def _answering_parameters(entry: ModelEntry) -> dict[str, object]:
    """Return what moves a model's replies, without what is as usual: a reader is to see what is not."""
    sampling = {name: value for name, value in entry.meaning["sampling"].items() if value != getattr(Sampling(), name)}
    meaning = {**entry.meaning, "sampling": sampling, "token_probabilities": entry.token_probabilities}
    return {name: value for name, value in meaning.items() if value and name != "identity"}


CALL = (
    *("concurrency", "requests_per_minute", "tokens_per_minute", "connect_timeout_s", "first_byte_timeout_s"),
    *("timeout_s", "api_key_env", "headers_env", "query_env", "query", "about"),
)
"""Fields of a model's entry that change how it is called or what is said of it, not what it answers."""

WHY = {
    "seed": "other items are drawn",
    "profile": "replies are scored in other ways",
    "judge_repeat": "answers are rated another number of times",
    "permute": "options are shown in other orders",
    "repeat": "items are asked another number of times",
    "too_long": "items longer than the context are treated otherwise",
    "contexts": "long contexts are built otherwise",
    "retrieval": "chunks are made, ranked or chosen otherwise",
    "solvers": "items are asked with other parameters",
}
"""What it means if a field of the plan differs. `sample` may: it changes no score of the common items."""


def find_differences(before: PastRun, after: PastRun) -> list[TreeChange]:
    """Find everything that differs: plan, blueprint, versions and datasets."""
    manifests = before.manifest, after.manifest
    notices = [{notice.id: notice.model_dump(mode="json") for notice in manifest.datasets} for manifest in manifests]
    sides = [
        {
            "plan": {name: _meaning(value) for name, value in manifest.plan.items() if name not in HARMLESS},
            "blueprint": manifest.blueprint,
            **{name: getattr(manifest, name) for name in ("package_version", "git_commit", "redacted")},
            "datasets": {name: own[name] for name in notices[1] if name in notices[0]},
        }
        for manifest, own in zip(manifests, notices, strict=True)
    ]
    return list(tree_changes(sides[0], sides[1], by_name=False))


def warnings(before: PastRun, after: PastRun) -> list[str]:
    """Return why scores of the two runs cannot simply be compared; none if they can. What they rest on is their `basis`."""
    old, new = before.manifest, after.manifest
    apart = fields_apart(basis(old), basis(new))
    reasons = []
    if "blueprint" in apart:
        reasons.append(
            "the blueprint is another one: weights, methods, datasets or texts differ; both are weighed by that of the run after"
        )
    helpers = {role: f"another model {does}" for role, does in {JUDGE: "rates answers", **helper_roles()}.items()}
    reasons += [f"{name} differs, so {why}" for name, why in {**WHY, **helpers}.items() if name in apart]
    was, now = ({notice.id: notice.evaluation_version for notice in run.datasets} for run in (old, new))
    reasons += [
        f"dataset {name} is evaluated by version {now[name]} after and by {was[name]} before"
        for name in sorted(was.keys() & now.keys())
        if was[name] != now[name]
    ]
    earlier, later = (_scored_by(run) for run in (before, after))
    if earlier != later:
        reasons.append(f"replies are read and scored by version {later} of the code after and by {earlier} before")
    return reasons


def _scored_by(run: PastRun) -> Any:
    """Return the version of the code that read replies: with another one, equal replies may have other scores."""
    refs = run.partitions("item_scores")
    return run.lake.read_footer(refs[0]).settings.get("evaluation_version") if refs else None


def _meaning(value: Any) -> Any:
    """Return a value without what changes no answer of a model; a field that is not there is null."""
    if isinstance(value, dict):
        return {name: _meaning(each) for name, each in value.items() if name not in CALL and each is not None}
    return [_meaning(each) for each in value] if isinstance(value, list) else value


def group_runs(manifests: Sequence[RunManifest], scored: Mapping[str, int]) -> tuple[Group, ...]:
    """Return the groups of these runs, newest first, by how many items each scored: groups with most come first."""
    bases = {manifest.run: basis(manifest) for manifest in manifests}
    runs: dict[str, list[str]] = {}
    for run, rests_on in bases.items():
        runs.setdefault(canonical_json(rests_on), []).append(run)
    together = sorted(runs.values(), key=lambda names: -max(scored.get(name, 0) for name in names))
    apart = fields_apart(*bases.values())
    return tuple(
        Group(number=number, runs=tuple(names), basis={name: in_words(bases[names[0]].get(name)) for name in apart})
        for number, names in enumerate(together, start=1)
    )
