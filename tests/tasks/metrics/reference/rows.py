"""Hand-made items and responses, as frames of the layers."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Responses

HASH = "0" * 64


def item(dataset: str, question_type: str, **fields: Any) -> dict[str, Any]:
    """A row of `items`, named after its dataset."""
    known = {"dataset": dataset, "item_id": "1", "source_file": "f", "source_row": 1, "source_row_sha256": HASH}
    asked = {"language": "en", "question_type": question_type, "question": "Which?", "fixed_order": False}
    return {**dict.fromkeys(Items.create_empty().columns), **known, **asked, **fields}


def items(*rows: dict[str, Any]) -> dy.DataFrame[Items]:
    return Items.validate(pl.DataFrame(list(rows), schema=Items.create_empty().schema))


def response(of: dict[str, Any], reply: str | None, **fields: Any) -> dict[str, Any]:
    """A row of `responses` to an item; no reply = a failed call."""
    row = {
        **dict.fromkeys(Responses.create_empty().columns),
        **{name: of[name] for name in ("dataset", "item_id")},
        "model": "m",
        "setting": "base",
        "repetition": 0,
        "turn": 0,
        "attempts": 1,
        "latency_s": 0.1,
        "left_out_characters": 0,
        "call_key": HASH,
        "messages": "[]",
        "messages_sha256": HASH,
        "reply": reply,
        "status": "failed" if reply is None else "answered",
        "failure": "timeout_total" if reply is None else None,
    }
    return {**row, **fields}


def responses(*rows: dict[str, Any]) -> dy.DataFrame[Responses]:
    return Responses.validate(pl.DataFrame(list(rows), schema=Responses.create_empty().schema))
