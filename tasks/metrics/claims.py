"""Find statements of an answer inside prose ("the answer is B", "所以选B") and settle which of them count.

A lead is the wording before the answer. A reply may state its answer several times; statements that close a line of reasoning
("therefore", "final answer", a boxed letter) count before the others, and statements of equal rank must agree.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tasks.metrics.labels import Choices, Indices, LabelRefusal, Reading

_OPTION = r"(?:(?:the\s+)?(?:options?|choices?|letters?|candidates?|statements?|repl(?:y|ies))\s*[:#]?\s*|选项|選項)?"
_IS = r"\b(?:is|are|was|were|would\s+be|should\s+be|must\s+be|has\s+to\s+be|seems\s+to\s+be|appears\s+to\s+be)\b"
_SURELY = (
    r"(?:(?:probably|most\s+likely|likely|clearly|definitely|certainly|obviously|therefore|thus|simply|indeed|surely"
    r"|as\s+follows|the\s+following)\b[:,\s]*)*"
)
_NOUN = r"(?:(?:answer|ans|letter|selection|pick|solution|response|reply|order|sequence|ranking)s?|(?:choice|option)(?!s))"
_ABOUT = r"(?:\s+(?:here|(?:to|for|of|from|among|in)\s[^\n.!?:;,]{1,60}?))?"
_STATED = rf"(?:(?:the|my|our)\s+(?:[\w-]+\s+){{0,3}}?{_NOUN}{_ABOUT}\s+{_IS}|(?:it|this|that)(?:\s+{_IS}|'s))[:\s]*"
_PICK = r"(?:choose|pick|select|chose|picked|selected|go\s+with|going\s+with|opt\s+for|say|think|believe|guess|conclude|answer)"
_SHOULD = r"(?:应该?|应当|就|该|大概|很可能|显然|肯定|必然|一定|依次|只能|可以|会)*"
_NO_SUBJECT = (
    r"(?!(?:[A-Za-z]{1,2}\)?(?:\s*,\s*(?:and\s+)?|\s+and\s+))*[A-Za-z]{1,2}\)?\s+(?:is|was|are|isn't|seems?|looks?|appears?|sounds?|implies|means|would|could|can|cannot|must|should"
    r"|has|does|doesn't|do|may|might|will|fits?|describes?|says?|comes?)\b)"
)
"""What follows is not the subject of a sentence of its own: "I think B is wrong"."""

_ARE = r"(?:是|为|為|爲|选择?|選擇?|:|=|依次)+"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


CLOSING_LEADS = _compiled(
    r"<answer>\s*",
    rf"\bfinal\s+{_NOUN}\b\s*(?:{_IS})?[:=\s]*{_SURELY}{_OPTION}",
    (
        r"\b(?:therefore|thus|hence|consequently|in\s+conclusion|to\s+conclude|in\s+summary|overall|so|in\s+short)\b[,:\s]*"
        rf"(?:i(?:'d|'ll)?\s+(?:would\s+|will\s+)?{_PICK}\s+(?:that\s+)?)?(?:{_STATED})?{_SURELY}{_OPTION}{_NO_SUBJECT}"
    ),
    rf"(?:最终|最后)的?(?:答案|选择|结论|答案选项)\s*{_SHOULD}{_ARE}?[:\s]*(?:选项)?\s*",
    (
        r"(?:因此|所以|因而|故而?|综上(?:所述)?|总之|由此可[见知]|可见)[,:\s]*(?:我|本题|这道?题|最)?的?"
        rf"(?:(?:正确|最佳|最?合适|最?恰当)?的?(?:答案|选项|选择|顺序)\s*)?{_SHOULD}{_ARE}?[:\s]*(?:选项|選項)?\s*"
    ),
)
"""Wordings that introduce an answer and end a line of reasoning."""

LEADS = _compiled(
    rf"\b{_NOUN}\b[\"']?(?:\s*\(s\))?{_ABOUT}\s*(?:{_IS}|[:=]|-\s)[:\s]*{_SURELY}{_OPTION}",
    rf"\b(?:correct|right|best|true|appropriate|suitable|supported)(?:\s+[\w-]+)?\s*(?:{_IS}|:)[:\s]*{_SURELY}{_OPTION}",
    rf"\b{_PICK}\b[:\s]+(?:that\s+)?(?:{_STATED})?{_SURELY}{_OPTION}{_NO_SUBJECT}",
    rf"\b(?:it|this|that)(?:\s+{_IS}|'s)\s+{_SURELY}{_OPTION}{_NO_SUBJECT}",
    (
        r"(?:答案|正解|正确的?(?:选项|选择|一项|顺序)|最?(?:佳|合适|恰当|符合)的?(?:选项|选择)|我的(?:选择|回答)|回答|顺序|排序|排列)"
        rf"\s*{_SHOULD}{_ARE}[:\s]*(?:选项|選項)?\s*"
    ),
    r"【(?:正确)?(?:答案|选项)】\s*:?\s*",
    rf"最(?:符合|合适|恰当|贴切|可能|准确)的(?:情绪|选项|答案|回答|回复)?{_SHOULD}是\s*(?:选项)?\s*",
    r"而(?:应该?)?[是选]\s*(?:选项)?\s*",
    r"(?:选择?|選擇?)(?![项項])的?(?:是|了|:|出)*\s*(?:选项|選項|答案)?\s*:?\s*",
    rf"(?:认为|觉得|猜|認為|覺得)(?:答案|选项|这|它|正确的?|最合适的?)*{_SHOULD}(?:是|为|选择?)?\s*(?:选项)?\s*",
    r"(?:应该?|应当|就|一定|必然)(?:是|为|选)\s*(?:选项)?\s*",
)
"""Other wordings that introduce an answer."""

LONGEST_CLAUSE = 300
"""Characters looked back for a denial."""

_CLAUSE_START = re.compile(r"[\n.,:;!?。、(]|\b(?:so|therefore|thus|hence|but)\b|所以|因此|因而|但|而(?=是|选|应)", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|hardly|unlikely|except|if|suppose|assuming|whether|rather\s+than|instead\s+of)\b|n't\b"
    r"|不|并非|而非|没|未必|(?<![特分类级个])别|勿|排除|除了|如果|假如|假设|若|是否",
    re.IGNORECASE,
)


def denied(text: str, start: int) -> bool:
    """Return whether the clause that leads up to `start` denies, rules out or only supposes what follows."""
    before = text[max(0, start - LONGEST_CLAUSE) : start].rstrip(" :")
    starts = [boundary.end() for boundary in _CLAUSE_START.finditer(before)]
    return _DENIED.search(before, starts[-1] if starts else 0) is not None


@dataclass(frozen=True)
class Claim:
    """An answer stated somewhere in the reply."""

    reading: Indices | LabelRefusal
    closing: bool


TargetReader = Callable[[str, int, Choices], Reading]
"""Reads the answer that stands at a place of a text."""


def stated_claims(text: str, choices: Choices, read_target: TargetReader) -> Iterator[Claim]:
    """Return every answer that follows a lead and is not denied."""
    closing: dict[int, bool] = {}
    for leads, closes in ((LEADS, False), (CLOSING_LEADS, True)):
        closing.update((found.end(), closes) for lead in leads for found in lead.finditer(text))
    for start in sorted(closing):
        reading = read_target(text, start, choices)
        if reading is not None and not denied(text, start):
            yield Claim(reading, closing[start])


def settle(claims: Sequence[Claim]) -> Reading:
    """Return what a reply's claims come to: closing ones count first, and those that count must agree."""
    counted = [claim.reading for claim in claims if claim.closing] or [claim.reading for claim in claims]
    refusals = [reading for reading in counted if isinstance(reading, LabelRefusal)]
    if refusals:
        return refusals[0]
    if len(set(counted)) > 1:
        return LabelRefusal("contradicts itself")
    return counted[0] if counted else None
