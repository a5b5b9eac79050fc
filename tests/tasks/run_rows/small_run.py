"""A small run, written out by hand: two datasets, one of which can veto and one of which is judged; two models; repetitions."""

from collections import defaultdict
from typing import Any

from schemas.blueprint import Gate, MetricSpec
from schemas.folders import Folder
from schemas.lineage import CodeVersion, DatasetNotice, PartitionRef
from schemas.tables.layers import LAYERS
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.runs.past_run import PastRun
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import Row, answer, frame, item, judgement, turn
from tests.tasks.scoring.samples import ability, blueprint, measured, task

RATED = measured(MetricSpec(metric="mean_rating"), MetricSpec(metric="rouge_l"), method="judge", judged=True, rubric="summary")
DESIGN = blueprint(
    ability("safe", task("d")), ability("kind", task("e")), gate=Gate(ability="safe", threshold=60), datasets={"e": RATED}
)
ODD = 'd "2"\n\'%_ ü'

CHOICE: dict[str, Any] = {"dataset": "d", "options": ["Ice", "Tea"], "gold_indices": [0]}
OPEN: dict[str, Any] = {"dataset": "e", "references": ["be kind"]}
ITEMS = (
    item("d-0", "single_choice", question="What melts?", subset="a", context="In the Sun.", **CHOICE),
    item("d-1", "single_choice", language="zh", groups=[{"name": "topic", "value": "work"}], **CHOICE),
    item(ODD, "single_choice", **CHOICE),
    item("e-0", "open_ended", question="I AM SAD", **OPEN),
    item("e-1", "open_ended", **OPEN),
    item("e-2", "open_ended", **OPEN),
)


def score(item_id: str, value: float | None, status: str = "scored", repetition: int = 0, **fields: Any) -> Row:
    about = {"dataset": item_id[0], "model": "m", "setting": "base", "part": "", "cluster": item_id}
    row = {"method": "choice", "metric": "accuracy", "item_id": item_id, "repetition": repetition, "parsed_answer": "Ice"}
    return {**about, **row, "value": value, "status": status, **fields}


def rated(item_id: str, value: float | None, overlap: float | None, status: str = "scored", **fields: Any) -> tuple[Row, Row]:
    judged = score(item_id, value, status, method="judge", metric="mean_rating", **fields)
    return judged, score(
        item_id, overlap, "scored" if overlap is not None else status, method="judge", metric="rouge_l", **fields
    )


SCORES = (
    score("d-0", 1.0),
    score("d-0", 0.0, repetition=1),
    score("d-1", 0.0, "unparsed"),
    score(ODD, None, "call_failed"),
    score("d-0", 1.0, model="n"),
    score("d-1", 1.0, model="n"),
    *rated("e-0", 0.5, 1.0),
    *rated("e-1", None, 0.5, "judge_failed"),
    *rated("e-2", None, None, "not_counted"),
)
ANSWERS = (
    answer("d-0", "A", dataset="d"),
    answer("d-0", "B, I think", dataset="d", repetition=1),
    answer("d-1", "hm, Tea", dataset="d"),
    answer(ODD, None, dataset="d"),
    answer("d-0", "A", dataset="d", model="n"),
    answer("d-1", "A", dataset="d", model="n"),
    answer("e-0", "Oh. " * 3_000, dataset="e"),
    answer("e-1", None, dataset="e", status="answered", failed_role=None, failure=None)
    | {"turns": [turn("seeker", "Hello"), turn("tested", "Tell me of the SUN")]},
    answer("e-2", "", dataset="e"),
)
RATINGS = (
    judgement("e-0", "empathy", 1, dataset="e"),
    judgement("e-0", "empathy", 2, dataset="e", judge_repetition=1),
    judgement("e-0", "fluency", 5, dataset="e"),
    judgement("e-0", "fluency", 3, dataset="e", judge="people"),
    judgement("e-1", "empathy", None, dataset="e"),
    judgement("e-2", "empathy", 4, dataset="e"),
    judgement("e-2", "realism", 1, dataset="e", rubric="review"),
)
FAULTS = tuple(
    {
        **{name: ANSWERS[-2][name] for name in ("dataset", "item_id", "model", "setting", "repetition", "part")},
        "severity": "minor",
        **row,
    }
    for row in (
        {"found_by": "rule", "number": 0, "speaker": "seeker", "turn": 1, "kind": "admits_machine", "evidence": "Hello"},
        {"found_by": "j", "number": 0, "speaker": "seeker", "turn": 1, "kind": "out_of_role", "evidence": "ell"},
        {"found_by": "j", "number": 1, "kind": "gives_advice", "evidence": "Rest.", "refused": "turn 1 does not say that"},
        {"item_id": "e-2", "found_by": "j", "number": 0, "kind": "gives_advice", "evidence": "Rest.", "refused": "so"},
    )
)
"""One by a rule and one by a judge count in e-1; in e-2 none does."""


def keep(lake: Lake, run: str, layer: str, rows: tuple[Row, ...]) -> list[PartitionRef]:
    """Write rows to a partition for each place that they have."""
    schema, places = LAYERS[layer].schema, defaultdict[tuple[tuple[str, str], ...], list[Row]](list)
    keys = {"items": ("dataset",), "judgements": ("dataset", "model", "setting", "judge", "rubric"), "simulation_faults": ()}
    for row in rows:
        places[tuple((name, row[name]) for name in keys.get(layer, ("dataset", "model", "setting")))].append(row)
    return [
        lake.write(partition_key(layer, dict(place), {"run": run}, [], "1"), frame(schema, tuple(own)), schema)
        for place, own in places.items()
    ]


def make_run(folder: Folder, name: str = "r", scores: tuple[Row, ...] = SCORES, **fields: Any) -> PastRun:
    lake = Lake(folder, CodeVersion("1", None))
    layers = {"items": ITEMS, "answers": ANSWERS, "judgements": RATINGS, "item_scores": scores, "simulation_faults": FAULTS}
    refs = [ref for layer, rows in layers.items() for ref in keep(lake, name, layer, rows)]
    about = {"plan": {"simulation_rubric": "review"}, "blueprint": DESIGN.model_dump(mode="json")} | fields
    totals = bare_manifest().partitions  # a manifest lists them; no row is made of them
    manifest = bare_manifest(name, partitions=(*refs, *totals), **about)
    write_manifest(folder, manifest)
    return PastRun(manifest, DESIGN, lake)


def notice(redistributable: bool) -> DatasetNotice:
    about = {"title": "D", "licence": "CC BY-NC 4.0", "sources": (), "evaluation_version": "1"}
    return DatasetNotice(id="d", redistributable=redistributable, **about)
