"""Write results as records of Every Eval Ever 0.3.0: a JSON file for each model of a run, with its samples as JSON lines.

Source: schemas/eval.schema.json of github.com/evaleval/every_eval_ever. A second export writes the same names and the same bytes:
names are hashes of run and model, and no clock is read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from schemas.chat import ModelEntry
from schemas.documents.lake import ExportedRecords, UnwrittenScore
from schemas.documents.leaderboard import JudgedTotal, PublishedRow
from schemas.documents.score_part import ScorePart
from schemas.errors import LakeError
from tasks.certificates.lookup import covered_datasets
from tasks.interchange.every_eval_ever_results import (
    ExportOptions,
    Record,
    add_uncertainty,
    best_value,
    composite,
    describe_model,
    generation_config,
    llm_scoring,
    metric_result,
)
from tasks.interchange.every_eval_ever_samples import SCHEMA_VERSION, Measures, sample_lines, texts
from tasks.interchange.samples import withheld_texts
from tasks.lake.files import replace_file
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.score_tree import explain_ability, explain_total, scores_of
from tasks.runs.verdict import judge_run, total_of

UNKNOWN = "unknown"


@dataclass(frozen=True)
class ModelRecord:
    """The record of a model as it grows: all but its results, these, and the names of scores that are missing."""

    benchmark: str
    about: Record
    results: list[Record] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, benchmark: str, run: str, kind: str, options: ExportOptions, about: Record) -> "ModelRecord":
        """Begin a record. `run`: what tells it from others of the model; `kind`: of its source; `about`: further fields."""
        name = about["model_info"]["id"].replace("/", "_")
        source = {
            "source_type": kind,
            "source_organization_name": options.organisation,
            "evaluator_relationship": options.relationship,
        }
        head = {"schema_version": SCHEMA_VERSION, "evaluation_id": f"{benchmark}/{name}/{run}"}
        return cls(benchmark, head | about | {"source_metadata": source | about["source_metadata"]})

    def add(self, result: Record) -> None:
        """Add a result, or the name of one without a score; LakeError: the score lies outside the bounds of its metric."""
        name, score, config = result["evaluation_name"], result["score_details"]["score"], result["metric_config"]
        if score is None:
            self.missing.append(name)
            return
        if not config["min_score"] <= score <= config["max_score"]:
            bounds = f"a score from {config['min_score']} to {config['max_score']}"
            raise LakeError("a score lies outside the bounds of its metric", where=name, expected=bounds, got=str(score))
        self.results.append({"evaluation_result_id": f"{self.about['evaluation_id']}/{name}", **result})

    def write(self, folder: Path, lines: list[str]) -> ExportedRecords:
        """Write the record, and its samples if there are any, over files of an earlier export."""
        info, source = self.about["model_info"], self.about["source_metadata"]
        record = self.about | {"evaluation_results": self.results}
        record["source_metadata"] = source | {"additional_details": texts(missing_scores=", ".join(self.missing) or None)}
        name = UUID(bytes=sha256(self.about["evaluation_id"].encode()).digest()[:16], version=4)
        parts = (self.benchmark, info.get("developer", UNKNOWN), info["id"].rpartition("/")[2])
        path = "/".join(("data", *(re.sub(r"[^\w.-]+", "_", part) for part in parts), str(name)))
        content, samples = "".join(f"{line}\n" for line in lines).encode(), f"{path}_samples.jsonl"
        if lines:
            replace_file(folder / samples, content)
            hashes = {"hash_algorithm": "sha256", "checksum": sha256(content).hexdigest(), "total_rows": len(lines)}
            record["detailed_evaluation_results"] = {"format": "jsonl", "file_path": samples, **hashes}
        else:
            (folder / samples).unlink(missing_ok=True)
        replace_file(folder / f"{path}.json", json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False).encode())
        missing = tuple(UnwrittenScore(model=info["name"], name=name) for name in self.missing)
        return ExportedRecords(folder=str(folder), files=(f"{path}.json",), samples=len(lines), missing=missing)


def write_run(run: PastRun, folder: Path, options: ExportOptions) -> ExportedRecords:
    """Write a record for each model of a run, with samples of the datasets whose texts may be passed on.

    Without `redact`, no samples of other datasets are written; with it, a notice stands for their texts. A missing score is left
    out and listed. LakeError: a partition is gone or changed, or the disk refuses a file.
    """
    written = []
    for model in dict.fromkeys(system.model for system in run.systems):
        record, measures = build_record(run, model, options)
        written.append(record.write(folder, [*sample_lines(run, record.about, measures, redacts=options.redact)]))
    withheld = withheld_texts(run, lines=options.redact)
    return ExportedRecords.joined(written, runs=(run.name,), folder=str(folder), withheld=withheld)


def build_record(run: PastRun, model: str, options: ExportOptions) -> tuple[ModelRecord, Measures]:
    """Return the record of a model of a run, and by system and dataset which metrics have a result."""
    manifest = run.manifest
    entry = next(entry for entry in map(ModelEntry.model_validate, manifest.plan["models"]) if entry.name == model)
    about = {
        "evaluation_timestamp": manifest.started_at,
        "retrieved_timestamp": str(int(datetime.fromisoformat(manifest.finished_at).timestamp())),
        "source_metadata": {"source_name": "MoodFlow"},
        "eval_library": {
            "name": "moodflow",
            "version": manifest.package_version,
            "additional_details": texts(git_commit=manifest.git_commit, blueprint_sha256=manifest.blueprint_sha256),
        },
        "model_info": describe_model(model, options, entry),
    }
    record, measures = ModelRecord.of(manifest.benchmark, run.name, "evaluation_run", options, about), Measures()
    scoring = {each.dataset: llm_scoring(run, each, options) for each in covered_datasets(run)}
    totals = {System(row["model"], row["setting"]): total_of(row) for row in judge_run(run).to_dicts()}
    for system in (system for system in run.systems if system.model == model):
        config = {"generation_config": generation_config(manifest, entry, system.setting)}
        for result in _totals(manifest.benchmark, totals[system], intervals=True):
            record.add(result | config)
        for path, part in _paths(run, system):
            result = _result(run, f"{manifest.benchmark}.{path}.{system.setting}", part, scoring)
            record.add(result | config)
            if part.measured and part.score is not None:
                key = (part.measured.method, part.measured.metric)
                named = (result["evaluation_name"], best_value(part.measured.metric, part.measured.normalisation))
                measures.setdefault((system, part.measured.dataset), {}).setdefault(key, named)
    return record, measures


def _paths(run: PastRun, system: System) -> Iterator[tuple[str, ScorePart]]:
    """Yield every score of a system below the total, with its dotted path in the tree."""
    scores, blueprint = scores_of(run.layers, system), run.blueprint
    gates = [main for main in blueprint.abilities if blueprint.gate and main.id == blueprint.gate.ability]

    def walk(part: ScorePart, path: str) -> Iterator[tuple[str, ScorePart]]:
        yield path, part
        for child in part.parts:
            yield from walk(child, f"{path}.{child.id}")

    for main in (*explain_total(scores, blueprint).parts, *(explain_ability(scores, gate, blueprint) for gate in gates)):
        yield from walk(main, main.id)


def _result(run: PastRun, name: str, part: ScorePart, scoring: Mapping[str, Record]) -> Record:
    measured, manifest = part.measured, run.manifest
    if measured is None:
        details = texts(datasets_scored=part.datasets_scored, datasets_total=part.datasets_total, n_total=part.n_total)
        result = composite(name, manifest.benchmark, part.score, part.title, details)
        add_uncertainty(result, part.n_scored, None, None)
        return result
    result = metric_result(name, part, measured, next((each for each in manifest.datasets if each.id == measured.dataset), None))
    add_uncertainty(result, part.n_scored, measured.ci_low, measured.ci_high)
    if measured.rubric and measured.dataset in scoring:
        result["metric_config"]["llm_scoring"] = scoring[measured.dataset]
    return result


def _totals(benchmark: str, total: JudgedTotal, *, intervals: bool = False) -> Iterator[Record]:
    """Yield the total, and the one before the veto if that is another. `draws`: behind its interval; null = it is a paper's."""
    shown = ("verdict", "why", "vetoed", "veto_reason", "coverage", "item_coverage", "gate_score", "gate_coverage", "rank")
    details = texts(**{name: getattr(total, name) for name in shown})
    before = {"total_before_veto": total.total_before_veto} if total.vetoed else {}
    for part, score in ({"total": total.total} | before).items():
        result = composite(f"{benchmark}.{part}.{total.setting}", benchmark, score, part.replace("_", " "), details)
        if intervals:
            ends = (total.ci_low, total.ci_high) if part != "total" or not total.vetoed else (None, None)
            add_uncertainty(result, total.n_scored, *ends)
        yield result


