"""Tell whether a statement of an answer is meant: not denied, asked, supposed, hedged, reported, past or taken back.

What stands before and behind it is looked at, and where the reply corrects itself. All in doubt is not meant: an answer that is
not read costs less than one that is misread. Texts come levelled and without superfluous blanks.
"""

import re

REACH = 300
"""Characters looked at before a statement and behind it."""

_NEW_START = re.compile(
    r"[\n!?。;]|\.(?!\d)|(?<!not )(?<!think )(?<!if )\bso\b|\b(?:therefore|thus|hence|consequently|however|yet|still"
    r"|instead(?! of))\b|(?<!thing )(?<!\ball )(?<!\bany )\bbut\b|所以|因此|因而|但(?!愿)|然而|不过|而(?=是|选|应)|其实|实际上"
    r"|综上",
    re.IGNORECASE,
)
"""What ends the reach of a denial before."""

_HARMLESS_IF = r"(?! (?:i|we|you)(?:'m)? (?:had|have|must|were|look|consider|read|ask|am)\b| i'm\b| anything\b)"
_DENIAL = (
    r"\b(?:not(?! (?:only|just)\b)|never|neither|nor|cannot|hardly|unlikely|except|excluding|rather than|instead of|other than"
    r"|apart from|(?:any\w*|all|everything) but|in(?:correct|valid|accurate|appropriate)\w*|wrong\w*|false|untrue|implausible"
    r"|unsuitable|(?<!to )(?:least|worst|weakest|poorest|lowest)|eliminat\w+|exclud\w+|rul(?:es?|ed|ing) out|reject\w*|discard\w*"
    r"|dismiss\w*|avoid\w*|disagree\w*|refus\w+|mistak\w+|distractors?|traps?|tempt\w+|whether|against|might|could|may be|maybe"
    r"|perhaps|opposite|alternative\w*|other (?:answer|option|choice)s?|(?:second|next)(?:-| )best|runner-?up|hesitat\w+"
    r"|reluctan\w+|foolish|silly|absurd|impossible|nothing|(?:easy|convenient|natural|premature|hasty|rash) to (?:say|choose|pick"
    r"|select|answer|assume|conclude)|(?:^\W*|\b(?:i|please|you|we|and)(?: \w+)? )(?:withdraw|take back|retract|ignore|forget"
    r"|disregard|cancel|scrap|drop|revoke)\b|(?<!no )(?<!a )(?<!without )doubt\w*|no (?:way|means|circumstances|reason|longer"
    r"|evidence)|(?<!most )(?:possible|potential|tempting|plausible) (?:answer|option|choice|distractor)s?)\b|n't\b|✗|不(?!难|仅"
    r"|但|只|过|管|论|得不|禁|断|由)|并非|而非|没(?!错)|无法|未(?!来)|(?<![特分类级个])别|勿|排除|除了|除去|错(?!过|失)|误(?!会"
    r"|解)|假的|是否|难道|难以|很难|最差|最低|(?:其他|其它|另一|备选|次优|干扰)个?(?:答案|选项|选择)|(?<![最很极大])(?<!最有)可能"
    r"|也许|或许|怀疑|否认|否定|反对|拒绝|放弃|避免"
)
_PEOPLE = (
    r"\b(?:many|some|several|few|others?|people|(?<!what )(?<!as )(?<!because )(?<!since )(?:they|he|she)|who|every(?:one|body)"
    r"|some(?:one|body)|any(?:one|body)|(?:you|one) (?:might|may|could|would|can)|you(?= (?:said|chose|picked|think|thought"
    r"|selected|answered|say)\b)|students?|readers?|friends?|teachers?|users?|models?|critics|experts?|annotators?|majority"
    r"|half)\b(?:(?!\b(?:i|we)\b)[^.,;:]){0,40}?\b(?:choose|chose|pick|picked|select|selected|say|said|think|thought|believe"
    r"|guess|opt|argue|claim|assume|prefer|expect|conclude|suspect|vote|answered|would answer|(?:go|went) (?:for|with))\b"
    r"|\b(?:thinks|believes|says|claims that|argues|chooses|selects|assumes|prefers|insists|(?<!he )(?<!she )(?<!they )(?:said"
    r"|claimed|argued))\b|\b(?:an?|the|your|my|his|her|this|that) (?:[\w-]+ ){1,3}(?:would|might|could|may"
    r"|will)(?: \w+)?? (?:choose|pick|select|say|think|believe|guess|answer|go (?:for|with))\b|(?<!as )\b(?:is|are|was|were|been"
    r"|be) (?:\w+ )??(?:told|assumed|believed|claimed|said|thought|argued|suggested|supposed|rumou?red)\b|\baccording to (?:some"
    r"|many|most|others|him|her|them|my)\b|(?:(?<!本)(?<!个)人|大家|专家|读者|[他她]|小[\u4e00-\u9fff]{1,2}|老师|同学|朋友|网友"
    r"|同事|对方)们?(?:都|也|会|可能|或许|往往|常常?|总|还|曾|却|就|容易|可以|想)*(?:选|说|认为|觉得|以为|猜|回答|主张|误选)"
)
_PAST = (
    r"\b(?:at first(?: (?:glance|sight))?|initially|originally|previously|formerly|alternatively|would have|used to|almost|nearly"
    r"|i (?:\w+ )?(?:thought|believed|assumed|suspected|figured)(?! (?:about|over|it (?:over|through)))|was (?:going|about"
    r"|tempted|inclined|leaning|sure|convinced)|wanted to|started|i (?:first|once)|(?:first|initial|previous|earlier|former"
    r"|original|old|prior|draft|naive) (?:\w+ )?(?:answer|choice|guess|pick|thought|instinct|impression|reaction|idea"
    r"|response))\b|[一刚]开始|开始时|起初|起先|最初|原本|本来|原先|先前|之前|以前|曾|差一?点|险些|以为|容易|都[选说]|原来我"
    r"|上一?次|此前|据说|听说|据传|有(?:一种)?观点|乍一?看|表面上|第一(?:反应|印象|直觉)"
)
_CONDITION = (
    rf"(?<!as )(?<!even )\bif\b{_HARMLESS_IF}|\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagin\w+|unless|in case|provided|otherwise"
    r"|normally|usually|in (?:that|another|other|a different) \w+|under (?:other|different)|say it were|pretend\w*|let(?:'s"
    r"| us) say)\b|^\W*say (?:the|it)\b|(?:^|,)\W*(?:had|were) (?:the|it|she|he|they|this|i|we|you|there)\b|如果(?!只能|必须"
    r"|一定要|非要|让我|要我)|假[如设使定若]|倘若|若|要是|万一|除非"
)
_DOUBTED = re.compile(rf"(?:{_DENIAL})[^,:、(]*$|(?:{_PEOPLE}|{_PAST}),?[^,:(]*$|{_CONDITION}", re.IGNORECASE)
"""A denial holds for its clause, a report or a memory also across one comma, a condition for its sentence."""

