"""Faults one after the other, what each is called, and a model whose replies tell what was asked."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from schemas.vocabulary import Failure
from tests.model_server import Fault

NAMED: Mapping[Fault, Failure] = {
    "close": "connect",
    "slow": "timeout_first_byte",
    "drip": "timeout_total",
    "truncated": "truncated_body",
    "401": "auth",
    "403": "auth",
    "429": "http_429",
    "500": "http_5xx",
    "context_too_long": "context_too_long",
    "content_filter": "content_filter",
    "not_json": "invalid_json",
    "no_choices": "missing_choices",
    "null_content": "empty_content",
    "length": "length",
    "wrong_model": "wrong_model",
}
"""What each fault is called.

Not provoked: `tls` (test_tls.py), `timeout_connect` (needs a network that swallows packets), `budget` (no server's doing).
"""

KINDS: tuple[Fault, ...] = (*NAMED, "late")


def one_in(every: int, kinds: Sequence[Fault], number: int) -> Fault | None:
    """The fault of a call: one kind after the other, between calls without any."""
    return kinds[number // every % len(kinds)] if number % every == every - 1 else None


def derived(question: str) -> str:
    """The only right answer to a question."""
    return sha256(question.encode()).hexdigest()[:12]


def answer(messages: list[dict[str, str]]) -> str:
    return derived(messages[-1]["content"])
