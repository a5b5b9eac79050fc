"""Items, replies and item scores of the example run."""

import json
from hashlib import sha256
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from schemas.tables import scores as tables
from schemas.tables.items import Items
from schemas.tables.responses import Responses

SchemaT = TypeVar("SchemaT", bound=dy.Schema)
NASTY = "<script>alert('x')</script> I pick ```B``` | or *C*"
LONG = "从前有一座山，山上有一座庙。" * 40


GOLD_PLACES = {"mood-0": 1, "mood-1": 1, "mood-2": 1, "mood-3": 0, "kind-0": 0}


def make_table(schema: type[SchemaT], rows: list[dict[str, Any]]) -> dy.DataFrame[SchemaT]:
    """Validated table of a schema from plain rows; an item has one answer and shares nothing unless they say so."""
    table = pl.DataFrame(rows, schema={name: column.dtype for name, column in schema.columns().items()})
    usual = {"part": pl.lit(""), "cluster": pl.col("item_id")}
    return schema.validate(table.with_columns(pl.col(name).fill_null(usual[name]) for name in usual if name in table.columns))


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def items() -> dy.DataFrame[Items]:
    choice = {"question_type": "single_choice", "options": ["calm", "angry", "sad"], "references": None}
    # Gold letters of mood: B B B A, so always answering B is right in 3 of 4.
    rows: list[dict[str, Any]] = [
        choice | {"dataset": "mood", "item_id": f"mood-{n}", "language": "zh" if n == 2 else "en", "gold_indices": [gold]}
        for n, gold in enumerate([1, 1, 1, 0])
    ]
    rows.append(choice | {"dataset": "kind", "item_id": "kind-0", "language": "en", "gold_indices": [0]})
    rows.append(
        {
            "dataset": "tale",
            "item_id": "tale-0",
            "language": "zh",
            "question_type": "judged_summary",
            "context": LONG,
            "question": "请概括。",
            "references": ["山上有庙。"],
        }
    )
    shared = {"context": None, "question": "How does she feel?", "options": None, "gold_indices": None, "subset": None}
    source = {"source_file": "items.jsonl", "source_row_sha256": digest("row"), "fixed_order": False}
    source |= {"option_roles": None, "wrong_references": None, "fixed_order": False, "reference_gold_indices": None}
    full = [shared | source | {"source_row": place} | row for place, row in enumerate(rows)]
    return make_table(Items, full)


def item_scores() -> dy.DataFrame[tables.ItemScores]:
    scored = [
        ("alpha", "mood", "mood-0", "B", 1.0, "scored"),
        ("alpha", "mood", "mood-1", "C", 0.0, "scored"),
        ("alpha", "mood", "mood-2", "A", 0.0, "scored"),
        ("alpha", "mood", "mood-3", None, 0.0, "unparsed"),
        ("alpha", "kind", "kind-0", "A", 1.0, "scored"),
        ("alpha", "tale", "tale-0", "Once upon a time", 0.25, "scored"),
        ("beta", "mood", "mood-0", "B", 1.0, "scored"),
        ("beta", "kind", "kind-0", "B", 0.0, "scored"),
        ("beta", "tale", "tale-0", None, None, "judge_failed"),
        *(("gamma", "mood", f"mood-{n}", None, None, "call_failed") for n in range(4)),
    ]
    rows = [
        {
            "model": model,
            "dataset": dataset,
            "method": "judge" if dataset == "tale" else "choice",
            "metric": "judged_rating" if dataset == "tale" else "accuracy",
            "setting": "base",
            "item_id": item,
            "repetition": 0,
            "parsed_answer": parsed,
            "chosen_place": None if dataset == "tale" or parsed is None else "ABC".index(parsed),
            "gold_place": GOLD_PLACES.get(item),
            "value": value,
            "status": status,
        }
        for model, dataset, item, parsed, value, status in scored
    ]
    return make_table(tables.ItemScores, rows)


def responses() -> dy.DataFrame[Responses]:
    said = [
        ("alpha", "mood", "mood-0", "B", "stop", 1.0),
        ("alpha", "mood", "mood-1", "C", "stop", 2.0),
        ("alpha", "mood", "mood-2", "答案是A", "stop", 3.0),
        ("alpha", "mood", "mood-3", NASTY, "length", 4.0),
        ("alpha", "kind", "kind-0", "A", "stop", 5.0),
        ("alpha", "tale", "tale-0", "Once upon a time", "stop", 6.0),
        ("beta", "mood", "mood-0", "B", "stop", 1.0),
        ("beta", "kind", "kind-0", "B", "stop", 1.0),
        ("beta", "tale", "tale-0", "?", "stop", 1.0),
        *(("gamma", "mood", f"mood-{n}", None, None, 9.0) for n in range(4)),
    ]
    messages = json.dumps([{"role": "user", "content": "?"}])
    rows = [
        {
            "model": model,
            "dataset": dataset,
            "item_id": item,
            "setting": "base",
            "repetition": 0,
            "turn": 0,
            "role": "tested",
            "asked_model": model,
            "step": "answer",
            "call_key": digest(model + item),
            "messages": messages,
            "messages_sha256": digest(messages),
            "status": "failed" if reply is None else "answered",
            "reply": reply,
            "finish_reason": finish,
            "answered_by": model,
            "remark": "length" if finish == "length" else None,
            "left_out_characters": 0,
            "failure": "timeout_total" if reply is None else None,
            "error": "no answer within 9 s" if reply is None else None,
            "prompt_tokens": 10 if model == "alpha" else None,
            "completion_tokens": 2 if model == "alpha" else None,
            "latency_s": latency,
            "attempts": 1,
        }
        for model, dataset, item, reply, finish, latency in said
    ]
    return make_table(Responses, rows)
