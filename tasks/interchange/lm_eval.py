"""Read and write results and samples of lm-evaluation-harness (0.4), and read samples of Every Eval Ever."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from schemas.blueprint import Blueprint
from schemas.documents.lake import ExportedRecords
from schemas.json_yaml import read_json, read_text
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.samples import Samples, exported, identify, read_samples
from tasks.lake.files import replace_file
from tasks.models.journal.request_files import flat_text
from tasks.runs.past_run import PastRun
from tasks.scoring.normalisation import best_end

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[-\d.]+)\.jsonl")


def read_sample(fields: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return a sample as a row of a file of replies. ValueError, KeyError, TypeError, AttributeError: its form is another.

    What MoodFlow wrote says in `doc` which call it is about. Another is named by its task and the hash of its prompt, its model
    by the file of results beside it.
    """
    ours, ((reply,),) = fields["doc"].get("moodflow"), fields["resps"]
    row, name = {"reply": reply}, SAMPLES.fullmatch(path.name)
    results = path.with_name(f"results_{name['time']}.json") if name else path
    if name and results.is_file():
        row["model"] = read_json(read_text(results))["model_name"]
    if ours:
        return {**row, **ours, "reply": None if ours.get("failure") else reply}
    prompt = [{"content": fields["arguments"]["gen_args_0"]["arg_0"], "role": "user"}]
    return {**row, "dataset": name["task"] if name else None, "prompt_sha256": _hash(prompt)}


def read_every_eval_ever(fields: Mapping[str, Any], _path: Path) -> dict[str, Any]:
    """Return a sample as a row of a file of replies; errors as in `read_sample`, also for a dialogue or an unknown call.

    The form has neither dataset nor setting, so MoodFlow writes them into `metadata`, if the texts may be passed on.
    """
    ours = json.loads(fields["metadata"]["moodflow"])
    return {"model": fields["model_id"], "reply": next(iter(fields["output"]["raw"]), None), **ours}


def write_lm_eval(run: PastRun, folder: Path, _options: ExportOptions) -> ExportedRecords:
    """Write results per model of a run, and samples per dataset and setting; a second export has the same names."""
    time = datetime.fromisoformat(run.manifest.started_at).replace(tzinfo=None).isoformat().replace(":", "-")
    by_model: dict[str, list[Samples]] = {}
    for samples in read_samples(run):
        by_model.setdefault(samples.model, []).append(samples)
    files: dict[Path, str] = {}
    for model, tasks in by_model.items():
        place = folder / re.sub(r"[^\w.-]", "__", model)
        files[place / f"results_{time}.json"] = json.dumps(_results(run, model, tasks), ensure_ascii=False, indent=2)
        for samples in tasks:
            lines = (json.dumps(_sample(number, row), ensure_ascii=False) for number, row in enumerate(samples.rows))
            files[place / f"samples_{samples.task}_{time}.jsonl"] = "".join(f"{line}\n" for line in lines)
    for path, text in files.items():
        replace_file(path, text.encode())
    return exported(run, folder, files, chain.from_iterable(by_model.values()))


def _rises(blueprint: Blueprint, dataset: str, metric: str) -> bool:
    """Whether a higher value of a metric is worth more, by the first method of the dataset that has it."""
    method = next(each for each in blueprint.datasets[dataset].methods if metric in {spec.metric for spec in each.metrics})
    return best_end(metric, blueprint.rule(dataset, method.id, metric)) == "high"


def _results(run: PastRun, model: str, tasks: list[Samples]) -> dict[str, Any]:
    names = [samples.task for samples in tasks]
    return {
        "results": {
            samples.task: {"alias": samples.task, **{f"{name},none": value for name, value in samples.scores.items()}}
            for samples in tasks
        },
        "group_subtasks": {name: [] for name in names},
        "configs": {samples.task: {"task": samples.task, "metadata": {"setting": samples.setting}} for samples in tasks},
        "versions": dict.fromkeys(names, run.manifest.benchmark),
        "n-shot": dict.fromkeys(names, 0),
        "higher_is_better": {
            samples.task: {name: _rises(run.blueprint, samples.dataset, name) for name in samples.scores} for samples in tasks
        },
        "n-samples": {samples.task: dict.fromkeys(("original", "effective"), len(samples.rows)) for samples in tasks},
        "config": {"model": model, "model_args": "", "batch_size": None, "limit": None},
        "git_hash": run.manifest.git_commit,
        "date": datetime.fromisoformat(run.manifest.started_at).timestamp(),
        "model_name": model,
        "task_hashes": {samples.task: _hash([row["messages_sha256"] for row in samples.rows]) for samples in tasks},
        "moodflow_version": run.manifest.package_version,
    }


def _sample(number: int, row: dict[str, Any]) -> dict[str, Any]:
    prompt, reply, target = flat_text(row["messages"]), row["reply"] or "", row["target"] or ""
    doc = {"moodflow": identify(row), "options": row["options"]}
    scores = {score["metric"]: score["value"] for score in row["scores"]}
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt}},
        "resps": [[reply]],
        "filtered_resps": [reply],
        "filter": "none",
        "metrics": [*scores],
        "doc_hash": _hash(doc),
        "prompt_hash": sha256(prompt.encode()).hexdigest(),
        "target_hash": sha256(target.encode()).hexdigest(),
        **scores,
    }


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
