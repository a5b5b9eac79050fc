"""moodflow runs report: the report of a past run from the lake alone."""

import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tasks.runs.past_run import PastRun, reopen
from tests.flows.command import assert_one_message, ended
from tests.flows.commands.past_runs import PastRuns

REPORTS = ("report.html", "report.md")


@pytest.fixture
def runs(runs: PastRuns, tmp_path: Path) -> PastRuns:
    return runs.copied(tmp_path)


def folder(runs: PastRuns) -> Path:
    return runs.lake / "runs" / runs.after


def test_everything_but_layers_and_manifest_may_be_gone(runs: PastRuns) -> None:
    tables = {path: path.read_bytes() for path in folder(runs).glob("*.parquet")}
    assert sorted(path.name for path in tables) == ["blueprint.parquet", "partitions.parquet"]
    original = {name: (folder(runs) / name).read_text(encoding="utf-8") for name in REPORTS}
    layers = {ref["layer"] for ref in runs.manifest["partitions"]}
    for path in runs.lake.iterdir():
        if path.name not in {*layers, "runs"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(runs.lake / "runs" / runs.before)
    for path in (*(folder(runs) / name for name in REPORTS), *tables):
        path.unlink()
    done = ended("runs", "report", runs.after, "--lake", runs.lake, "--json")
    assert (done.status, done.err) == (0, "")
    for name in REPORTS:
        assert (folder(runs) / name).read_text(encoding="utf-8") == original[name]
    assert {path: path.read_bytes() for path in tables} == tables
    assert done.document["sealed_again"] == []


def test_a_report_elsewhere_changes_no_run(runs: PastRuns, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder(runs).iterdir() if path.is_file()}
    done = ended("runs", "report", runs.after, "--out", tmp_path / "out", "--lake", runs.lake)
    assert done.status == 0
    assert (tmp_path / "out" / "report.md").read_bytes() == before["report.md"]
    assert {path.name: path.read_bytes() for path in folder(runs).iterdir() if path.is_file()} == before


def test_a_redacted_report_lies_beside_the_other(runs: PastRuns) -> None:
    manifest = folder(runs) / "manifest.json"
    told = manifest.read_text(encoding="utf-8")
    manifest.write_text(re.sub(r'"redistributable":\s*true', '"redistributable": false', told), encoding="utf-8")
    question = question_of(reopen(runs.lake, runs.after))
    done = ended("runs", "report", runs.after, "--redact", "--lake", runs.lake, "--json")
    assert done.status == 0
    assert done.document["report"] == str(folder(runs) / "redacted" / "report.html")
    assert question in (folder(runs) / "report.html").read_text(encoding="utf-8")
    assert question not in (folder(runs) / "redacted" / "report.html").read_text(encoding="utf-8")
    assert "text withheld" in (folder(runs) / "redacted" / "report.html").read_text(encoding="utf-8")


def question_of(run: PastRun) -> str:
    """A question that the report shows as an example."""
    report = (run.lake.root / "runs" / run.name / "report.html").read_text(encoding="utf-8")
    files = [run.lake.path(ref).read_bytes() for ref in run.partitions("items")]
    questions: list[str] = [text for file in files for text in pl.read_parquet(file, hive_partitioning=False)["question"]]
    return next(question for question in questions if question in report)


def test_a_changed_report_is_written_and_sealed_again(runs: PastRuns) -> None:
    report = folder(runs) / "report.md"
    right = report.read_text(encoding="utf-8")
    report.write_text(right + "and more", encoding="utf-8")
    done = ended("runs", "report", runs.after, "--lake", runs.lake, "--json")
    assert (done.status, report.read_text(encoding="utf-8")) == (0, right)


def test_a_changed_manifest_is_not_sealed_again(runs: PastRuns) -> None:
    manifest = folder(runs) / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    done = ended("runs", "report", runs.after, "--lake", runs.lake, "--json")
    assert done.status == 1
    assert (done.document["intact"], done.document["sealed_again"]) == (False, ["manifest.json"])


def test_only_annotated_conversations_have_result_files(runs: PastRuns, tmp_path: Path) -> None:
    done = ended("runs", "export", runs.after, "--to", tmp_path / "files", "--lake", runs.lake)
    assert_one_message(done, "has no annotated conversations")
    assert not (tmp_path / "files").exists()
