"""Tell whether a statement of an answer is meant: not denied, asked, supposed, hedged, reported, past or taken back.

What stands before it in its sentence is looked at, what stands behind it, and where the reply corrects itself. All in doubt is not
meant: an answer that is not read costs less than one that is misread. Texts come levelled and without superfluous blanks.
"""

import re

REACH = 300
"""Characters looked at before a statement and behind it."""

_NEW_START = re.compile(
    r"[\n!?。;]|\.(?!\d)|(?<!not )(?<!think )(?<!if )\bso\b|\b(?:therefore|thus|hence|consequently|however|yet|still|instead(?! of))\b"
    r"|(?<!thing )(?<!\ball )(?<!\bany )\bbut\b|所以|因此|因而|但(?!愿)|然而|不过|而(?=是|选|应)|其实|实际上|综上",
    re.IGNORECASE,
)
"""What ends the reach of a denial before."""

_HARMLESS_IF = r"(?!\s+(?:i|we|you)(?:'m)?\s+(?:had|have|must|were|look|consider|read|ask|am)\b|\s+i'm\b|\s+anything\b)"
_DENIAL = (
    r"\b(?:not(?!\s+(?:only|just)\b)|never|neither|nor|cannot|hardly|unlikely|except|excluding|rather\s+than|instead\s+of|other\s+than"
    r"|apart\s+from|(?:any\w*|all|everything)\s+but|in(?:correct|valid|accurate|appropriate)\w*|wrong\w*|false|untrue|implausible"
    r"|unsuitable|least|worst|weakest|poorest|eliminat\w+|exclud\w+|rul(?:es?|ed|ing)\s+out|reject\w*|discard\w*|dismiss\w*|avoid\w*"
    r"|disagree\w*|refus\w+|mistak\w+|distractors?|traps?|tempt\w+|whether|against|might|could|may\s+be|maybe|perhaps|opposite|alternative\w*"
    r"|other\s+(?:answer|option|choice)s?|(?:second|next)(?:-|\s+)best|runner-?up|hesitat\w+|reluctan\w+|foolish|silly|absurd|impossible"
    r"|(?<!no )(?<!a )(?<!without )doubt\w*|no\s+(?:way|means|circumstances|reason|longer|evidence)"
    r"|(?<!most )(?:possible|potential|tempting|plausible)\s+(?:answer|option|choice|distractor)s?)\b|n't\b|✗"
    r"|不(?!难|仅|但|只|过|管|论|得不|禁|断|由)|并非|而非|没(?!错)|无法|未(?!来)|(?<![特分类级个])别|勿|排除|除了|除去|错(?!过|失)|误(?!会|解)"
    r"|假的|是否|难道|难以|很难|最差|最低|(?:其他|其它|另一|备选|次优|干扰)个?(?:答案|选项|选择)|(?<![最很极大])(?<!最有)可能|也许|或许"
    r"|怀疑|否认|否定|反对|拒绝|放弃|避免"
)
_PEOPLE = (
    r"\b(?:many|some|several|few|others?|people|(?<!what )(?<!as )(?<!because )(?<!since )(?:they|he|she)|who|every(?:one|body)|some(?:one|body)|any(?:one|body)"
    r"|(?:you|one)\s+(?:might|may|could|would|can)|you(?=\s+(?:said|chose|picked|think|thought|selected|answered|say)\b)|students?|readers?|friends?|teachers?|users?|models?|critics|experts?|annotators?)\b"
    r"(?:(?!\b(?:i|we)\b)[^.,;:]){0,40}?\b(?:choose|chose|pick|picked|select|selected|say|said|think|thought|believe|guess|opt|argue"
    r"|claim|assume|prefer|expect|conclude|suspect|vote|answered|would\s+answer|(?:go|went)\s+(?:for|with))\b"
    r"|\b(?:thinks|believes|says|claims\s+that|argues|chooses|selects|assumes|prefers|insists|(?<!he )(?<!she )(?<!they )(?:said|claimed|argued))\b"
    r"|\baccording\s+to\s+(?:some|many|most|others|him|her|them|my)\b"
    r"|(?:(?<!本)(?<!个)人|大家|专家|读者|[他她]|小[\u4e00-\u9fff]{1,2}|老师|同学|朋友|网友|同事|对方)们?(?:都|也|会|可能|或许|往往|常常?|总|还|曾|却|就|容易|可以|想)*"
    r"(?:选|说|认为|觉得|以为|猜|回答|主张|误选)"
)
_PAST = (
    r"\b(?:at\s+first(?:\s+(?:glance|sight))?|initially|originally|previously|formerly|alternatively|would\s+have|used\s+to|almost|nearly"
    r"|i\s+(?:\w+\s+)?(?:thought|believed|assumed|suspected|figured)(?!\s+(?:about|over|it\s+(?:over|through)))"
    r"|was\s+(?:going|about|tempted|inclined|leaning|sure|convinced)|wanted\s+to|started|i\s+(?:first|once)"
    r"|(?:first|initial|previous|earlier|former|original|old|prior|draft|naive)\s+(?:\w+\s+)?"
    r"(?:answer|choice|guess|pick|thought|instinct|impression|reaction|idea|response))\b"
    r"|[一刚]开始|开始时|起初|起先|最初|原本|本来|原先|先前|之前|以前|曾|差一?点|险些|以为|容易|原来我|上一?次|此前|据说|听说|据传|有(?:一种)?观点|乍一?看|表面上|第一(?:反应|印象|直觉)"
)
_CONDITION = (
    rf"(?<!as )(?<!even )\bif\b{_HARMLESS_IF}|\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagin\w+|unless|in\s+case|provided|otherwise"
    r"|normally|usually|in\s+(?:that|another|other|a\s+different)\s+\w+|under\s+(?:other|different)|say\s+it\s+were|let(?:'s|\s+us)\s+say)\b"
    r"|(?:^|,)\W*(?:had|were)\s+(?:the|it|she|he|they|this|i|we|you|there)\b|如果|假如|假设|假使|倘若|若|要是|万一|除非"
)
_DOUBTED = re.compile(rf"(?:{_DENIAL})[^,:、(]*$|(?:{_PEOPLE}|{_PAST}),?[^,:(]*$|{_CONDITION}", re.IGNORECASE)
"""A denial holds for its clause, a report or a memory also across one comma, a condition for its sentence."""

