"""What a run leaves behind can be traced: by `moodflow lineage`, and by the events of its steps."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from flows.commands.lineage import lineage_table, name_sources, read_graph
from tasks.lake.manifest import list_runs, read_manifest
from tasks.lineage.graph import diagram_of_run
from tests.flows.command import ask_mini, assert_one_message, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.openlineage_schema import check_event
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.runs.test_evidence import notice

DATASETS = ("mini_user_safety", "mini_summarization")


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with one run, of which both datasets and the judge were asked."""
    lake = tmp_path_factory.mktemp("traced") / "lake"
    with ModelServer(policy(DATASETS, "gold")) as server:
        assert ask_mini("run", server.base_url, lake, DATASETS, "--set", "bootstrap=20").status == 0
    return lake


def events_in(lake: Path) -> list[dict[str, Any]]:
    files = sorted((lake / "openlineage").glob("*.ndjson"))
    return [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def graph_of(lake: Path, target: str, *more: str) -> dict[str, Any]:
    return ended("lineage", target, "--lake", lake, *more, "--json").document


def test_a_run_has_rows_by_layer_or_partition(traced: Path) -> None:
    (name,) = list_runs(traced)
    grouped = lineage_table(read_graph(traced, name))
    rows = {row[0]: tuple(row[1:]) for row in grouped.rows}
    assert next(iter(rows)) == "run"
    assert rows["responses"][:4] == ("2 partitions", 16, "", "")
    assert (rows["item_scores"][-1], rows["items"][-1]) == ("judgements, answers", "source")
    assert rows["source"][0] == "with the package: 2 files"


def test_a_file_is_named_by_path_or_digits(traced: Path) -> None:
    (name,) = list_runs(traced)
    ref = next(ref for ref in read_manifest(traced, name).partitions if ref.layer == "judgements")
    named = [graph_of(traced, target) for target in (ref.path, str(traced / ref.path), ref.fingerprint[:10])]
    assert named[0] == named[1] == named[2]
    layers = {node["layer"] or node["kind"] for node in named[0]["nodes"]}
    assert (named[0]["root"], named[0]["runs"]) == (ref.path, [name])
    assert layers == {"judgements", "answers", "responses", "items", "source"}
    shown = ended("lineage", ref.path, "--lake", traced).out
    assert {ref.fingerprint[:12], ref.content_sha256[:12]} <= set(shown.split())
    assert shown.splitlines()[-1] == f"Used by run {name}"


def test_the_layers_are_printed_as_mermaid(traced: Path) -> None:
    (name,) = list_runs(traced)
    lines = ended("lineage", name, "--lake", traced, "--mermaid").out.splitlines()
    assert lines[0] == "graph TD"
    assert set(lines) == set(diagram_of_run(read_manifest(traced, name)))
    assert {"    answers --> judgements", "    judgements --> item_scores"} <= set(lines)


@pytest.mark.parametrize(
    ("target", "expected"),
    [("nothing", "there is no run nothing, and no such file in the lake"), ("../x", "no such file"), ("SHA", "no run SHA")],
)
def test_what_is_not_there_is_said(traced: Path, target: str, expected: str) -> None:
    done = ended("lineage", target, "--lake", traced)
    assert_one_message(done, expected, list_runs(traced)[0])


def test_a_file_outside_the_lake_is_refused(traced: Path, tmp_path: Path) -> None:
    outside = tmp_path / "x.parquet"
    outside.write_bytes(b"")
    assert_one_message(ended("lineage", outside, "--lake", traced), "the file is outside the lake")


def test_a_missing_partition_is_shown_as_gone(traced: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    copytree(traced, lake)
    (name,) = list_runs(lake)
    ref = next(ref for ref in read_manifest(lake, name).partitions if ref.layer == "responses")
    (lake / ref.path).unlink()
    assert "1 gone" in ended("lineage", name, "--lake", lake).out


def test_every_step_emits_its_events(traced: Path) -> None:
    events = events_in(traced)
    for event in events:
        check_event(event)
    states: dict[str, list[str]] = {}
    for event in events:
        states.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert all(found == ["START", "COMPLETE"] for found in states.values())
    assert {
        "aggregate/moodbench-mini",
        *(f"build_partition/{dataset}" for dataset in DATASETS),
        *(f"infer_partition/{dataset}/m/base" for dataset in DATASETS),
        "judge_partition/mini_summarization/m/base/j/summary",
        *(f"score_partition/{dataset}/m/base" for dataset in DATASETS),
        "write_report_files/moodbench-mini",
    } <= {event["job"]["name"] for event in events}
    parents = {event["run"]["facets"]["parent"]["job"]["name"] for event in events}
    assert {"build-datasets", "run-inference", "score", "report"} <= parents


def test_events_and_manifest_agree(traced: Path) -> None:
    written = {
        dataset["facets"]["moodflow_partition"]["path"]: dataset
        for event in events_in(traced)
        if event["eventType"] == "COMPLETE"
        for dataset in event["outputs"]
        if "moodflow_partition" in dataset["facets"]
    }
    partitions = read_manifest(traced, list_runs(traced)[0]).partitions
    assert set(written) == {ref.path for ref in partitions}
    for ref in partitions:
        dataset = written[ref.path]
        assert dataset["facets"]["moodflow_partition"]["contentSha256"] == ref.content_sha256
        assert dataset["outputFacets"]["outputStatistics"]["rowCount"] == ref.rows


def test_source_files_without_a_catalogue_entry_are_noted() -> None:
    sources = {"mini_user_safety": "github.com/o/n at 0123456789", "mine": "own file x.jsonl"}
    notices = tuple(notice(name).model_copy(update={"sources": (source,)}) for name, source in sources.items())
    names = name_sources([bare_manifest(datasets=notices)])
    (changed,) = names("mini_user_safety", ["0" * 64])
    assert (changed.repository, changed.revision, changed.path) == ("github.com/o/n", "0123456789", None)
    assert changed.note == "the catalogue names other content now"
    (own,) = names("mine", ["0" * 64])
    assert (own.path, own.note) == ("x.jsonl", "a file of the user's own")
    (unknown,) = names("never heard of", ["0" * 64])
    assert unknown.note == "neither the catalogue nor a manifest names it"
    (pinned,) = names("longemotion_mc4", ["957ca87cdf4bd81899bb05a79f58f690b5fab16e5060241cd492477732d97ffc"])
    assert (pinned.repository, pinned.path) == ("github.com/LongEmotion/LongEmotion", "data/Emotion_Conversations.jsonl")
