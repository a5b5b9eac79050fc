"""How the released MoodBench code reads a reply.

Written from observed behaviour (data dictionary, sections 3.4 and 3.5), mistakes included: what it makes of ordinary sentences is
what its published scores rest on. Nothing here is meant for scoring a model well; that is tasks.metrics.
"""

import re

UNKNOWN = "UNKNOWN"
"""What a reply without a letter is read as."""

_LETTER = "([A-Z])"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"答案[是为]?[:：]?{_LETTER}",
        rf"选择[:：]?{_LETTER}",
        rf"{_LETTER}(?:选项|项)",
        rf"^[^\S\n]*{_LETTER}[^\S\n]*$",
        rf"选项[:：]?{_LETTER}",
        rf"会选择选项[:：]?{_LETTER}",
        # Chinese characters are word characters: no boundary stands between them and a letter, hence nothing is found in 选B.
        rf"\b{_LETTER}\b",
    )
)
"""In order; the first that is found anywhere in the reply decides. No blanks before a letter are described, and none are read."""

_LEAD_INS = re.compile(r"^(?:根据(?:文本|文章|上文|原文|材料)[，,:：]?\s*|(?:答案|回答)(?:是|为)?[:：]?\s*|答[:：]\s*)+")
_QUOTES = "\"'“”‘’「」『』"
_END_MARKS = "。．.!！?？,，;；:：、"
_SENTENCE_END = re.compile(r"(?<=[。！？!?])")
LONG_ANSWER = 200
"""Characters; of longer spans only the first sentence is kept."""


def extract_letter(reply: str) -> str:
    """The letter the released code finds in a reply, upper case, or UNKNOWN.

    It may be a letter no option has, and it may be a word: "I think the answer is B." is read as I, "答案是None" as N.
    """
    for pattern in _PATTERNS:
        if found := pattern.search(reply):
            return found.group(1).upper()
    return UNKNOWN


def extract_letters(reply: str) -> frozenset[str]:
    """Letters of a reply with several answers: each piece between ASCII commas is read on its own.

    A piece without a letter yields UNKNOWN, so the set is never empty: an empty reply is {UNKNOWN}.
    """
    return frozenset(extract_letter(piece) for piece in reply.split(","))


def clean_span(reply: str) -> str:
    """A span copied from a text, freed of what surrounds it: lead-ins, outer quotes, end marks; UNKNOWN if nothing is left.

    Of more than LONG_ANSWER characters only the first sentence is kept. Which lead-ins the released code strips is not part of
    its documented behaviour; the usual ones are taken.
    """
    text = _LEAD_INS.sub("", reply.strip()).strip(_QUOTES).rstrip(_END_MARKS).strip(_QUOTES).strip()
    if len(text) > LONG_ANSWER:
        text = _SENTENCE_END.split(text, maxsplit=1)[0].rstrip(_END_MARKS)
    return text or UNKNOWN
