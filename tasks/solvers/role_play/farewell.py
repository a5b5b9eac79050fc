"""Find out whether a line of a dialogue takes leave, in English or Chinese."""

import re

_SENTENCE = re.compile(r"[^.!?。！？~～…\n]+[.!?。！？~～…]*")
_COMMA = re.compile(r"[,，]\s*")
_ENDS = " \t\r.!。！~～…"
_FAREWELL = re.compile(
    r"(?:(?:ok|okay|well|so|thanks|thank you|and|then) )?"
    r"(?:good ?bye|bye[- ]?bye|bye|good ?night|farewell|see you|until next time|talk to you (?:later|soon)|talk (?:later|soon)"
    r"|i(?: have|'ve got| need| should| must| gotta|'d better)(?: to)? (?:go|run) now)(?: (?:then|now|for now|later|soon))?"
    r"|(?:那|那么|那就|先)?(?:再见|拜拜|回见|回头见|下次见|改天见|(?:下次|下回|改天|回头)再聊|晚安|先?聊到这[里儿]?|我先下)[了啦吧咯哈哦喽]?",
    re.IGNORECASE,
)
"""A clause, whole: what is reported of a farewell, in quotes or after other words, is none."""

_COURTESY = re.compile(
    r"(?:ok|okay|well|all ?right|anyway|so|oh|好的?|好吧|嗯+|行|那)$"
    r"|(?:thank|have an? |take care|wish you|all the best|you too|谢谢|多谢|感谢|祝)",
    re.IGNORECASE,
)
"""A clause, or its beginning, that may stand beside a farewell."""


def says_goodbye(text: str) -> bool:
    """Return whether a line ends with a farewell in a sentence of its own, with no more than thanks or wishes in and after it.

    Thanks and good wishes alone are none: people say them in the middle of a talk, too, and in the released dialogues of ESC-Eval
    they are all there is at the end. A farewell that is missed costs nothing, one that is wrongly found ends a talk.
    """
    for sentence in reversed(_SENTENCE.findall(text.replace("’", "'"))):
        clauses = [clause for clause in _COMMA.split(sentence.strip(_ENDS)) if clause]
        farewells = [clause for clause in clauses if _FAREWELL.fullmatch(clause)]
        if any(not _COURTESY.match(clause) for clause in clauses if clause not in farewells):
            return False
        if farewells:
            return True
    return False
