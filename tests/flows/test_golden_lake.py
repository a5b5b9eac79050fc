"""A lake that an earlier state of the code wrote is scored again without a call and to the last bit."""

import csv
import json
import sqlite3
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from schemas.chat import call_key
from tasks.models.journal.table import JOURNAL
from tests.flows.command import assert_one_message, ended
from tests.flows.scripted_roles import rows_of
from tests.model_server import ModelServer

DATA = Path(__file__).resolve().parents[1] / "data" / "golden_lake"
PLANS: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "plans.yaml").read_text(encoding="utf-8"))
NAMES = ("dataset", "model", "setting", "method", "metric", "judge", "rubric", "dimension", "ability", "scope")
"""Columns that tell rows of a layer apart, of those it has."""

ANNOTATED = "raw_scores attunebench_mini companion annotate annotations"
BRANCHES = [f"branch_{name}" for name in ("perceiving", "facilitating", "understanding", "managing")]
WHOLE = "attunebench-mini"
"""Whose lake is there with its layers and its run."""

INTERVAL = ("ci_low", "ci_high", "gate_ci_low", "gate_ci_high", "standard_error", "n_clusters")
"""Columns of intervals, which are Wilson's since. `intervals.csv` has those that differ, before and now."""

CHANGED: Mapping[str, str] = {
    f"{ANNOTATED} read_share": "an emotion without intensity is a part unread",
    **{f"{ANNOTATED} {metric}": "the blueprint reports it since" for metric in ("emotion_intensity_mae", *BRANCHES)},
}
"""Names of rows that come out otherwise on purpose (as `by_name` names them), and why."""

NOW: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "moodbench-mini": {
        # Options in Chinese and in English are two classes since, with the F1 4/7 and 2/5, and no longer four.
        "raw_scores mini_irony_detection companion base labels macro_f1": {"value": 17 / 35},
        "ability_scores companion base emotional": {"score_0_100": 61.242424242424235},
        "totals companion base": {"total": 62.043844696969686, "total_before_veto": 62.043844696969686},
    }
}
"""Scores that differ on purpose, by benchmark and name."""

ASKED_OTHERWISE = {"都有毛病，或者回复大多是英文。": "都有毛病。", "有一方面有毛病，或者夹杂了一些英文。": "有一方面有毛病。"}
"""What calls said, and say now: a reply to the former is one to the present call. Chinese anchors of fluency are the paper's."""


@pytest.fixture
def lakes(tmp_path: Path) -> Path:
    """The unpacked folder: a lake with nothing but its journal by benchmark, and the scores."""
    with tarfile.open(DATA / "lake.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    for path in tmp_path.glob(f"*/{JOURNAL}"):
        with closing(sqlite3.connect(path)) as journal, journal:
            for key, identity, request, number in journal.execute(
                "SELECT key, identity, request, repetition FROM replies"
            ).fetchall():
                now = reduce(lambda text, change: text.replace(*change), ASKED_OTHERWISE.items(), request)
                if now != request:
                    renamed = (call_key(identity, now, number), now, key)
                    journal.execute("UPDATE replies SET key = ?, request = ? WHERE key = ?", renamed)
    return tmp_path


@pytest.fixture
def silent_server() -> Iterator[ModelServer]:
    with ModelServer(lambda _messages: "", fault=lambda _number: "401") as server:
        yield server


def config_of(benchmark: str, folder: Path, base_url: str) -> Path:
    """A configuration file that names one server for all models of a plan."""
    named = (
        (DATA / "plans.yaml").read_text(encoding="utf-8").replace("identity: golden", f"identity: golden, base_url: {base_url}")
    )
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump({"benchmark": benchmark, **yaml.safe_load(named)[benchmark]}), encoding="utf-8")
    return path


def name_row(layer: str, row: Mapping[str, Any]) -> str:
    return " ".join([layer, *(str(row[name]) for name in NAMES if name in row)])


