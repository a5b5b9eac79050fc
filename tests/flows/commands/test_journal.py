"""moodflow journal, as a user meets it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from pydantic import SecretStr

from schemas.chat import ChatReply
from tasks.models.journal.journal import Journal, JournaledChat
from tasks.models.journal.table import JOURNAL
from tests.flows.command import moodflow
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import Pauses, client, entry, request

KEY = "sk-marked-7f3a9c"
STAMP = "2026-01-02T12:00:00.000+00:00"


def fill(lake: Path, *texts: str, reply: str = "B") -> Path:
    async def put() -> None:
        async with Journal(lake / JOURNAL, now=lambda: datetime(2026, 1, 2, 12, tzinfo=UTC)) as journal:
            for text in texts:
                await journal.write(request(text), ChatReply(text=reply))

    asyncio.run(put())
    return lake


def test_show_counts_replies_by_endpoint_and_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", "a", "b")
    document = moodflow(capsys, "journal", "show", "--lake", lake, "--json").document
    assert (document["journal"], document["replies"]) == (str(lake / "journal" / "replies.sqlite"), 2)
    (row,) = document["models"]
    bytes_ = row.pop("bytes")
    assert row == {"identity": "http://localhost/v1", "model": "listener", "replies": 2, "first": STAMP, "last": STAMP}
    assert 2 * len(request("a").body_json) < bytes_ < document["file_bytes"]
    shown = moodflow(capsys, "journal", "show", "--lake", lake).out
    assert "http://localhost/v1" in shown
    assert "2 replies in " in shown


def test_replies_are_exported_and_imported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lake, file = fill(tmp_path / "lake", "a", "b"), tmp_path / "shared.parquet"
    exported = moodflow(capsys, "journal", "export", file, "--lake", lake, "--json")
    assert exported.status == 0
    assert exported.document == {"file": str(file), "replies": 2, "file_bytes": file.stat().st_size}
    imported = moodflow(capsys, "journal", "import", file, "--lake", tmp_path / "new", "--json")
    assert imported.status == 0
    assert imported.document == {
        "source": str(file),
        "journal": str(tmp_path / "new" / JOURNAL),
        "read": 2,
        "good": 2,
        "refused": 0,
        "rules": {},
        "added": 2,
        "same": 0,
        "kept_ours": 0,
    }
    again = moodflow(capsys, "journal", "export", file, "--lake", lake)
    assert (again.status, "exists already" in again.err) == (2, True)
    alone = moodflow(capsys, "journal", "export", tmp_path / "talker.parquet", "--model", "talker", "--lake", lake)
    assert (alone.status, "no reply by this model" in alone.err) == (2, True)


def test_an_import_with_a_wrong_row_ends_with_1_and_says_which_rule(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lake, file = fill(tmp_path / "lake", "a", "b"), tmp_path / "shared.parquet"
    moodflow(capsys, "journal", "export", file, "--lake", lake)
    wrong = pl.when(pl.col("key") == request("a").key).then(pl.lit(1, pl.Int64)).otherwise(pl.col("repetition"))
    pl.read_parquet(file).with_columns(repetition=wrong).write_parquet(file)
    ended = moodflow(capsys, "journal", "import", file, "--lake", tmp_path / "new")
    assert ended.status == 1
    assert ended.out.splitlines()[1:] == [
        "1 good: 1 added, 0 here already, 0 another reply than ours, which stays",
        "1 refused",
        "  key_is_that_of_the_call: 1",
    ]


def test_a_file_that_is_no_table_of_replies_is_wrong_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "other.parquet"
    pl.DataFrame({"key": ["x"]}).write_parquet(file)
    ended = moodflow(capsys, "journal", "import", file, "--lake", tmp_path / "new")
    assert ended.status == 2
    assert "no table of replies" in ended.err
    assert "identity: missing instead of String" in ended.err
    missing = moodflow(capsys, "journal", "import", tmp_path / "nothing.parquet", "--lake", tmp_path / "new")
    assert (missing.status, "cannot be read" in missing.err) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("named", [Path(), JOURNAL], ids=["its lake", "its file"])
def test_journals_are_merged(capsys: pytest.CaptureFixture[str], tmp_path: Path, named: Path) -> None:
    lake, other = fill(tmp_path / "lake", "a", "b"), fill(tmp_path / "other", "b", "c", reply="C")
    document = moodflow(capsys, "journal", "merge", other / named, "--lake", lake, "--json").document
    assert (document["read"], document["added"], document["same"], document["kept_ours"]) == (2, 1, 0, 1)
    assert moodflow(capsys, "journal", "show", "--lake", lake, "--json").document["replies"] == 3
    assert moodflow(capsys, "journal", "show", "--lake", other, "--json").document["replies"] == 2


@pytest.mark.parametrize("command", [("show",), ("export", "x.parquet"), ("merge", "nowhere")], ids=lambda command: command[0])
def test_there_has_to_be_a_journal(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...]) -> None:
    ended = moodflow(capsys, "journal", *command, "--lake", tmp_path / "lake")
    assert (ended.status, "there is no journal of replies" in ended.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_shared_replies_answer_without_a_key_and_hold_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    async def ask(lake: Path, base_url: str, key: SecretStr | None) -> tuple[ChatReply, ChatReply]:
        model = entry(base_url).model_copy(update={"api_key_env": "MODEL_KEY" if key else None})
        async with Journal(lake / JOURNAL) as journal, client(model, Pauses(), key) as http:
            chat = JournaledChat(http, journal)
            return await chat(request("a")), await chat(request("b"))

    # The server says what it was sent, as some do.
    with ModelServer(lambda _: f"your key is {KEY}") as server:
        paid = asyncio.run(ask(tmp_path / "ours", server.base_url, SecretStr(KEY)))
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
        assert moodflow(capsys, "journal", "export", tmp_path / "shared.parquet", "--lake", tmp_path / "ours").status == 0
        assert moodflow(capsys, "journal", "import", tmp_path / "shared.parquet", "--lake", tmp_path / "theirs").status == 0
        free = asyncio.run(ask(tmp_path / "theirs", server.base_url, None))
        assert server.calls == 2
    assert [reply.text for reply in free] == [reply.text for reply in paid] == ["your key is [key]"] * 2
    assert all(reply.from_journal for reply in free)
    table = pl.read_parquet(tmp_path / "shared.parquet")
    for written in ((tmp_path / "shared.parquet").read_bytes(), str(table.to_dicts()).encode()):
        assert KEY.encode() not in written
        assert b"uthorization" not in written
        assert b"Bearer" not in written
