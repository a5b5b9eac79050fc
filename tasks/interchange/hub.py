"""Write the scores of a run as a model repository of the Hugging Face hub lists them: `.eval_results/*.yaml`."""

from pathlib import Path
from typing import Any

import yaml

from schemas.documents.lake import ExportedRecords, UnwrittenScore
from schemas.errors import UsageError
from tasks.interchange.every_eval_ever import build_record
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.lake.files import replace_file
from tasks.runs.past_run import PastRun


def write_hub(run: PastRun, folder: Path, options: ExportOptions) -> ExportedRecords:
    """Write `<developer>/<model>/.eval_results/<benchmark>.yaml` for each model that has an id on the hub.

    It lists the metrics of datasets that the hub has; all other scores are listed as not written. UsageError: no model has an id.
    """
    if not options.hub_ids.keys() & {system.model for system in run.systems}:
        raise UsageError(
            "no model of the run has an id on the hub",
            where="--hub-id",
            expected="MODEL=DEVELOPER/NAME for each model to write",
            got=", ".join(f"{name}={hub_id}" for name, hub_id in options.hub_ids.items()) or "none",
            next_step="say which repository each model is; ids are never guessed",
        )
    files, unwritten = [], []
    for model in dict.fromkeys(system.model for system in run.systems):
        record, hub_id = build_record(run, model, options)[0], options.hub_ids.get(model)
        entries = {each["evaluation_name"]: _entry(record.about, each) if hub_id else None for each in record.results}
        names = (*record.missing, *(name for name, entry in entries.items() if entry is None))
        unwritten += [UnwrittenScore(model=model, name=name) for name in names]
        if kept := [entry for entry in entries.values() if entry]:
            files.append(f"{hub_id}/.eval_results/{run.manifest.benchmark}.yaml")
            replace_file(folder / files[-1], yaml.safe_dump(kept, sort_keys=False, allow_unicode=True).encode())
    return ExportedRecords(runs=(run.name,), folder=str(folder), files=tuple(files), missing=tuple(unwritten))


def _entry(record: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
    """Return a result as the hub lists it; null = its dataset is not on the hub."""
    source, score = result["source_data"], result["score_details"]
    if source["source_type"] != "hf_dataset":
        return None
    _, *task, setting = result["evaluation_name"].rsplit(".", 4)
    counts = ", ".join(f"{name} {score['details'][name]}" for name in ("n_scored", "n_total"))
    return {
        "dataset": {"id": source["hf_repo"], "task_id": ".".join(task)},
        "value": score["score"],
        "date": record["evaluation_timestamp"][:10],
        "source": {"name": record["source_metadata"]["source_organization_name"]},
        "notes": f"{record['eval_library']['name']} {record['eval_library']['version']}, setting {setting}, {counts}",
    }
