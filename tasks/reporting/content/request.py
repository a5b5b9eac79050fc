"""Describe what was asked of whom: roles, parameters, datasets, their licences, and how long their items are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.base import Frozen
from schemas.benchmark import rows
from schemas.blueprint import Blueprint
from schemas.context import ContextOptions, RetrievalOptions
from schemas.documents.run import MeanLength
from schemas.lineage import DatasetNotice, RunManifest
from schemas.paper import RELEASED
from schemas.roles import JUDGE, PANEL
from schemas.table import Cell, Column, Table, columns
from tasks.lake.partitions import canonical_json
from tasks.runs.evidence import restricted_notices
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row
from tasks.runs.sections import Block
from tasks.scoring.published import BASE_SETTING, paper_of
from tasks.solvers.registry import SOLVERS, ContextSolver, helper_roles, is_optional, setting_order, setting_title
from tasks.sources.locating import shortened
from tasks.text.number_format import counted, listed

SELF = "the model under test itself"
WITHHELD = "Texts of {} and the replies to them are withheld: the licence does not allow passing them on."
QUOTED = (
    "This report may quote texts of {} whose licence does not allow passing them on. Before you share it, write it again with "
    "--redact."
)


def lay_out_request(data: ReportData) -> Iterator[Block]:
    """Yield settings, what is set otherwise than usual and all options of a setting, and who had which role.

    Nothing where there is no more to the plan than models and their judge.
    """
    manifest, plan = data.manifest, data.manifest.plan
    settings = sorted(plan.get("settings", (BASE_SETTING,)), key=setting_order)
    if settings == [BASE_SETTING] and data.contexts.is_empty() and not manifest.models_in(PANEL):
        return
    preset = plan.get("retrieval", {}).get("preset", "paper") if _retrieves(settings) else None
    changed = [*_changed("retrieval", plan, RetrievalOptions), *_changed("contexts", plan, ContextOptions)]
    changed += _own(plan, settings)
    parts = (
        f"Settings: {listed([setting_title(setting) for setting in settings])}.",
        f"Parameters: preset {preset}." if preset else "",
        f"Set for this run: {', '.join(changed)}." if changed else "",
    )
    tasks = set(data.contexts["task"].cast(pl.String))
    remarks = (remark for solver in rows("context_solvers", ContextSolver) for remark in solver.remarks(tasks, settings))
    yield Block(words=" ".join(filter(None, parts)), warnings=(*remarks, *_notes(manifest, settings)))
    heads = (*columns("name", "Role", "Model"), Column("What it does"))
    yield Block("Roles", tables=(Table(heads, list(_roles(manifest, settings)), "Roles"),))


def _roles(manifest: RunManifest, settings: list[str]) -> Iterator[tuple[str, str, str]]:
    plan = manifest.plan
    yield ("Core", _names(plan.get("models", ())), "models under test: they read, write and answer")
    for role, does in helper_roles(settings).items():
        unnamed = "nobody" if is_optional(role) else SELF
        yield (role.replace("_", " ").capitalize(), _who(manifest, role, unnamed=unnamed), does)
    if _retrieves(settings):
        retrieval = plan.get("retrieval", {})
        embedder = retrieval.get("embedder", "auto")
        by = "auto: BAAI/bge-m3 if it is there, else minilm" if embedder == "auto" else embedder
        words = {"bm25": "BM25, by words", "fused": f"{by}, fused with BM25"}
        yield ("Rank", words.get(retrieval.get("ranking", "dense"), by), "orders chunks")
    if judge := _who(manifest, JUDGE):
        times = plan.get("judge_repeat", 1)
        yield ("Judge", judge, f"rates each free-text answer {counted(times, 'time')}; its ratings are the score")
    if panel := _who(manifest, PANEL):
        yield ("Panel", panel, "rates the same answers, to see whether judges agree; its ratings enter no score")


def _names(models: Any) -> str:
    names = [model["name"] for model in models]
    return listed(names) if names else "none"


def _who(manifest: RunManifest, role: str, unnamed: str = "") -> str:
    """Return who has a role, after it the datasets in which that is another model; `unnamed` stands for no model."""
    assigned = manifest.role(role)
    usual = _names(assigned["default"]) if assigned["default"] else unnamed
    differing = (f"{dataset}: {_names(models) if models else unnamed}" for dataset, models in assigned["datasets"].items())
    return "; ".join(filter(None, (usual, *differing)))


def _changed(part: str, plan: Row, options: type[Frozen]) -> Iterator[str]:
    """Yield what a part of the plan sets otherwise than usual, as `--set` takes it."""
    for name, value in plan.get(part, {}).items():
        usual = options.model_fields[name].get_default() if name in options.model_fields else None
        if value != (list(usual) if isinstance(usual, tuple) else usual):
            yield f"{part}.{name}={canonical_json(value)}"


def _retrieves(settings: list[str]) -> bool:
    return any(SOLVERS[setting].retrieves for setting in settings if setting in SOLVERS)


def _own(plan: Row, settings: list[str]) -> Iterator[str]:
    """Yield every option of the settings' own: no number can be read without them."""
    for setting in settings:
        fields = SOLVERS[setting].options.model_fields if setting in SOLVERS else {}
        given = plan.get("solvers", {}).get(setting, {})
        for name, field in fields.items():
            yield f"solvers.{setting}.{name}={canonical_json(given.get(name, field.get_default()))}"


