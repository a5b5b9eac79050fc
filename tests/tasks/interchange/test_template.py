"""The file of replies to fill in: each form of it is read back as the rows that were written."""

import json
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.interchange.replies import read_replies
from tasks.interchange.template import write_template

OF = {"dataset": "d", "prompt_sha256": "0" * 64, "model": "m", "setting": "base", "repetition": 0, "turn": 0}
ROWS = [
    {**OF, "item_id": "i", "option_order": [1, 0], "prompt": 'Who?\nA. "Ann"', "reply": None},
    {**OF, "item_id": "j", "option_order": None, "prompt": "谁？", "reply": None},
]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_unfilled_template_has_no_reply_anywhere(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"replies.{ending}"
    assert write_template(ROWS, path) == 2
    first = 2 if ending == "csv" else 1  # after the names of the columns
    read = read_replies(path)
    assert (read.rows, read.broken) == ({}, dict.fromkeys((first, first + 1), "reply_or_failure_is_given"))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_filled_template_is_read_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"replies.{ending}"
    write_template([{**row, "reply": "A"} for row in ROWS], path)
    one, other = read_replies(path).rows.values()
    assert (one.item_id, one.option_order, one.prompt, one.reply) == ("i", (1, 0), 'Who?\nA. "Ann"', "A")
    assert (other.item_id, other.option_order, other.prompt, other.reply) == ("j", None, "谁？", "A")


def test_template_without_orders_keeps_their_type(tmp_path: Path) -> None:
    path = tmp_path / "replies.parquet"
    write_template(ROWS[1:], path)
    kinds = pl.read_parquet_schema(path)
    assert [kinds["option_order"], kinds["reply"]] == [pl.List(pl.Int64), pl.String]


def test_template_takes_no_file_s_place(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    write_template(ROWS[:1], path)
    with pytest.raises(UsageError, match="already exists"):
        write_template(ROWS, path)
    assert [json.loads(line)["item_id"] for line in path.read_text(encoding="utf-8").splitlines()] == ["i"]
    with pytest.raises(UsageError, match="ends in no known format"):
        write_template(ROWS, tmp_path / "replies.txt")
