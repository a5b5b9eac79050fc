"""OpenLineage events of a step: what they say, where they go, and that none of it can harm a run."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde

from schemas.chat import ModelEntry
from schemas.context import ContextOptions
from schemas.dataset import BundledFile, LocalFile, PinnedFile
from schemas.lineage import Missing, PartitionRef
from schemas.tables.scores import TaskScores
from tasks.datasets.catalogue import find_dataset, items_keys
from tasks.datasets.steps import BuildJob
from tasks.lake.lake import Lake
from tasks.lineage import emission
from tasks.lineage.emission import EndpointQueue, inputs_of, outputs_of
from tasks.lineage.events import JobInputs, JobOutputs, JobSource, StepEvents, StepRun, type_name
from tests.loopback import Endpoint
from tests.openlineage_schema import check_event
from tests.tasks.lineage.traced_steps import CODE, Job, make_frame, make_key, write_scores

RUN = "0195c0de-0000-7000-8000-000000000001"
FLOW = "0195c0de-0000-7000-8000-000000000002"
STEP = StepRun(RUN, "score_it", "tasks.scoring.steps", "Scores it.", "3.8.8", flow_run=FLOW, flow="score")
KEY = "sk-marked-7f3a9c"
LIMIT_S = 300.0


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("OPENLINEAGE")]:
        monkeypatch.delenv(name)
    emission.warn_once.cache_clear()
    emission.find_endpoint.cache_clear()
    yield
    emission.find_endpoint.cache_clear()
    for name in [name for name in os.environ if name.startswith("OPENLINEAGE")]:
        del os.environ[name]  # OpenLineage's client writes some


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake", CODE)


@pytest.fixture
def source(lake: Lake) -> PartitionRef:
    return lake.write(make_key("input"), make_frame(1), TaskScores)


def folder(lake: Lake) -> Path:
    return Path(str(lake.root))


def checked(event: RunEvent) -> dict[str, Any]:
    """An event as it is sent, which fits its schema."""
    document: dict[str, Any] = json.loads(Serde.to_json(event))
    check_event(document)
    return document


def events_in(lake: Lake) -> list[dict[str, Any]]:
    """Events in the lake, each of which fits its schema."""
    files = sorted((folder(lake) / "openlineage").glob("*.ndjson"))
    events = [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    for event in events:
        check_event(event)
    return events


def test_a_start_names_inputs_and_outputs(lake: Lake, source: PartitionRef) -> None:
    event = checked(StepEvents(STEP, inputs_of(Job(make_key(), (source,))), lake).start())
    facets = ["documentation", "jobType", "moodflow_partition", "parent", "processing_engine", "sourceCodeLocation", "version"]
    assert check_event(event) == facets
    assert (event["eventType"], event["run"]["runId"], event["producer"]) == ("START", RUN, "urn:moodflow:1.2.3")
    assert (event["job"]["namespace"], event["job"]["name"]) == ("moodflow", "score_it/org%2Fmodel")
    assert event["job"]["facets"]["documentation"]["description"] == "Scores it."
    location = event["job"]["facets"]["sourceCodeLocation"]
    assert (location["path"], location["version"]) == ("tasks/scoring/steps.py", "a" * 40)
    parent = event["run"]["facets"]["parent"]
    assert (parent["run"]["runId"], parent["job"]) == (FLOW, {"namespace": "moodflow", "name": "score", "facets": {}})
    (read,) = event["inputs"]
    assert (read["namespace"], read["name"]) == (folder(lake).absolute().as_uri(), "task_scores/model=input")
    assert read["facets"]["version"]["datasetVersion"] == source.fingerprint
    partition = read["facets"]["moodflow_partition"]
    assert (partition["path"], partition["contentSha256"]) == (source.path, source.content_sha256)
    assert [(one["name"], one["facets"]) for one in event["outputs"]] == [("task_scores/model=org%2Fmodel", {})]


def test_an_output_has_columns_rows_and_bytes(lake: Lake) -> None:
    written = lake.write(make_key(), make_frame(3), TaskScores)
    event = checked(StepEvents(STEP, inputs_of(Job(make_key())), lake).complete(JobOutputs((written,))))
    (output,) = event["outputs"]
    expected = pq.read_schema(lake.path(written))
    fields = output["facets"]["schema"]["fields"]
    assert [(one["name"], one["ordinal_position"]) for one in fields] == [(name, at) for at, name in enumerate(expected.names, 1)]
    assert {one["name"]: one["type"] for one in fields}["score_0_100"] == "float64"
    count = output["outputFacets"]["outputStatistics"]
    assert (count["rowCount"], count["fileCount"], count["size"]) == (3, 1, lake.path(written).stat().st_size)
    assert (output["facets"]["storage"]["storageLayer"], output["facets"]["storage"]["fileFormat"]) == ("file", "parquet")
    assert output["facets"]["dataSource"]["uri"] == output["namespace"]


def test_incomplete_partitions_are_versions_of_their_own(lake: Lake) -> None:
    partial = lake.write(make_key(), make_frame(), TaskScores, complete=False)
    facets = checked(StepEvents(STEP, JobInputs(), lake).complete(JobOutputs((partial,))))["outputs"][0]["facets"]
    assert facets["version"]["datasetVersion"] == f"{partial.fingerprint}.{partial.content_sha256[:16]}"
    assert facets["moodflow_partition"]["complete"] is False


def test_types_are_words() -> None:
    columns = (pl.List(pl.List(pl.Int64)), pl.Enum(["scored", "failed"]), pl.Struct({"a": pl.Int8}))
    assert [type_name(column) for column in columns] == ["list<list<int64>>", "enum", "struct"]


def test_source_files_are_inputs_with_their_hashes(lake: Lake) -> None:
    pinned = PinnedFile(repository="github.com/o/n", revision="0123456789", path="a/b.json", sha256="b" * 64)
    own, bundled = LocalFile(path=Path("/home/someone/mine.jsonl")), BundledFile(name="mine.jsonl")
    sources = (JobSource(pinned, "b" * 64), JobSource(own, "c" * 64), JobSource(bundled, None))
    event = checked(StepEvents(STEP, JobInputs(sources=sources), lake).start())
    named = [(one["namespace"], one["name"], one["facets"]["version"]["datasetVersion"]) for one in event["inputs"]]
    assert named == [
        ("https://github.com/o/n", "a/b.json", "0123456789"),
        ("moodflow:own", "mine.jsonl", "c" * 64),
        ("moodflow", "data/bundled/mine.jsonl", "1.2.3"),
    ]
    assert [one["facets"]["moodflow_file"].get("sha256") for one in event["inputs"]] == ["b" * 64, "c" * 64, None]


def test_a_build_job_names_its_files() -> None:
    spec, options = find_dataset("mini_user_safety"), ContextOptions()
    keys = items_keys(spec, ["d" * 64], 5, 0, options)
    inputs = inputs_of(BuildJob(spec, keys, 5, 0, options, required=False))
    # With the hashes that its key rests on.
    assert inputs.sources == (JobSource(spec.files[0], "d" * 64),)
    assert (inputs.inputs, inputs.outputs) == ((), (keys.items,))


def test_what_a_step_returns_is_looked_through(source: PartitionRef) -> None:
    assert outputs_of([source, source]).refs == (source, source)
    assert outputs_of("lake/runs/r/manifest.json").files == ("lake/runs/r/manifest.json",)
    assert outputs_of(["Qwen/Qwen3-8B", "meta/runs/llama"]) == outputs_of(None) == JobOutputs()


def test_files_of_run_are_versions_of_one_dataset(lake: Lake) -> None:
    path = folder(lake) / "runs" / "r1" / "report.html"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"abc")
    event = checked(StepEvents(STEP, JobInputs(subject="moodbench"), lake).complete(JobOutputs(files=(str(path),))))
    (output,) = event["outputs"]
    assert (output["name"], output["facets"]["version"]["datasetVersion"]) == ("runs/benchmark=moodbench/report.html", "r1")
    # SHA-256 of "abc", the first example of FIPS 180.
    assert output["facets"]["moodflow_file"]["sha256"].startswith("ba7816bf8f01cfea414140de5dae2223")
    assert output["outputFacets"]["outputStatistics"]["size"] == 3


async def test_a_step_tells_whether_it_computed_anything(lake: Lake, source: PartitionRef) -> None:
    job = Job(make_key(), (source,))
    ref = await write_scores.fn(job, lake)
    await write_scores.fn(job, lake)
    started, ended, _, again = events_in(lake)
    assert [event["eventType"] for event in (started, ended, again)] == ["START", "COMPLETE", "COMPLETE"]
    assert started["run"]["runId"] == ended["run"]["runId"] != again["run"]["runId"]
    assert ended["job"]["facets"]["documentation"]["description"] == "Write task scores."
    assert [one["run"]["facets"]["moodflow_step"]["upToDate"] for one in (ended, again)] == [False, True]
    partitions = [event["outputs"][0]["facets"]["moodflow_partition"] for event in (ended, again)]
    assert [one["contentSha256"] for one in partitions] == [ref.content_sha256] * 2


async def test_a_step_without_its_dataset_says_why(lake: Lake) -> None:
    await write_scores.fn(Job(make_key(), failure=Missing(dataset="d", reason="is not here", next_step="fetch it")), lake)
    _, ended = events_in(lake)
    assert (ended["eventType"], ended["outputs"]) == ("COMPLETE", [])
    assert ended["run"]["facets"]["moodflow_step"]["missing"] == "is not here"


async def test_a_failure_is_told_without_keys(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_ACCESS", KEY)
    monkeypatch.setenv("OTHER_TOKEN", "another-secret")
    entry = ModelEntry(name="m", base_url="http://127.0.0.1:9/v1", api_key_env="MODEL_ACCESS")
    job = Job(make_key(), entry=entry, failure=ValueError(f"{KEY} and another-secret were refused"))
    with pytest.raises(ValueError, match="were refused"):
        await write_scores.fn(job, lake)
    _, failed = events_in(lake)
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == "ValueError: [key] and [key] were refused"
    assert KEY not in json.dumps(failed)


async def test_an_interrupted_step_is_aborted(lake: Lake) -> None:
    with pytest.raises(KeyboardInterrupt):
        await write_scores.fn(Job(make_key(), failure=KeyboardInterrupt()), lake)
    assert [event["eventType"] for event in events_in(lake)] == ["START", "ABORT"]


async def test_events_can_be_renamed_and_turned_off(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "lab")
    await write_scores.fn(Job(make_key()), lake)
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "True")
    await write_scores.fn(Job(make_key()), lake)
    assert [event["job"]["namespace"] for event in events_in(lake)] == ["lab"] * 2


async def test_unwritable_events_do_not_fail_steps(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    folder(lake).mkdir()
    (folder(lake) / "openlineage").write_text("a file where the folder should be")
    assert (await write_scores.fn(Job(make_key()), lake)).rows == 2
    assert capsys.readouterr().err.count("an OpenLineage event is lost: FileExistsError") == 1


EVENT = (
    "from openlineage.client.event_v2 import Job, Run, RunEvent, RunState; from pathlib import Path; import sys\n"
    f"event = RunEvent(eventType=RunState.START, run=Run('{RUN}'), eventTime='2026-01-02T00:00:00+00:00',"
    "job=Job('x' * 50000, sys.argv[2]))\n"
    "from tasks.lineage import emission; from tasks.lineage.emission import emit; from flows.commands.process import leave\n"
)
"""Python that makes an event of 50 KB, named by the second argument."""


def test_processes_share_a_file_of_the_lake(lake: Lake) -> None:
    program = f"{EVENT}for n in range(50): emit(event, Path(sys.argv[1]))"
    writers = [subprocess.Popen([sys.executable, "-c", program, str(lake.root), str(number)]) for number in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    lines = (folder(lake) / "openlineage" / "2026-01-02.ndjson").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["job"]["name"] for line in lines) == ["0"] * 50 + ["1"] * 50


async def run_step(lake: Lake, monkeypatch: pytest.MonkeyPatch, **environ: str) -> None:
    """Run a step, and wait for what it sends to an endpoint."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    await write_scores.fn(Job(make_key()), lake)
    endpoint = emission.find_endpoint()
    assert endpoint is not None
    endpoint.close(LIMIT_S)


