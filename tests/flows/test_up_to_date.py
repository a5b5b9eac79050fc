"""A run that finds everything in the lake is written without Prefect, and is the same run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from flows.commands.plan_options import PlanOptions, read_plan
from flows.commands.process import may_name_server
from flows.commands.up_to_date import renew_run
from flows.planning.resolve import resolve
from flows.planning.stored import is_up_to_date
from flows.runtime.local_server import API_URL
from tasks.lake.manifest import list_runs, read_manifest, run_folder
from tests.flows.command import ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer

ROOT = Path(__file__).parents[2]
DATASETS = ("mini_user_safety", "mini_text_matching")
OF_EACH_RUN = {"run", "number", "started_at", "finished_at", "manifest", "report", "previous"}
"""What two runs of the same plan differ in."""

PROGRAM = """
import sys
from flows.commands.app import app, guarded
status = guarded(lambda: app(sys.argv[1:]))
print(status, {"prefect", "openlineage", "aiohttp", "fastapi"} & sys.modules.keys(), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PlanOptions, ModelServer]]:
    """Options of a run that is in the lake twice, and the server that answered it."""
    lake = tmp_path_factory.mktemp("lake")
    with ModelServer(policy(DATASETS, "gold")) as server:
        options = PlanOptions(model=["m"], base_url=server.base_url, datasets=",".join(DATASETS), lake=lake, set=["bootstrap=20"])
        for _ in range(2):
            assert ended("run", "moodbench-mini", *words(options)).status == 0
        yield options, server


def words(options: PlanOptions) -> list[str]:
    named = ("--model", "m", "--base-url", str(options.base_url), "--datasets", str(options.datasets), "--set", "bootstrap=20")
    return [*named, "--lake", str(options.lake), "--json"]


def shared(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in OF_EACH_RUN}


def test_the_run_is_that_of_the_flow(options: tuple[PlanOptions, ModelServer]) -> None:
    planned, server = options
    calls, folder = server.calls, planned.lake
    assert isinstance(folder, Path)
    resolved = resolve(read_plan("moodbench-mini", planned))
    assert is_up_to_date(resolved)
    result = renew_run(resolved)
    assert result is not None
    newest, flow, *_ = list_runs(folder)
    shown = ended("runs", "show", flow, "--lake", folder, "--json").document
    document = json.loads(result.document.model_dump_json())
    assert (result.status, server.calls, document["run"], document["state"]) == (0, calls, newest, "UpToDate")
    assert document["previous"] == flow
    assert shared(document) == shared(shown)
    manifests = [json.loads(read_manifest(folder, run).model_dump_json()) for run in (newest, flow)]
    assert shared(manifests[0]) == shared(manifests[1])
    assert manifests[0].keys() == manifests[1].keys()
    folders = [run_folder(folder, run) for run in (newest, flow)]
    assert {path.name for path in folders[0].iterdir()} == {path.name for path in folders[1].iterdir()}
    assert ended("verify", newest, "--lake", folder).status == 0


@pytest.mark.parametrize(
    "setting",
    ["datasets=[mini_user_safety,mini_text_matching,mini_eq_test]", "sample=1", "seed=1", "canary=4", "repeat=2"],
)
def test_what_is_left_to_do_is_seen(setting: str, options: tuple[PlanOptions, ModelServer]) -> None:
    planned, _ = options
    more = PlanOptions(**{**vars(planned), "set": [*(planned.set or ()), setting]})
    assert not is_up_to_date(resolve(read_plan("moodbench-mini", more)))


def test_a_run_that_fell_behind_is_left_to_prefect(options: tuple[PlanOptions, ModelServer], tmp_path: Path) -> None:
    """Worse replies after a run of better ones: nothing is left to do, and what fell is for the automations of Prefect."""
    planned, server = options
    assert isinstance(planned.lake, Path)
    lake = Path(copytree(planned.lake, tmp_path / "lake"))
    better = replace(planned, lake=lake)
    worse = replace(better, set=[*(planned.set or ()), "models.identity=worse"])
    server.reply = policy(DATASETS, "wrong")
    ask = ("moodbench-mini", *words(better), "--set", "models.identity=worse")
    assert [ended(stage, *ask).status for stage in ("infer", "score")] == [0, 0]
    server.reply = policy(DATASETS, "gold")
    resolved = resolve(read_plan("moodbench-mini", worse))
    assert is_up_to_date(resolved)
    before = list_runs(lake)
    assert renew_run(resolved) is None
    assert list_runs(lake) == before
    assert renew_run(resolve(read_plan("moodbench-mini", better))) is not None


@pytest.mark.parametrize("layer", ["items", "responses", "answers", "item_scores", "raw_scores", "totals"])
def test_a_partition_that_is_gone_is_computed_again(layer: str, options: tuple[PlanOptions, ModelServer]) -> None:
    planned, _ = options
    assert isinstance(planned.lake, Path)
    path = next((planned.lake / layer).rglob("*.parquet"))
    content = path.read_bytes()
    path.unlink()
    try:
        assert not is_up_to_date(resolve(read_plan("moodbench-mini", planned)))
    finally:
        path.write_bytes(content)


def test_the_command_imports_no_prefect(options: tuple[PlanOptions, ModelServer], tmp_path: Path) -> None:
    planned, server = options
    calls = server.calls
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = {**kept, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(tmp_path / "prefect")}
    command = [sys.executable, "-c", PROGRAM, "run", "moodbench-mini", *words(planned)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=200)
    assert (done.stderr, json.loads(done.stdout)["state"], server.calls) == ("0 set()\n", "UpToDate", calls)
    assert not (tmp_path / "prefect").exists()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("profiles.toml", 'active = "x"\n[profiles.x]\nPREFECT_API_URL = "http://a/api"\n', True),
        ("profiles.toml", 'active = "local"\n[profiles.local]\n# PREFECT_API_URL = "http://a/api"\n', False),
        ("prefect.toml", '[api]\nurl = "http://a/api"\n', True),
        ("pyproject.toml", '[tool.prefect]\napi.url = "http://a/api"\n', True),
        ("pyproject.toml", '[project]\nname = "api"\n', False),
        (".env", "PREFECT_API_URL=http://a/api\n", True),
        (".env", "OPENAI_API_KEY=x\n", False),
        ("other.toml", "PREFECT_API_URL=http://a/api\n", False),
    ],
)
def test_settings_that_may_name_a_server(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, expected: bool
) -> None:
    monkeypatch.delenv(API_URL, raising=False)
    monkeypatch.delenv("PREFECT_PROFILES_PATH", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert not may_name_server()
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert may_name_server() == expected


def test_a_variable_names_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(API_URL, "http://a/api")
    monkeypatch.chdir(tmp_path)
    assert may_name_server()
