"""Result files and score files of annotated conversations (AttuneBench): write a run as such files, read replies from them.

Source of score files: AttuneBench 1.0 and the public port of its scorer: names, means, standard errors, z scores, pooled
judgements. Ours next to them: z within a mode, and intervals over the people who wrote the conversations.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import UsageError
from schemas.lineage import PartitionRef
from schemas.tables.responses import Answers
from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.annotate import DRAFT_JUDGE, SETTING, AnnotateOptions, Threads
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import ConversationGold
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.metrics.conversation import COUNTED, COUNTS, annotated_items, measure_parts
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, file_name, read_result, result_fields
from tasks.benchmarks.attunebench.metrics.turns import OUTCOMES, pooled
from tasks.datasets.catalogue import find_dataset
from tasks.lake.files import replace_file, require_absent
from tasks.models.capabilities.providers import provider_at
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import Row
from tasks.runs.sections import FileExchange, ForeignReplies
from tasks.scoring.uncertainty import mean_limits
from tasks.solvers.infer_job import InferJob
from tasks.sources.files import name_source
from tasks.statistics.sums import exact_sum
from tasks.text.replies import read_object

ROW = ["model", "mode", "strategy"]
COMPOSITE = "composite_score"

UNPREFIXED = ("turn_level_average", "conversation_wide_average", COMPOSITE, "equal_weight_composite")
"""Means of a score file whose names do not begin with avg_."""

ERRORS = ("emotion_hit_rate", "binary_om_accuracy", "binary_human_accuracy", "pairwise_accuracy", "panas_normalized", COMPOSITE)
"""Metrics whose standard error stands beside the means."""

NOT_COMPUTED = {"bertscore": {"value": None, "reason": "optional in the official scorer; it needs weights that MoodFlow has not"}}
"""What an official score file may have, too."""

_VALUE = pl.col("value")


def conversation_rows(scored: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Return ROW, item_id, cluster (who wrote it), metric and value of conversations, from a row of each with all its values."""
    index = [*ROW, "item_id", "cluster"]
    wide = pl.DataFrame(scored, infer_schema_length=None).with_columns(pl.exclude(index).cast(pl.Float64))
    return wide.unpivot(index=index, variable_name="metric", value_name="value")


def aggregate_conversations(rows: pl.DataFrame) -> pl.DataFrame:
    """Return statistics of each metric; the bounds of these differ, so that the intervals are Student's over clusters.

    They are n, mean, sd (with n - 1), se (sd by root n; both null below two conversations), median, min, max, LIMITS and, of the
    composite, `z_score` over all rows and `z_in_mode` (null where all are equal).
    """
    valued = rows.filter(_VALUE.is_not_null())
    mean, deviation = exact_sum(_VALUE) / pl.len(), _VALUE.std(ddof=1)
    measures = {"n": pl.len(), "mean": mean, "sd": deviation, "se": deviation / pl.len().sqrt(), "median": _VALUE.median()}
    statistics = valued.group_by(*ROW, "metric").agg(**measures, min=_VALUE.min(), max=_VALUE.max()).sort(*ROW, "metric")
    limits = mean_limits(valued, [*ROW, "metric"], None)
    score = pl.when(metric=COMPOSITE).then("mean")
    z = ((score - score.mean()) / score.std(ddof=1)).fill_nan(None)
    statistics = statistics.with_columns(z_score=z, z_in_mode=z.over("mode", "metric"))
    return statistics.join(limits, on=[*ROW, "metric"], how="left").sort(*ROW, "metric")