@pytest.mark.parametrize("named_by", ["url", "config", "file"])
async def test_an_endpoint_gets_the_events_too(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    with Endpoint() as endpoint:
        config = tmp_path / ("openlineage.yml" if named_by == "file" else "other.yml")
        config.write_text(f"transport: {{type: http, url: '{endpoint.url}', endpoint: events}}\n")
        by_url = {"OPENLINEAGE_URL": endpoint.url, "OPENLINEAGE_API_KEY": KEY}
        environ = {"url": by_url, "config": {"OPENLINEAGE_CONFIG": str(config)}}
        await run_step(lake, monkeypatch, **environ.get(named_by, {}))
    expected = ("/api/v1/lineage", f"Bearer {KEY}") if named_by == "url" else ("/events", None)
    assert [(path, key) for path, key, _ in endpoint.received] == [expected] * 2
    for *_, body in endpoint.received:
        check_event(body)
    for events in ([body for *_, body in endpoint.received], events_in(lake)):
        assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
        assert KEY not in json.dumps(events)


async def test_an_endpoint_that_refuses_costs_one_warning(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Endpoint(403) as endpoint:
        await run_step(lake, monkeypatch, OPENLINEAGE_URL=endpoint.url, OPENLINEAGE_API_KEY=KEY)
        await write_scores.fn(Job(make_key()), lake)
    assert [event["eventType"] for event in events_in(lake)] == ["START", "COMPLETE"] * 2
    assert len(endpoint.received) == 1
    warned = "the OpenLineage endpoint takes no events (HTTPError 403); all of them are in the lake, openlineage/"
    assert capsys.readouterr().err == f"moodflow: {warned}\n"


def test_endpoint_that_never_answers_is_not_waited_for(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    asked, answered = threading.Event(), threading.Event()

    def send(_event: RunEvent) -> None:
        asked.set()
        answered.wait()

    endpoint = EndpointQueue(send)
    try:
        endpoint.put(StepEvents(STEP, JobInputs(), lake).start())  # returns while the endpoint holds the event
        asked.wait()
        endpoint.close(0.01)
        assert not answered.is_set()
    finally:
        answered.set()
    assert "no answer within 0.01 s" in capsys.readouterr().err


async def test_configuration_that_cannot_be_used_is_warning(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")  # without an address
    await write_scores.fn(Job(make_key()), lake)
    assert len(events_in(lake)) == 2
    assert capsys.readouterr().err.count("the OpenLineage endpoint cannot be used") == 1


def test_events_reach_the_endpoint_in_order(lake: Lake) -> None:
    program = (
        f"{EVENT}emission.EndpointQueue.close.__defaults__ = ({LIMIT_S},)\n"  # however slow the machine is
        "from copy import copy\n"
        "for n in range(3): one = copy(event); one.eventTime = f'2026-01-02T00:00:0{n}Z'; emit(one, Path(sys.argv[1]))\nleave(0)"
    )
    with Endpoint() as endpoint:
        environ = {**os.environ, "OPENLINEAGE_URL": endpoint.url}
        subprocess.run([sys.executable, "-c", program, str(lake.root), "n"], env=environ, check=True)
    assert [body["eventTime"][18:19] for *_, body in endpoint.received] == ["0", "1", "2"]
