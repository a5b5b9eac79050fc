"""Read and write logs of Inspect (`.eval`) by its own library, which nothing else here needs."""

from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schemas.documents.lake import ExportedRecords
from schemas.errors import UsageError
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.samples import Samples, count_tokens, exported, identify, read_samples
from tasks.lake.partitions import hash_settings
from tasks.runs.past_run import PastRun

STOP = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
FINISHED = {reason: ours for ours, reason in STOP.items()}


def require_inspect(where: str) -> None:
    """Raise UsageError if the library is not installed."""
    if find_spec("inspect_ai") is None:
        step = "moodflow docs replies-by-file says how to install it next to MoodFlow"
        raise UsageError("logs of Inspect need the package inspect-ai", where=where, expected="inspect-ai", next_step=step)


def read_inspect(path: Path) -> list[dict[str, Any]]:
    """Return the samples of a log as rows of a file of replies; UsageError: no library, or not a log that it reads."""
    require_inspect(str(path))
    from inspect_ai.log import read_eval_log  # noqa: PLC0415  not installed with MoodFlow

    try:
        log = read_eval_log(str(path), format="eval")
    except Exception as error:  # the library's readers raise errors of many kinds
        step = "check the file with `inspect log dump`, or write the log again"
        got = str(error) or type(error).__name__
        raise UsageError(
            "the log cannot be read", where=str(path), expected="a log of Inspect", got=got, next_step=step
        ) from error
    return [_row(log.eval, sample) for sample in log.samples or ()]


def _row(spec: Any, sample: Any) -> dict[str, Any]:
    """Return a sample as a row; one that MoodFlow wrote says which call it is about, another is named by its dataset and id."""
    ours = (sample.metadata or {}).get("moodflow") or {}
    usage, choice = sample.output.usage, next(iter(sample.output.choices), None)
    parts = choice.message.content if choice else ""
    reasoning = [part.reasoning for part in parts if part.type == "reasoning"] if isinstance(parts, list) else []
    row = {
        "dataset": spec.dataset.name or spec.task,
        "item_id": str(sample.id),
        "repetition": sample.epoch - 1,
        "model": spec.model,
        "reply": sample.output.completion if choice else None,
        "reasoning": "\n".join(reasoning) or None,
        "finish_reason": FINISHED.get(choice.stop_reason) if choice else None,
        "prompt_tokens": usage.input_tokens if usage else None,
        "completion_tokens": usage.output_tokens if usage else None,
        # Why it failed is said in the library's words, which are none of ours.
        "failure": None if choice else "not_in_file",
    }
    return row | ours


def write_inspect(run: PastRun, folder: Path, _options: ExportOptions) -> ExportedRecords:
    """Write a log for each dataset, model and setting of a run; a second export has the same names. UsageError: no library."""
    require_inspect("--to inspect")
    from inspect_ai.log import EvalLog, write_eval_log  # noqa: PLC0415  not installed with MoodFlow

    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, Samples] = {}
    for samples in read_samples(run):
        log = EvalLog.model_validate(_log(run, samples))
        created, task = log.eval.created.replace(":", "-"), log.eval.task.replace("_", "-")
        path = folder / f"{created}_{task}_{log.eval.task_id}.eval"
        write_eval_log(log, str(path), format="eval")
        written[path] = samples
    return exported(run, folder, written, written.values())


def _log(run: PastRun, samples: Samples) -> dict[str, Any]:
    task_id = hash_settings([run.name, samples.dataset, samples.model, samples.setting])[:22]
    n, usage = len(samples.rows), count_tokens(samples.rows)
    began, ended = (
        datetime.fromisoformat(time).isoformat(timespec="seconds") for time in (run.manifest.started_at, run.manifest.finished_at)
    )
    spec = {
        "created": began,
        "eval_id": task_id,
        "run_id": run.name,
        "task_id": task_id,
        "task": samples.task,
        "dataset": {"name": samples.dataset, "samples": n},
        "model": samples.model,
        "config": {},
        "metadata": {"moodflow": run.manifest.package_version, "benchmark": run.manifest.benchmark, "setting": samples.setting},
    }
    scores = [
        {"name": name, "scorer": name, "metrics": {"mean": {"name": "mean", "value": value}}}
        for name, value in samples.scores.items()
    ]
    return {
        "status": "success",
        "eval": spec,
        "samples": [_sample(samples.model, row) for row in samples.rows],
        "results": {"total_samples": n, "completed_samples": n, "scores": scores},
        "stats": {"started_at": began, "completed_at": ended, "model_usage": {samples.model: usage} if usage else {}},
    }


def _sample(model: str, row: Mapping[str, Any]) -> dict[str, Any]:
    output: dict[str, Any] = {"model": model, "usage": count_tokens([row])}
    messages = row["messages"]
    if row["reply"] is not None:
        content = [{"type": "text", "text": row["reply"]}]
        reasoned = [{"type": "reasoning", "reasoning": row["reasoning"]}, *content]
        said = reasoned if row["reasoning"] else row["reply"]
        message = {"role": "assistant", "content": said, "source": "generate", "model": model}
        output["choices"] = [{"message": message, "stop_reason": STOP.get(row["finish_reason"], "unknown")}]
        messages = [*messages, message]
    scores = {
        score["metric"]: {"value": score["value"], "answer": row["parsed_answer"], "explanation": row["reasons"]}
        for score in row["scores"]
        if score["value"] is not None
    }
    part = f"/{row['part']}" if row["part"] else ""
    failed = {"message": row["failure"] or "failed", "traceback": "", "traceback_ansi": ""}
    return {
        "id": f"{row['item_id']}{part}",
        "epoch": row["repetition"] + 1,
        "input": row["messages"],
        "messages": messages,
        "choices": row["options"],
        "target": row["target"] or "",
        "output": output,
        "scores": scores,
        "error": failed if row["reply"] is None else None,
        "model_usage": {model: output["usage"]} if output["usage"] else {},
        "metadata": {"moodflow": identify(row)},
    }