def by_name(layer: str, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Rows by what tells them apart, as text, so that every bit of a number counts."""
    scores = ({name: value for name, value in row.items() if name not in INTERVAL} for row in rows)
    named = {name_row(layer, row): json.dumps(row, sort_keys=True) for row in scores}
    assert len(named) == len(rows)
    return {name: row for name, row in named.items() if name not in CHANGED}


def assert_scores(lakes: Path, benchmark: str, run: Mapping[str, Any]) -> None:
    """A run has the scores of the golden lake."""
    manifest = json.loads(Path(run["manifest"]).read_text(encoding="utf-8"))
    expected = json.loads((lakes / "scores.json").read_text(encoding="utf-8"))[benchmark]
    changes = NOW.get(benchmark, {})
    for layer, stored in expected.items():
        changed = [row | changes.get(name_row(layer, row), {}) for row in stored]
        assert by_name(layer, rows_of(lakes / benchmark, manifest, layer)) == by_name(layer, changed)


def assert_intervals(lakes: Path, benchmark: str, run: Mapping[str, Any]) -> None:
    """Intervals that differ from those of the golden lake are listed, with what they are now."""
    manifest = json.loads(Path(run["manifest"]).read_text(encoding="utf-8"))
    golden = json.loads((lakes / "scores.json").read_text(encoding="utf-8"))[benchmark]
    found: dict[str, tuple[float, ...]] = {}
    for layer, stored in golden.items():
        before, now = (ends_by_name(layer, rows) for rows in (stored, rows_of(lakes / benchmark, manifest, layer)))
        found |= {name: (*before[name], *ends) for name, ends in now.items() if name in before and before[name] != ends}
    with (DATA / "intervals.csv").open(encoding="utf-8", newline="") as file:
        _, *listed = csv.reader(file)
    expected = {row: pytest.approx([float(end) for end in ends]) for row, *ends in listed}
    assert found == (expected if benchmark == "moodbench-mini" else {})


def ends_by_name(layer: str, rows: list[dict[str, Any]]) -> dict[str, tuple[float, ...]]:
    ends = {"": ("ci_low", "ci_high"), " gate": ("gate_ci_low", "gate_ci_high")}
    return {
        f"{name_row(layer, row)}{of}": tuple(row[end] for end in columns)
        for row in rows
        for of, columns in ends.items()
        if set(columns) <= row.keys() and name_row(layer, row) not in CHANGED
    }


@pytest.mark.parametrize("benchmark", PLANS)
def test_journal_yields_the_same_scores(lakes: Path, silent_server: ModelServer, benchmark: str) -> None:
    lake = lakes / benchmark
    config = config_of(benchmark, lakes, silent_server.base_url)
    done = ended("run", benchmark, "--config", config, "--lake", lake, "--json")
    assert (done.status, done.document["missing"]) == (0, []), done.err
    assert (silent_server.calls, silent_server.probes, done.document["calls"]["sent"]) == (0, [], 0)
    assert_scores(lakes, benchmark, done.document)
    assert_intervals(lakes, benchmark, done.document)

    verified = ended("verify", done.document["run"], "--lake", lake, "--json").document
    assert (verified["files"]["differ"], verified["differences"], verified["would_differ"]) == ([], [], [])
    assert {layer["differs"] for layer in verified["layers"]} == {0}


@pytest.fixture
def whole(lakes: Path) -> Path:
    """A lake that 0.2.0 wrote, with its layers and its run."""
    with tarfile.open(DATA / "whole.tar.xz") as packed:
        packed.extractall(lakes, filter="data")
    return lakes / WHOLE


def reading(folder: Path) -> dict[str, tuple[str | Path, ...]]:
    """Commands that read a run and write nothing into its lake, by what they read of it."""
    return {
        "list": ("runs", "list"),
        "leaderboard": ("leaderboard", WHOLE),
        "explain": ("explain", "latest"),
        "figure": ("figure", "latest", "--to", folder / "figure.svg"),
        "lineage": ("lineage", "latest"),
        "gc": ("gc",),
        "calls": ("explain", "latest", "--dataset", "attunebench_mini", "--worst", "1"),
        "view": ("view", "latest", "--to", folder / "pages"),
        "export": ("export", "latest", "--to", folder / "rows.csv"),
    }


NEED_CALLS = ("calls", "view", "export")


def bytes_of(lake: Path) -> dict[str, bytes]:
    return {str(path.relative_to(lake)): path.read_bytes() for path in lake.rglob("*.parquet")}


def test_lake_of_0_2_0_is_read_and_scored(whole: Path, tmp_path: Path, silent_server: ModelServer) -> None:
    before = bytes_of(whole)
    for name, command in reading(tmp_path).items():
        done = ended(*command, "--lake", whole)
        assert (name, done.status, done.err) == (name, 0, "")
    verified = ended("verify", "latest", "--lake", whole, "--json").document
    assert verified["files"]["differ"] == []
    assert [difference for difference in verified["differences"] if "cannot be computed again" in difference["message"]] == []
    assert bytes_of(whole) == before

    config = config_of(WHOLE, tmp_path, silent_server.base_url)
    done = ended("score", WHOLE, "--config", config, "--lake", whole)
    assert (done.status, silent_server.calls) == (0, 0), done.err
    assert {name: content for name, content in bytes_of(whole).items() if name in before} == before


def assert_refused(whole: Path, folder: Path, expected: str, got: str) -> None:
    """Assert that what needs replies with other columns names the file and both kinds."""
    (path,) = whole.glob("responses/**/*.parquet")
    parts = (str(path), f"expected: columns of responses as this version has them: {expected}", f"got: {got}; written by")
    for name in NEED_CALLS:
        done = ended(*reading(folder)[name], "--lake", whole)
        assert_one_message(done, *parts, "next step: run moodflow run with the run's plan")


def test_lake_with_other_columns_is_computed_again(whole: Path, tmp_path: Path, silent_server: ModelServer) -> None:
    """The journal has the replies; the files of before stay for the version that wrote them."""
    (path,) = whole.glob("responses/**/*.parquet")
    footer, rows = pl.read_parquet_metadata(path)["moodflow"], pl.read_parquet(path, hive_partitioning=False)
    rows.with_columns(shard=1).write_parquet(path, metadata={"moodflow": footer})
    assert_refused(whole, tmp_path, "no shard", "shard: Int32")
    rows.drop("latency_s").write_parquet(path, metadata={"moodflow": footer})
    assert_refused(whole, tmp_path, "latency_s: Float64", "no latency_s")
    others = {name: command for name, command in reading(tmp_path).items() if name not in NEED_CALLS}
    assert {name: ended(*command, "--lake", whole).status for name, command in others.items()} == dict.fromkeys(others, 0)
    before, config = bytes_of(whole), config_of(WHOLE, tmp_path, silent_server.base_url)
    done = ended("score", WHOLE, "--config", config, "--lake", whole)
    assert_one_message(
        done, "partitions of responses have columns of another version", "run moodflow infer with the same options"
    )

    done = ended("run", WHOLE, "--config", config, "--lake", whole, "--json")
    assert (done.status, done.document["missing"]) == (0, []), done.err
    assert (silent_server.calls, done.document["calls"]["sent"], done.document["calls"]["from_journal"]) == (0, 0, 16)
    assert_scores(tmp_path, WHOLE, done.document)
    assert {name: content for name, content in bytes_of(whole).items() if name in before} == before
    for name in NEED_CALLS:
        assert (name, ended(*reading(tmp_path)[name], "--lake", whole).status) == (name, 0)
    assert ended("score", WHOLE, "--config", config, "--lake", whole).status == 0
    assert ended("verify", "latest", "--lake", whole).status == 0
    assert silent_server.calls == 0
