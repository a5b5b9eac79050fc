"""A model that changes behind its name is noticed by asking a sample of journaled calls anew."""

import asyncio
import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from flows.runtime import canary as canaries
from schemas.api_capabilities import ApiCapabilities
from schemas.canary import CanaryRecord
from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.plan import Plan
from tasks.models.canary import CanarySample, compare_replies, is_more_than_before
from tasks.models.journal.table import JournalRow
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer

DATASETS = ("mini_user_safety", "mini_text_matching")
ITEMS = 16


def run(server: ModelServer, lake: Path, *more: str) -> Ended:
    model = ("--model", "m", "--base-url", server.base_url, "--set", "models.identity=one address")
    return ended("run", "moodbench-mini", *model, "--datasets", ",".join(DATASETS), "--lake", lake, "--json", *more)


def found(done: Ended) -> dict[str, Any]:
    (finding,) = done.document["canaries"]
    return dict(finding)


@pytest.mark.usefixtures("prefect_server")
def test_a_model_that_changed_is_noticed_and_asked_anew_where_the_plan_says_so(tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as server:
        first = run(server, tmp_path)
        steady = run(server, tmp_path, "--canary", "8")
        # The second run has every reply: the canary alone asks.
        assert server.calls == ITEMS + 8
        server.reply = policy(DATASETS, "wrong")
        changed = run(server, tmp_path, "--canary", "8")
        # What differs is asked for once more.
        assert server.calls == ITEMS + 8 + 16
        anew = run(server, tmp_path, "--canary", "8", "--set", "ask_changed=true")
        assert server.calls == ITEMS + 8 + 16 + 16 + ITEMS
        later = run(server, tmp_path, "--canary", "8", "--set", "ask_changed=true")
        assert server.calls == ITEMS + 8 + 16 + 16 + ITEMS + 8
    assert first.document["canaries"] == []
    assert [found(one)["changed"] for one in (steady, changed, anew, later)] == [False, True, True, False]
    assert [found(one)["epoch"] for one in (steady, changed, anew, later)] == [1, 1, 2, 2]
    assert steady.document["state"] == "UpToDate"
    assert "no model call was sent, but for the canary" in run_message(tmp_path, steady)
    # Said, with the evidence; the scores stay those of the replies that the journal has.
    assert "the model changed behind its name; 8 of 8 replies at temperature 0 are not those in the journal; " in changed.err
    assert "before, 0 of 8 were not; for example '" in changed.err
    assert "--set ask_changed=true asks it anew" in changed.err
    assert changed.scores == first.scores
    assert "it is asked anew, epoch 2" in anew.err
    assert (anew.document["state"], anew.document["previous"]) == ("Regressed", changed.document["run"])
    assert [row["value"] for row in anew.document["raw_scores"]] == [0, 0]
    assert later.document["state"] == "UpToDate"
    keys = pl.read_parquet(tmp_path / "responses" / "**" / "*.parquet", hive_partitioning=False)["call_key"]
    assert keys.n_unique() == 2 * ITEMS


def run_message(lake: Path, done: Ended) -> str:
    folder: Path = lake / "runs" / done.document["run"]
    return (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
def test_a_server_that_never_says_the_same_twice_did_not_change_and_one_under_another_name_did(tmp_path: Path) -> None:
    numbers = itertools.count()
    with ModelServer(lambda _: f"Option {next(numbers)}") as server:
        run(server, tmp_path)
        unsteady = run(server, tmp_path, "--canary", "8")
    assert (found(unsteady)["changed"], found(unsteady)["differing"], found(unsteady)["unsteady"]) == (False, 0, 8)
    with ModelServer(policy(DATASETS, "gold"), fault=lambda number: "wrong_model" if number >= ITEMS else None) as server:
        run(server, tmp_path / "named")
        renamed = run(server, tmp_path / "named", "--canary", "1")
    assert (found(renamed)["changed"], found(renamed)["names_now"]) == (True, ["another-model"])
    assert "it is now served as another-model, was m" in renamed.err
    # A server that is gone says nothing about the model, and stops no run that needs it for nothing else.
    gone = run(server, tmp_path / "named", "--canary", "1")
    assert (gone.status, gone.document["state"], found(gone)["changed"]) == (0, "UpToDate", False)
    assert "nothing can be said, connect: no connection to " in gone.err


def test_a_call_is_asked_anew_in_the_words_that_the_api_takes() -> None:
    sent: list[ChatRequest] = []

    async def chat(request: ChatRequest) -> ChatReply:
        sent.append(request)
        return ChatReply(text="B")

    api = ApiCapabilities(token_limit="max_completion_tokens")  # noqa: S106
    entry = ModelEntry(name="m", base_url="http://localhost/v1", dialect=api)
    row = JournalRow("key", "one", 0, '{"max_tokens": 9, "messages": [], "model": "m"}', '{"text": "B"}', "2026-01-02")
    found = asyncio.run(compare_replies(entry, CanarySample([row], ()), CanaryRecord(), chat, Path()))
    assert found.asked == 1
    assert json.loads(sent[0].body_json) == {"max_completion_tokens": 9, "messages": [], "model": "m"}


@pytest.mark.parametrize(("deployment", "given", "canary"), [(None, None, None), ("one", None, 8), ("one", 0, 0), (None, 3, 3)])
def test_refreshes_of_a_deployment_have_a_canary_unless_the_plan_says_otherwise(
    deployment: str | None, given: int | None, canary: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(flow_run=SimpleNamespace(deployment_id=deployment))
    monkeypatch.setattr(canaries, "FlowRunContext", SimpleNamespace(get=lambda: context))
    assert canaries.with_canary(Plan(benchmark="tiny", models=(), canary=given)).canary == canary


@pytest.mark.parametrize(
    ("differing", "compared", "before", "changed"),
    [
        (0, 8, (0, 0), False),
        # One in eleven is taken for usual at first: 4 of 8 would come about in 0.35 % of samples, 3 of 8 in 3 %.
        (3, 8, (0, 0), False),
        (4, 8, (0, 0), True),
        (2, 2, (0, 0), True),
        (1, 1, (0, 0), False),
        # After ten quiet canaries, one in 91: 2 of 8 in 0.3 %.
        (1, 8, (0, 80), False),
        (2, 8, (0, 80), True),
        # A server that gave half otherwise before may do so again.
        (6, 8, (40, 80), False),
        (8, 8, (40, 80), True),
    ],
)
def test_what_counts_is_what_the_server_did_before(
    differing: int, compared: int, before: tuple[int, int], *, changed: bool
) -> None:
    assert is_more_than_before(differing, compared, CanaryRecord(differing=before[0], compared=before[1])) is changed
