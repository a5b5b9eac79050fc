"""Take an API key out of what a server answers, so that it is never stored."""

import re
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from schemas.chat import ChatReply

SHORTEST_KEY = 8
"""A shorter one is no secret but a word that local servers are given, and taking it out would change answers."""

PLACEHOLDER = "[key]"
TEXTS = ("text", "reasoning", "finish_reason", "model", "error")
"""Fields of a reply that a server may have written the key into; besides them, the tokens of log probabilities."""


class Scrubber:
    """Takes a key out of everything a server wrote; without one there is nothing to take out.

    It is looked for in what was read from the answer, where JSON's escapes are resolved, and as JSON may write it, for errors
    that quote an answer as it came.
    """

    def __init__(self, key: SecretStr | None) -> None:
        text = key.get_secret_value() if key else ""
        self._pattern = re.compile("".join(_spellings(sign) for sign in text)) if len(text) >= SHORTEST_KEY else None

    def __repr__(self) -> str:
        return f"Scrubber({'a key' if self._pattern else 'no key'})"

    def __call__(self, reply: ChatReply) -> ChatReply:
        """Return the reply without the key."""
        tokens = [token for token, _ in reply.top_logprobs or ()]
        texts = {name: text for name in TEXTS if (text := getattr(reply, name))}
        if self._pattern is None or not any(self._pattern.search(text) for text in (*texts.values(), *tokens)):
            return reply
        cleaned: dict[str, Any] = {name: self.clean(text) for name, text in texts.items()}
        if reply.top_logprobs is not None:
            cleaned["top_logprobs"] = tuple((self.clean(token), logprob) for token, logprob in reply.top_logprobs)
        return replace(reply, **cleaned)

    def clean(self, text: str) -> str:
        """Return a text without the key."""
        return self._pattern.sub(PLACEHOLDER, text) if self._pattern else text


def _spellings(sign: str) -> str:
    """Return a character of a key as it may stand in JSON."""
    code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(sign):04x}")
    escaped = rf"|\\{re.escape(sign)}" if sign in '"\\/' else ""
    return rf"(?:{re.escape(sign)}|\\u{code}{escaped})"
