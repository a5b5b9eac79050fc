"""Runs of models that gave these replies, written into a lake by hand and scored as runs are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import CodeVersion, PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.metrics.item_scores import score_items
from tasks.runs.past_run import PastRun
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import Row, answer, answers, item, items, response, responses
from tests.tasks.scoring.samples import ability, blueprint, task

OPTIONS = ["joy", "sadness", "anger"]
DESIGN = blueprint(ability("kind", task("d")), ability("safe", task("s")))


def choice(name: str, dataset: str = "d", gold: int = 0, **fields: Any) -> Row:
    """A question with three options, of which the first is right."""
    fields = {"dataset": dataset, "options": OPTIONS, "gold_indices": [gold], "question": "What does Mia feel?", **fields}
    return item(name, "single_choice", **fields)


def asked_run(
    folder: Path,
    rows: Sequence[Row],
    replies: Mapping[str, Sequence[Row]],
    name: str = "r",
    design: Blueprint = DESIGN,
    **fields: Any,
) -> PastRun:
    """A run over these items. `replies`: of each model, rows of `answer`; one without text failed, and its call with it."""
    lake, plan = Lake(folder, CodeVersion("1", None)), fields.pop("plan", {})

    def write(layer: str, frame: pl.DataFrame, *, complete: bool = True, **place: str) -> PartitionRef:
        key = partition_key(layer, place, {"run": name}, [], "1")
        return lake.write(key, frame, LAYERS[layer].schema, complete=complete)

    refs, scores = [], []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        of_dataset = items(*(row for row in rows if row["dataset"] == dataset))
        refs.append(write("items", of_dataset, dataset=dataset))
        for model, given in replies.items():
            own = [row | {"model": model} for row in given if row["dataset"] == dataset]
            place = {"dataset": dataset, "model": model, "setting": "base"}
            calls = [_call(row) for row in own]
            complete = all(row["text"] is not None for row in own)
            said = answers(*({name: value for name, value in row.items() if name not in CALL} for row in own))
            scored = [score_items(of_dataset, said, None, method) for method in design.datasets[dataset].methods]
            scores += scored
            refs += [
                write("responses", responses(*calls), complete=complete, **place),
                write("answers", said, complete=complete, **place),
            ]
            refs.append(write("item_scores", pl.concat(scored), complete=complete, **place))
    totals = score_benchmark(pl.concat(scores).lazy(), design, ScoreSettings())
    refs += [write(layer, totals.layer(layer)) for layer in AGGREGATED]
    stated = {"blueprint": design.model_dump(mode="json"), "plan": {"seed": 0, "benchmark": design.name, **plan}, **fields}
    manifest = bare_manifest(name, partitions=tuple(refs), benchmark=design.name, **stated)
    write_manifest(folder, manifest)
    return PastRun(manifest, design, lake)


CALL = {"error", "http_status"}
"""What a row of replies says of the call, which answers do not have."""


def _call(row: Row) -> Row:
    of_call = {
        name: row[name]
        for name in (*CALL, "dataset", "model", "repetition", "finish_reason", "remark", "option_order")
        if name in row
    }
    failure = {"failure": row["failure"]} if row["text"] is None else {}
    return response(row["item_id"], row["text"], **of_call, **failure)


def said(name: str, text: str | None, dataset: str = "d", **fields: Any) -> Row:
    """A reply to an item; none is a failed call."""
    return answer(name, text, dataset=dataset, **fields)
