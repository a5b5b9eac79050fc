"""A small run written out by hand: two abilities and a gate, three models, one dataset missing.

`alpha` is ordinary, `beta` is vetoed, every call of `gamma` failed. `mood` has options and two languages, `tale` is judged,
`kind` belongs to the gate, `lost` has no data.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import CallCounts, Missing, PartitionRef, RunManifest
from schemas.roles import gather_roles
from tasks.runs.run_tables import ReportData, System
from tasks.scoring.published import as_table
from tests.tasks.replies import answers_of_replies
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_items import digest
from tests.tasks.reporting.example_scores import score_layers

ALPHA, BETA, GAMMA = (System(name, "base") for name in ("alpha", "beta", "gamma"))
BLUEPRINT = Blueprint.model_validate(
    {
        "name": "moodbench",
        "title": "Small bench",
        "version": "1.0",
        "source": "written for tests",
        "gate": {"ability": "values_safety", "threshold": 60},
        "level_rules": [
            {"weights": {"low": 0.4, "medium": 0.6}},
            {"weights": {"low": 1}},
            {"weights": {"medium": 1}},
        ],
        "abilities": [
            {
                "id": "values_safety",
                "title": "Values & Safety",
                "tasks": [{"id": "kindness", "title": "Kindness", "level": "low", "datasets": ["kind"]}],
            },
            {
                "id": "emotional",
                "title": "Emotional Ability",
                "children": [
                    {
                        "id": "recognition",
                        "title": "Emotion Recognition",
                        "tasks": [
                            {"id": "moods", "title": "Moods", "level": "low", "datasets": ["mood", "lost"]},
                            {"id": "tales", "title": "Tales", "level": "medium", "datasets": ["tale"]},
                        ],
                    }
                ],
            },
            {"id": "supporting", "title": "Supporting Ability", "evaluated": False},
        ],
        "datasets": {
            "kind": {"title": "Kind", "methods": [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]},
            "mood": {"title": "Mood", "methods": [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]},
            "lost": {"title": "Lost", "methods": [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]},
            "tale": {
                "title": "Tale",
                "methods": [{"id": "judge", "judged": True, "rubric": "tale", "metrics": [{"metric": "judged_rating"}]}],
            },
        },
    }
)

PLAN: dict[str, Any] = {
    "benchmark": "moodbench",
    "models": [
        {"name": name, "identity": "http://localhost:8000/v1", "sampling": {"max_tokens": 64}}
        for name in ("alpha", "beta", "gamma")
    ],
    "settings": ["base"],
    "roles": {"judge": {"name": "alpha", "identity": "http://localhost:8000/v1"}},
    "sample": 4,
    "datasets": None,
}


def published() -> pl.DataFrame:
    columns = ("rank", "model", "overall", "values_safety", "emotional", "ranked", "series", "institution", "type", "parameters")
    rows = [
        (1, "gpt-9-large", 70.0, 95.0, 70.0, True, "GPT", "X", "Closed-source", "1.8T (Total MoE Parameters)"),
        (2, "gpt-9-mini", 20.0, 90.0, 20.0, True, "GPT", "X", "Closed-source", "8B (Estimated)"),
        (None, "llm2-1b", 10.0, 40.0, 10.0, False, "LLM", "Y", "Open-source", "1B"),
    ]
    return pl.DataFrame(rows, schema=list(columns), orient="row")


def partition(layer: str, place: tuple[tuple[str, str], ...], *, complete: bool = True) -> PartitionRef:
    name = f"{layer}{place}"
    return PartitionRef(
        layer=layer, place=place, fingerprint=digest(name), path="p", rows=3, content_sha256=digest(name * 2), complete=complete
    )


def manifest(**changes: Any) -> RunManifest:
    fields: dict[str, Any] = {
        "run": "20260101-000000-moodbench-aaaa",
        "benchmark": "moodbench",
        "blueprint": {},
        "blueprint_sha256": "b" * 64,
        "plan": PLAN,
        "package_version": "0.2.0",
        "git_commit": "c" * 40,
        "started_at": "2026-01-01T00:00:00+00:00",
        "finished_at": "2026-01-01T00:01:00+00:00",
        "partitions": (
            partition("items", (("dataset", "mood"),)),
            partition("responses", (("dataset", "mood"), ("model", "alpha"))),
            partition("responses", (("dataset", "mood"), ("model", "gamma")), complete=False),
        ),
        "missing": (Missing(dataset="lost", reason="its data is not published", next_step="bring the file with --mirror"),),
        "calls": CallCounts(sent=1234, answered=1200, from_journal=5, failed=34),
    }
    given = fields | changes
    return RunManifest.model_validate(given | {"plan": gather_roles(given["plan"])})


def example_data(**changes: Any) -> ReportData:
    """The run; any field of ReportData can be replaced. Answers follow from the replies."""
    if changes.keys() & {"responses", "items"} and "answers" not in changes:
        told = {name: changes.get(name, getattr(_whole(), name)) for name in ("responses", "items")}
        changes["answers"] = answers_of_replies(told["responses"], told["items"])
    return replace(_whole(), **changes)


@cache
def _whole() -> ReportData:
    fields: dict[str, Any] = {
        "manifest": manifest(),
        "blueprint": BLUEPRINT,
        **score_layers(example_items.item_scores(), BLUEPRINT),
        "item_scores": example_items.item_scores(),
        "items": example_items.items(),
        "responses": example_items.responses(),
        "answers": answers_of_replies(example_items.responses(), example_items.items()),
        "paper": as_table(published()),
    }
    return ReportData(**fields)


def headlined_data() -> ReportData:
    """The run, with headlines for two datasets."""
    fields = BLUEPRINT.model_dump(mode="json")
    for name, headline in {"mood": "Moods", "lost": "Losses"}.items():
        fields["datasets"][name]["methods"][0]["metrics"][0]["headline"] = headline
    return example_data(blueprint=Blueprint.model_validate(fields))


def empty_data() -> ReportData:
    """A run that wrote nothing."""
    return ReportData(manifest(), BLUEPRINT)
