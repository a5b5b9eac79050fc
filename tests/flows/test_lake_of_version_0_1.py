"""A lake that version 0.1 wrote is scored by this version without a call and to the last bit, and its runs stay readable."""

import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

from tests.flows.command import Ended, ended
from tests.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("prefect_server")

DATA = Path(__file__).resolve().parents[1] / "data" / "lake_0_1"
PLANS: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "plans.yaml").read_text(encoding="utf-8"))
OF_SOURCES = ("source_row_sha256",)
"""Columns that say from which bytes an item was read: fields that are not asked may be added to a bundled file."""

RENAMED = {"long_task": "task"}
MEASURED = ("latency_s", "attempts", "error")
KEPT = "journal"


@dataclass(frozen=True)
class StoredRun:
    """A run of a lake, by its manifest."""

    lake: Path
    name: str

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.lake / "runs" / self.name / "manifest.json").read_text(encoding="utf-8"))
        return manifest

    @property
    def layers(self) -> list[str]:
        """Names of the layers it has partitions in."""
        return list(dict.fromkeys(ref["layer"] for ref in self.manifest["partitions"]))

    def read(self, layer: str) -> pl.DataFrame:
        """All its rows of a layer, without what was measured."""
        paths = [self.lake / ref["path"] for ref in self.manifest["partitions"] if ref["layer"] == layer]
        rows = pl.concat([pl.read_parquet(path, hive_partitioning=False) for path in paths])
        return rows.drop(*MEASURED, *OF_SOURCES, strict=False).rename(RENAMED, strict=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The unpacked lake, and beside it the files that its plans name: the current folder, as it was for version 0.1."""
    monkeypatch.chdir(tmp_path)
    with tarfile.open(DATA / "lake.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    for name in ("evenings.yaml", "evenings.jsonl"):
        shutil.copy(DATA / name, tmp_path)
    return tmp_path


@pytest.fixture
def silent_server() -> Iterator[ModelServer]:
    """A server that refuses whatever it is asked, and remembers it."""
    with ModelServer(lambda _messages: "", fault=lambda _number: "401") as server:
        yield server


def past_run(lake: Path, benchmark: str) -> StoredRun:
    (name,) = (run.name for run in (lake / "runs").iterdir() if f"-{benchmark}-" in run.name)
    return StoredRun(lake, name)


def run_plan(lake: Path, name: str, server: ModelServer) -> StoredRun:
    """Run one of the plans with this version; nothing may be asked."""
    plan = dict(PLANS[name])
    addressed = {"base_url": server.base_url}
    plan["models"] = [{**entry, **addressed} for entry in plan["models"]]
    if "judge" in plan:
        plan["judge"] = {**plan["judge"], **addressed}
    config = Path("plan.yaml")
    config.write_text(yaml.safe_dump(plan), encoding="utf-8")
    done = ended("run", plan["benchmark"], "--config", config, "--lake", lake, "--json")
    assert done.status == 0, done.err
    assert (server.calls, server.probes) == (0, [])
    assert (done.document["calls"]["sent"], done.document["calls"]["failed"]) == (0, 0)
    assert done.document["missing"] == []
    return StoredRun(lake, done.document["run"])


def assert_same(before: StoredRun, after: StoredRun) -> None:
    """Every row of every layer is equal to the last bit, in the columns that the layer had."""
    judged = {"dimension_scores"} if "judgements" in before.layers else set()
    assert set(after.layers) - set(before.layers) == {"answers", *judged}
    for layer in before.layers:
        expected, got = before.read(layer), after.read(layer)
        if "role" in got.columns:
            # What helpers were asked was not kept.
            got = got.filter(role="tested").drop("turn")
            expected = expected.drop("turn")
        if layer == "item_scores":
            # Of an emotion expression the last step alone was shown as what was read.
            got, expected = (rows.filter(~pl.col("dataset").str.ends_with("_ee")) for rows in (got, expected))
        # Words may have been added to a closed set since.
        got, expected = (rows.select(expected.columns).cast({pl.Enum: pl.String}) for rows in (got, expected))
        assert_frame_equal(got, expected, check_exact=True, check_row_order=False)
    for name in ("blueprint", "blueprint_sha256"):
        assert after.manifest[name] == before.manifest[name]


@pytest.mark.parametrize("benchmark", PLANS)
def test_the_journal_of_0_1_yields_the_same_numbers_without_a_call(
    folder: Path, silent_server: ModelServer, benchmark: str
) -> None:
    lake = folder / "lake"
    alone = folder / "journal alone"
    shutil.copytree(lake / KEPT, alone / KEPT)
    after = run_plan(alone, benchmark, silent_server)
    assert after.read("raw_scores").height
    assert_same(past_run(lake, benchmark), after)


def test_a_run_in_the_lake_of_0_1_compares_as_equal_with_its_own(folder: Path, silent_server: ModelServer) -> None:
    lake = folder / "lake"
    before = past_run(lake, "evenings")
    after = run_plan(lake, "evenings", silent_server)
    assert_same(before, after)
    compared = ended("compare", before.name, after.name, "--lake", lake, "--json").document
    # The judge's server has another port than it had; its identity is the same.
    expected = ("judge differs", "replies are read and scored by version")
    assert all(warning.startswith(expected) for warning in compared["warnings"])
    (model,) = compared["models"]
    assert {change["difference"] for change in model["common"]} == {0}
    assert [metric for metric in model["flips"] if metric["fell"] or metric["rose"]] == []


def read_past(folder: Path, *command: str) -> Ended:
    done = ended(*command, "--lake", folder / "lake", "--json")
    assert done.status == 0, done.err
    return done


@pytest.mark.parametrize("benchmark", PLANS)
def test_a_run_of_0_1_is_verified_explained_traced_and_reported(folder: Path, benchmark: str) -> None:
    run = past_run(folder / "lake", benchmark)
    found = ended("verify", run.name, "--lake", folder / "lake", "--json").document
    assert found["files"] == {"checked": len(run.manifest["partitions"]) + 4, "differ": []}
    assert {layer["layer"]: layer["differs"] for layer in found["layers"]} == dict.fromkeys(run.layers, 0)
    # Whoever adds to a bundled file is told that the catalogue differs; the code, since it writes columns that were not there.
    assert {difference["kind"] for difference in found["differences"]} <= {"catalogue", "code"}
    assert found["would_differ"] == []
    assert any(run.manifest["git_commit"] in note for note in found["notes"])

    (total, *_) = run.read("totals").to_dicts()
    explained = read_past(folder, "explain", run.name).document
    assert explained["adds_up"]
    assert explained["models"][0]["total"]["total_before_veto"] == total["total_before_veto"]
    traced = read_past(folder, "lineage", run.name).document
    assert {ref["path"] for ref in run.manifest["partitions"]} <= {node["path"] for node in traced["nodes"]}
    written = read_past(folder, "runs", "report", run.name).document
    assert Path(written["report"]).stat().st_size > 0