def _notes(manifest: RunManifest, settings: list[str]) -> Iterator[str]:
    models = list(manifest.plan.get("models", ()))
    for setting in settings:
        for role in helper_roles([setting]):
            usual = manifest.role(role)["default"]
            unnamed = [] if is_optional(role) else models
            if own := _common(models, manifest.models_in(role)) if usual else unnamed:
                yield f"With {setting_title(setting)} the {role.replace('_', ' ').capitalize()} is {SELF} ({_names(own)})."
    judges, panel = manifest.models_in(JUDGE), manifest.models_in(PANEL)
    if own := _common(models, judges):
        rated = f"The judge is a model under test: {_names(own)} rated its own answers"
        yield f"{rated}, and models tend to favour their own wording."
    if judges and (own := _common(models, panel)):
        yield f"The panel includes a model under test ({_names(own)}); its ratings of its own answers are among those compared."
    if own := _common(judges, panel):
        yield f"The panel includes the judge itself, {_names(own)}, which there agrees only with itself."


def _common(models: list[Row], others: list[Row]) -> list[Row]:
    """Return those of the models that are among the others, too: the same name at the same place."""
    identities = {(other["name"], other.get("identity")) for other in others}
    return [model for model in models if (model["name"], model.get("identity")) in identities]


@dataclass(frozen=True)
class Provenance:
    """The datasets of the run with their licences and the mean lengths of their items.

    `note` names those whose texts may not be passed on, `short_note` counts them; null if all may be. `canaries`: strings the
    authors ask to be kept with the data, each once.
    """

    notices: Table
    note: str | None
    short_note: str | None
    lengths: Table
    canaries: tuple[str, ...]


def describe_provenance(data: ReportData) -> Provenance:
    """Describe what the manifest says about the datasets, and what follows for passing the report on."""
    notices, restricted = data.manifest.datasets, [notice.title for notice in restricted_notices(data)]
    note, number = WITHHELD if data.manifest.redacted else QUOTED, counted(len(restricted), "dataset")
    return Provenance(
        notices=_notices_table(notices),
        note=note.format(listed(restricted)) if restricted else None,
        short_note=note.format(number) if restricted else None,
        lengths=_lengths_table(data),
        canaries=tuple(dict.fromkeys(notice.canary for notice in notices if notice.canary)),
    )


def _notices_table(notices: Iterable[DatasetNotice]) -> Table:
    rows = []
    for notice in notices:
        name, sources = Cell(notice.title, notice.id), "\n".join(shortened(notice.sources))
        version = Cell(notice.evaluation_version, "; ".join(notice.ambiguous))
        rows.append((name, notice.licence, notice.redistributable, sources, version))
    heads = (*columns("name", "Dataset", "Licence", "Texts may be passed on"), Column("Source"))
    return Table((*heads, Column("Evaluation version", "name")), rows, "Datasets of the run")


def _lengths_table(data: ReportData) -> Table:
    """Return mean lengths by dataset; of contexts only where there are any."""
    lengths = mean_lengths(data.items, data.contexts, data.blueprint)
    contexts = columns("number", "Tokens of the context", "Tokens in the paper", digits=0)
    heads = (Column("Dataset", "name"), Column("Items", "count"), Column("Characters of context and question", "number", 0))
    rows = [(data.title_of(row.dataset), row.items, row.characters, row.tokens, row.of_paper) for row in lengths]
    return Table((*heads, *contexts), rows, "Mean length of the items").without_empty(*(column.title for column in contexts))


def mean_lengths(items: pl.DataFrame, contexts: pl.DataFrame, blueprint: Blueprint) -> tuple[MeanLength, ...]:
    """Return mean lengths by dataset, in the order of the names; `items`, `contexts`: rows of these layers."""
    characters = pl.col("question").str.len_chars() + pl.col("context").str.len_chars().fill_null(0)
    means = items.group_by("dataset").agg(items=pl.len(), characters=characters.mean())
    tokens = dict(contexts.group_by("dataset").agg(pl.col("tokens").mean()).iter_rows())
    of_paper = paper.lengths if (paper := paper_of(blueprint)) else {}
    return tuple(
        MeanLength(name, number, mean, tokens.get(name), of_paper.get(name.removesuffix(RELEASED)))
        for name, number, mean in means.sort("dataset").iter_rows()
    )


def read_lengths(run: PastRun) -> Iterator[MeanLength]:
    """Yield mean lengths of a run of the lake, one dataset after the other: texts are many. Raise LakeError if one is gone."""
    for ref in run.partitions("items"):
        items, contexts = (run.read(layer, dataset=ref.key("dataset")) for layer in ("items", "contexts"))
        yield from mean_lengths(items, contexts, run.blueprint)
