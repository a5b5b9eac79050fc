"""Records of Every Eval Ever: they keep its schemas, add up with the run, and come out the same twice."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from schemas.documents.leaderboard import PublishedRow
from schemas.errors import UsageError
from tasks.interchange.every_eval_ever import write_published, write_run
from tasks.interchange.every_eval_ever_results import ExportOptions, source_of
from tasks.interchange.every_eval_ever_samples import hash_sample
from tasks.interchange.hub import write_hub
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.past_run import PastRun, reopen
from tests.flows.commands.past_runs import PastRuns, past_runs
from tests.mirror import MIRROR, needs_mirror

SCHEMAS = MIRROR / "github.com/evaleval/every_eval_ever/schemas"
OPTIONS = ExportOptions("Test Lab", "collaborative", {"m": "maker/model-1"})


@cache
def validator(name: str) -> Draft7Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.fixture
def runs(prefect_server: str, tmp_path_factory: pytest.TempPathFactory) -> PastRuns:  # noqa: ARG001  its server
    return past_runs(tmp_path_factory.getbasetemp())


@pytest.fixture
def run(runs: PastRuns) -> PastRun:
    return reopen(runs.lake, runs.after)


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The one record of a folder, and its samples."""
    (file,) = folder.rglob("*.json")
    samples = file.with_name(f"{file.stem}_samples.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines() if samples.exists() else []
    return json.loads(file.read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def scores_of(record: dict[str, Any]) -> dict[str, float]:
    return {each["evaluation_name"]: each["score_details"]["score"] for each in record["evaluation_results"]}


def of_restricted(run: PastRun, dataset: str) -> PastRun:
    """The run with a dataset whose licence forbids passing texts on."""
    notices = tuple(
        notice.model_copy(update={"redistributable": False, "licence": "on request"}) if notice.id == dataset else notice
        for notice in run.manifest.datasets
    )
    return replace(run, manifest=run.manifest.model_copy(update={"datasets": notices}))


@needs_mirror
def test_records_keep_the_schemas(run: PastRun, tmp_path: Path) -> None:
    written = write_run(run, tmp_path, OPTIONS)
    record, samples = read(tmp_path)
    assert [*validator("eval").iter_errors(record)] == []
    assert [error for line in samples for error in validator("instance_level_eval").iter_errors(line)] == []
    assert written.samples == len(samples) == record["detailed_evaluation_results"]["total_rows"] > 0
    content = (tmp_path / record["detailed_evaluation_results"]["file_path"]).read_bytes()
    assert record["detailed_evaluation_results"]["checksum"] == sha256(content).hexdigest()


def test_second_export_is_the_same(run: PastRun, tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        write_run(run, tmp_path / name, OPTIONS)
        files.append({path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.json*")})
    assert files[0] == files[1]
    assert {path.parts[:4] for path in files[0]} == {("data", "moodbench-mini", "maker", "model-1")}


def test_scores_are_those_of_the_run(run: PastRun, tmp_path: Path) -> None:
    write_run(run, tmp_path, OPTIONS)
    record, samples = read(tmp_path)
    results = {each["evaluation_name"]: each for each in record["evaluation_results"]}
    stored = run.layers["raw_scores"].filter(dataset="mini_bias_detection", metric="accuracy").row(0, named=True)
    (name,) = [each for each in results if ".mini_bias_detection." in each and each.endswith(".accuracy.base")]
    score = results[name]["score_details"]
    assert score["score"] == stored["value"]
    interval = score["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (stored["ci_low"], stored["ci_high"])
    config = results[name]["metric_config"]
    assert (config["metric_id"], config["min_score"], config["max_score"]) == ("accuracy", 0, 1)
    values = [line["evaluation"]["score"] for line in samples if line["evaluation_name"] == name]
    assert sum(values) / len(values) == pytest.approx(stored["value"])
    # One line per item, repetition and metric with a value; every one points at a result.
    ids = {each["evaluation_result_id"] for each in record["evaluation_results"]}
    assert {line["evaluation_result_id"] for line in samples} <= ids
    assert max(Counter((line["evaluation_result_id"], line["sample_id"]) for line in samples).values()) == 1


def test_missing_scores_are_named(run: PastRun, tmp_path: Path) -> None:
    written = write_run(run, tmp_path, OPTIONS)
    record, _ = read(tmp_path)
    names = {each["evaluation_name"] for each in record["evaluation_results"]}
    missing = [each.name for each in written.missing]
    assert missing
    assert names.isdisjoint(missing)
    assert record["source_metadata"]["additional_details"]["missing_scores"] == ", ".join(missing)


def test_judge_stands_with_its_prompt(run: PastRun, tmp_path: Path) -> None:
    write_run(run, tmp_path, OPTIONS)
    judged = [each for each in read(tmp_path)[0]["evaluation_results"] if "llm_scoring" in each["metric_config"]]
    assert {each["source_data"]["dataset_name"] for each in judged} == {"mini_summarization"}
    scoring = judged[0]["metric_config"]["llm_scoring"]
    assert scoring["judges"][0]["model_info"]["name"] == "j"
    assert "expert_baseline" not in scoring  # no certificate
    assert len(scoring["input_prompt"]) > 100


def test_restricted_dataset_has_no_samples(run: PastRun, tmp_path: Path) -> None:
    restricted = of_restricted(run, "mini_irony_detection")
    written = write_run(restricted, tmp_path, OPTIONS)
    assert [each.model_dump() for each in written.withheld] == [
        {"dataset": "mini_irony_detection", "licence": "on request", "lines": False}
    ]
    samples = read(tmp_path)[1]
    assert samples
    assert not any(".mini_irony_detection." in line["evaluation_name"] for line in samples)


def test_redacted_samples_keep_the_true_hash(run: PastRun, tmp_path: Path) -> None:
    plain, redacted = tmp_path / "plain", tmp_path / "redacted"
    write_run(run, plain, OPTIONS)
    write_run(of_restricted(run, "mini_irony_detection"), redacted, replace(OPTIONS, redact=True))
    true, shown = (
        {line["sample_id"]: line for line in read(folder)[1] if ".mini_irony_detection." in line["evaluation_name"]}
        for folder in (plain, redacted)
    )
    assert true
    assert {name: line["sample_hash"] for name, line in true.items()} == {
        name: line["sample_hash"] for name, line in shown.items()
    }
    for name, line in shown.items():
        assert line["input"]["raw"] == "text withheld: licence on request"
        assert line["input"]["formatted"] is None
        texts = [true[name]["input"]["raw"], *(true[name]["input"]["choices"] or ())]
        assert not any(text in json.dumps(line, ensure_ascii=False) for text in texts)


def test_hash_of_a_sample_is_canonical() -> None:
    # SHA-256 of {"raw":"q","reference":["A"]}, as the specification measured it.
    assert hash_sample("q", ["A"]).startswith("702029cb8a99191a")


@needs_mirror
def test_published_tables_are_documentation(tmp_path: Path) -> None:
    written = write_published("moodbench", tmp_path, OPTIONS)
    records = [json.loads((tmp_path / file).read_text(encoding="utf-8")) for file in written.files]
    assert len(records) == 30
    assert [error for record in records for error in validator("eval").iter_errors(record)] == []
    assert {record["source_metadata"]["source_type"] for record in records} == {"documentation"}
    totals, before = (
        {record["model_info"]["name"]: scores[name] for record in records if name in (scores := scores_of(record))}
        for name in ("moodbench.total.base", "moodbench.total_before_veto.base")
    )
    ranked = {row.model: row for row in published_leaderboard("moodbench").rows if isinstance(row, PublishedRow)}
    assert before
    assert before == {name: row.total_before_veto for name, row in ranked.items() if row.vetoed}
    assert {totals[name] for name in before} == {0}
    assert min(before.values()) > 0


@needs_mirror
@pytest.mark.parametrize("benchmark", ["longemotion", "esc-eval", "ecdbench"])
def test_every_published_table_keeps_the_schema(tmp_path: Path, benchmark: str) -> None:
    written = write_published(benchmark, tmp_path, OPTIONS)
    for file in written.files:
        assert [*validator("eval").iter_errors(json.loads((tmp_path / file).read_text(encoding="utf-8")))] == []


def test_sources_are_told_apart(run: PastRun) -> None:
    notice = run.manifest.datasets[0]

    def source(*sources: str) -> dict[str, Any]:
        return source_of("d", notice.model_copy(update={"sources": sources}))

    assert source("huggingface.co/owner/name at 0123456")["hf_repo"] == "owner/name"
    assert source("github.com/owner/name at 0123456")["url"] == ["https://github.com/owner/name/tree/0123456"]
    assert source("bundled")["source_type"] == "other"
    assert source("github.com/owner/name at 0123456", "own files, no hash is pinned")["source_type"] == "other"


def test_hub_lists_datasets_of_the_hub(run: PastRun, tmp_path: Path) -> None:
    notices = tuple(
        notice.model_copy(update={"sources": ("huggingface.co/owner/irony at 0123456",)})
        if notice.id == "mini_irony_detection"
        else notice
        for notice in run.manifest.datasets
    )
    hub = replace(run, manifest=run.manifest.model_copy(update={"datasets": notices}))
    written = write_hub(hub, tmp_path, OPTIONS)
    assert written.files == ("maker/model-1/.eval_results/moodbench-mini.yaml",)
    (entry,) = yaml.safe_load((tmp_path / written.files[0]).read_text(encoding="utf-8"))
    stored = run.layers["raw_scores"].filter(dataset="mini_irony_detection").row(0, named=True)
    assert (entry["dataset"]["id"], entry["value"]) == ("owner/irony", stored["value"])
    assert entry["dataset"]["task_id"] == f"mini_irony_detection.{stored['method']}.{stored['metric']}"
    assert entry["date"] == run.manifest.started_at[:10]


def test_hub_without_an_id_is_refused(run: PastRun, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model of the run has an id on the hub"):
        write_hub(run, tmp_path, ExportOptions())