_COLON_END = re.compile(r"\s*:[\s:]*\Z")

ANY_DOUBT = re.compile(rf"{_DENIAL}|{_PEOPLE}|{_PAST}|{_CONDITION}|\?|吗", re.IGNORECASE)

_COPULA = (
    r"(?:(?:is|are|was|were|be|been|being|seems?|looks?|appears?|sounds?|feels?|would|must|might|may|could|can|will|do|does|did|should|has"
    r"|have|turns?\s+out|to)\b\s*)"
)
_ADVERB = (
    r"(?:(?:also|clearly|simply|just|definitely|obviously|probably|(?:most\s+)?likely|certainly|really|quite|rather|completely|totally"
    r"|plainly|best|the|(?-i:a)|an|most|very|too|my|however|actually|surely|almost|nearly)\b\s*)"
)
_FAULT = (
    r"(?:wrong(?!\w)(?=\W*(?:$|\n|[.,:;!)✗])|\s+(?:because|since|as|here|too|again|answer|choice|option|one)\b)"
    r"|incorrect|false\b|mistaken|untrue|inaccurate|unlikely|implausible|unsuitable|inappropriate|invalid|impossible|out\b(?!\s+of)"
    r"|ruled\s+out|eliminated|excluded|rejected|dismissed|avoided|unsupported|least\b|worst|(?:mistake|error|trap|distractor)s?\b"
    r"|tempting|misleading|[✗×])"
)
_NOT_RIGHT = (
    r"(?:not|isn't|wasn't|aren't|ain't)\s+(?:(?:quite|really|the|a|so|entirely|exactly|necessarily|very|most)\s+)*"
    r"(?:right|correct|true|it\b|so\b|answer|best|good|fit|suitable|appropriate|accurate|valid|likely|possible|plausible|what\s+i|$|[.,;!)\n])"
)
_TAKEN_BACK = re.compile(
    r"[\s.]*\?|(?:[^.!?。;\n]|\.(?=\w)){0,200}?(?:\?|吗(?!\w))"  # asked
    rf"|[)\"' ]*(?:{_COPULA}{_ADVERB}*)+(?:not\b(?!\s+only)|never\b|neither\b|no\b)|[)\"' ]*(?:\w+n't|cannot)\b"
    rf"|[)\"' ]*{_COPULA}(?:{_COPULA}|{_ADVERB})*{_FAULT}"
    r"|[\s.,:;!?)\"'(—–-]*+(?:(?:but|however|though|although|yet|and|except|well|oh|hmm|actually|still|again)\b[\s,]*+)*"
    r"(?:(?:(?:that|this|it|which|these|they|i|the\s+\w+|this\s+(?:one|option|answer|choice))(?:'s|'m)?\s+)?"
    rf"(?:{_COPULA}|am\s+|{_ADVERB}|(?:'s|'m)\s+)*(?:{_FAULT}|{_NOT_RIGHT})"
    r"|(?:that|this|it|which|they)\s+(?:\w+n't|(?:is|was|does|did|can|could|would)\s+not)\s*(?:$|[.,;!)\n])"
    r"|(?:no|nope|never)(?=\W*(?:$|\n)|\s*[.,:;!)])|not(?=\s*(?:$|[.,;!)\n])))"
    r"|\s*,?\s*\(?(?:or\s+so\b|i\s+(?:once\s+|first\s+)?(?:thought|used)|as\s+i\s+first|at\s+first|initially|was\s+my\s+(?:first|initial|old)"
    r"|until\b|before\s+i\b|(?:many|some|others|people|they)\s+(?:would|might|say|think|argue|believe|claim))"
    rf"|\s*,?\s*\(?(?:only\s+)?(?:\bif\b{_HARMLESS_IF}|unless\b|provided\s+that|in\s+case)"
    r"|[\s,。:;!.)(—–-]*+(?:但|可|却|不过|然而)?[\s,]?(?:(?:这|那|它|此|该|选项|项|答案|个|是|也|都|并|显然|明显|其实|就|似乎|应该|完全|有点|有些)*)"
    r"(?:不(?:对|正确|符合|合适|成立|行|准确|恰当|太|够|可能|应|能|会|$|是(?!\s*\(?[A-Z\ue000-\uf8ff]|因))|错(?!过|失)|有误|误(?!会|解)|非(?!常)|被?排除|否)",
    re.IGNORECASE,
)

