"""LongEmotion runs that fail in part or have several judges: what is asked again, and what is counted."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import ScriptedServers, by_hash, layer, opposed, scripted_servers
from tests.model_server import Fault, ModelServer

QA, ES, MC4 = (f"long_mini_{name}" for name in ("qa", "es", "mc4"))

pytestmark = pytest.mark.usefixtures("prefect_server")


def since(servers: ScriptedServers, before: dict[str, int]) -> dict[str, int]:
    """Calls made after that, by role."""
    return {role: calls - before[role] for role, calls in servers.calls.items()}


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
        options = ("--datasets", f"{MC4},{ES}", "--role", "panel=second", "--set", "judge_repeat=2")
        forecast, played, again = servers.run(*options, "--dry-run"), servers.run(*options), servers.run(*options)
        # 6 + 2 answers, two judges, twice.
        assert servers.judge.calls == 32
    assert played.status == 0
    # Each in its own role, forecast, counted and found again.
    for rows in (forecast.document["datasets"], played.document["usage"], again.document["usage"]):
        rated = {(row["dataset"], row["model"], row["role"]): row["calls"] for row in rows if row["role"] != "tested"}
        assert rated == {(name, *of): n for name, n in ((MC4, 12), (ES, 4)) for of in (("judge", "judge"), ("second", "panel"))}
    assert any(note.startswith("Calls of the judge and the panel") for note in forecast.document["notes"])
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
        core = {"name": "core", "base_url": servers.core.base_url}
        config.write_text(json.dumps({"roles": {"judge": entry, "panel": panel}, "models": [core]}))
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
