"""Items that are named after their dataset, and responses to them."""

from typing import Any

from tests.tasks import rows
from tests.tasks.rows import Row


def item(dataset: str, question_type: str, **fields: Any) -> Row:
    return rows.item("1", question_type, **{"dataset": dataset, "source_row": 1, **fields})


def answer(of: Row, reply: str | None, **fields: Any) -> Row:
    return rows.answer(of["item_id"], reply, **{"dataset": of["dataset"], **fields})
