"""Answers written as JSON although nobody asked for it: `{"answer": "B"}`, `["A", "C"]`, fenced or bare."""

import json
import re
from typing import Any

ANSWER_KEYS = frozenset(
    {
        "answer",
        "answers",
        "choice",
        "choices",
        "option",
        "options",
        "letter",
        "letters",
        "final_answer",
        "selected",
        "order",
        "ranking",
    }
    | {"答案", "选项", "选择", "顺序", "排序"}
)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)


def json_answer(text: str) -> list[str] | None:
    """What a JSON reply gives as its answer, as texts; null if the reply is not JSON.

    The whole reply may be JSON, or its one fenced block, or the one object in it. Numbers are passed on as their digits. A reply
    that is JSON throughout but gives no answer, or several under different keys, yields an empty list.
    """
    for candidate in (text, *_only(_FENCE.findall(text)), *_only(_OBJECT.findall(text))):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict | list):
            return None
        answer = _texts(_named_answer(value) if isinstance(value, dict) else value)
        if answer or candidate == text:
            return answer
    return None


def _only(found: list[str]) -> list[str]:
    return found if len(found) == 1 else []


def _named_answer(value: dict[str, Any]) -> Any:
    named = [held for key, held in value.items() if key.strip().casefold().replace(" ", "_") in ANSWER_KEYS]
    return named[0] if len(named) == 1 else None


def _texts(answer: Any) -> list[str]:
    values = answer if isinstance(answer, list) else [answer]
    plain = [str(value) for value in values if isinstance(value, str | int | float) and not isinstance(value, bool)]
    return plain if len(plain) == len(values) else []
