"""Take an API key out of what a server answers, so that it is never stored."""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from html.entities import codepoint2name
from typing import Any

from pydantic import SecretStr

from schemas.chat import ChatReply

SHORTEST_KEY = 8
"""A shorter one is no secret but a word that local servers are given, and taking it out would change answers."""

PLACEHOLDER = "[key]"
TEXTS = ("text", "reasoning", "finish_reason", "model", "error")
"""Fields of a reply that a server may have written the key into; besides them, the tokens of log probabilities."""


class Scrubber:
    """Takes a key out of everything a server wrote.

    It is looked for in what was read from the answer, as it is and as JSON, URLs and HTML may write it, each sign on its own; in
    hexadecimal; and in base64, also as a part of what was encoded. A line may break anywhere in it.
    """

    def __init__(self, key: SecretStr) -> None:
        text = key.get_secret_value()
        self._pattern = re.compile("|".join(_forms(text))) if len(text) >= SHORTEST_KEY else None

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


def _forms(key: str) -> Iterator[str]:
    yield BREAK.join(map(_spellings, key))
    yield rf"{BREAK}(?:\\x|0x|[%:])?".join(_any_case(f"{ord(sign):02x}") for sign in key)
    for before in range(3):
        coded = b64encode(bytes(before) + key.encode()).decode().rstrip("=")
        # Some bits of the signs around these are those of what stands beside the key.
        inner = coded[(before * 8 + 5) // 6 : (before + len(key)) * 8 // 6]
        ending = rf"(?:{BREAK}[\w+/-])?" if (before + len(key)) % 3 else ""
        yield f"{BREAK.join(map(_coded_spellings, inner))}{ending}(?:=|%3[dD])*"


BREAK = r"(?:\s|\\[nrt])*"
ESCAPES = r"\\{1,16}"
"""Of JSON within JSON, four times over; a longer run is not searched again from each of its signs."""

IN_URLS = str.maketrans("+/", "-_")


def _coded_spellings(sign: str) -> str:
    """Return a sign of base64, of which two have another form in URLs."""
    return f"(?:{_spellings(sign)}|{re.escape(sign.translate(IN_URLS))})" if sign in "+/" else re.escape(sign)


def _spellings(sign: str) -> str:
    """Return a character of a key as it may stand in a text, in JSON, in a URL or in HTML."""
    code = f"{ord(sign):04x}"
    name = codepoint2name.get(ord(sign))
    forms = [
        rf"{ESCAPES}u{_any_case(code)}",
        rf"%(?:25)*{_any_case(code[2:])}",
        rf"&(?:amp;)*#0*{ord(sign)};?",
        rf"&(?:amp;)*#[xX]0*{_any_case(code[2:])};?",
        *([rf"{ESCAPES}{re.escape(sign)}"] if sign in '"\\/' else ()),
        *([f"&{name};"] if name else ()),
    ]
    # Most places of a text begin none of these, which the first sign tells at once.
    return rf"(?:{re.escape(sign)}|(?=[\\%&])(?:{'|'.join(forms)}))"


def _any_case(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
