"""A model that changes behind its name is noticed by asking a sample of journaled calls anew."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from flows.runtime import prefect_flows
from schemas.addresses import KEY_ADDRESSES
from schemas.api_capabilities import ApiCapabilities
from schemas.canary import CanaryRecord
from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.plan import Plan
from tasks.models.canary import CanarySample, compare_replies, draw_sample, weigh
from tasks.models.journal.table import JOURNAL, JournalRow, connect
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer

DATASETS = ("mini_user_safety", "mini_text_matching")
ITEMS = 16


def ask(stage: str, server: ModelServer, lake: Path, *more: str) -> Ended:
    model = ("--model", "m", "--base-url", server.base_url, "--set", "models.identity=one address")
    return ended(stage, "moodbench-mini", *model, "--datasets", ",".join(DATASETS), "--lake", lake, "--json", *more)


def run(server: ModelServer, lake: Path, *more: str) -> Ended:
    return ask("run", server, lake, *more)


def found(done: Ended) -> dict[str, Any]:
    (finding,) = done.document["canaries"]
    return dict(finding)


def test_a_changed_model_is_noticed_and_asked_anew(tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as server:
        first = [ask(stage, server, tmp_path) for stage in ("build", "infer")]
        assert server.calls == ITEMS
        steady = ask("infer", server, tmp_path, "--canary", "8")
        # The lake has every reply: the canary alone asks, each of its calls twice.
        assert server.calls == ITEMS + 16
        server.reply = policy(DATASETS, "wrong")
        changed = run(server, tmp_path, "--canary", "8")
        assert server.calls == ITEMS + 16 + 16
        # Who asks changed models anew need not say that there is a canary.
        anew = run(server, tmp_path, "--set", "ask_changed=true")
        assert server.calls == ITEMS + 16 + 16 + 16 + ITEMS
        later = run(server, tmp_path, "--canary", "8", "--set", "ask_changed=true")
        assert server.calls == ITEMS + 16 + 16 + 16 + ITEMS + 16
        # A plan that stays with the earlier replies has them compared, not those of the new epoch.
        stays = ask("infer", server, tmp_path, "--canary", "8")
    assert [one.status for one in (*first, steady, stays)] == [0] * 4, stays.err
    assert "canary of m at one address: no change in 8 replies at temperature 0" in steady.err
    ran = (changed, anew, later)
    assert [found(one)["changed"] for one in ran] == [True, True, False]
    assert [found(one)["epoch"] for one in ran] == [1, 2, 2]
    assert [one.document["state"] for one in ran] == ["Drifting", "Regressed", "UpToDate"]
    assert "no model call was sent, but for the canary" in run_message(tmp_path, later)
    # Said, with the evidence; the scores stay those of the replies that the journal has.
    assert ": 8 of 8 replies differ from the journal, own noise 0 of 8; so far 8 of 16, own noise 0 of 16; " in changed.err
    assert "the model changed under the same name; for example '" in changed.err
    assert "--set ask_changed=true asks it again once decided" in changed.err
    assert [row["value"] for row in changed.document["raw_scores"]] == [1, 1]
    assert "it is asked again, epoch 2" in anew.err
    assert anew.document["previous"] == changed.document["run"]
    assert [row["value"] for row in anew.document["raw_scores"]] == [0, 0]
    # With this one, canaries of the changed model have asked all sixteen calls.
    assert "canary of m at one address: 8 of 8 replies differ from the journal, own noise 0 of 8; so far 16 of 16, " in stays.err
    assert "the model changed under the same name" in stays.err
    keys = pl.read_parquet(tmp_path / "responses" / "**" / "*.parquet", hive_partitioning=False)["call_key"]
    assert keys.n_unique() == 2 * ITEMS


@pytest.mark.long
def test_differences_add_up_over_nights_until_accepted(tmp_path: Path) -> None:
    right, wrong = policy(DATASETS, "gold"), policy(DATASETS, "wrong")
    prompts: list[str] = []

    def after_the_fall(messages: list[dict[str, str]]) -> str:
        return (wrong if str(messages) in sorted(prompts)[:4] else right)(messages)

    def note(messages: list[dict[str, str]]) -> str:
        prompts.append(str(messages))
        return right(messages)

    with ModelServer(note) as server:
        run(server, tmp_path)
        server.reply = after_the_fall
        nights = [run(server, tmp_path, "--canary", "8") for _ in range(4)]
        accepted = ended("models", "accept", "m", "--lake", tmp_path)
        after = [run(server, tmp_path, "--canary", "8") for _ in range(2)]
        again = ended("models", "accept", "m", "--lake", tmp_path / "nothing")
    records = [found(one)["record"] for one in nights]
    # Four of sixteen calls have another answer; eight are asked a night, each twice.
    assert [(one["calls"], one["pairs"], one["noise"]) for one in records] == [(8, 8, 0), (16, 16, 0), (16, 24, 0), (16, 32, 0)]
    assert [len(one["others"]) for one in records[1:]] == [4, 4, 4]
    assert sum(found(one)["differing"] for one in nights[:2]) == 4
    # (3 - 2u²) ** 4 after sixteen calls, (4 - 3u²) ** 4 after eight of them were asked a second time.
    assert [round(found(one)["evidence"], 1) for one in nights[1:3]] == [40.3, 120.1]
    assert [found(one)["changed"] for one in nights] == [False, False, True, True]
    assert {one.document["state"] for one in nights[1:]} == {"Drifting"}
    said = run_message(tmp_path, nights[1])
    assert "Drifting: differences beyond the server's own noise; m: " in said
    assert "so far 4 of 16, own noise 0 of 16; 40.3 times likelier if the model changed, decided at 100" in said
    assert "nothing changed" not in said
    # The largest share that goes with 4 of 16, at 99 %.
    assert "up to 54\N{NO-BREAK SPACE}% of its replies may differ" in accepted.out
    assert [one.document["state"] for one in after] == ["UpToDate", "UpToDate"]
    for one in after:
        said = run_message(tmp_path, one)
        assert f"no model call was sent, but for the canary; m: {found(one)['differing']} of 8 replies differ" in said
        assert "nothing changed" not in said
    assert (again.status, "no canary in this lake found a change in model m" in again.err) == (2, True)


def run_message(lake: Path, done: Ended) -> str:
    folder: Path = lake / "runs" / done.document["run"]
    return (folder / "report.md").read_text(encoding="utf-8")


def test_a_repeated_call_uses_the_apis_words() -> None:
    sent: list[ChatRequest] = []

    async def chat(request: ChatRequest) -> ChatReply:
        sent.append(request)
        return ChatReply(text="B")

    api = ApiCapabilities(token_limit="max_completion_tokens")  # noqa: S106
    entry = ModelEntry(name="m", base_url="http://localhost/v1", dialect=api)
    row = JournalRow("key", "one", 0, '{"max_tokens": 9, "messages": [], "model": "m"}', '{"text": "B"}', "2026-01-02")
    found = asyncio.run(compare_replies(entry, CanarySample([row], ()), CanaryRecord(), chat, Path()))
    assert found.asked == 2
    assert json.loads(sent[0].body_json) == {"max_completion_tokens": 9, "messages": [], "model": "m"}


@pytest.mark.parametrize(
    ("deployment", "stated", "canary"),
    [(None, {}, None), ("one", {}, 8), ("one", {"canary": 0}, 0), (None, {"canary": 3}, 3), (None, {"ask_changed": True}, 8)],
)
def test_scheduled_and_renewing_runs_have_a_canary(
    deployment: str | None, stated: dict[str, Any], canary: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(flow_run=SimpleNamespace(deployment_id=deployment))
    monkeypatch.setattr(prefect_flows, "FlowRunContext", SimpleNamespace(get=lambda: context))
    monkeypatch.setenv(KEY_ADDRESSES, "")
    plan = Plan(benchmark="moodbench-mini", models=(), lake=tmp_path, **stated)
    assert prefect_flows.resolve_parameters(plan).stated.canary == canary


@pytest.mark.parametrize(
    ("calls", "pairs", "odd", "noise", "evidence"),
    [
        # Integrals over u from 0 to 1 of (3 - 2u²) ** odd * u ** 2 noise: a third of the replies are journaled ones.
        (8, 8, 0, 0, 1),
        (8, 8, 1, 0, 7 / 3),
        (8, 8, 2, 0, 29 / 5),
        (8, 8, 4, 0, 40.26),
        (8, 8, 5, 0, 109.9),
        (8, 8, 1, 1, 3 / 5),
        (8, 8, 0, 1, 1 / 3),
        # 200 nights later one reply in 17 is a journaled one: (17 - 16u²) ** odd. The second reply that differs decides.
        (200, 1600, 1, 0, 35 / 3),
        (200, 1600, 2, 0, 158.9),
    ],
)
def test_evidence_is_what_the_counts_say(calls: int, pairs: int, odd: int, noise: int, evidence: float) -> None:
    others = tuple(map(str, range(odd)))
    assert weigh(CanaryRecord(calls=calls, pairs=pairs, others=others, noise=noise)) == pytest.approx(evidence, rel=1e-3)


def test_accepted_differences_weigh_as_noise() -> None:
    record = CanaryRecord(calls=8, pairs=8, others=("a", "b"), usual=1 / 8)
    assert weigh(record) == pytest.approx(weigh(record.model_copy(update={"usual": 0, "noise": 2})))


def test_calls_are_asked_in_turn(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    path.parent.mkdir()
    with closing(connect(path)) as journal, journal:
        for key in "abcde":
            row = (key, "one", 0, '{"model": "m"}', '{"model": "served"}', "2026-01-02")
            journal.execute("INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?)", row)
    nights = [draw_sample(tmp_path, "one", "m", 2, last) for last in ("", "b", "d", "a")]
    assert ["".join(row.key for row in night.rows) for night in nights] == ["ab", "cd", "ea", "bc"]
    assert {(night.names, night.total) for night in nights} == {(("served",), 5)}
