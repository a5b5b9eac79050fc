"""Read the tokens of a call from the usage that a server reports."""

from typing import Any

LARGEST_COUNT = 10**9
"""Tokens of one call; sums of more would leave the columns that hold them."""


def count_prompt(usage: Any, timings: Any) -> int | None:
    """Return the tokens of the whole prompt: some servers count those apart that were in their cache (Anthropic, llama.cpp)."""
    told = _count(usage, "prompt_tokens")
    if not told:  # no prompt is empty
        return None
    details, total, reply = usage.get("prompt_tokens_details"), _count(usage, "total_tokens"), _count(usage, "completion_tokens")
    cached = max(_count(details, "cached_tokens") or 0, _count(usage, "cache_read_input_tokens") or 0)
    whole = told + cached + (_count(usage, "cache_creation_input_tokens") or 0)
    is_apart = told < cached or (total is not None and total == whole + (reply or 0))
    return max(whole if is_apart else told, (_count(timings, "prompt_n") or 0) + (_count(timings, "cache_n") or 0))


def count_completion(usage: Any) -> int | None:
    """Return the tokens of the reply; where only the sum is stated, what the prompt leaves of it."""
    told, total, prompt = (_count(usage, name) for name in ("completion_tokens", "total_tokens", "prompt_tokens"))
    return told if told is not None or total is None or prompt is None or total < prompt else total - prompt


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_COUNT else None