_COLON_END = re.compile(r"\s*:[\s:]*\Z")

DENIAL = re.compile(_DENIAL, re.IGNORECASE)
ANY_DOUBT = re.compile(rf"{_DENIAL}|{_PEOPLE}|{_PAST}|{_CONDITION}|\?|吗", re.IGNORECASE)

_COPULA = (
    r"(?:(?:is|are|was|were|be|been|being|seems?|looks?|appears?|sounds?|feels?|would|must|might|may|could|can|will|do|does|did"
    r"|should|has|have|turns? out|to)\b\s*)"
)
_ADVERB = (
    r"(?:(?:also|clearly|simply|just|definitely|obviously|probably|(?:most )?likely|certainly|really|quite|rather|completely"
    r"|totally|plainly|best|the|(?-i:a)|an|most|very|too|my|however|actually|surely|almost|nearly)\b\s*)"
)
_FAULT = (
    r"(?:wrong(?!\w)(?=\W*(?:$|\n|[.,:;!)✗])| (?:because|since|as|here|too|again|answer|choice|option|one)\b)|incorrect|false\b"
    r"|mistaken|untrue|inaccurate|unlikely|implausible|unsuitable|inappropriate|invalid|impossible|out\b(?! of)|ruled out"
    r"|eliminated|excluded|rejected|dismissed|avoided|unsupported|least\b|worst|(?:mistake|error|trap|distractor)s?\b|tempting"
    r"|misleading|[✗×])"
)
_NOT_RIGHT = (
    r"(?:not|isn't|wasn't|aren't|ain't) (?:(?:quite|really|the|a|so|entirely|exactly|necessarily|very|most) )*(?:right|correct"
    r"|true|it\b|so\b|answer|best|good|fit|suitable|appropriate|accurate|valid|likely|possible|plausible|what i|$|[.,;!)\n])"
)
_TAKEN_BACK = re.compile(
    r"[\s.。]*\?|(?:[^.!?。;\n]|\.(?=\w)){0,200}?(?:\?|吗(?!\w))"
    rf"|[)\"' ]*(?:{_COPULA}{_ADVERB}*)+(?:not\b(?! only)|never\b|neither\b|no\b)|[)\"' ]*(?:\w+n't|cannot)\b"
    rf"|[)\"' ]*{_COPULA}(?:{_COPULA}|{_ADVERB})*{_FAULT}"
    r"|[\s.。,:;!?)\"'(—–-]*+(?:(?:but|however|though|although|yet|and|except|well|oh|hmm|actually|still"
    r"|again)\b[\s,]*+)*(?:(?:(?:that|this|it|which|these|they|i|the \w+|this (?:one|option|answer|choice))(?:'s|'m)? )?"
    rf"(?:{_COPULA}|am |{_ADVERB}|(?:'s|'m) )*(?:{_FAULT}|{_NOT_RIGHT})"
    r"|(?:that|this|it|which|they) (?:\w+n't|cannot|(?:is|was|does|did|can|could|would) not)\s*(?:be )?(?:$|[.,;!)\n]|right\b"
    r"|correct|true\b|it\b|fit\b|work\b|make sense|match)|i (?:doubt|(?:don't|do not|no longer) (?:believe|think|mean"
    r"|agree))(?: so| it| that)?(?=[.,;!)\n]|$)|(?:nah|hardly|not really|not at all|(?:by )?no (?:means|way|chance)|(?:absolutely"
    r"|certainly|definitely|surely|of course|probably) not)(?=[.,;!)\n]|$)|(?:no|nope|never)(?=\W*(?:$|\n)|\s*[.,:;!)])"
    r"|not(?=\s*(?:$|[.,;!)\n])))|\s*,?\s*\(?(?:or so\b|i (?:once |first )?(?:thought|used)|as i first|at first|initially"
    r"|was my (?:first|initial|old)|until\b|before i\b| ?(?:that |which )?i (?:would not|wouldn't|would avoid)|(?:many|most|some"
    r"|others|people|they) (?:would|might|say|think|argue|believe|claim))"
    rf"|\s*,?\s*\(?(?:only )?(?:\bif\b{_HARMLESS_IF}|unless\b|provided that|in case)"
    r"|[\s,。:;!.)(—–-]*+(?:但|可|却|不过|然而|哦|噢|啊|嗯)?[\s,]?(?:(?:这|那|它|此|我|该|选项|项|答案|个|是|也|都|并|显然|明显"
    r"|其实|就|似乎|应该|完全|有点|有些)*)(?:骗|开玩笑|逗你|作废|收回|作罢|不(?:对|正确|符合|合适|成立|行|准确|恰当|太|够|可能|应"
    r"|能|会|算|作数|确定|清楚|知道|(?=[,.。!:;])|$|是(?!\s*\(?[A-Z\ue000-\uf8ff]|因))|错(?!过|失)|有误|误(?!会|解)|非(?!常)"
    r"|被?排除|否)",
    re.IGNORECASE,
)