_LEADING = r"(?:(?:oh|um+|uh|hmm+|no|but|well|okay|ok|ah|and|so|actually|哦|嗯|啊)[\s,.!:—–-]+){0,3}"
_GLUE = r"[\s,.:;!…。—–-]*+"
_CORRECTION = re.compile(
    rf"(?:^|(?<=[.,:;!?。、\n(—–-])\s*|(?<=[—–-] ))(?:{_LEADING}(?:"
    r"(?:wait|hold\s+on|hang\s+on)\b(?=\s*(?:[,.:;!?—–-]|$)|\s+(?:no|a|that|i|it)\b)|correction\b(?=\s*[:.,!—–-])|scratch\s+that|strike\s+that"
    r"|never\s*mind\b|on\s+(?:second|further|closer)\s+\w+|on\s+(?:reflection|reconsideration|re-?reading)|thinking\s+again|come\s+to\s+think"
    r"|i\s+(?:mean|meant|misread|misspoke|was\s+(?:wrong|mistaken)|am\s+wrong|made\s+an?\s+(?:mistake|error)|take\s+(?:that|it|this)\s+back"
    r"|(?:have\s+)?changed?\s+my\s+(?:mind|answer)|correct\s+(?:myself|this|that|my)|withdraw|retract|stand\s+corrected"
    r"|(?:need|have|want|must|should|would\s+like)(?:\s+to)?\s+(?:correct|revise|change|rethink|reconsider|fix|amend))\b"
    r"|let\s+me\s+(?:correct|revise|rethink|reconsider|fix|change|try\s+again|start\s+over|re-?(?:check|read|evaluate|examine|think|assess))"
    r"|my\s+(?:mistake|bad|apologies|error)\b|oops|whoops|just\s+kidding|not\s+quite\b|(?:revised|corrected|updated|changing)\b"
    r"|(?:that|this|it)(?:'s|\s+(?:is|was))\s+(?:wrong|incorrect|not\s+(?:right|correct)|a\s+mistake|an\s+error)"
    r"|不对(?=[,.。!:;\s]|$)|错了|等等|等一?下|慢着|更正|纠正|改[为成选]|说错了|我错了|写错|弄错|重新(?:考虑|检查|看|想)|修正|再想想|再想一想|仔细想"
    rf"){_GLUE})++(?:应?该?[是选]\s*)?",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a reply corrects itself: what it stated before no longer holds."""

INSTEAD = (
    rf"(?:(?:^|(?<=[.,:;!?。、\n(—–-])|(?<=[—–-] ))\s*{_LEADING}(?:actually|rather|or\s+rather|no(?:pe)?(?=\s*[,.:;!—–-])|sorry|instead|make\s+(?:it|that)"
    r"|其实|不(?=\s*[,.。:!])|而?应该?是|改[为成选]|而是)"
    r"[ .,:;!…。—–-]*+(?:no\b[ .,:;!…。—–-]*+)?)"
)
"""What corrects where an answer follows at once: "A. No, B", "A — actually, it is B"."""


def is_meant(text: str, lead: int, start: int, end: int) -> bool:
    """Return whether the reply means the answer that stands from `start` to `end`; the words that introduce it begin at `lead`."""
    return not _is_doubted(text, lead, start) and not is_taken_back(text, end)


def is_taken_back(text: str, end: int) -> bool:
    """Return whether what follows an answer asks, denies or restricts it: "B? No.", "B, but that is wrong"."""
    return _TAKEN_BACK.match(text[end : end + REACH]) is not None


def corrections(text: str) -> list[int]:
    """Return where the corrections of a reply end."""
    return [found.end() for found in _CORRECTION.finditer(text)]


def _is_doubted(text: str, lead: int, start: int) -> bool:
    """Return whether the sentence that leads up to an answer denies, supposes or reports it, or tells what once was thought."""
    before = text[max(0, lead - REACH) : lead]
    same_line, line_break, _ = (
        before.rstrip(" (\"'").rpartition("\n") if before.rstrip(" (\"'").endswith("\n") else (before, "", "")
    )
    if line_break and not same_line.rstrip().endswith(":"):
        same_line = ""
    sentence = _COLON_END.sub(" ", same_line) + re.sub(r"[:\s]+", " ", text[lead:start])
    starts = [found.end() for found in _NEW_START.finditer(sentence)]
    return _DOUBTED.search(sentence[starts[-1] :] if starts else sentence) is not None
