"""What answers say, and how they follow from the replies that they rest on."""

from collections.abc import Mapping
from typing import Any

import dataframely as dy
import polars as pl

from schemas.benchmark import rows
from schemas.errors import LakeError, ScoringError
from schemas.tables.responses import Answers
from schemas.usage import TESTED
from tasks.solvers.registry import ContextSolver
from tasks.text.languages import find_language

ITEM = ["dataset", "item_id"]
ASKED = [*ITEM, "model", "setting", "repetition"]
"""Columns that rows about one item, asked once, share."""

ANSWER = [*ASKED, "part"]

OF_LAST = ("status", "failure", "option_order", "finish_reason", "remark", "token_logprobs")
"""Columns that an answer has from the last call it rests on."""

_SPEAKER, _WORDS = pl.element().struct["speaker"], pl.element().struct["text"]

SAID = pl.coalesce("text", pl.col("turns").list.eval(pl.format("{}: {}", _SPEAKER, _WORDS)).list.join("\n"))
"""What an answer says, as one text; of a dialogue, a line per turn."""

OWN_WORDS = pl.coalesce("text", pl.col("turns").list.eval(_WORDS.filter(_SPEAKER == TESTED)).list.join("\n"))
"""What the model under test says in an answer; of a dialogue, a line per turn of its own."""


def require_counterparts(rows: pl.DataFrame, others: pl.DataFrame, on: list[str], what: str, expected: str) -> None:
    """Raise ScoringError, with the first in their order, if rows have no counterpart among others."""
    lacking = rows.select(on).join(others, on=on, how="anti").sort(on)
    if not lacking.is_empty():
        raise ScoringError(
            what,
            where=", ".join(f"{name} {value}" for name, value in lacking.row(0, named=True).items()),
            expected=expected,
            got=f"{lacking.height} without counterpart; the first is named above",
            next_step="run the build and infer stages again for this dataset",
        )


def restate_answers(answers: pl.DataFrame, responses: pl.DataFrame, items: pl.DataFrame) -> dy.DataFrame[Answers]:
    """Return answers as they follow from the replies to the calls that they say they rest on.

    A text is the last of these replies, or what the benchmark of such items joins of all of them; what one says in a dialogue is
    the reply to the call of that turn. Who speaks in a turn, and which calls the answer is made of, is taken as it is stored.
    LakeError: an answer names a call that is none of its item's.
    """
    joins = {name: join for solver in rows("context_solvers", ContextSolver) for name, join in solver.joins.items()}
    joined = items.filter(pl.col("question_type").is_in(list(joins))).select(*ITEM, "language", "question_type")
    messages = pl.when(pl.col("language").is_not_null()).then("messages")
    calls = responses.join(joined, on=ITEM, how="left").sort("turn").with_columns(messages=messages)
    by_key = {(*(row[name] for name in ASKED), row["call_key"]): row for row in calls.iter_rows(named=True)}

    def reply_to(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        if (call := by_key.get((*(answer[name] for name in ASKED), key))) is None:
            where = f"dataset {answer['dataset']}, item {answer['item_id']}"
            raise LakeError("an answer refers to a call without a reply", where=where, got=f"call key {key[:12]}")
        return call

    def restate(answer: Mapping[str, Any]) -> dict[str, object]:
        made_of = [reply_to(answer, key) for key in answer["call_keys"]]
        last, turns = made_of[-1], answer["turns"] or ()
        if last["status"] == "failed":
            content: dict[str, object] = {"failed_role": last["role"], "text": None, "turns": None}
        elif turns:
            content = {"text": None, "turns": [restate_turn(turn, reply_to(answer, turn["call_key"])["reply"]) for turn in turns]}
        else:
            join = joins.get(last["question_type"])
            content = {"text": join(made_of) if join else last["reply"], "turns": None}
        return {**answer, "failed_role": None, **{name: last[name] for name in OF_LAST}, **content}

    restated = [restate(answer) for answer in answers.iter_rows(named=True)]
    return Answers.validate(pl.DataFrame(restated, schema=answers.schema))


def restate_turn(turn: Mapping[str, Any], reply: str | None) -> dict[str, object]:
    """Return a turn of a dialogue whose text is this reply."""
    text = reply or ""
    return {**turn, "text": text, "language": find_language(text), "characters": len(text)}