_LEADING = (
    r"(?:(?:oh|um+|uh|hmm+|no|but|well|okay|ok|ah|and|so|actually)[\s,.!:—–-]+|(?:哦|噢|嗯|啊|但|可|不过|那|我|现在?|刚才|抱歉"
    r"|对不起)[\s,.!:—–-]*+){0,4}"
)
_GLUE = r"[\s,.:;!…。—–-]*+"
_CORRECTION = re.compile(
    rf"(?:^|(?<=[.,:;!?。、\n(—–-])\s*|(?<=[—–-] ))(?:{_LEADING}(?:"
    r"(?:wait|hold on|hang on)\b(?=\s*(?:[,.:;!?—–-]|$)| (?:no|a|that|i|it)\b)|correction\b(?=\s*[:.,!—–-])|scratch that"
    r"|strike that|never\s*mind\b|on (?:second|further|closer) \w+|on (?:reflection|reconsideration|re-?reading)|thinking again"
    r"|come to think|i (?:mean|meant|misread(?: [^\s.,:;!?][^\n.,:;!?]{0,60})?|misspoke|was (?:wrong|mistaken)|am wrong"
    r"|made an? (?:mistake|error)|take (?:that|it|this) back|(?:have )?changed? my (?:mind"
    r"|answer)(?: from [^\n.,:;]{1,40}? to\b)?|correct (?:myself|this|that|my)|(?:withdraw"
    r"|retract)(?: [^\s.,:;!?][^\n.,:;!?]{0,60})?|stand corrected|(?:need|have|want|must|should|would like)(?: to)? (?:correct"
    r"|revise|change|rethink|reconsider|fix|amend))\b|let me (?:correct|revise|rethink|reconsider|fix|change|try again|start over"
    r"|re-?(?:check|read|evaluate|examine|think|assess))|my (?:mistake|bad|apologies|error)\b|oops|whoops|just kidding"
    r"|not quite\b|(?:revised|corrected|updated|changing)\b|(?:that|this|it)(?:'s| (?:is|was)) (?:wrong|incorrect|not (?:right"
    r"|correct)|a mistake|an error)|不对(?=[,.。!:;\s]|$)|错了|等等|等一?下|慢着|更正|纠正|改[为成选]|我错了|(?:说|写|弄|看|搞|记"
    r"|读|理解|判断)错(?:了[^\n,.。;:!?]{0,12})?|重新(?:考虑|检查|看|想)|修正|再想想|再想一想|仔细想"
    rf"){_GLUE})++(?:应?该?[是选]\s*)?",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a reply corrects itself: what it stated before no longer holds."""

INSTEAD = (
    rf"(?:(?:^|(?<=[.,:;!?。、\n(—–-])|(?<=[—–-] ))\s*{_LEADING}(?:actually|rather|or rather|no(?:pe)?(?=\s*[,.:;!—–-])|sorry"
    rf"|instead|make (?:it|that)"
    r"|其实|不(?=\s*[,.。:!])|而?应该?是|改[为成选]|而是)[ .,:;!…。—–-]*+(?:no\b[ .,:;!…。—–-]*+)?)"
)
"""What corrects where an answer follows at once: "A. No, B", "A — actually, it is B"."""


def is_meant(text: str, lead: int, start: int, end: int) -> bool:
    """Return whether the answer from `start` to `end` is meant; the words that introduce it begin at `lead`."""
    return not _is_doubted(text, lead, start) and not is_taken_back(text, end)


def is_taken_back(text: str, end: int) -> bool:
    """Return whether what follows an answer asks, denies or restricts it: "B? No.", "B, but that is wrong"."""
    return _TAKEN_BACK.match(text[end : end + REACH]) is not None


def corrections(text: str) -> list[int]:
    """Return where the corrections of a reply end."""
    return [match.end() for match in _CORRECTION.finditer(text)]


def _is_doubted(text: str, lead: int, start: int) -> bool:
    """Return whether the sentence that leads up to an answer denies, supposes or reports it, or tells what once was thought."""
    before = text[max(0, lead - REACH) : lead]
    same_line, line_break, _ = (
        before.rstrip(" (\"'").rpartition("\n") if before.rstrip(" (\"'").endswith("\n") else (before, "", "")
    )
    if line_break and not same_line.rstrip().endswith(":"):
        same_line = ""
    sentence = _COLON_END.sub(" ", same_line) + re.sub(r"[:\s]+", " ", text[lead:start])
    starts = [match.end() for match in _NEW_START.finditer(sentence)]
    return _DOUBTED.search(sentence[starts[-1] :] if starts else sentence) is not None
