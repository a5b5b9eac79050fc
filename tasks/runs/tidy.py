"""Lay the results of a run out as one tidy table: a row per value that an answer earned, with all that says what it is about."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import PartitionRef
from schemas.tables.layers import LAYERS
from schemas.tables.results import NOT_ASKED, NOT_SCORED, RATING, Results
from schemas.usage import TESTED
from tasks.judging.answers import GOLD
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun, no_rows
from tasks.runs.run_tables import ReportData
from tasks.solvers.answers import SAID

COLUMNS = pl.Schema(Results)
JOB = ("dataset", "model", "setting")
PLACE = ("ability", "ability_title", "task", "task_title", "dataset_title")
OF_JOBS = ("item_scores", "answers", "responses", "judgements")
ASKED = ["item_id", "repetition"]
ANSWER = [*ASKED, "part"]

_MESSAGES = pl.col("messages").str.json_decode(pl.List(pl.Struct({"role": pl.String, "content": pl.String})))
_LINES = _MESSAGES.list.eval(pl.format("{}: {}", pl.element().struct["role"], pl.element().struct["content"]))
_MESSAGE = pl.when(_MESSAGES.list.len() == 1).then(_MESSAGES.list.first().struct["content"])
PROMPT = _MESSAGE.when(_MESSAGES.list.len() > 1).then(_LINES.list.join("\n\n"))
"""The messages of a call as text: of one its words, of several each with who says it; null = they are withheld."""

FAILURE = pl.when(pl.col("failed_role") == TESTED).then("failure").otherwise(pl.format("{} of the {}", "failure", "failed_role"))
RIGHT = pl.coalesce("gold", pl.col("options").list.gather(pl.col("gold_indices")), "references").list.join("\n")
GAP = pl.when(pl.col("status").is_in([NOT_SCORED, NOT_ASKED])).then("gap")
REASON = pl.coalesce("failure", "error", pl.when(status="unparsed").then("remark"), GAP)


def read_tidy(run: PastRun) -> Iterator[pl.DataFrame]:
    """Yield the results of a run, a frame per dataset, model and setting, with the columns of Results; no frame is empty.

    Texts that may not be passed on are taken out if the run is redacted. LakeError: a partition is gone or changed.
    """
    refs = defaultdict[tuple[str | None, ...], list[PartitionRef]](list)
    for ref in run.manifest.partitions:
        if ref.layer in ("items", *OF_JOBS):
            names = JOB[:1] if ref.layer == "items" else JOB
            refs[ref.layer, *map(ref.key, names)].append(ref)
    gaps: dict[tuple[str | None, ...], str] = {
        (gap.dataset, gap.model, gap.setting): gap.reason for gap in run.manifest.missing if gap.rows is None
    }
    places = _places(run.blueprint)
    for job in dict.fromkeys((*(key[1:] for key in refs if key[0] != "items"), *gaps)):
        dataset, model, setting = job
        if dataset is None or model is None or setting == GOLD:
            continue
        about = dict(
            zip(("run", "benchmark", *JOB, *PLACE), (run.name, run.manifest.benchmark, *job, *places[dataset]), strict=True)
        )
        data = _read(run, {"items": refs["items", dataset], **{layer: refs[layer, *job] for layer in OF_JOBS}})
        rubrics = {method.id: method.rubric for method in run.blueprint.datasets[dataset].methods}
        rows = _results(data, rubrics).with_columns(gap=pl.lit(gaps.get(job), pl.String)).with_columns(reason=REASON)
        if not rows.is_empty():
            yield rows.with_columns(pl.lit(value).alias(name) for name, value in about.items()).select(*COLUMNS).cast(COLUMNS)


def _places(blueprint: Blueprint) -> dict[str, tuple[str, ...]]:
    """Return by dataset where it stands in the blueprint, in the order of PLACE."""
    return {
        entry.id: (main.id, main.title, task.id, task.title, blueprint.datasets[entry.id].title)
        for main in blueprint.abilities
        for _, node in main.walk()
        for task in node.tasks
        for entry in task.datasets
    }


def _read(run: PastRun, refs: Mapping[str, Sequence[PartitionRef]]) -> ReportData:
    tables: dict[str, Any] = {
        layer: pl.concat([no_rows(layer), *(run.lake.read(ref, LAYERS[layer].schema) for ref in of_layer)])
        for layer, of_layer in refs.items()
    }
    data = ReportData(run.manifest, run.blueprint, **tables)
    return redact(data) if run.manifest.redacted else data


def _results(data: ReportData, rubrics: Mapping[str, str | None]) -> pl.DataFrame:
    """Return scores, answers without a score and items without an answer, by item. `rubrics`: of each method."""
    scores = data.item_scores.with_columns(pl.col("status").cast(pl.String)).drop("cluster")
    unscored = data.answers.join(scores, on=ASKED, how="anti").select(*ANSWER, status=pl.lit(NOT_SCORED))
    unasked = data.items.join(pl.concat([scores.select(ASKED), unscored.select(ASKED)]), on="item_id", how="anti").select(
        "item_id", repetition=pl.lit(0, pl.Int64), part=pl.lit(""), status=pl.lit(NOT_ASKED)
    )
    rows = pl.concat([scores, unscored, unasked], how="diagonal")
    items = data.items.select("item_id", "cluster", "language", "options", "gold_indices", "references")
    calls = data.responses.unique([*ASKED, "call_key"], keep="last").select(*ASKED, "call_key", prompt=PROMPT)
    ratings = data.judgements.group_by(*ANSWER, "rubric", maintain_order=True).agg(ratings=pl.struct(*RATING))
    return (
        rows.with_columns(rubric=pl.col("method").replace_strict(rubrics, default=None, return_dtype=pl.String))
        .join(items, on="item_id", how="left")
        .join(_replies(data), on=ANSWER, how="left")
        .join(calls, on=[*ASKED, "call_key"], how="left")
        .join(ratings, on=[*ANSWER, "rubric"], how="left")
        .with_columns(gold=RIGHT)
        .sort(ANSWER, maintain_order=True)
    )


def _replies(data: ReportData) -> pl.DataFrame:
    """Return what was answered by part, and all parts of an item together where it has several."""
    said = {"reply": SAID, "failure": FAILURE, "call_key": pl.col("call_keys").list.last()}
    answers = data.answers.select(*ANSWER, remark=pl.col("remark").cast(pl.String), **said)
    lines = pl.format("{}: {}", "part", "reply").drop_nulls().str.join("\n").replace("", None)
    parts = answers.filter(pl.col("part") != "").group_by(ASKED)
    together = parts.agg(reply=lines, failure=pl.col("failure").drop_nulls().first(), part=pl.lit(""))
    return pl.concat([answers, together], how="diagonal")
