"""Journals that are shared: nothing is lost on the way, and nothing that is not a reply gets in."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ChatMessage, ChatReply, ChatRequest
from schemas.errors import LakeError, UsageError
from tasks.models.journal import files
from tasks.models.journal.files import export_replies, import_replies, merge_replies
from tasks.models.journal.journal import Journal
from tasks.models.journal.rows import NOT_SHARED, JournalReplies, recompute_key
from tests.tasks.models.making_calls import request

NOON = datetime(2026, 1, 2, 12, 30, 0, 250_000, tzinfo=UTC)
FULL = ChatReply(
    text="B，因为她很难过",
    reasoning="她说…\n\nso B",
    finish_reason="stop",
    prompt_tokens=41,
    completion_tokens=7,
    top_logprobs=(("B", -0.1), (" A", -2.302585092994046), ("", -1e-300)),
    model="listener-2026",
    reasoning_in="think",
    remark="other_model",
    http_status=200,
    latency_s=0.1 + 0.2,
    attempts=3,
)
REPLIES = {"full": FULL, "bare": ChatReply(text=""), "none likely": ChatReply(text="C", top_logprobs=(), remark="length")}
CAPABILITIES = {
    "usual": ApiCapabilities(),
    "otherwise named": ApiCapabilities(token_limit="max_completion_tokens", unsent=("temperature", "top_p")),  # noqa: S106
    "effort": ApiCapabilities(reasoning_effort="low", effort_path="reasoning.effort"),
    "extra": ApiCapabilities(extra='{"top_k": 1, "thinking": {"type": "disabled"}, "漢": 0.1}'),
}


async def keep(path: Path, replies: dict[str, ChatReply] = REPLIES, **changed: Any) -> Path:
    async with Journal(path, now=lambda: NOON) as journal:
        for text, reply in replies.items():
            await journal.write(request(text, **changed), reply)
    return path


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM replies ORDER BY key").fetchall()


def change(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def counts(taken: files.ImportedReplies) -> tuple[int, int, int, int, int]:
    assert taken.added + taken.same + taken.kept_ours + taken.refused == taken.read
    return taken.read, taken.added, taken.same, taken.kept_ours, taken.refused


async def test_journal_that_was_exported_and_imported_is_same(tmp_path: Path) -> None:
    ours = await keep(tmp_path / "ours.sqlite")
    assert export_replies(ours, tmp_path / "shared.parquet") == 3
    assert counts(import_replies(tmp_path / "shared.parquet", tmp_path / "new" / "theirs.sqlite")) == (3, 3, 0, 0, 0)
    assert rows(tmp_path / "new" / "theirs.sqlite") == rows(ours)
    async with Journal(tmp_path / "new" / "theirs.sqlite") as journal:
        found = {text: journal.get(request(text).key) for text in REPLIES}
    expected = {text: ChatReply(**{**vars(reply), "from_journal": True}) for text, reply in REPLIES.items()}
    assert found == expected


async def test_what_is_exported_is_typed(tmp_path: Path) -> None:
    export_replies(await keep(tmp_path / "ours.sqlite", {"full": FULL}), tmp_path / "shared.parquet")
    (row,) = JournalReplies.validate(pl.read_parquet(tmp_path / "shared.parquet")).to_dicts()
    reply = {name: value for name, value in vars(FULL).items() if name not in {*NOT_SHARED, "model"}}
    call = {"identity": "http://localhost/v1", "model": "listener", "repetition": 0, "request": request("full").body_json}
    likeliest = [("B", -0.1), (" A", -2.302585092994046), ("", -1e-300)]
    columns = {"top_logprobs": [{"token": token, "logprob": logprob} for token, logprob in likeliest], "created": NOON}
    assert row == {**reply, **call, **columns, "key": request("full").key, "answered_by": "listener-2026"}


@pytest.mark.parametrize("capabilities", CAPABILITIES.values(), ids=CAPABILITIES.keys())
@pytest.mark.parametrize("seed", [None, 7])
def test_the_key_follows_from_what_was_sent(capabilities: ApiCapabilities, seed: int | None) -> None:
    call = ChatRequest(
        model="listener",
        identity="http://localhost/v1",
        messages=(ChatMessage(role="system", content="你好 \u2028"), ChatMessage(role="user", content='"\\')),
        sampling=Sampling(temperature=0.7, max_tokens=16, seed=seed),
        repetition=3,
        json_schema='{"type": "object", "properties": {"b": {}, "a": {}}}',
        top_logprobs=5,
        capabilities=capabilities,
    )
    assert recompute_key(call.identity, json.loads(call.body_json), call.repetition) == call.key


async def test_the_first_reply_to_a_call_stays(tmp_path: Path) -> None:
    ours = await keep(tmp_path / "ours.sqlite", {"full": FULL, "bare": ChatReply(text="ours")})
    theirs = await keep(tmp_path / "theirs.sqlite")
    before = rows(ours)
    export_replies(theirs, tmp_path / "shared.parquet")
    assert counts(import_replies(tmp_path / "shared.parquet", ours)) == (3, 1, 1, 1, 0)
    assert [row for row in rows(ours) if row in before] == before


WRONG: dict[str, tuple[pl.Expr, str]] = {
    "another key": (pl.lit("0" * 64).alias("key"), "key_is_that_of_the_call"),
    "another model": (pl.lit("talker").alias("model"), "model_is_that_of_the_request"),
    "deep JSON": (pl.lit("[" * 100_000).alias("request"), "request_is_a_call"),
    "no answer": (pl.lit(None, pl.String).alias("text"), "text|nullability"),
    "no key": (pl.lit("abc").alias("key"), "key|regex"),
    "a remark nobody knows": (pl.lit("odd").alias("remark"), "remark_is_known"),
    "a place nobody knows": (pl.lit("odd").alias("reasoning_in"), "place_of_reasoning_is_known"),
    "no attempt": (pl.lit(0, pl.Int64).alias("attempts"), "attempts|min"),
}


@pytest.mark.parametrize(("wrong", "rule"), WRONG.values(), ids=WRONG.keys())
async def test_broken_row_alone_is_refused(tmp_path: Path, wrong: pl.Expr, rule: str) -> None:
    export_replies(await keep(tmp_path / "ours.sqlite"), tmp_path / "shared.parquet")
    frame = pl.read_parquet(tmp_path / "shared.parquet")
    is_bare = pl.col("key") == request("bare").key
    pl.concat([frame.filter(is_bare).with_columns(wrong), frame.filter(~is_bare)]).write_parquet(tmp_path / "changed.parquet")
    taken = import_replies(tmp_path / "changed.parquet", tmp_path / "theirs.sqlite")
    assert counts(taken) == (3, 2, 0, 0, 1)
    assert dict(taken.rules) == {rule: 1}
    assert {row[0] for row in rows(tmp_path / "theirs.sqlite")} == {request("full").key, request("none likely").key}


@pytest.mark.parametrize("rows_at_once", [1, 1000])
async def test_repeated_call_is_refused_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    monkeypatch.setattr(files, "ROWS_AT_ONCE", rows_at_once)
    export_replies(await keep(tmp_path / "ours.sqlite"), tmp_path / "shared.parquet")
    frame = pl.read_parquet(tmp_path / "shared.parquet")
    assert frame.height == 3
    pl.concat([frame, frame.head(1).with_columns(text=pl.lit("second"))]).write_parquet(tmp_path / "twice.parquet")
    taken = import_replies(tmp_path / "twice.parquet", tmp_path / "theirs.sqlite")
    assert counts(taken) == (4, 3, 0, 0, 1)
    assert dict(taken.rules) == {"key_is_unique": 1}
    assert rows(tmp_path / "theirs.sqlite") == rows(tmp_path / "ours.sqlite")


@pytest.mark.parametrize(
    "damage",
    [
        "reply = '{'",
        "reply = json_set(reply, '$.failure', 'timeout_total', '$.text', null)",
        "reply = json_set(reply, '$.prompt_tokens', 'many')",
        "request = '{'",
        f"reply = json_set(reply, '$.prompt_tokens', json('1{'0' * 30}'))",
        "created = 'yesterday'",
        "created = '0001-01-01T00:00:00+14:00'",
        "identity = x'00'",
    ],
)
async def test_damaged_row_is_not_merged_and_stops_export(tmp_path: Path, damage: str) -> None:
    theirs = await keep(tmp_path / "theirs.sqlite")
    change(theirs, f"UPDATE replies SET {damage} WHERE key = ?", request("bare").key)  # noqa: S608  no user's text
    taken = merge_replies(theirs, tmp_path / "ours.sqlite")
    assert counts(taken) == (3, 2, 0, 0, 1)
    assert sum(taken.rules.values()) == 1
    with pytest.raises(LakeError) as caught:
        export_replies(theirs, tmp_path / "shared.parquet")
    assert caught.value.where == f"{theirs}, key {request('bare').key}"
    assert "moodflow journal merge" in str(caught.value.next_step)
    assert not [name for name in os.listdir(tmp_path) if "parquet" in name]  # noqa: PTH208


async def test_damaged_row_of_ours_is_told_by_import(tmp_path: Path) -> None:
    ours = await keep(tmp_path / "ours.sqlite")
    export_replies(ours, tmp_path / "shared.parquet")
    change(ours, "UPDATE replies SET reply = ? WHERE key = ?", '{"text": 5}', request("bare").key)
    with pytest.raises(LakeError, match="is damaged") as caught:
        import_replies(tmp_path / "shared.parquet", ours)
    assert caught.value.where == f"{ours}, key {request('bare').key}"


async def test_one_model_is_exported_alone(tmp_path: Path) -> None:
    path = await keep(tmp_path / "ours.sqlite")
    other = ChatRequest("talker", "http://localhost/v1", (ChatMessage(role="user", content="full"),), Sampling())
    async with Journal(path) as journal:
        await journal.write(other, ChatReply(text="T"))
    assert export_replies(path, tmp_path / "talker.parquet", "talker") == 1
    assert pl.read_parquet(tmp_path / "talker.parquet")["key"].to_list() == [other.key]


async def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    path = await keep(tmp_path / "ours.sqlite")
    (tmp_path / "shared.parquet").write_text("mine")
    with pytest.raises(UsageError, match="the file already exists"):
        export_replies(path, tmp_path / "shared.parquet")
    assert (tmp_path / "shared.parquet").read_text() == "mine"
    with pytest.raises(UsageError, match="cannot be written") as caught:
        export_replies(path, tmp_path / "no" / "folder.parquet")
    assert caught.value.where == str(tmp_path / "no" / "folder.parquet")


async def test_a_file_with_other_columns_is_refused_whole(tmp_path: Path) -> None:
    export_replies(await keep(tmp_path / "ours.sqlite"), tmp_path / "shared.parquet")
    frame = pl.read_parquet(tmp_path / "shared.parquet")
    for wrong, said in {
        "less": (frame.drop("remark"), "remark: missing instead of String"),
        "more": (frame.with_columns(note=pl.lit("x")), "note: String instead of nothing"),
        "other": (frame.cast({"attempts": pl.String}), "attempts: String instead of Int64"),
    }.values():
        wrong.write_parquet(tmp_path / "wrong.parquet")
        with pytest.raises(UsageError) as caught:
            import_replies(tmp_path / "wrong.parquet", tmp_path / "theirs.sqlite")
        assert caught.value.got == said
    assert not (tmp_path / "theirs.sqlite").exists()


async def test_non_utf8_file_is_refused(tmp_path: Path) -> None:
    export_replies(await keep(tmp_path / "ours.sqlite"), shared := tmp_path / "shared.parquet")
    pq.write_table(pq.read_table(shared), shared, compression="none", write_statistics=False)
    shared.write_bytes(shared.read_bytes().replace(b"listener-2026", b"listener-202\xff"))
    with pytest.raises(UsageError, match="cannot be read") as caught:
        import_replies(shared, tmp_path / "theirs.sqlite")
    assert "UTF8" in str(caught.value.got)
    assert rows(tmp_path / "theirs.sqlite") == []


async def test_run_goes_on_while_replies_are_taken_in(tmp_path: Path) -> None:
    export_replies(await keep(tmp_path / "ours.sqlite"), tmp_path / "shared.parquet")
    async with Journal(tmp_path / "theirs.sqlite") as journal:
        await journal.write(request("running"), ChatReply(text="R"))
        assert counts(import_replies(tmp_path / "shared.parquet", tmp_path / "theirs.sqlite")) == (3, 3, 0, 0, 0)
        await journal.write(request("still running"), ChatReply(text="S"))
        assert journal.get(request("full").key) == ChatReply(**{**vars(FULL), "from_journal": True})
    assert len(rows(tmp_path / "theirs.sqlite")) == 5
