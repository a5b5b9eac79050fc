"""Items, replies and item scores of the example run."""

import json
from hashlib import sha256
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from schemas.tables import scores as tables
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from tests.tasks.rows import item, response

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
    choice = {"question": "How does she feel?", "options": ["calm", "angry", "sad"]}
    # Gold letters of mood: B B B A, so always answering B is right in 3 of 4.
    rows = [
        item(f"mood-{n}", "single_choice", dataset="mood", language="zh" if n == 2 else "en", gold_indices=[gold], **choice)
        for n, gold in enumerate([1, 1, 1, 0])
    ]
    rows.append(item("kind-0", "single_choice", dataset="kind", gold_indices=[0], **choice))
    tale = {"question": "请概括。", "context": LONG, "references": ["山上有庙。"]}
    rows.append(item("tale-0", "judged_summary", dataset="tale", language="zh", **tale))
    return make_table(Items, [row | {"source_file": "items.jsonl", "source_row": place} for place, row in enumerate(rows)])


def item_scores() -> dy.DataFrame[tables.ItemScores]:
    scored = [
        *[
            ("alpha", "mood-0", "B", 1.0, "scored"),
            ("alpha", "mood-1", "C", 0.0, "scored"),
            ("alpha", "mood-2", "A", 0.0, "scored"),
        ],
        *[("alpha", "mood-3", None, 0.0, "unparsed"), ("alpha", "kind-0", "A", 1.0, "scored")],
        *[("alpha", "tale-0", "Once upon a time", 0.25, "scored"), ("beta", "mood-0", "B", 1.0, "scored")],
        *[("beta", "kind-0", "B", 0.0, "scored"), ("beta", "tale-0", None, None, "judge_failed")],
        *(("gamma", f"mood-{n}", None, None, "call_failed") for n in range(4)),
    ]
    choice, judged = {"method": "choice", "metric": "accuracy"}, {"method": "judge", "metric": "judged_rating"}
    rows = [
        {"model": model, "dataset": item_id.partition("-")[0], "setting": "base", "item_id": item_id, "repetition": 0}
        | (judged if item_id == "tale-0" else choice)
        | {"parsed_answer": parsed, "value": value, "status": status, "gold_place": GOLD_PLACES.get(item_id)}
        | {"chosen_place": None if item_id == "tale-0" or parsed is None else "ABC".index(parsed)}
        for model, item_id, parsed, value, status in scored
    ]
    return make_table(tables.ItemScores, rows)


def responses() -> dy.DataFrame[Responses]:
    said = [
        *[("alpha", "mood-0", "B", 1.0), ("alpha", "mood-1", "C", 2.0), ("alpha", "mood-2", "答案是A", 3.0)],
        *[("alpha", "mood-3", NASTY, 4.0), ("alpha", "kind-0", "A", 5.0), ("alpha", "tale-0", "Once upon a time", 6.0)],
        *[("beta", "mood-0", "B", 1.0), ("beta", "kind-0", "B", 1.0), ("beta", "tale-0", "?", 1.0)],
        *(("gamma", f"mood-{n}", None, 9.0) for n in range(4)),
    ]
    messages = json.dumps([{"role": "user", "content": "?"}])
    cut = {"finish_reason": "length", "remark": "length"}
    rows = [
        response(
            item_id,
            reply,
            model=model,
            dataset=item_id.partition("-")[0],
            answered_by=model,
            call_key=digest(model + item_id),
            messages=messages,
            messages_sha256=digest(messages),
            latency_s=latency,
            **(cut if reply == NASTY else {"finish_reason": reply and "stop"}),
            error="no answer within 9 s" if reply is None else None,
            **({"prompt_tokens": 10, "completion_tokens": 2} if model == "alpha" else {}),
        )
        for model, item_id, reply, latency in said
    ]
    return make_table(Responses, rows)
