"""Resolve a plan: look up its blueprint, datasets and lake, and say which datasets cannot be had and why."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path

from flows.planning.capabilities import with_capabilities
from flows.planning.jobs import EvalJob, ResolvedPlan, SelectedDataset
from flows.planning.names import require_names
from schemas.blueprint import SAMPLE, Blueprint, BlueprintDataset
from schemas.canary import SCHEDULED_CANARY
from schemas.chat import ModelEntry
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError
from schemas.extras import require_extra
from schemas.lineage import Missing
from schemas.metrics import METRICS
from schemas.plan import Plan, fields_of
from schemas.printing import appearance
from schemas.question_types import QuestionType
from schemas.roles import JUDGE, JUDGES, PANEL, PEOPLE
from schemas.tables.items import Items
from tasks.datasets.catalogue import find_items
from tasks.datasets.own_items import in_folder, local_dataset
from tasks.judging.rubrics import load_rubric
from tasks.lake.lake import Lake
from tasks.lake.local_state import state_folder
from tasks.lake.manifest import next_number, read_code_version
from tasks.lake.partitions import hash_settings
from tasks.metrics.metric import PROFILES
from tasks.models.batches.limits import limits_at
from tasks.models.batches.messages import messages_identity
from tasks.models.canary import epoch_identity, read_record
from tasks.retrieval.embedding import AUTO, find_embedder, resolve_auto
from tasks.scoring.blueprints import profiled_blueprint
from tasks.solvers.registry import SOLVERS, find_solver, helper_roles, require_prompts, settings_with
from tasks.sources.locating import Locator, choose_source


def resolve(plan: Plan, blueprint: Blueprint | None = None) -> ResolvedPlan:
    """Look up everything the plan names; `blueprint`: that of a past run, in place of what its file says now.

    A dataset that the plan names itself and that cannot be had is an error; one that only the blueprint names is recorded as
    missing and lowers coverage. A wrong name, blueprint or combination of options is a UsageError or a BlueprintError.
    """
    blueprint = blueprint or profiled_blueprint(plan.benchmark, plan.profile, plan.prompts)
    require_names(plan, blueprint)
    for setting in plan.settings:
        find_solver(setting).read_options(plan.solvers.get(setting, {}))
    _require_names(plan.models, "model", "--model, models")
    _require_roles(plan, blueprint)
    locator = Locator.for_mirror(plan.mirror)
    selected, missing = [], []
    for name, entry in blueprint.datasets.items():
        if plan.datasets is not None and name not in plan.datasets:
            continue
        obstacle = _obstacle(name, entry, plan)
        if obstacle is None:
            specification = local_dataset(name, entry.title, entry.source) if entry.source else find_items(name)
            if name in plan.folders:
                specification = in_folder(specification, plan.folders[name])
            selected.append(SelectedDataset(choose_source(specification, locator), entry.methods))
        elif plan.datasets is None:
            missing.append(obstacle)
        else:
            raise UsageError(f"dataset {name} {obstacle.reason}", where="--datasets", next_step=obstacle.next_step)
    _require_contexts(plan, selected)
    _require_extras(plan, selected)
    require_prompts(blueprint.own_prompts)
    for rubric in {method.rubric: None for dataset in selected for method in dataset.methods if method.rubric}:
        load_rubric(rubric, blueprint.own_rubrics)  # a fault in it is told before the answers are paid for
    resolved = ResolvedPlan(
        stated=plan,
        plan=complete(plan, blueprint),
        blueprint=blueprint,
        selected=tuple(selected),
        missing=tuple(missing),
        lake=open_lake(plan),
    )
    _require_parameters(resolved)
    return resolved


def complete(plan: Plan, blueprint: Blueprint) -> Plan:
    """Return the plan with what it leaves to the blueprint, this machine and the lake's findings about its models.

    Manifest and report then name the sample, if one size holds for all datasets, and the embedding model that `auto` stands for
    here. A plan that asks changed models anew has the identities these have since they were found changed.
    """
    state, update = state_folder(plan.lake), dict[str, object]()
    if plan.sample is None and not any(entry.sample for entry in blueprint.datasets.values()):
        update["sample"] = SAMPLE
    if plan.retrieval.embedder == AUTO and embeds(plan):
        update["retrieval"] = plan.retrieval.model_copy(update={"embedder": resolve_auto()})

    def renewed(entry: ModelEntry) -> ModelEntry:
        epoch = read_record(state, entry.identity, entry.name).epoch
        return entry.model_copy(update={"identity": epoch_identity(entry.identity, epoch)})

    if plan.batch:
        plan = plan.map_entries(_by_batch)
    completed = with_capabilities(plan.model_copy(update=update))
    return completed.map_entries(renewed) if plan.ask_changed else completed


def _by_batch(entry: ModelEntry) -> ModelEntry:
    """Return a model as batches ask it: where these have another API, it is another endpoint."""
    is_other = limits_at(entry.base_url).form == "anthropic" and entry.identity == entry.base_url
    return entry.model_copy(update={"identity": messages_identity(entry.identity)}) if is_other else entry


def with_canary(plan: Plan) -> Plan:
    """Return the plan of a run that is scheduled, or asks changed models: unless it says otherwise it has a canary."""
    return plan if plan.canary is not None else plan.model_copy(update={"canary": SCHEDULED_CANARY})


def with_plan(resolved: ResolvedPlan, stated: Plan) -> ResolvedPlan:
    """Return a resolved plan of another statement that names the same; its datasets stay as they were found.

    Of the same statement it has what was found about its models meanwhile. Raise LakeError if that cannot be read.
    """
    lookups = {name: getattr(resolved, name) for name in ("blueprint", "selected", "missing", "lake", "replies")}
    return ResolvedPlan(stated=stated, plan=complete(stated, resolved.blueprint), **lookups)


def open_lake(plan: Plan) -> Lake:
    """Return the lake of a plan, whose files this version of the code writes."""
    return Lake(plan.lake, read_code_version())


def _require_roles(plan: Plan, blueprint: Blueprint) -> None:
    """Raise UsageError if a role is not used, a judge is missing, or judges share a name."""
    used = (*JUDGES, *helper_roles(plan.settings))
    for name in plan.roles:
        if name not in used:
            raise UsageError(
                f"no setting of the plan uses the role {name}",
                where=f"--role {name}, roles.{name}",
                expected=f"one of {', '.join(used)}",
                got=f"{name}, with settings {', '.join(plan.settings)}",
                next_step=f"leave it out, or name a setting that has it: {', '.join(settings_with(name))}",
            )
    if PANEL in plan.roles and JUDGE not in plan.roles:
        raise UsageError(
            "there is a panel but no judge (only the judge's ratings count)",
            where="--role panel",
            got=", ".join(entry.name for entry in plan.named(PANEL)),
            next_step="name one of them with --judge instead",
        )
    if PEOPLE in {entry.name for entry in plan.named(*JUDGES)}:
        raise UsageError(
            f"a judge cannot be named {PEOPLE}: the name is reserved for ratings by people",
            where="--judge, --role panel",
            got=PEOPLE,
            next_step="serve it under another name",
        )
    if plan.simulation_rubric and not (load_rubric(plan.simulation_rubric, blueprint.own_rubrics).faults and JUDGE in plan.roles):
        raise UsageError(
            "the review of simulated persons needs a judge and a rubric with faults",
            where="simulation_rubric",
            expected="a rubric with faults, and a judge",
            got=f"{plan.simulation_rubric}, {'a' if JUDGE in plan.roles else 'no'} judge",
            next_step="name the judge with --judge, and a rubric that has faults",
        )
    for dataset in blueprint.datasets:
        judges = [entry for role in JUDGES for entry in plan.role_models(role, dataset)]
        _require_names(judges if plan.judges(dataset) else (), "judge", "--judge, --role panel")


def _require_names(entries: Sequence[ModelEntry], kind: str, where: str) -> None:
    """Raise UsageError if two models of a kind have one name, by which replies, ratings and scores are kept."""
    names = [appearance(entry.name) for entry in entries]
    differ = len({entry.name for entry in entries}) == len(entries)
    alike = "names that look the same" if differ else "the same name"
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"two {kind}s have {alike}, {repeated[0]}, so their replies cannot be told apart",
            where=where,
            expected=f"{kind}s of different names, each once",
            got=", ".join(f"{ascii(entry.name) if differ else entry.name} at {entry.identity}" for entry in entries),
            next_step="have one server offer it under another name (such as vllm serve --served-model-name),"
            " or run them one after the other and use moodflow compare",
        )


def embeds(plan: Plan) -> bool:
    """Return whether texts of the plan are ranked by their meaning."""
    return plan.retrieval.ranking != "bm25" and any(SOLVERS[setting].retrieves for setting in plan.settings)


def _require_contexts(plan: Plan, selected: Sequence[SelectedDataset]) -> None:
    """Raise UsageError if a setting asks no such items as a dataset has."""
    for entry in selected if plan.models else ():  # a build asks nothing
        _require_setting_asks(plan, entry.spec, entry.spec.question_types, any)  # a user's own items may be of any type
    built = [entry.spec.id for entry in selected if entry.spec.sample_builder is not None]
    if plan.permute and built:
        raise UsageError(
            f"the order of choices is fixed in {built[0]}",
            where="--set permute",
            expected="datasets without long contexts",
            got=str(plan.permute),
            next_step="leave permute out, or name other datasets with --datasets",
        )


def _require_extras(plan: Plan, selected: Sequence[SelectedDataset]) -> None:
    """Raise UsageError if an extra that a metric or a ranking needs is not installed, or an embedding model is not here."""
    for dataset in selected if plan.models else ():  # a build computes none
        for row in (METRICS[spec.metric] for method in dataset.methods for spec in method.metrics):
            if row.extra:
                require_extra(row.extra, f"the metric {row.name}", f"dataset {dataset.spec.id}", "leave the dataset out")
    if embeds(plan):
        where, by_words = f"--set retrieval.ranking={plan.retrieval.ranking}", "rank by words with --set retrieval.ranking=bm25"
        require_extra("embeddings", "ranking texts by their meaning", where, by_words)
        find_embedder(plan.retrieval.embedder)


def _require_parameters(resolved: ResolvedPlan) -> None:
    """Raise UsageError if numbers of a setting that retrieves do not fit each other."""
    retrieving = [setting for setting in resolved.plan.settings if SOLVERS[setting].retrieves]
    for selected, entry, setting in product(resolved.selected, resolved.plan.models, retrieving):
        _ = EvalJob(resolved, selected, entry, setting).asked_with if selected.spec.task else None


def require_asked(resolved: ResolvedPlan) -> None:
    """Raise UsageError if a setting does not ask all items that were built; a user's own may be of any type."""
    for entry in resolved.selected:
        asks = (
            SOLVERS[name].asks(kind, entry.spec.task) for name in resolved.plan.settings for kind in entry.spec.question_types
        )
        if not all(asks) and (built := resolved.find_built(entry)):
            kinds = resolved.lake.read(built[0], Items)["question_type"].unique(maintain_order=True)
            _require_setting_asks(resolved.plan, entry.spec, kinds.to_list(), all)


