"""Lay the results of a run out as one tidy table: a row per value that an answer earned, with all that says what it is about."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from schemas.lineage import PartitionRef
from schemas.tables.layers import LAYERS
from schemas.tables.results import NOT_ASKED, NOT_SCORED, RATING, Results
from schemas.usage import TESTED
from tasks.judging.answers import GOLD
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun, no_rows
from tasks.runs.run_tables import ReportData, Row
from tasks.solvers.answers import SAID

OF_ONE_SYSTEM = ("responses", "answers", "judgements", "item_scores")
COLUMNS = pl.Schema(Results)

ASKED = ["item_id", "repetition"]
ANSWER = [*ASKED, "part"]

_MESSAGES = pl.col("messages").str.json_decode(pl.List(pl.Struct({"role": pl.String, "content": pl.String})))
_ROLE, _CONTENT = pl.element().struct["role"], pl.element().struct["content"]
PROMPT = (
    pl.when(_MESSAGES.list.len() == 1)
    .then(_MESSAGES.list.first().struct["content"])
    .when(_MESSAGES.list.len() > 1)
    .then(_MESSAGES.list.eval(pl.format("{}: {}", _ROLE, _CONTENT)).list.join("\n\n"))
)
"""The messages of a call as text: of one its words, of several each with who says it; null = they are withheld."""

FAILURE = pl.when(pl.col("failed_role") == TESTED).then("failure").otherwise(pl.format("{} of the {}", "failure", "failed_role"))
RIGHT = pl.coalesce("gold", pl.col("options").list.gather("gold_indices"), "references").list.join("\n")
REASON = pl.coalesce("failure", "error", pl.when(status="unparsed").then("remark"))


class AskedDataset(NamedTuple):
    """What a model made of a dataset in a setting."""

    dataset: str
    model: str
    setting: str


@dataclass(frozen=True)
class _Stored:
    """The partitions of a run that hold results: items by dataset, all others by job and layer."""

    items: Mapping[str, Sequence[PartitionRef]]
    jobs: Mapping[AskedDataset, Mapping[str, Sequence[PartitionRef]]]


def read_tidy(run: PastRun) -> Iterator[pl.DataFrame]:
    """Yield the results of a run, a frame per dataset, model and setting, with the columns of Results; no frame is empty.

    Texts that may not be passed on are taken out if the run is redacted.

    Raises:
        LakeError: if a partition is gone or changed.
    """
    stored, places = _find_partitions(run), _places(run)
    gaps = {
        AskedDataset(gap.dataset, str(gap.model), str(gap.setting)): gap.reason
        for gap in run.manifest.missing
        if gap.rows is None
    }
    unasked = [job for job in gaps if job not in stored.jobs and job.dataset in stored.items]
    for job in (*stored.jobs, *unasked):
        rows = _results(run, _read(run, stored, job), job)
        if not rows.is_empty():
            about = {"run": run.name, "benchmark": run.manifest.benchmark, **job._asdict(), **places[job.dataset]}
            reason = pl.when(pl.col("status").is_in([NOT_SCORED, NOT_ASKED])).then(pl.lit(gaps.get(job))).otherwise("reason")
            known = rows.with_columns(reason=pl.coalesce("reason", reason))
            yield known.with_columns(pl.lit(value).alias(name) for name, value in about.items()).select(*COLUMNS).cast(COLUMNS)


def _find_partitions(run: PastRun) -> _Stored:
    items, jobs = defaultdict[str, list[PartitionRef]](list), dict[AskedDataset, dict[str, list[PartitionRef]]]()
    for ref in run.manifest.partitions:
        place = dict(ref.place)
        if ref.layer == "items":
            items[place["dataset"]].append(ref)
        elif ref.layer in OF_ONE_SYSTEM and place["setting"] != GOLD:
            of_job = jobs.setdefault(AskedDataset(*(place[name] for name in AskedDataset._fields)), {})
            of_job.setdefault(ref.layer, []).append(ref)
    return _Stored(items, jobs)


def _places(run: PastRun) -> dict[str, Row]:
    """Return by dataset where it stands in the blueprint."""
    return {
        entry.id: {
            "ability": main.id,
            "ability_title": main.title,
            "task": task.id,
            "task_title": task.title,
            "dataset_title": run.blueprint.datasets[entry.id].title,
        }
        for main in run.blueprint.abilities
        for _, node in main.walk()
        for task in node.tasks
        for entry in task.datasets
    }


def _read(run: PastRun, stored: _Stored, job: AskedDataset) -> ReportData:
    refs = {"items": stored.items.get(job.dataset, ()), **stored.jobs.get(job, {})}
    tables = {
        layer: pl.concat([no_rows(layer), *(run.lake.read(ref, LAYERS[layer].schema) for ref in of_layer)])
        for layer, of_layer in refs.items()
    }
    data = ReportData(run.manifest, run.blueprint, **tables)
    return redact(data) if run.manifest.redacted else data


def _results(run: PastRun, data: ReportData, job: AskedDataset) -> pl.DataFrame:
    """Return the results of one job: its scores, then answers without a score, then items without an answer; by item."""
    scores = data.item_scores.with_columns(pl.col("status").cast(pl.String))
    unscored = data.answers.join(scores, on=ASKED, how="anti").select(*ANSWER, status=pl.lit(NOT_SCORED))
    unasked = data.items.join(data.answers, on="item_id", how="anti").join(scores, on="item_id", how="anti")
    places = {"repetition": pl.lit(0, pl.Int64), "part": pl.lit("")}
    rows = pl.concat([scores, unscored, unasked.select("item_id", **places, status=pl.lit(NOT_ASKED))], how="diagonal")
    rubrics = {method.id: method.rubric for method in run.blueprint.datasets[job.dataset].methods}
    rubric = pl.col("method").replace_strict(rubrics, default=None, return_dtype=pl.String)
    items = data.items.select("item_id", "cluster", "language", "options", "gold_indices", "references")
    joined = (
        rows.drop("cluster")
        .with_columns(rubric=rubric)
        .join(items, on="item_id", how="left")
        .join(_replies(data), on=ANSWER, how="left")
        .join(_prompts(data), on=[*ASKED, "call_key"], how="left")
        .join(_ratings(data), on=[*ANSWER, "rubric"], how="left")
    )
    return joined.with_columns(gold=RIGHT, reason=REASON).sort(ANSWER, maintain_order=True)


def _replies(data: ReportData) -> pl.DataFrame:
    """Return what was answered by part, and all parts of an item together where it has several."""
    said = {"reply": SAID, "failure": FAILURE, "call_key": pl.col("call_keys").list.last()}
    answers = data.answers.select(*ANSWER, remark=pl.col("remark").cast(pl.String), **said)
    together = (
        answers.filter(pl.col("part") != "")
        .group_by(ASKED)
        .agg(
            reply=pl.format("{}: {}", "part", "reply").drop_nulls().str.join("\n").replace("", None),
            failure=pl.col("failure").drop_nulls().first(),
            part=pl.lit(""),
        )
    )
    return pl.concat([answers, together], how="diagonal")


def _prompts(data: ReportData) -> pl.DataFrame:
    calls = data.responses.unique([*ASKED, "call_key"], keep="last")
    return calls.select(*ASKED, "call_key", prompt=PROMPT)


def _ratings(data: ReportData) -> pl.DataFrame:
    return data.judgements.group_by(*ANSWER, "rubric", maintain_order=True).agg(ratings=pl.struct(*RATING))
