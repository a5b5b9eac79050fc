"""LongEmotion runs that fail in part or have several judges: what is asked again, and what is counted."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import ended
from tests.flows.scripted_roles import ScriptedServers, by_hash, layer, rows_of, scripted_servers
from tests.model_server import Fault, ModelServer

QA, ES, MC4 = (f"long_mini_{name}" for name in ("qa", "es", "mc4"))


def since(servers: ScriptedServers, before: dict[str, int]) -> dict[str, int]:
    return {role: calls - before[role] for role, calls in servers.calls.items()}


def failing(servers: ScriptedServers, role: str, about: str) -> None:
    """Have a helper or judge refuse every call in which this stands."""
    server: ModelServer = getattr(servers, role)

    def fault(number: int) -> Fault | None:
        return "401" if about in json.dumps(server.bodies[number]["messages"], ensure_ascii=False) else None

    server.fault = fault


def test_items_of_a_failed_sage_are_asked_again(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake") as servers:
        failing(servers, "sage", "五分钟")
        names = ("--datasets", QA, "--settings", "base,coem")
        first = servers.run(*names)
        before, counted = servers.calls, values(first.document["raw_scores"])
        servers.sage.fault = lambda _number: None
        asked, scored = (servers.ask(stage, *names) for stage in ("infer", "score"))
        again = since(servers, before)
    assert (first.status, asked.status, scored.status) == (1, 0, 0)
    # Both Chinese questions are about the article in which that stands: missing, not wrong.
    assert counted == {(QA, "base"): (1, 4, 4), (QA, "coem"): (1, 2, 4)}
    assert values(rows_of(servers.lake, scored.document, "raw_scores")) == {(QA, "base"): (1, 4, 4), (QA, "coem"): (1, 4, 4)}
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


def values(raw_scores: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[float | None, int, int]]:
    rows = [row for row in raw_scores if row["metric"] != "strict_accuracy"]
    return {(row["dataset"], row["setting"]): (row["value"], row["n_scored"], row["n_total"]) for row in rows}


def test_an_agreeing_panel_is_counted_by_role(tmp_path: Path) -> None:
    with scripted_servers(tmp_path / "lake", judge=by_hash) as servers:
        options = ("--datasets", f"{MC4},{ES}", "--role", "panel=second", "--set", "judge_repeat=2")
        # The forecast builds the items.
        forecast = servers.run(*options, "--dry-run")
        asked, again, scored = (servers.ask(stage, *options) for stage in ("infer", "infer", "score"))
        # 6 + 2 answers, two judges, twice.
        assert servers.judge.calls == 32
    assert [done.status for done in (asked, again, scored)] == [0] * 3
    # Each in its own role, forecast, counted and found again.
    for rows in (forecast.document["datasets"], asked.document["usage"], again.document["usage"]):
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
