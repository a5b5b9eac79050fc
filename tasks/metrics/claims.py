"""Find statements of an answer inside prose ("the answer is B", "所以选B") and settle which of them count.

A lead is the wording before the answer. A reply may state its answer several times; statements that close a line of reasoning
("therefore", "final answer", a boxed letter) count before the others, and statements of equal rank must agree.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tasks.metrics.labels import Choices, Indices, LabelRefusal, Reading
from tasks.metrics.stances import INSTEAD, corrections, is_meant

_OPTION = r"(?:(?:the\s+)?(?:options?|choices?|letters?|candidates?|statements?|repl(?:y|ies))\s*[:#]?\s*|选项)?"
_IS = r"\b(?:is|are|was|were|would\s+be|should\s+be|must\s+be|has\s+to\s+be|seems\s+to\s+be|appears\s+to\s+be)\b"
_SURELY = (
    r"(?:(?:probably|also|most\s+likely|likely|clearly|definitely|certainly|obviously|therefore|thus|simply|indeed|surely"
    r"|as\s+follows|the\s+following)\b[:,\s]*)*"
)
_NOUN = (
    r"(?:(?:answer|ans|letter|selection|pick|solution|response|reply|order|sequence|ranking|conclusion)s?|(?:choice|option"
    r"|statement)(?!s))"
)
_ABOUT = r"(?:\s+(?:here|(?:to|for|of|from|among|in|that)\s[^\n.!?:;,]{1,60}?))?"
_STATED = rf"(?:(?:the|my|our)\s+(?:[\w-]+\s+){{0,3}}?{_NOUN}{_ABOUT}\s+{_IS}|(?:it|this|that)(?:\s+{_IS}|'s))[:\s]*"
_PICK = (
    r"(?:cho+se|pick(?:ed)?|select(?:ed)?|vote(?:\s+for)?|go(?:ing)?\s+with|opt\s+for|say|think|believe|guess|conclude|answer)"
)
_SHOULD = r"(?:应该?|应当|就|该|大概|很可能|显然|肯定|必然|一定|依次|只能|可以|会)*"
_NO_SUBJECT = (
    r"(?!(?:[A-Za-z]{1,2}\)?(?:\s*,\s*(?:and\s+)?|\s+and\s+)){0,8}[A-Za-z]{1,2}\)?\s+(?:is|was|are|isn't|seems?|looks?|appears?"
    r"|sounds?|implies|means|would|could|can|cannot|must|should|has|does|doesn't|do|may|might|will|fits?|describes?|says?"
    r"|comes?)\b)"
)
"""What follows is not the subject of a sentence of its own: "I think B is wrong"."""

_ARE = r"(?:是|为|选择?|:|=|依次|有|包括|包含)+"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


CLOSING_LEADS = _compiled(
    rf"<answer>\s*{_OPTION}",
    rf"\bfinal\s+{_NOUN}\b\s*(?:{_IS})?[:=\s]*{_SURELY}{_OPTION}",
    (
        r"\b(?:therefore|thus|hence|consequently|in\s+conclusion|to\s+conclude|in\s+summary|overall|so|in\s+short)\b[,:\s]*"
        rf"(?:i(?:'d|'ll)?\s+(?:would\s+|will\s+)?{_PICK}\s+(?:that\s+)?)?(?:{_STATED})?{_SURELY}{_OPTION}{_NO_SUBJECT}"
    ),
    rf"(?:最终|最后)的?(?:答案|选择|结论|答案选项)\s*{_SHOULD}{_ARE}?[:\s]*(?:选项)?\s*",
    (
        r"(?:因此|所以|因而|故而?|综上(?:所述)?|总之|由此可[见知]|可见)[,:\s]*(?:我|本题|这道?题|最)?的?"
        rf"(?:(?:正确|最佳|最?合适|最?恰当)?的?(?:答案|选项|选择|顺序)\s*)?{_SHOULD}{_ARE}?[:\s]*(?:选项)?\s*"
    ),
)
"""Wordings that introduce an answer and end a line of reasoning."""

LEADS = _compiled(
    rf"\b{_NOUN}\b[\"']?(?:\s*\(s\))?{_ABOUT}\s*(?:{_IS}|[:=|→]|-\s|=?->)[:\s>]*{_SURELY}{_OPTION}",
    rf"\b(?:correct|right|best|true|appropriate|suitable|supported)(?:\s+[\w-]+)?\s*(?:{_IS}|:)[:\s]*{_SURELY}{_OPTION}",
    rf"\b{_PICK}\b[:\s]+(?:that\s+)?(?:{_STATED})?{_SURELY}{_OPTION}{_NO_SUBJECT}",
    rf"\b(?:it|this|that)(?:\s+{_IS}|'s)\s+{_SURELY}{_OPTION}{_NO_SUBJECT}",
    (
        r"(?:答案|正解|正确的?(?:选项|选择|一项|顺序)|正确的|最?(?:佳|合适|恰当|符合)的?(?:选项|选择)|我的(?:选择|回答)|选项(?!有|包)"
        r"|[回解]答|回复|结[论果]|顺序|排序|排列)"
        rf"\s*{_SHOULD}{_ARE}[:\s]*(?:选项)?\s*"
    ),
    r"(?:^|(?<=[\n.!?;] ))(?:definitely|certainly|clearly|obviously|(?:most\s+)?(?:likely|probably)|surely)[,:]?\s+"
    rf"{_OPTION}{_NO_SUBJECT}",
    rf"\b(?:ans\.|(?:final|key|result|verdict|conclusion)\s*[:=])\s*{_SURELY}{_OPTION}",
    rf"\b(?:(?:points?\s+to|corresponds?\s+to|matches|supports?|indicates?|means)\s+(?:the\s+)?(?:option|answer|choice)"
    rf"|points?\s+to)\s+{_NO_SUBJECT}",
    rf"\b(?:text|passage|story|dialogue|evidence|context|which)\s+(?:\w+\s+)?(?:supports|favou?rs"
    rf"|suggests)\s+{_OPTION}{_NO_SUBJECT}",
    rf"\bleav(?:es|ing)\s+(?:(?:us|me)\s+with\s+)?(?:only\s+|just\s+)?{_OPTION}{_NO_SUBJECT}",
    r"\bfrom\s+(?:best|most|strongest|highest)[\w \t-]{0,40}?\s+to\s+(?:worst|least|weakest|lowest)[\w \t-]{0,40}:\s*",
    r"(?<=[a-z][a-z]),\s+(?=\(?[A-Z]\)?[.!]?\Z)",
    r"[【〖\[](?:正确|最终)?(?:答案|选项)[】〗\]]\s*:?\s*",
    rf"最(?:符合|合适|恰当|贴切|有?可能|准确)[^,.。;:\n]{{0,8}}?的(?:情绪|选项|答案|回答|回复)?{_SHOULD}是\s*(?:选项)?\s*",
    r"而(?:应该?)?[是选]\s*(?:选项)?\s*",
    r"(?:选择?)(?!项)的?(?:是|了|:|出)*\s*(?:选项|答案)?\s*:?\s*",
    rf"(?:认为|觉得|猜)(?:答案|选项|这|它|正确的?|最合适的?)*{_SHOULD}(?:是|为|选择?)?\s*(?:选项)?\s*",
    r"(?:应该?|应当|就|一定|必然|显然|肯定|必定|毫无疑问|无疑|当然|确实|的确)(?:是|为|选)\s*(?:选项)?\s*",
)

_ANOTHER = r"\(?(?:(?:option|choice)\s+|选项)?(?:[A-Z]{1,2}|[\ue000-\uf8ff]|\w{2,20})\)?"
_INSTEAD = _compiled(
    rf"{INSTEAD}(?:{_STATED}|i(?:'d|\s+would)?\s+{_PICK}\s+|(?:make|should\s+be)\s+"
    rf"|{_SHOULD}[是选为]\s*)?{_SURELY}{_OPTION}{_NO_SUBJECT}",
    rf"\bnot\s+{_ANOTHER}(?:;|,?\s+but)\s+(?:rather\s+)?{_OPTION}",
    rf"不[是选]\s*{_ANOTHER}[,、\s]*而?{_SHOULD}[是选]\s*(?:选项)?",
)
"""Wordings that put one answer in the place of another."""

_YES_OR_NO = re.compile(r"(?:yes|no|not|none)\b", re.IGNORECASE)
"""Behind a correction no answer of its own: "A. Wait, no."."""

MOST_CLAIMS = 32
"""Statements that are looked at, the last ones; a reply that holds more goes round in circles."""

UNMEANT = LabelRefusal("states no answer")
"""Also where an answer is named, but denied, asked, reported or taken back."""


class Target(NamedTuple):
    """What is read at a place of a text, and where it ends."""

    reading: Indices | LabelRefusal
    end: int


class Claim(NamedTuple):
    """An answer stated somewhere in the reply. `corrects`: it takes the place of those before."""

    start: int
    reading: Indices | LabelRefusal
    closing: bool = False
    meant: bool = True
    corrects: bool = False


TargetReader = Callable[[str, int, Choices], Target | None]


def stated_claims(text: str, choices: Choices, read_target: TargetReader) -> Iterator[Claim]:
    """Return every answer that follows a lead."""
    leads: dict[int, tuple[int, bool, bool]] = {}
    for patterns, closes, corrects in ((LEADS, False, False), (CLOSING_LEADS, True, False), (_INSTEAD, True, True)):
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            start, closed, corrected = leads.get(match.end(), (match.start(), False, False))
            leads[match.end()] = min(start, match.start()), closes or closed, corrects or corrected
    leads |= {end: (end, True, True) for end in corrections(text)}
    for start in sorted(leads)[-MOST_CLAIMS:]:
        lead, closing, corrects = leads[start]
        if corrects and _YES_OR_NO.match(text, start):
            continue
        target = read_target(text, start, choices)
        if target is not None:
            meant = is_meant(text, start if corrects else lead, start, target.end)
            yield Claim(start, target.reading, closing, meant, corrects and meant)


def settle(claims: Iterable[Claim], text: str) -> Reading:
    """Return what a reply's claims come to, after its last correction if it makes one.

    Closing ones count, and what is claimed behind the first of them; those that count must agree.
    """
    stated = sorted(claims, key=lambda claim: claim.start)
    corrected = max([*corrections(text), *(claim.start for claim in stated if claim.corrects)], default=0)
    unmeant = {claim.start for claim in stated if not claim.meant}
    meant = [claim for claim in stated if claim.start not in unmeant and claim.start >= corrected]
    if not meant:
        return UNMEANT if stated else None
    closed = min((claim.start for claim in meant if claim.closing), default=0)
    counted = [claim.reading for claim in meant if claim.closing or claim.start >= closed]
    refusals = [reading for reading in counted if isinstance(reading, LabelRefusal)]
    if refusals:
        return refusals[0]
    return LabelRefusal("contradicts itself") if len(set(counted)) > 1 else counted[0]