def write_published(benchmark: str, folder: Path, options: ExportOptions) -> ExportedRecords:
    """Write a `documentation` record for each model of a paper's table; UsageError: no paper has scores of the benchmark."""
    data = published_leaderboard(benchmark)
    name, paper = data.blueprint.name, data.models.paper
    titles = {main.id: main.title for main in data.blueprint.abilities}
    records: dict[str, ModelRecord] = {}
    for row in (row for row in data.rows if isinstance(row, PublishedRow)):
        about = {
            "retrieved_timestamp": UNKNOWN,
            "source_metadata": {"source_name": paper.title if paper else name},
            "eval_library": {"name": UNKNOWN, "version": UNKNOWN},
            "model_info": describe_model(row.model, options, about=row.about),
        }
        record = records.setdefault(row.model, ModelRecord.of(name, "published", "documentation", options, about))
        language = (row.model_extra or {}).get("language")
        setting = f"{language}.{row.setting}" if language else row.setting
        for result in _totals(name, row.model_copy(update={"setting": setting})):
            record.add(result)
        for ability, score in row.abilities.items():
            record.add(composite(f"{name}.{ability}.{setting}", name, score, titles.get(ability, ability), {}))
    return ExportedRecords.joined([record.write(folder, []) for record in records.values()], folder=str(folder))
