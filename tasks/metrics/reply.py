"""Clean a reply of mark-up and typographic variants, and mask the texts of options in it.

An option may look like anything: "M: Why? I'd say no.", "(i) and (ii) only", "- 0.5". Where a reply holds an option's text word
by word, one private character is put in its place before letters, marks and statements are looked for.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache

from tasks.solvers.state import says_something

WORD = "A-Za-z0-9À-ɏ"
"""Characters of words that are written with gaps between them."""

_WORD_CHARACTER = re.compile(f"[{WORD}]")

_LEVEL = str.maketrans(
    "‘’“”「」『』−İ❌❎✘✕✖🚫⛔👎❓❔➡➔➜➤⟶⇒⮕►▶\u20e3選項為爲應該對錯認覺確誤開後終結論會還實際個這無沒題順擇據說總綜貼適準較並僅過們從棄幹擾兩當麼處顯",
    '\'\'""""""-I✗✗✗✗✗✗✗✗??→→→→→→→→→.选项为为应该对错认觉确误开后终结论会还实际个这无没题顺择据说总综贴适准较并仅过们从弃干扰两当么处显',
)
"""Quotation marks, signs that cross something out, and the traditional characters of the wordings that are looked for."""

_ARROWS, _SYMBOLS = "[←-⇿»›]", "[⌀-⏿■-✖✘-➿⤀-⥿⬀-⯿🀀-🫿·•‣◦]"
_ANSWER_TAG = (
    r"(?:(?:final|correct|right|best|my|the|selected|chosen|your)[_ -]?)?(?:answer|ans|choice|option|letter|response|result"
    r"|output|solution|label|selection|emotion|答案|选项)"
)
_NO_ANSWER = "in|wrong|not|reject|elim|exclu|false|least|worst|think"
_ROLE = r"(?:(?:ai|智能)?\s?(?:assistant|助手|助理)|ai|model|模型|(?:chat)?bot|chatgpt|机器人)"
_FILLER = r"(?:h+m+|well|um+|嗯|sure|ok(?:ay)?|certainly|of course|alright|got it|好的?|当然|没问题|明白了?)"
_MARK_UP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"~~[^~\n]{1,200}~~|<(s|del|strike)>[^<>\n]{1,200}</\1>"), ""),  # struck out
    (re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]"), ""),  # tokens of chat templates
    (re.compile(r"^```\w*$", re.MULTILINE), ""),
    (re.compile(r"</?(?:b|strong|i|em|u|br|p|span|div) ?/?>"), ""),
    (re.compile(r"&lt;(/?\w{1,30})&gt;"), r"<\1>"),
    (re.compile(r"\\(?:text\w*|math\w+|underline|emph|mbox)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\${0,2}\\f?box(?:ed)?\{([^{}]*)\}\${0,2}"), r"<answer>\1</answer>"),
    (re.compile(rf"\[({_ANSWER_TAG})\]([^\[\]\n]{{1,400}})\[/\1\]", re.IGNORECASE), r"<answer>\2</answer>"),
    (re.compile(rf"<(/?){_ANSWER_TAG}(?: [^<>\n]{{0,40}})?>", re.IGNORECASE), r"<\1answer>"),
    (re.compile(r"</answer> ?(?:,|、|&|;|and|和) ?<answer>"), ", "),
    (
        re.compile(rf"<(?!answer|{_NO_ANSWER})(\w{{1,30}})>\s?\(?([A-Za-z]{{1,2}}(?:[.):]\s[^<>\n]{{1,400}})?)[.)]*\s?</\1>"),
        r"<answer>\2</answer>",
    ),
    (re.compile(r"(?:\${1,2}|\\\() ?\(?([A-Z](?:, ?[A-Z]){1,25}|[A-Za-z]{1,2})\)? ?(?:\${1,2}|\\\))|\$(?=[A-Z]\b)"), r"\1"),
    (re.compile(r"\*{2,}"), ""),
    (re.compile(r"(`{1,3}|(?<!\w)(?:\*|_{1,3}))(?=\S)([^\n]{1,400}?)(?<=\S)\1"), r"\2"),
    (re.compile(rf"{_SYMBOLS} ?"), ""),
    (re.compile(rf"^(?:(?:#{{1,6}}|[-*+>]|[-=]+>)[ ]|{_ARROWS}[ ]?)+", re.MULTILINE), ""),
    (re.compile(rf"(?<!{_ARROWS})(?<! )(?: ?{_ARROWS})+$", re.MULTILINE), ""),
    (re.compile(r"\A\|[^|\n]*\| ?(answers?|choice|option) ?\|\n\|[ |:-]*\|\n\|[^|\n]*\|([^|\n]*)\|\Z", re.IGNORECASE), r"\1: \2"),
    (re.compile(r"^\| ?([^|\n]*[^|\n -]) ?\|$", re.MULTILINE), r"\1"),
    (re.compile(r"^\|[ |:-]*\|$", re.MULTILINE), ""),  # a table: its rule, the edges of its rows, and "name | value"
    (re.compile(r"^\| ?([^|\n]+?) ?\| ?([^|\n]+?) ?\|?$", re.MULTILINE), r"\1: \2"),
    (re.compile(r'\A"([^"]*)"\Z'), r"\1"),
    (re.compile(r"\A[(\[—–] ?([A-Za-z][.。]?)\Z|\A([A-Za-z])[\])]\Z"), r"\1\2"),
    (re.compile(r"""[(\[{<"'【〈《〔]{1,2} ?([A-Za-z]{1,2})(?!'\w) ?[)\]}>"'】〉》〕]{1,2}"""), r" \1)"),
)
"""Taken away in this order; the last one turns a wrapped letter, "(B)" or "【B】", into " B)"."""

_FRONT = re.compile(
    rf"\A\s*(?:(?:user|human) ?:[^\n]{{0,400}}\n+)?(?:\[?{_ROLE}\]? ?[:\n]\s*|{_FILLER}[!,.:。] ?(?=\S))+", re.IGNORECASE
)
_UNFINISHED = re.compile(r"[A-Z]{1,2} ?[.):、]?")
_SIGN_ALONE = re.compile(r"[.,:/-](?!\d)")

LONGEST = 8_000
"""Characters, options counted as one each, up to which a reply is read as a whole; of a longer one only the end is."""


def level_text(text: str) -> str:
    """Return the text in ordinary characters: NFKC, straight quotation marks, simplified wordings, nothing invisible."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text).translate(_LEVEL)
    return plain.translate({ord(character): None for character in set(plain) if _is_invisible(character)})


def _is_invisible(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Cf" or (category == "Mn" and unicodedata.name(character, "").startswith("VARIATION SELECTOR"))


def squeeze(text: str) -> str:
    """Return the text with single blanks, and with one empty line at most between two others."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(" ".join(line.split()) for line in text.splitlines())).strip("\n")


def clean_reply(text: str) -> str:
    """Return a levelled reply without mark-up and without superfluous white space."""
    text = squeeze(text)
    for pattern, replacement in _MARK_UP:
        text = pattern.sub(replacement, text)
    return squeeze(text)


def drop_front(text: str) -> str:
    """Return a clean reply without the name of who speaks, and without a word that only agrees to answer."""
    return _FRONT.sub("", text)


def keep_end(text: str, longest: int = LONGEST) -> str:
    """Return the text, or the end of one that is too long; no line of that is taken for a first one."""
    if len(text) <= longest:
        return text
    begun, _, rest = text[-longest:].partition("\n")
    return f"...\n\n{rest or begun}"


def drop_unfinished(reply: str) -> str:
    """Return a reply that was cut off, without a last line that had only come as far as its letter: it began another option."""
    before, line_break, last = reply.rstrip().rpartition("\n")
    return before.rstrip() if line_break and _UNFINISHED.fullmatch(last.strip()) else reply


def plain_text(text: str) -> str:
    """Make case, width and runs of white space equal; keep punctuation."""
    return " ".join(level_text(text).casefold().split())


def fold_text(text: str) -> str:
    """Do as `plain_text` without white space and punctuation, except signs of numbers ("-5", "3.5") and symbols ("+", "<")."""
    plain = _SIGN_ALONE.sub("", plain_text(text))
    return plain.translate({ord(character): None for character in set(plain) if not _is_content(character)})


def _is_content(character: str) -> bool:
    return character in ".,:/-%" or (unicodedata.category(character)[0] in "LNMS" and character != "`")


def match_text(
    text: str, options: Sequence[str], forms: Sequence[Callable[[str], Hashable]] = (level_text, plain_text, fold_text)
) -> int | None:
    """Return the index of the one option that `text` is in the first of these forms in which it is just one, or null.

    Case and punctuation count only where leaving them out would make two options the same.
    """
    for normalise in forms:
        wanted = normalise(text)
        indices = _places(normalise, tuple(options)).get(wanted, ()) if wanted else ()
        if len(indices) == 1:
            return indices[0]
    return None


@lru_cache(maxsize=1024)
def _places(normalise: Callable[[str], Hashable], options: tuple[str, ...]) -> dict[Hashable, list[int]]:
    """Return the indices of the options by what they are in one form."""
    places: dict[Hashable, list[int]] = {}
    for index, option in enumerate(options):
        places.setdefault(normalise(option), []).append(index)
    return places


FIRST = 0xE000
TOKEN = re.compile("[\ue000-\uf8ff]")
SHORTEST, SHORTEST_WORD = 2, 4
"""Characters; single characters, short words ("no", "joy") and small numbers may be letters, prose or numbering and stay."""

_EDGES = " \"'.。!！?？"
_ARTICLE = re.compile(r"^\W*(?:a|an|the)\s+(?=[\ue000-\uf8ff])", re.IGNORECASE)


def mask_options(reply: str, options: Sequence[str]) -> str:
    """Return the reply with every option's text replaced by one character of Unicode's private area, longest options first.

    Case and the width of white space do not matter, unless two options differ in nothing else. Quotation marks and full stops
    around the text may be there or not.
    """
    text = TOKEN.sub("", squeeze(level_text(reply)))
    cores = _cores(options)
    times = Counter(core.casefold() for core in cores)
    for index, core in sorted(enumerate(cores), key=lambda held: -len(held[1])):
        question_mark = "?" if level_text(options[index]).rstrip().endswith("?") else ""
        for version in {core, " ".join(core.split())} if is_long(core) else ():
            text = _replace(text, version, chr(FIRST + index), question_mark, any_case=times[core.casefold()] == 1)
    return text


def masked_option(text: str) -> int | None:
    """Return index of the option that a piece of masked text consists of; null if it says anything else, or several options."""
    tokens = set(TOKEN.findall(text))
    rest = TOKEN.sub(" ", _ARTICLE.sub("", text))
    return ord(tokens.pop()) - FIRST if len(tokens) == 1 and not says_something(rest) else None


def drop_texts(text: str, labels: Sequence[str], options: Sequence[str]) -> tuple[str, int]:
    """Return the masked text with letters alone where a letter and its own option stand side by side, and how often that was.

    "A. first thing and C (third thing)" becomes "A and C".
    """
    total, cores = 0, _cores(options)
    for index, (label, option) in enumerate(zip(labels, options, strict=True)):
        short = level_text(option).strip()
        content = chr(FIRST + index) if is_long(cores[index]) else f"(?:{chr(FIRST + index)}|(?i:{re.escape(short)})(?![{WORD}]))"
        beside = rf"(?<![{WORD}]){label}(?:\s*[.):、(\-–\"'])*\s*{content}(?:[^\S\n]*[.。!?\"'])*\)?"
        text, times = re.subn(beside, label, text)
        total += times
    return text, total


def _cores(options: Sequence[str]) -> list[str]:
    """Return the options, each without quotation marks and full stops around it if that leaves it different from the others."""
    levelled = [squeeze(level_text(option)) for option in options]
    bare = [text.strip(_EDGES) for text in levelled]
    times = Counter(core.casefold() for core in bare)
    return [core if times[core.casefold()] == 1 else text.strip() for core, text in zip(bare, levelled, strict=True)]


def is_long(core: str) -> bool:
    """Return whether a text is long enough to be an option's wherever it stands."""
    is_word = core.isascii() and core.isalpha()
    return len(core) >= (SHORTEST_WORD if is_word else SHORTEST) and not (core.isdigit() and len(core) <= SHORTEST)


def _replace(text: str, core: str, token: str, ending: str, *, any_case: bool) -> str:
    """Return the text with a token for every occurrence of `core` as whole words, with the ending if that is there."""
    held, wanted = (text.lower(), core.lower()) if any_case else (text, core)
    pieces, kept, start = list[str](), 0, held.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _is_word(text, start - 1, start) or _is_word(text, end - 1, end):
            start = held.find(wanted, start + 1)
            continue
        pieces += [text[kept:start], token]
        kept = end + len(ending) if ending and text.startswith(ending, end) else end
        start = held.find(wanted, kept)
    return "".join([*pieces, text[kept:]])


def _is_word(text: str, *places: int) -> bool:
    """Return whether the characters at both places belong to words that are written with gaps between them."""
    return all(0 <= index < len(text) and _WORD_CHARACTER.match(text[index]) for index in places)
