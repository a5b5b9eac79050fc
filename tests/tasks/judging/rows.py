"""Rows of items, responses and judgements with little said of them."""

import json
from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from tasks.judging.rubrics import Rubric

HASH = "0" * 64
Row = dict[str, Any]


def frame(schema: type[dy.Schema], rows: list[Row]) -> Any:
    """Columns that a row does not name are null."""
    empty = schema.create_empty()
    nothing = dict.fromkeys(empty.columns)
    table = pl.DataFrame([{**nothing, **row} for row in rows], schema=empty.schema)
    return schema.validate(table.sort(schema.primary_key()))


def items(question_type: str, *names: str, **more: Any) -> dy.DataFrame[Items]:
    fixed = {
        "dataset": "own",
        "source_file": "own.jsonl",
        "source_row": 0,
        "source_row_sha256": HASH,
        "language": "en",
        "question_type": question_type,
        "question": "Go on.",
        "fixed_order": False,
    }
    table: dy.DataFrame[Items] = frame(Items, [{**fixed, "item_id": name, **more} for name in names])
    return table


def response(item_id: str, turn: int, reply: str | None, asked: list[str] | None = None, **more: Any) -> Row:
    """A call whose conversation holds these messages of the user, by default one per turn; no reply is a failed call."""
    said = asked if asked is not None else [f"question {number}" for number in range(turn + 1)]
    return {
        "dataset": "own",
        "item_id": item_id,
        "model": "m",
        "setting": "base",
        "repetition": 0,
        "turn": turn,
        "call_key": HASH,
        "messages": json.dumps([{"content": "s", "role": "system"}, *({"content": text, "role": "user"} for text in said)]),
        "messages_sha256": HASH,
        "status": "failed" if reply is None else "answered",
        "reply": reply,
        "failure": "timeout_total" if reply is None else None,
        "left_out_characters": 0,
        "latency_s": 0.0,
        "attempts": 1,
        **more,
    }


def responses(*rows: Row) -> dy.DataFrame[Responses]:
    table: dy.DataFrame[Responses] = frame(Responses, list(rows))
    return table


def judgement(rubric: Rubric, dimension: str, item_id: str, rating: int | None, **more: Any) -> Row:
    return {
        "dataset": "own",
        "item_id": item_id,
        "model": "m",
        "setting": "base",
        "repetition": 0,
        "judge": "j",
        "judge_repetition": 0,
        "dimension": dimension,
        "rubric": rubric.id,
        "call_key": HASH,
        "lowest": rubric.scale.lowest,
        "highest": rubric.scale.highest,
        "rating": rating,
        "parse_status": "unparsed" if rating is None else "parsed",
        "raw_reply": "{}",
        **more,
    }


def judgements(*rows: Row) -> dy.DataFrame[Judgements]:
    table: dy.DataFrame[Judgements] = frame(Judgements, list(rows))
    return table
