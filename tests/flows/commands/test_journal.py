"""moodflow journal, as a user meets it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.chat import ChatReply
from tasks.models.journal.journal import Journal
from tasks.models.journal.table import JOURNAL
from tests.flows.command import assert_one_message, ended
from tests.tasks.models.making_calls import request

STAMP = "2026-01-02T12:00:00.000+00:00"


def fill(lake: Path, *texts: str, reply: str = "B") -> Path:
    async def put() -> None:
        async with Journal(lake / JOURNAL, now=lambda: datetime(2026, 1, 2, 12, tzinfo=UTC)) as journal:
            for text in texts:
                await journal.write(request(text), ChatReply(text=reply))

    asyncio.run(put())
    return lake


def test_show_counts_replies_by_endpoint_and_model(tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", "a", "b")
    document = ended("journal", "show", "--lake", lake, "--json").document
    assert (document["journal"], document["replies"]) == (str(lake / "journal" / "replies.sqlite"), 2)
    (row,) = document["models"]
    bytes_ = row.pop("bytes")
    assert row == {"identity": "http://localhost/v1", "model": "listener", "replies": 2, "first": STAMP, "last": STAMP}
    assert 2 * len(request("a").body_json) < bytes_ < document["file_bytes"]
    shown = ended("journal", "show", "--lake", lake).out
    assert "http://localhost/v1" in shown
    assert "2 replies in " in shown


def test_replies_are_exported_and_imported(tmp_path: Path) -> None:
    lake, file = fill(tmp_path / "lake", "a", "b"), tmp_path / "shared.parquet"
    exported = ended("journal", "export", file, "--lake", lake, "--json")
    assert exported.status == 0
    assert exported.document == {"file": str(file), "replies": 2, "file_bytes": file.stat().st_size}
    imported = ended("journal", "import", file, "--lake", tmp_path / "new", "--json")
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
    assert_one_message(ended("journal", "export", "", "--lake", lake), "a file to write has no name")
    alone = ended("journal", "export", tmp_path / "talker.parquet", "--model", "talker", "--lake", lake)
    assert (alone.status, "no replies from this model" in alone.err) == (2, True)


@pytest.mark.parametrize("named", [Path(), JOURNAL], ids=["its lake", "its file"])
def test_journals_are_merged(tmp_path: Path, named: Path) -> None:
    lake, other = fill(tmp_path / "lake", "a", "b"), fill(tmp_path / "other", "b", "c", reply="C")
    document = ended("journal", "merge", other / named, "--lake", lake, "--json").document
    assert (document["read"], document["added"], document["same"], document["kept_ours"]) == (2, 1, 0, 1)
    assert ended("journal", "show", "--lake", lake, "--json").document["replies"] == 3
    assert ended("journal", "show", "--lake", other, "--json").document["replies"] == 2


def test_only_folders_of_replies_need_a_benchmark(tmp_path: Path) -> None:
    assert_one_message(ended("journal", "import", tmp_path), "cannot be read", "needs BENCHMARK")
    assert_one_message(
        ended("journal", "import", "a.parquet", "--model", "m"), "these options need a benchmark", "where: --model"
    )
    assert_one_message(ended("journal", "import", tmp_path, "moodbench-mini", "--requests", tmp_path), "where: --requests")