def score_file(rows: pl.DataFrame, metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the object of a score file, by the names of the official ones: how it was scored, aggregates, conversations.

    It also has `model_stats`, the statistics of each metric, ours among them. `metadata` is of the run: profile, data, version.
    """
    rows = rows.with_columns(pl.col("metric").replace(load_codebook().score_names))
    statistics = aggregate_conversations(rows.filter(~pl.col("metric").is_in(COUNTS)))
    by_row = statistics.partition_by(ROW, as_dict=True)
    official = {"model": "em_model", "strategy": "panas_strategy"}
    wide = rows.pivot("metric", index=["item_id", "model", "mode"], values="value")
    return {
        "metadata": {**metadata, **NOT_COMPUTED},
        "aggregates": [
            _aggregate(of_row, by_row.get(key)) for key, of_row in rows.sort(ROW).partition_by(ROW, as_dict=True).items()
        ],
        "model_stats": statistics.drop("z_score", "z_in_mode").rename(official).to_dicts(),
        "conversations": wide.rename({"item_id": "conversationId", "model": "em_model"}).to_dicts(),
    }


def _aggregate(rows: pl.DataFrame, statistics: pl.DataFrame | None) -> dict[str, object]:
    """Return what a score file holds of a model in one mode and strategy, by the official names alone."""
    model, mode, strategy = rows.select(ROW).row(0)
    fields: dict[str, object] = {"em_model": model, "mode": mode, "panas_strategy": strategy}
    fields["n_conversations"] = rows["item_id"].n_unique()
    by_metric = {} if statistics is None else {row["metric"]: row for row in statistics.to_dicts()}
    for name in load_codebook().score_names.values():
        fields[name if name in UNPREFIXED else f"avg_{name}"] = by_metric.get(name, {}).get("mean")
    for name in ERRORS:
        fields["se_composite" if name == COMPOSITE else f"se_{name}"] = by_metric.get(name, {}).get("se")
    fields["z_score"] = by_metric.get(COMPOSITE, {}).get("z_score")
    sums = dict(rows.group_by("metric").agg(_VALUE.sum()).iter_rows())
    for metric, names in COUNTED.items():
        counts = [int(sums.get(name) or 0) for name in names]
        ratios = dict(zip(OUTCOMES, counts, strict=True)) | pooled(*counts)
        fields[f"pooled_{metric.replace('accuracy', 'metrics')}"] = ratios
    return fields


SCORES, SKIPPED = "scores-", "_skipped_"
"""How the names of other files of the folder begin: score files, and lists of the conversations whose calls failed."""


def read_replies(folder: Path) -> Iterator[ForeignReplies]:
    """Yield the replies in the result files of a folder, all its JSON but SCORES and SKIPPED; a call that failed has none.

    UsageError: the folder has no such file; RecordError: a file is no result file.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if not path.name.startswith((SCORES, SKIPPED))]
    if not paths:
        raise UsageError(
            "the folder has no result files",
            where=str(folder),
            expected="files such as ID_PROVIDER_MODEL_default.json",
            next_step="give the folder that was exported",
        )
    for result in map(read_result, paths):
        replies = {part: json.dumps(reply, ensure_ascii=False) for part, reply in result.replies.items() if reply is not None}
        by_step = {(result.conversation_id, part): text for part, text in replies.items()}
        yield ForeignReplies(by_step, partial(_is_asked, result))


def _is_asked(result: ResultFile, job: InferJob) -> bool:
    if (job.options.setting, job.entry.name) != (SETTING, result.model):
        return False
    own: AnnotateOptions = job.options.own
    return (own.mode, own.strategy) == (result.mode, result.strategy)


