"""A lake that an earlier state of the code wrote is scored again without a call and to the last bit."""

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
from tests.flows.command import ended
from tests.model_server import ModelServer

DATA = Path(__file__).resolve().parents[1] / "data" / "golden_lake"
PLANS: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "plans.yaml").read_text(encoding="utf-8"))
NAMES = ("dataset", "model", "setting", "method", "metric", "judge", "rubric", "dimension", "ability", "scope")
"""Columns that tell rows of a layer apart, of those it has."""

ANNOTATED = "raw_scores attunebench_mini companion annotate annotations"
BRANCHES = [f"branch_{name}" for name in ("perceiving", "facilitating", "understanding", "managing")]
CHANGED: Mapping[str, str] = {
    f"{ANNOTATED} read_share": "an emotion without intensity is a part unread",
    **{f"{ANNOTATED} {metric}": "the blueprint reports it since" for metric in ("emotion_intensity_mae", *BRANCHES)},
}
"""Names of rows that come out otherwise on purpose (as `by_name` names them), and why."""

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


def rows_of(lake: Path, manifest: Mapping[str, Any], layer: str) -> list[dict[str, Any]]:
    paths = [lake / ref["path"] for ref in manifest["partitions"] if ref["layer"] == layer]
    return [row for path in paths for row in pl.read_parquet(path, hive_partitioning=False).to_dicts()]


def by_name(layer: str, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Rows by what tells them apart, as text, so that every bit of a number counts."""
    named = {
        " ".join([layer, *(str(row[name]) for name in NAMES if name in row)]): json.dumps(row, sort_keys=True) for row in rows
    }
    assert len(named) == len(rows)
    return {name: row for name, row in named.items() if name not in CHANGED}


@pytest.mark.parametrize("benchmark", PLANS)
def test_journal_yields_the_same_scores(lakes: Path, silent_server: ModelServer, benchmark: str) -> None:
    lake = lakes / benchmark
    config = config_of(benchmark, lakes, silent_server.base_url)
    done = ended("run", benchmark, "--config", config, "--lake", lake, "--json")
    assert (done.status, done.document["missing"]) == (0, []), done.err
    assert (silent_server.calls, silent_server.probes, done.document["calls"]["sent"]) == (0, [], 0)
    manifest = json.loads(Path(done.document["manifest"]).read_text(encoding="utf-8"))
    expected = json.loads((lakes / "scores.json").read_text(encoding="utf-8"))[benchmark]
    for layer, stored in expected.items():
        assert by_name(layer, rows_of(lake, manifest, layer)) == by_name(layer, stored)

    verified = ended("verify", done.document["run"], "--lake", lake, "--json").document
    assert (verified["files"]["differ"], verified["differences"], verified["would_differ"]) == ([], [], [])
    assert {layer["differs"] for layer in verified["layers"]} == {0}
