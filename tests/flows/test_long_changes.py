"""LongEmotion runs that differ in one thing, fail in part, or have several judges: what is asked again, and what is counted."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from flows.runtime.local_server import API_URL, AUTH
from tests.crashes.commands import ROOT, kill, wait_until
from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import ScriptedServers, by_hash, hashes, layer, opposed, scripted_servers
from tests.model_server import Fault, ModelServer
from tests.prefect_server import PrefectServer

QA, EC, ED, ES, MC4 = (f"long_mini_{name}" for name in ("qa", "ec_emobench", "ed", "es", "mc4"))
THREE = ("--settings", "base,rag,coem")

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def asked(prefect_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServers]:  # noqa: ARG001  the server runs
    """Two datasets in three settings, asked before anything changes."""
    with scripted_servers(tmp_path_factory.mktemp("asked") / "lake") as servers:
        assert servers.run(*THREE, "--datasets", f"{QA},{EC}").status == 0
        yield servers


def since(servers: ScriptedServers, before: dict[str, int]) -> dict[str, int]:
    """Calls made after that, by role."""
    return {role: calls - before[role] for role, calls in servers.calls.items()}


def sage_calls(lake: Path) -> int:
    return layer(lake, "retrievals").filter(setting="coem")["helper_call_key"].drop_nulls().n_unique()


def partitions(lake: Path, setting: str) -> set[str]:
    return {str(path.relative_to(lake)) for path in lake.rglob(f"setting={setting}/*.parquet")}


@pytest.mark.long
def test_another_top_k_asks_settings_that_retrieve_again(asked: ScriptedServers, tmp_path: Path) -> None:
    lake, before = asked.copy(tmp_path), asked.calls
    base, rag = partitions(lake, "base"), partitions(lake, "rag")
    assert asked.run(*THREE, "--datasets", f"{QA},{EC}", "--set", "retrieval.top_k=3", lake=lake).status == 0
    # Of each dataset 4 items in two settings. The Sage has been asked about all chunks of an article, and about one chunk of each
    # context of EC: about its best three now, some of which stand in two contexts.
    new = sage_calls(lake) - sage_calls(asked.lake)
    assert 2 <= new <= 2 * 4
    assert since(asked, before) == {"core": 16, "sage": new, "critic": 0, "judge": 0}
    assert partitions(lake, "base") == base
    assert rag < partitions(lake, "rag")


def failing(servers: ScriptedServers, role: str, about: str) -> None:
    """Have a helper or judge refuse every call in which this stands."""
    server: ModelServer = getattr(servers, role)

    def fault(number: int) -> Fault | None:
        return "401" if about in json.dumps(server.bodies[number]["messages"], ensure_ascii=False) else None

    server.fault = fault


def test_items_of_a_sage_that_fails_are_missing_and_asked_again(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake") as servers:
        failing(servers, "sage", "五分钟")
        names = ("--datasets", QA, "--settings", "base,coem")
        first = servers.run(*names)
        before, counted = servers.calls, values(first)
        servers.sage.fault = lambda _number: None
        second = servers.run(*names)
        again = since(servers, before)
    assert (first.status, second.status) == (1, 0)
    # Both Chinese questions are about the article in which that stands: missing, not wrong.
    assert counted == {(QA, "base"): (1, 4, 4), (QA, "coem"): (1, 2, 4)}
    assert values(second) == {(QA, "base"): (1, 4, 4), (QA, "coem"): (1, 4, 4)}
    failed = layer(servers.lake, "responses").filter(status="failed")
    assert set(failed.select("role", "step", "asked_model", "model").iter_rows()) == {("sage", "enrich", "sage", "core")}
    unanswered = layer(servers.lake, "answers").filter(status="failed")
    assert (set(unanswered["failed_role"]), unanswered.height) == ({"sage"}, 2)
    by_role = {(row["role"], row["failed"] > 0) for row in first.document["usage"]}
    assert by_role == {("tested", False), ("sage", True)}
    lost = layer(servers.lake, "item_scores").filter(pl.col("value").is_null())
    assert (set(lost["status"]), lost.height) == ({"call_failed"}, 2)
    assert again["core"] == 2
    assert 0 < again["sage"] <= 14
    shown = ended("runs", "show", first.document["run"], "--lake", servers.lake, "--json")
    assert shown.document["raw_scores"] == first.document["raw_scores"]


@pytest.mark.long
def test_answers_of_a_judge_that_fails_are_missing_and_rated_again(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake") as servers:
        failing(servers, "judge", "Client: November")
        first = servers.run("--datasets", MC4)
        before = servers.calls
        servers.judge.fault = lambda _number: None
        second = servers.run("--datasets", MC4)
        again = since(servers, before)
    assert (first.status, second.status) == (1, 0)
    (value, scored, total) = values(first)[MC4, "base"]
    assert (value, total) == (1, 6)
    assert scored < 6
    assert values(second) == {(MC4, "base"): (1, 6, 6)}
    assert again == {"core": 0, "sage": 0, "critic": 0, "judge": 6 - scored}


def values(played: Ended) -> dict[tuple[str, str], tuple[float | None, int, int]]:
    rows = [row for row in played.document["raw_scores"] if row["metric"] != "strict_accuracy"]
    return {(row["dataset"], row["setting"]): (row["value"], row["n_scored"], row["n_total"]) for row in rows}


def test_one_panel_that_agrees_and_judges_that_repeat_themselves(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake", judge=by_hash) as servers:
        played = servers.run("--datasets", f"{MC4},{ES}", "--role", "panel=second", "--set", "judge_repeat=2")
        # 6 + 2 answers, two judges, twice.
        assert servers.judge.calls == 32
    assert played.status == 0
    ratings = layer(servers.lake, "judgements")
    assert set(ratings.select("judge", "judge_repetition").unique().iter_rows()) == {
        (j, n) for j in ("judge", "second") for n in (0, 1)
    }
    agreed = layer(servers.lake, "agreements")
    assert agreed.select("dataset", "n_answers", "n_ratings").unique().sort("dataset").rows() == [(ES, 2, 8), (MC4, 6, 24)]
    assert agreed.filter(dataset=MC4)["alpha"].to_list() == pytest.approx([1.0] * agreed.filter(dataset=MC4).height)
    assert [list(names) for names in agreed["judges"].unique()] == [["judge", "second"]]
    assert set(agreed["place_effect"]) == {0.0}


@pytest.mark.long
def test_judges_that_disagree_and_the_first_alone_counts(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake", judge=by_hash) as servers, ModelServer(opposed) as contrary:
        panel = [{"name": "contrary", "base_url": contrary.base_url}]
        config = tmp_path / "plan.yaml"
        entry = {"name": "judge", "base_url": servers.judge.base_url}
        config.write_text(
            json.dumps({"judge": entry, "panel": panel, "models": [{"name": "core", "base_url": servers.core.base_url}]})
        )
        options = ("--set", "retrieval.ranking=bm25", "--set", "bootstrap=0", "--lake", servers.lake, "--config", config)
        played = ended("run", "longemotion-mini", *options, "--json")
        assert contrary.calls == servers.judge.calls == 29
    assert played.status == 0, played.err
    agreed = layer(servers.lake, "agreements").filter(pl.col("dataset").str.starts_with("long_mini_mc"))
    assert agreed.height == 12
    assert agreed["alpha"].max() < 0  # type: ignore[operator]
    first = layer(servers.lake, "judgements").filter(judge="judge")
    means = dict(first.group_by("dataset").agg((pl.col("rating") / pl.col("highest")).mean()).iter_rows())
    found = {dataset: value for (dataset, _), (value, _, _) in values(played).items() if dataset in means}
    assert found == pytest.approx(means)


@pytest.mark.long
def test_a_killed_run_goes_on_where_it_stopped(started_prefect: PrefectServer, tmp_path: Path) -> None:
    named = {API_URL: started_prefect.url, AUTH: started_prefect.auth}
    environment = {**os.environ, **named, "PREFECT_LOGGING_TO_API_ENABLED": "false"}
    with scripted_servers(tmp_path / "lake") as servers:
        for server in (servers.core, servers.sage):
            server.latency_s = 0.1
        options = ("--settings", "base,coem", "--datasets", f"{QA},{EC},{ED},{ES}", "--concurrency", "4")
        command = [sys.executable, "-m", "tests.crashes.limited", "--", *map(str, servers.command(*options))]
        for stop_at in (10, 40):
            process = subprocess.Popen(
                command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            wait_until(lambda goal=stop_at: sum(servers.calls.values()) >= goal, process)  # type: ignore[misc]
            kill(process)
        last = servers.run(*options)
        repeated = sum(getattr(servers, role).repeated for role in servers.calls)
        undisturbed = servers.run(*options, lake=tmp_path / "undisturbed")
    assert (last.status, undisturbed.status) == (0, 0)
    assert last.scores == undisturbed.scores
    assert hashes(servers.lake) == hashes(tmp_path / "undisturbed")
    # At each kill no more is lost than was in flight at the two servers and at the judge's.
    assert repeated <= 2 * 3 * 4
