"""Items of one type, responses with a conversation, and judgements by a rubric."""

import json
from typing import Any

import dataframely as dy

from schemas.tables.items import Items
from tasks.judging.rubrics import Rubric
from tests.tasks import rows
from tests.tasks.rows import Row


def items(question_type: str, *names: str, **more: Any) -> dy.DataFrame[Items]:
    return rows.items(*(rows.item(name, question_type, **more) for name in names))


def response(item_id: str, turn: int, reply: str | None, asked: list[str] | None = None, **more: Any) -> Row:
    """A call whose conversation holds these messages of the user, by default one per turn; no reply is a failed call."""
    said = asked if asked is not None else [f"question {number}" for number in range(turn + 1)]
    messages = [{"content": "s", "role": "system"}, *({"content": text, "role": "user"} for text in said)]
    return rows.response(item_id, reply, **{"turn": turn, "messages": json.dumps(messages), **more})


def judgement(rubric: Rubric, dimension: str, item_id: str, rating: int | None, **more: Any) -> Row:
    scale = {"lowest": rubric.scale.lowest, "highest": rubric.scale.highest}
    return rows.judgement(item_id, dimension, rating, rubric=rubric.id, **{**scale, **more})
