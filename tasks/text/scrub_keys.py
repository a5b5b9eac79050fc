"""Take an API key out of what a server answers, so that it is never stored."""

import re
from dataclasses import replace

from pydantic import SecretStr

from schemas.chat import ChatReply

SHORTEST_KEY = 8
"""A shorter one is no secret but a word that local servers are given, and taking it out would change answers."""

PLACEHOLDER = "[key]"


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
        pattern, tokens = self._pattern, reply.top_logprobs
        texts = (
            reply.text,
            reply.reasoning,
            reply.finish_reason,
            reply.model,
            reply.error,
            *(token for token, _ in tokens or ()),
        )
        if pattern is None or not any(text and pattern.search(text) for text in texts):
            return reply
        return replace(
            reply,
            text=self._clean(reply.text),
            reasoning=self._clean(reply.reasoning),
            finish_reason=self._clean(reply.finish_reason),
            model=self._clean(reply.model),
            error=self._clean(reply.error),
            top_logprobs=None if tokens is None else tuple((self._clean(token) or "", logprob) for token, logprob in tokens),
        )

    def clean(self, text: str) -> str:
        """Return a text without the key."""
        return self._pattern.sub(PLACEHOLDER, text) if self._pattern else text

    def _clean(self, text: str | None) -> str | None:
        return self.clean(text) if text else text


def _spellings(sign: str) -> str:
    """Return a character of a key as it may stand in JSON."""
    code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(sign):04x}")
    escaped = rf"|\\{re.escape(sign)}" if sign in '"\\/' else ""
    return rf"(?:{re.escape(sign)}|\\u{code}{escaped})"