def _require_setting_asks(
    plan: Plan, spec: DatasetSpec, types: Sequence[QuestionType], enough: Callable[[Iterable[bool]], bool]
) -> None:
    """Raise UsageError, with the settings that fit, if one does not ask a dataset's items; enough: `any` or `all` types."""
    fitting = [name for name, solver in SOLVERS.items() if enough(solver.asks(kind, spec.task) for kind in types)]
    for setting in plan.settings:
        if setting not in fitting:
            raise UsageError(
                f"dataset {spec.id} cannot be asked in setting {setting}",
                where="--settings, --datasets",
                expected=f"one of {', '.join(fitting)}" if fitting else "datasets whose items one setting asks",
                got=f"{setting}; {', '.join(types)} items {'with' if spec.task else 'without'} long contexts",
                next_step="choose a setting that fits, or run this dataset separately",
            )


def _obstacle(name: str, entry: BlueprintDataset, plan: Plan) -> Missing | None:
    if plan.profile in PROFILES and (gap := PROFILES[plan.profile].gap(name, entry)):
        return Missing(dataset=name, reason=gap, next_step="its score in the corrected profile is the one to use")
    if not plan.judges(name) and any(method.judged and method.raters != PEOPLE for method in entry.methods):
        return Missing(dataset=name, reason="is scored by a judge and no judge was named", next_step="add --judge NAME")
    return None


def name_run(plan: Plan, started: datetime) -> str:
    """Name a run by start time, number, benchmark, models and six digits of the plan's hash, safe as a folder name.

    The number, which says what is newer, is taken when the run's scores are there.
    """
    models = re.sub(r"[^A-Za-z0-9.]+", "-", "+".join(model.name for model in plan.models))[:40].strip("-")
    undescribed = plan.map_entries(lambda entry: entry.model_copy(update={"about": None}))
    digest = hash_settings(undescribed.model_dump(mode="json", exclude=set(fields_of("place"))))[:6]
    return f"{started:%Y%m%dT%H%M%S%fZ}.{next_number(plan.lake)}-{Path(plan.benchmark).stem}-{models}-{digest}"
