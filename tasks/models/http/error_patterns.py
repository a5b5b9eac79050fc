"""Patterns in what servers say: which failure an error is, which lengths it states, and why a reply ended.

The tables are in data/failures.yaml. Every pattern has an example in `tests/tasks/models/http/test_failures.py`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.vocabulary import Failure

Patterns = Mapping[Failure, Sequence[str]]
"""Patterns by the failure that they show, whatever the case of a text; the first that fits decides."""

TABLES = read_yaml(read_text(DATA_FOLDER / "failures.yaml"))
"""What is known of failures: kinds, and patterns by what they are looked for in."""

PASSING = re.compile(
    r"\bper[ -](?:second|minute|min)\b|\b[rt]pm\b|try again in|retry in \d|allocated quota exceeded", re.IGNORECASE
)
"""Message of a limit that passes by itself, though OpenAI, Gemini and DashScope call it a quota as one that is used up."""


def find_failure(patterns: Patterns, texts: Collection[str], *, whole: bool = True) -> Failure | None:
    """Return the failure with a pattern that one of the texts is, or in which it stands somewhere."""
    fits = re.fullmatch if whole else re.search
    listed = ((failure, pattern) for failure, several in patterns.items() for pattern in several)
    return next((name for name, pattern in listed if any(fits(pattern, text, re.IGNORECASE) for text in texts)), None)


LONGEST_COUNT = 9
"""Digits of a number of tokens."""

NAME = r"max(?:imum)?[_ ]?(?:completion_?|new_?|output_?)?[_ ]?tokens"
REPLY_LIMIT = re.compile(
    # Not where it is one of two that are too long together: "the prompt and max_tokens exceed".
    rf"(?<!and )(?<!and .)(?<!\+ )(?<!\+ .){NAME}[^.]{{0,60}}?"
    r"(?:too (?:large|high|big)|exceed|limited|限|range|less|at most|between|above|> ?\d|<|(?:be|in) \[)"
    rf"|maximum value (?:for|of) .?{NAME}|at most \d+ completion tokens",
    re.IGNORECASE,
)


Length = Literal["longest_context", "prompt_tokens", "reply_tokens"]
"""`longest_context`: with some servers that of the prompt alone."""


def stated_tokens(of: Length, text: str) -> int | None:
    """Return a length in tokens that an error states, or null."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    matches = (re.search(pattern, plain, re.IGNORECASE) for pattern in TABLES[of])
    return next((int(match[1]) for match in matches if match and len(match[1]) <= LONGEST_COUNT), None)


def is_reply_limit(error: str) -> bool:
    """Return whether an error is about the limit of the reply.

    Where all lengths are stated, the limit is at fault that takes more than half of the context, if the prompt has room in it.
    """
    longest, prompt, reply = (stated_tokens(of, error) for of in get_args(Length))
    if longest is not None and prompt is not None and (reply is not None or prompt >= longest):
        return prompt < longest and reply is not None and reply > longest // 2
    return REPLY_LIMIT.search(error) is not None


End = Literal["ordinary", "length", "filter", "refusal", "tool_call", "broken_off", "unknown"]
"""`filter`: the provider stopped the reply. `refusal`: the model declined. `broken_off`: the server could not go on."""


@lru_cache(maxsize=256)  # the same few reasons come with every answer of a run
def end_of(reason: str | None) -> End:
    """Return what a reason means; none at all is an ordinary end."""
    if not reason:
        return "ordinary"
    words = re.sub(r"[\s-]+", "_", reason.strip().casefold()).removeprefix("finish_reason_").removeprefix("finishreason.")
    return next((end for end, pattern in TABLES["ends"].items() if re.fullmatch(pattern, words, re.DOTALL)), "unknown")
