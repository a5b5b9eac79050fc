"""Describe what was asked of whom: roles, parameters, datasets and their licences."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.context import ContextOptions
from schemas.lineage import DatasetNotice
from schemas.retrieval import RetrievalOptions
from tasks.analysis.number_format import counted, listed, setting_order, setting_title
from tasks.analysis.published_tables import BASE_SETTING
from tasks.analysis.redaction import restricted_notices
from tasks.analysis.run_tables import ReportData

AUTO_EMBEDDER = "auto: BAAI/bge-m3 where it is there, else minilm"
FOLLOWS = "as the preset says for task and model"
NOT_SAID = {"preset", "embedder"}
"""Parameters that are told elsewhere."""

MEANINGS = {
    "ranking": "what chunks are ranked by: dense = meaning, bm25 = words, fused = both",
    "needle_style": "matched: the needle has the case and the line layout of the text around it",
}
"""Of parameters without a description of their own."""


@dataclass(frozen=True)
class RoleRow:
    """A role, who had it, and what it does."""

    role: str
    models: str
    does: str


@dataclass(frozen=True)
class ParameterRow:
    """A parameter with its value and what it means; `given` if the plan sets it otherwise than usual."""

    name: str
    value: str
    meaning: str
    given: bool


@dataclass(frozen=True)
class Request:
    """Roles, settings and parameters. `notes`: where one model has two roles, which a reader must know."""

    settings: str
    preset: str | None
    roles: tuple[RoleRow, ...]
    retrieval: tuple[ParameterRow, ...]
    contexts: tuple[ParameterRow, ...]
    notes: tuple[str, ...]


def describe_request(data: ReportData) -> Request | None:
    """Describe what the plan asked for; null where there is no more to it than models and their judge."""
    plan = data.manifest.plan
    settings = sorted(plan.get("settings", (BASE_SETTING,)), key=setting_order)
    is_long = not data.contexts.is_empty()
    if settings == [BASE_SETTING] and not is_long and not plan.get("panel"):
        return None
    retrieves, retrieval = settings != [BASE_SETTING], plan.get("retrieval", {})
    return Request(
        settings=listed([setting_title(setting) for setting in settings]),
        preset=retrieval.get("preset", "paper") if retrieves else None,
        roles=tuple(_roles(plan, settings)),
        retrieval=_parameters(retrieval, RetrievalOptions) if retrieves else (),
        contexts=_parameters(plan.get("contexts", {}), ContextOptions) if is_long else (),
        notes=(*_plain_stages(data, settings), *_notes(plan, settings)),
    )


def _roles(plan: dict[str, Any], settings: list[str]) -> Iterator[RoleRow]:
    yield RoleRow("Core", _names(plan.get("models", ())), "models under test: they read, write and answer")
    if "coem" in settings:
        yield RoleRow("Sage", _helper(plan.get("sage")), "enriches retrieved chunks (CoEM)")
    if "self_rag" in settings:
        yield RoleRow("Critic", _helper(plan.get("critic")), "says which retrieved chunks help (Self-RAG)")
    if settings != [BASE_SETTING]:
        yield RoleRow("Rank", _embedder(plan.get("retrieval", {})), "orders chunks")
    if plan.get("judge"):
        times = plan.get("judge_repeat", 1)
        yield RoleRow(
            "Judge", plan["judge"]["name"], f"rates free-text answers, each {counted(times, 'time')}; this is the score"
        )
    if plan.get("panel"):
        yield RoleRow("Panel", _names(plan["panel"]), "rates the same answers, to see whether judges agree; enters no score")


def _names(models: Any) -> str:
    names = [model["name"] for model in models]
    return listed(names) if names else "none"


def _helper(model: dict[str, Any] | None) -> str:
    return "the model under test itself" if model is None else str(model["name"])


def _embedder(retrieval: dict[str, Any]) -> str:
    ranking, embedder = retrieval.get("ranking", "dense"), retrieval.get("embedder", "auto")
    by = AUTO_EMBEDDER if embedder == "auto" else embedder
    words = {"bm25": "BM25, by words", "fused": f"{by}, fused with BM25"}
    return words.get(ranking, by)


def _parameters(given: dict[str, Any], options: type[RetrievalOptions] | type[ContextOptions]) -> tuple[ParameterRow, ...]:
    rows = []
    for name, field in options.model_fields.items():
        usual = field.get_default()
        value = given.get(name, usual)
        is_given = _plain(value) != _plain(usual)
        if name not in NOT_SAID:
            meaning = field.description or MEANINGS[name]
            rows.append(ParameterRow(name.replace("_", " "), _shown(value, options), meaning, is_given))
    return tuple(rows)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, list)) else value


def _shown(value: Any, options: type[RetrievalOptions] | type[ContextOptions]) -> str:
    if value is None:
        return FOLLOWS if options is RetrievalOptions else "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(f"{entry:,g}" for entry in value) or "drawn per task"
    return f"{value:,d}" if isinstance(value, int) else str(value).replace("_", " ")


def _plain_stages(data: ReportData, settings: list[str]) -> Iterator[str]:
    """Say that early stages of a conversation are asked plainly, so that gains there say nothing."""
    retrieving = [setting_title(setting) for setting in settings if setting not in {BASE_SETTING, "retrieve_only"}]
    if retrieving and {"mc1", "mc2", "mc3"} & set(data.contexts["long_task"].cast(pl.String)):
        yield (
            f"In the first three stages of emotion conversation nothing is retrieved with {listed(retrieving)}: their items are "
            "asked as with Base, and gains there say nothing."
        )


def _notes(plan: dict[str, Any], settings: list[str]) -> Iterator[str]:
    models = list(plan.get("models", ()))
    for setting, role in (("coem", "sage"), ("self_rag", "critic")):
        if setting not in settings:
            continue
        helper = plan.get(role)
        own = models if helper is None else [model for model in models if _is_same(model, helper)]
        if own:
            yield f"With {setting_title(setting)} the {role.capitalize()} is the model under test itself ({_names(own)})."
    judge = plan.get("judge")
    if judge and any(_is_same(model, judge) for model in models):
        rated = f"The judge is a model under test: {judge['name']} rated its own answers"
        yield f"{rated}, and models tend to favour their own wording."
    own = [model for model in models if any(_is_same(model, other) for other in plan.get("panel", ()))]
    if judge and own:
        yield f"The panel holds a model under test ({_names(own)}), whose ratings of its own answers are among those compared."
    if judge and any(_is_same(other, judge) for other in plan.get("panel", ())):
        yield f"The panel holds the judge itself, {judge['name']}: what it agrees with there is only itself."


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["name"] == other["name"] and one.get("identity") == other.get("identity"))


@dataclass(frozen=True)
class Provenance:
    """The datasets of the run with their licences.

    `note` names those whose texts may not be passed on, `short_note` counts them; null if all may be.
    """

    notices: tuple[DatasetNotice, ...]
    note: str | None
    short_note: str | None

    @property
    def canaries(self) -> tuple[str, ...]:
        """Strings the authors ask to be kept with the data, each once."""
        return tuple(dict.fromkeys(notice.canary for notice in self.notices if notice.canary))


def describe_provenance(data: ReportData) -> Provenance:
    """Describe what the manifest says about the datasets, and what follows for passing the report on."""
    restricted, redacted = [notice.title for notice in restricted_notices(data)], data.manifest.redacted
    if not restricted:
        return Provenance(data.manifest.datasets, None, None)
    say = _say_withheld if redacted else _say_quoted
    return Provenance(data.manifest.datasets, say(listed(restricted)), say(counted(len(restricted), "dataset")))


def _say_withheld(of: str) -> str:
    return f"Texts of {of} and the replies to them are withheld: the licence does not allow passing them on."


def _say_quoted(of: str) -> str:
    return (
        f"This report may quote texts of {of} whose licence does not allow passing them on. Before you share it, write it again "
        "with --redact."
    )
