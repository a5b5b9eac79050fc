"""Result files and score files of annotated conversations (AttuneBench): runs written as such files, replies read from them."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.lineage import PartitionRef
from schemas.tables.responses import Answers
from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.aggregates import conversation_rows, score_file
from tasks.benchmarks.attunebench.annotate.annotate import DRAFT_JUDGE
from tasks.benchmarks.attunebench.annotate.threads import AnnotateOptions, Threads
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.metrics.conversation import known_items, measure_parts
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, file_name, read_result, result_fields
from tasks.lake.files import replace_file, require_absent
from tasks.models.capabilities.providers import provider_at
from tasks.runs.past_run import PastRun
from tasks.runs.sections import FileExchange, ForeignReplies
from tasks.scoring.uncertainty import Resampling
from tasks.solvers.infer_job import InferJob
from tasks.text.json_objects import read_object

SETTING = "annotate"
SCORES, SKIPPED = "scores-", "_skipped_"
"""How the names of other files beside them begin: score files, and lists of the conversations whose calls failed."""


def read_results(folder: Path) -> list[ResultFile]:
    """Read the result files of a folder, all its JSON but SCORES and SKIPPED; UsageError: none, RecordError: another file."""
    paths = [path for path in sorted(folder.glob("*.json")) if not path.name.startswith((SCORES, SKIPPED))]
    if not paths:
        raise UsageError(
            "the folder has no result files",
            where=str(folder),
            expected="files such as ID_PROVIDER_MODEL_default.json",
            next_step="name the folder that was exported",
        )
    return [read_result(path) for path in paths]


def replies_of(result: ResultFile) -> dict[tuple[str, str], str]:
    """Return the replies in a result file as texts, by item and step; a call that failed has none."""
    replies = {part: reply for part, reply in result.replies.items() if reply is not None}
    return {(result.conversation_id, part): json.dumps(reply, ensure_ascii=False) for part, reply in replies.items()}


def is_asked(result: ResultFile, job: InferJob) -> bool:
    """Return whether a job asks the model of a result file in its mode and strategy."""
    if (job.options.setting, job.entry.name) != (SETTING, result.model):
        return False
    own: AnnotateOptions = job.options.own
    return (own.mode, own.strategy) == (result.mode, result.strategy)


def export_results(run: PastRun, folder: Path) -> list[Path]:
    """Write a result file per model and conversation of a run, and a score file per profile; return their paths.

    Conversations that lack a call of NEEDED are listed per model.

    Raises:
        UsageError: the run has no annotated conversations, asked each several times, or a file is there already.
    """
    asked = run.partitions("answers", setting=SETTING)
    if not asked:
        raise UsageError(
            f"run {run.name} asked nothing about annotated conversations",
            where=str(run.lake.root),
            expected=f"a run in setting {SETTING}",
            next_step="moodflow runs list names the others",
        )
    written: list[Path] = []
    scored: dict[Profile, list[dict[str, Any]]] = {}
    skipped: dict[str, list[dict[str, Any]]] = {}
    for ref in asked:
        for result, name, fields, values in _results(run, ref):
            written.append(_write(folder / name, fields))
            if result.failed:
                named = {"conversationId": result.conversation_id, **result.about, "mode": result.mode}
                skipped.setdefault(result.model, []).append({**named, "failed": result.failed})
            for profile, row in values.items():
                scored.setdefault(profile, []).append(row)
    again = "run the same command again: it asks what failed, and nothing else"
    for model, lost in skipped.items():
        written.append(_write(folder / file_name(f"{SKIPPED}{model}"), {"em_model": model, "next_step": again, "skipped": lost}))
    plan = run.manifest.plan
    resampling = Resampling(plan.get("bootstrap", 0), plan.get("seed", 0))
    for profile, rows in scored.items():
        about = {"run": run.name, "benchmark": run.manifest.benchmark, "profile": profile}
        written.append(_write(folder / f"{SCORES}{profile}.json", score_file(conversation_rows(rows), about, resampling)))
    return written


def _results(run: PastRun, ref: PartitionRef) -> Iterator[tuple[ResultFile, str, dict[str, Any], dict[Profile, dict[str, Any]]]]:
    """Yield the result of each conversation, name and object of its file, and its values by profile."""
    dataset, model, answers = ref.key("dataset"), ref.key("model"), run.lake.read(ref, Answers)
    if (answers["repetition"] > 0).any():
        raise UsageError(
            f"{model} was asked several times, and a result file holds one answer",
            where=f"run {run.name}, {dataset}",
            expected="repeat 1",
            next_step="run without --repeat: what was answered is not asked again",
        )
    items, plan = run.read("items", dataset=dataset), run.manifest.plan
    own = AnnotateOptions.model_validate(plan.get("solvers", {}).get(SETTING, {}))
    known = known_items(items, {layer: run.read(layer, dataset=dataset) for layer in (TURNS, WHOLE)})
    profiles = dict.fromkeys(method.profile for method in run.blueprint.datasets[dataset].methods)
    (entry,) = (entry for entry in plan["models"] if entry["name"] == model)
    provider = provider_at(entry.get("base_url"))
    sources = dict(items.select("item_id", "source_file").iter_rows())
    judge = next((entry["name"] for entry in run.manifest.role_models(DRAFT_JUDGE, dataset)), None)
    for (item,), rows in answers.group_by("item_id", maintain_order=True):
        parts = dict(rows.select("part", "text").iter_rows())
        replies = {part: read_object(text) for part, text in parts.items()}
        gold, shown = known[item]
        about = {"source_file": sources[item], "run_timestamp": run.manifest.started_at}
        names = {turn.number: Threads(shown, own).names(turn) for turn in shown.turns if turn.comparisons}
        result = ResultFile(gold.conversation_id, model, own.mode, own.strategy, replies, about, judge, names)
        who = gold.participant_id or item
        row = {"model": model, "mode": own.mode, "strategy": own.strategy, "item_id": item, "cluster": who}
        values = {profile: row | measure_parts(known[item], parts, profile) for profile in profiles}
        yield result, result.name(provider.id if provider else "unknown"), result_fields(result, gold), values


def _write(path: Path, fields: Mapping[str, Any]) -> Path:
    require_absent(path)
    replace_file(path, json.dumps(fields, ensure_ascii=False, indent=1, allow_nan=False).encode())
    return path


def _read_replies(folder: Path) -> Iterator[ForeignReplies]:
    for result in read_results(folder):
        yield ForeignReplies(replies_of(result), partial(is_asked, result))


EXCHANGES = (FileExchange(SETTING, export_results, _read_replies),)