def export_results(run: PastRun, folder: Path) -> list[Path]:
    """Write a result file per model and conversation of a run, and a score file per profile; return their paths.

    Conversations that lack a call of NEEDED are listed per model. UsageError: the run has no annotated conversations, asked each
    several times, or a file is there already.
    """
    partitions = run.partitions("answers", setting=SETTING)
    if not partitions:
        raise UsageError(
            f"run {run.name} has no annotated conversations",
            where=str(run.lake.root),
            expected=f"a run in setting {SETTING}",
            next_step="moodflow runs list shows the others",
        )
    written: list[Path] = []
    scored, skipped = defaultdict[Profile, list[Row]](list), defaultdict[str, list[Row]](list)
    for ref in partitions:
        for result, gold, rows in _results(run, ref):
            written.append(_write(folder / result.name, result_fields(result, gold)))
            if result.failed:
                about = {"source_file": result.source_file, "run_timestamp": result.run_timestamp, "mode": result.mode}
                skipped[result.model].append({"conversationId": result.conversation_id, **about, "failed": result.failed})
            for profile, row in rows.items():
                scored[profile].append(row)
    again = "run the same command again: it asks what failed, and nothing else"
    for model, lost in skipped.items():
        written.append(_write(folder / file_name(f"{SKIPPED}{model}"), {"em_model": model, "next_step": again, "skipped": lost}))
    plan = run.manifest.plan
    truth = ", ".join(dict.fromkeys(ground_truth(plan, str(ref.key("dataset"))) for ref in partitions))
    for profile, values in scored.items():
        metadata = {"run": run.name, "benchmark": run.manifest.benchmark, "profile": profile, "ground_truth_path": truth}
        written.append(_write(folder / f"{SCORES}{profile}.json", score_file(conversation_rows(values), metadata)))
    return written


def ground_truth(plan: Mapping[str, Any], dataset: str) -> str:
    """Return where the annotations of a dataset are: the user's folder, or else their path in the dataset's repository."""
    return str(plan.get("folders", {}).get(dataset) or ", ".join(map(name_source, find_dataset(dataset).files)))


def _results(run: PastRun, ref: PartitionRef) -> Iterator[tuple[ResultFile, ConversationGold, dict[Profile, Row]]]:
    """Yield the result of each conversation, its annotations, and by profile a row with its values."""
    dataset, model, answers = ref.key("dataset"), ref.key("model"), run.lake.read(ref, Answers)
    if (answers["repetition"] > 0).any():
        raise UsageError(
            f"{model} was repeated, but a result file holds one answer",
            where=f"run {run.name}, {dataset}",
            expected="repeat 1",
            next_step="run without --repeat (stored replies are reused)",
        )
    items, plan = run.read("items", dataset=dataset), run.manifest.plan
    own = AnnotateOptions.model_validate(plan.get("solvers", {}).get(SETTING, {}))
    annotated = annotated_items(items, {layer: run.read(layer, dataset=dataset) for layer in (TURNS, WHOLE)})
    profiles = dict.fromkeys(method.profile for method in run.blueprint.datasets[dataset].methods)
    (entry,) = (entry for entry in plan["models"] if entry["name"] == model)
    provider = provider_at(entry.get("base_url"))
    source_files = dict(items.select("item_id", "source_file").iter_rows())
    judge = next((entry["name"] for entry in run.manifest.role_models(DRAFT_JUDGE, dataset)), None)
    for (item,), rows in answers.group_by("item_id", maintain_order=True):
        parts = dict(rows.select("part", "text").iter_rows())
        gold, visible = annotated[item]
        replies = {part: read_object(text) for part, text in parts.items()}
        names = {turn.number: Threads(visible, own).names(turn) for turn in visible.turns if turn.comparisons}
        host = provider.id if provider else "unknown"
        source = (source_files[item], run.manifest.started_at)
        result = ResultFile(gold.conversation_id, model, own.mode, own.strategy, replies, host, *source, judge, names)
        cluster = gold.participant_id or item
        row = {"model": model, "mode": own.mode, "strategy": own.strategy, "item_id": item, "cluster": cluster}
        yield result, gold, {profile: row | measure_parts(annotated[item], parts, profile) for profile in profiles}


def _write(path: Path, fields: Mapping[str, object]) -> Path:
    require_absent(path)
    replace_file(path, json.dumps(fields, ensure_ascii=False, indent=1, allow_nan=False).encode())
    return path


EXCHANGES = (FileExchange(SETTING, export_results, read_replies),)
