"""From items to rows of responses, through a real client."""

from hashlib import sha256
from typing import Any

import dataframely as dy
import polars as pl

from schemas.chat import ModelEntry
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.presentation import Epochs, Presentation, plan_epochs
from tasks.solvers.run import ItemRows, fail_cut
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import Pauses, client, entry
from tests.tasks.rows import item
from tests.tasks.rows import items as frame_of
from tests.tasks.solvers.asking import Replies, ask_base

NAMES = ("c", "a", "b")


def items() -> dy.DataFrame[Items]:
    asked = {"dataset": "moods", "options": ["good", "bad"], "gold_indices": [1]}
    return frame_of(*(item(name, "single_choice", question=f"What is {name}?", **asked) for name in NAMES))


async def asked(presentations: list[Presentation], model: ModelEntry) -> tuple[dy.DataFrame[Responses], Replies]:
    """Rows as the lake has them, and the replies in the order they came."""
    replies = Replies()
    async with client(model, Pauses()) as chat, WorkerPool(model.concurrency) as pool:
        rows = await ask_base(presentations, model, chat, pool, replies)
    return Responses.validate(rows.sort(Responses.primary_key())), replies


async def run_items(server: ModelServer) -> tuple[dy.DataFrame[Responses], Replies]:
    return await asked(plan_epochs(items()), entry(server.base_url, concurrency=1))


async def test_every_item_is_a_row_sorted_by_key() -> None:
    with ModelServer(lambda messages: messages[0]["content"][len("Question: What is ")]) as server:
        rows, replies = await run_items(server)
    Responses.validate(rows)
    assert rows["item_id"].to_list() == ["a", "b", "c"]
    # The server answers with the name of the item it was asked about: each row holds its own reply.
    assert rows["reply"].to_list() == ["a", "b", "c"]
    assert sorted(str(reply.text) for reply in replies) == ["a", "b", "c"]
    common = rows.select("dataset", "model", "setting", "repetition", "turn", "status").unique()
    assert common.rows() == [("moods", "listener", "base", 0, 0, "answered")]
    assert rows["call_key"].n_unique() == 3


async def test_a_row_holds_the_conversation_and_its_hash() -> None:
    with ModelServer(lambda _: "B") as server:
        rows, _ = await run_items(server)
    text = "Question: What is a?\\nA. good\\nB. bad\\n\\nReply with the letter of the right option only."
    expected = '[{"content": "' + text + '", "role": "user"}]'
    assert rows["messages"][0] == expected
    assert rows["messages_sha256"][0] == sha256(expected.encode()).hexdigest()
    assert rows.select("prompt_tokens", "completion_tokens", "finish_reason", "http_status").row(0) == (11, 2, "stop", 200)


async def test_option_orders_are_repetitions() -> None:
    with ModelServer(lambda messages: "A" if "A. good" in messages[0]["content"] else "B") as server:
        rows, _ = await asked(plan_epochs(items(), Epochs(permute=3)), entry(server.base_url))
    assert rows.group_by("item_id", maintain_order=True).agg("repetition")["repetition"].to_list() == [[0, 1, 2]] * 3
    # Two options have two orders: the third is the first again, and the reply names the letter that "good" then has.
    for order, reply in rows.select("option_order", "reply").iter_rows():
        assert reply == "AB"[order.index(0)]
    assert rows["call_key"].n_unique() == 6


async def test_repetitions_are_calls_of_their_own() -> None:
    with ModelServer(lambda _: "B") as server:
        rows, _ = await asked(plan_epochs(items(), Epochs(permute=2, repeat=2)), entry(server.base_url))
    orders = rows.group_by("item_id", maintain_order=True).agg("repetition", "option_order")
    assert orders["repetition"].to_list() == [[0, 1, 2, 3]] * 3
    # Two orders, then the same two again, and no two of the four are the same call.
    assert all(shown[:2] == shown[2:] and shown[0] != shown[1] for shown in orders["option_order"].to_list())
    assert rows["call_key"].n_unique() == 12


async def test_failed_call_is_row_without_reply() -> None:
    # One call at a time, items of equal length in their order: the second one asks about a.
    with ModelServer(lambda _: "B", fault=lambda number: "401" if number == 1 else None) as server:
        rows, replies = await run_items(server)
    assert rows.select("item_id", "status", "reply", "failure", "error", "http_status").rows() == [
        ("a", "failed", None, "auth", "HTTP 401: unknown key", 401),
        ("b", "answered", "B", None, None, 200),
        ("c", "answered", "B", None, None, 200),
    ]
    assert [reply.failure for reply in replies].count("auth") == 1
    assert len(replies) == 3


async def test_the_longest_item_is_asked_first() -> None:
    longer = items().with_columns(context=pl.Series(["word " * 3, None, "word " * 9]))
    with ModelServer(lambda _: "B") as server:
        await asked(plan_epochs(Items.validate(longer)), entry(server.base_url, concurrency=1))
    assert [body["messages"][0]["content"].count("word") for body in server.bodies] == [9, 3, 0]


def test_an_answer_on_a_cut_prompt_is_failed() -> None:
    calls = [("k1", "tested", "answered"), ("k2", "seeker", "answered"), ("k3", "tested", "failed")]
    responses: list[dict[str, Any]] = [
        {"call_key": key, "role": role, "status": status, "reply": "B", "failure": None, "remark": "length", "error": None}
        for key, role, status in calls
    ]
    said: dict[str, Any] = {"status": "answered", "failed_role": None, "failure": None, "remark": None}
    answers: list[dict[str, Any]] = [
        {**said, "part": "a", "text": "B", "turns": None, "call_keys": ["k1"]},
        {**said, "part": "b", "text": None, "turns": [{"text": "B"}], "call_keys": ["k1", "k2"]},
    ]
    rows = ItemRows(responses, answers, [], [])
    assert fail_cut(rows, {"elsewhere": "cut"}) is rows
    # A call that failed in another way stays as it is.
    failed = fail_cut(rows, {"k2": "cut", "k3": "cut"})
    lost = {"status": "failed", "failure": "prompt_cut", "remark": None}
    assert failed.responses == [responses[0], {**responses[1], **lost, "reply": None, "error": "cut"}, responses[2]]
    broken = {**answers[1], **lost, "failed_role": "seeker", "text": None, "turns": None, "call_keys": ["k2"]}
    assert failed.answers == [answers[0], broken]
