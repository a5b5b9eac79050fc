"""Rows of items, responses and judgements with little said of them, frames of such rows, and partitions that hold them."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.documents.leaderboard import SystemRow
from schemas.lineage import PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements, Responses

HASH = "0" * 64
Row = dict[str, Any]


def frame(schema: type[dy.Schema], rows: tuple[Row, ...]) -> Any:
    """Columns that a row does not name are null."""
    empty = schema.create_empty()
    nothing = dict.fromkeys(empty.columns)
    return schema.validate(pl.DataFrame([{**nothing, **row} for row in rows], schema=empty.schema))


def partition(layer: str, mark: str = "1", place: tuple[tuple[str, str], ...] = (("dataset", "d"),)) -> PartitionRef:
    """A partition that is named and need not exist; with another mark it is another one."""
    return PartitionRef(layer=layer, place=place, fingerprint=mark * 64, path=f"{layer}/d", rows=1, content_sha256="2" * 64)


def item(item_id: str, question_type: str, **fields: Any) -> Row:
    source = {"dataset": "own", "source_file": "own.jsonl", "source_row": 0, "source_row_sha256": HASH, "language": "en"}
    asked = {
        "question": "What fits?",
        "item_id": item_id,
        "cluster": item_id,
        "question_type": question_type,
        "fixed_order": False,
    }
    return {**source, **asked, **fields}


def items(*rows: Row) -> dy.DataFrame[Items]:
    table: dy.DataFrame[Items] = frame(Items, rows)
    return table


SYSTEM = {"dataset": "own", "model": "m", "setting": "base", "repetition": 0}


def response(item_id: str, reply: str | None, **fields: Any) -> Row:
    """No reply is a failed call."""
    failed = reply is None
    asked = {"turn": 0, "role": "tested", "asked_model": fields.get("model", "m"), "step": "answer"}
    call = {**asked, "call_key": HASH, "messages": "[]", "messages_sha256": HASH, "left_out_characters": 0, "attempts": 1}
    ended = {"status": "failed" if failed else "answered", "failure": "timeout_total" if failed else None, "latency_s": 0.1}
    return {**SYSTEM, "item_id": item_id, "reply": reply, **call, **ended, **fields}


def responses(*rows: Row) -> dy.DataFrame[Responses]:
    table: dy.DataFrame[Responses] = frame(Responses, rows)
    return table


def answer(item_id: str, text: str | None, **fields: Any) -> Row:
    """No text is a failed call."""
    failed = text is None
    ended = {"status": "failed", "failed_role": "tested", "failure": "timeout_total"} if failed else {"status": "answered"}
    return {**SYSTEM, "item_id": item_id, "part": "", "text": text, "call_keys": [HASH], **ended, **fields}


def turn(speaker: str, text: str, number: int = 1, language: str | None = "en") -> Row:
    """What one party of a dialogue said, as `turns` of an answer has it."""
    said = {"turn": number, "call_key": HASH, "language": language, "characters": len(text)}
    return {"speaker": speaker, "text": text, **said}


def answers(*rows: Row) -> dy.DataFrame[Answers]:
    table: dy.DataFrame[Answers] = frame(Answers, rows)
    return table


def judgement(item_id: str, dimension: str, rating: int | None, **fields: Any) -> Row:
    """No rating is a reply that could not be read."""
    judge = {"judge": "j", "judge_repetition": 0, "rubric": "summary", "lowest": 1, "highest": 5, "call_key": HASH}
    read = {"rating": rating, "parse_status": "unparsed" if rating is None else "parsed", "raw_reply": "{}"}
    return {**SYSTEM, "item_id": item_id, "part": "", "dimension": dimension, **judge, **read, **fields}


def judgements(*rows: Row) -> dy.DataFrame[Judgements]:
    table: dy.DataFrame[Judgements] = frame(Judgements, rows)
    return table


def system_row(**changes: Any) -> SystemRow:
    """Return the row of a system whose total stands, without a gate."""
    columns = dict.fromkeys(SystemRow.model_fields)
    scored = {
        "model": "m",
        "setting": "base",
        "total": 50.0,
        "total_before_veto": 50.0,
        "rank": 1,
        "coverage": 1.0,
        "vetoed": False,
    }
    counts = {"datasets_scored": 1, "datasets_total": 1, "n_scored": 9, "n_total": 9}
    said: dict[str, Any] = {"verdict": "scored", "unranked": None, "headline": "m scores 50.00 of 100.", "abilities": {}}
    return SystemRow.model_validate(columns | scored | counts | said | changes)
