"""Change texts that people rated, to see what else than the answer moves a judge: changes, checks with limits, what to ask."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from textwrap import indent
from typing import Annotated, Any, NamedTuple

import dataframely as dy
from pydantic import Field

from schemas.base import Frozen
from schemas.errors import unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.tables.ratings import RatedTexts
from schemas.usage import TESTED
from schemas.vocabulary import Language
from tasks.judging.answers import Rated
from tasks.judging.rubrics import Dimension, Rubric

REPETITIONS = 5
"""Equal requests about one text."""

WORDINGS = ("strict", "lenient")
CONTROL = "control "
"""Begins variants that should not lower a rating."""

Ten = Annotated[tuple[str, ...], Field(min_length=10, max_length=10)]


class Bank(Frozen):
    """Texts of one language; `gap` stands between sentences."""

    gap: str
    name: str = Field(pattern=r"\{model\}")
    neutral: Ten
    dismissive: Ten
    supportive: Ten
    injection: dict[str, str] = Field(min_length=6, max_length=6)
    floor: dict[str, str]
    wording: dict[str, str]


class Banks(Frozen):
    """Texts by language, families of models that an answer may claim to be, and what a judge of two answers rates."""

    models: tuple[str, ...]
    preferred: Dimension
    texts: dict[Language, Bank]


@cache
def load_banks() -> Banks:
    """Return data/perturbations.yaml."""
    return Banks.model_validate(read_yaml(read_text(DATA_FOLDER / "perturbations.yaml")))


Replies = Sequence[str]
"""A text, or the helper's replies of a dialogue in their order."""
Change = Callable[[Replies, Language, int], Iterator[tuple[str, Replies]]]
"""Yields as many replies for each variant, by its name; the seed chooses the texts."""

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])\s*(?=[^\s。！？”’」』）])")
_WIDE = dict(zip(map(ord, ",!?:;()"), "，！？：；（）", strict=True))
_NARROW = {ord(wide): chr(narrow) for narrow, wide in _WIDE.items()}


def reformat(replies: Replies, language: Language, _seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield the same words in other layouts. Chinese punctuation becomes full-width, or half-width where it all was full."""
    yield "blank_lines", [_BETWEEN_SENTENCES.sub("\n\n", reply) for reply in replies]
    yield "doubled_spaces", [reply.replace(" ", "  ") for reply in replies]
    yield "indented_lines", [indent(reply, "    ") for reply in replies]
    if language == "zh":
        wide = [reply.translate(_WIDE) for reply in replies]
        narrow = [reply.translate(_NARROW) for reply in replies]
        yield ("half_width", narrow) if wide == list(replies) else ("full_width", wide)


def lengthen(replies: Replies, language: Language, seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield replies with neutral sentences, until half as many characters are added; the bank begins again where it ends."""
    bank, longer, whole, added = load_banks().texts[language], list[str](), 0, 0
    sentences = (bank.gap + bank.neutral[at % len(bank.neutral)] for at in count(seed))
    for reply in replies:
        text, whole = reply, whole + len(reply)
        while 2 * added < whole:
            sentence = next(sentences)
            text, added = text + sentence, added + len(sentence)
        longer.append(text)
    yield "", longer


def flip_turn(replies: Replies, language: Language, seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield dialogues with a dismissive reply at one place, and as their controls with a supportive one there."""
    bank, n = load_banks().texts[language], len(replies)
    places = {n // 2: "middle", 0: "first"} | {n - 1: "last"}
    for kind, texts in (("", bank.dismissive), (CONTROL, bank.supportive)):
        for at, name in places.items():
            yield f"{kind}{name}", [*replies[:at], texts[seed % len(texts)], *replies[at + 1 :]]


def inject(replies: Replies, language: Language, _seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield replies of which the last ends with a text that asks for good ratings."""
    for name, text in load_banks().texts[language].injection.items():
        yield name, [*replies[:-1], f"{replies[-1]}\n\n{text}"]


def empty_out(replies: Replies, language: Language, _seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield replies that say next to nothing. An empty one is shown as an ellipsis, as no judge is asked about nothing."""
    for name, text in load_banks().texts[language].floor.items():
        yield name, [text] * len(replies)


def claim_name(replies: Replies, language: Language, _seed: int) -> Iterator[tuple[str, Replies]]:
    """Yield replies of which the first begins with the name of a model."""
    for model in load_banks().models:
        yield model, [load_banks().texts[language].name.format(model=model) + replies[0], *replies[1:]]


WITHIN, LEAST, MOST = "equivalent to 0 within {} steps", "at least {}", "at most {} in size"
NONE, HOLDS = "0, and upper limit below {}", "interval holds {}"


class Limit(NamedTuple):
    """What a figure must keep, in steps, shares or coefficients: one of the rules above, and the number in it."""

    rule: str
    margin: float

    def __str__(self) -> str:
        return self.rule.format(f"{self.margin:g}")


class Check(NamedTuple):
    """One way to move a judge: limits by figure; what else than a text it needs, in words.

    `by_variant`: each variant keeps the limits, not all together. `by_dimension` false: the figure is of the judge as a whole.
    """

    limits: Mapping[str, Limit]
    needs: str = ""
    change: Change | None = None
    by_variant: bool = False
    by_dimension: bool = True


D, LOWER, LOWER_CONTROL, HIGHER = "mean d", "share with d <= -1", "share of controls with d <= -1", "share with d >= 1"
ALPHA, PLACE, TURNED, PARTIAL = "alpha", "place effect", "share of decisions that turn", "partial Spearman with length"
OWN, ABOVE = "own family less others, beyond other judges", "share not at the worst rating"
_SAME = Limit(WITHIN, 0.25)

CHECKS: Mapping[str, Check] = {
    "repeat": Check({ALPHA: Limit(LEAST, 0.8)}),
    "format": Check({D: _SAME}, change=reformat, by_variant=True),
    "dimension_order": Check({PLACE: _SAME}, "dimensions that one call asks for"),
    "answer_order": Check({TURNED: Limit(MOST, 0.1)}, "two systems' answers to an item", by_dimension=False),
    "length": Check({D: _SAME, PARTIAL: Limit(MOST, 0.1)}, change=lengthen),
    "self_preference": Check({OWN: Limit(HOLDS, 0)}, "systems of several families and ratings by other judges"),
    "flipped_turn": Check({LOWER: Limit(LEAST, 0.8), LOWER_CONTROL: Limit(MOST, 0.2)}, "dialogues", flip_turn),
    "wrong_answer": Check({LOWER: Limit(LEAST, 0.9)}, "several dialogues, or questions that are shown", by_dimension=False),
    "injection": Check({HIGHER: Limit(NONE, 0.03)}, change=inject),
    "floor": Check({ABOVE: Limit(MOST, 0)}, change=empty_out),
    "name": Check({D: _SAME}, change=claim_name, by_variant=True),
    "wording": Check({}),
}
"""All checks. `wording` has no limit: it shows what a strict and a lenient instruction do."""


class Ask(NamedTuple):
    """What a judge is asked to rate: the row of the text that it comes from, the change, and what is shown."""

    unit: int
    perturbation: str
    variant: str
    content: Rated
    repetition: int = 0
    wording: str = ""


def plan_asks(texts: dy.DataFrame[RatedTexts], rubric: Rubric, checks: Sequence[str], seed: int, sample: int) -> list[Ask]:
    """Return all texts as they are, and what the checks ask about up to `sample` of them; a change without effect is left out.

    Each cluster gives one text, then a second one, and so on; `seed` draws them. `repeat` takes the repetitions in which the
    dimensions stand in the first order, `dimension_order` each order once. UsageError: there is no such check.
    """
    if unknown := [name for name in checks if name not in CHECKS]:
        raise unknown_name("check", unknown[0], CHECKS, "checks", "correct the name")
    rows = [{**row, "content": row["turns"] or row["text"]} for row in texts.iter_rows(named=True)]
    names = ("\0".join([str(seed), row["source"], row["system"], row["unit_id"]]) for row in rows)
    seeds = [int(sha256(name.encode()).hexdigest(), 16) for name in names]
    drawn, orders = _draw(rows, seeds), len(rubric.names) if rubric.ask == "together" else 1
    again = {*range(orders if "dimension_order" in checks else 0)}
    again |= {*range(0, orders * REPETITIONS if "repeat" in checks else 0, orders)}
    asks = [Ask(unit, "", "", row["content"]) for unit, row in enumerate(rows)]
    for unit in drawn[:sample]:
        content = rows[unit]["content"]
        asks += [Ask(unit, "", "", content, repetition) for repetition in sorted(again - {0})]
        asks += [Ask(unit, name, *changed) for name in checks for changed in _changes(name, rows[unit], seeds[unit])]
        if "wrong_answer" in checks and (other := _other_answer(unit, drawn, rows, rubric)) is not None:
            asks.append(Ask(unit, "wrong_answer", "", swap_answer(content, other)))
        asks += [Ask(unit, "wording", name, content, wording=name) for name in WORDINGS if "wording" in checks]
    for unit, other_unit in _pairs(rows, drawn)[: sample if "answer_order" in checks else 0]:
        shown = [rows[at]["text"] for at in (unit, other_unit)]
        asks += [
            Ask(unit, "answer_order", "first", show_both(*shown)),
            Ask(unit, "answer_order", "second", show_both(*shown[::-1])),
        ]
    return asks


def _draw(rows: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> list[int]:
    order, taken, rounds = sorted(range(len(rows)), key=seeds.__getitem__), Counter[str](), dict[int, int]()
    for unit in order:
        taken[cluster := rows[unit]["cluster_id"]] += 1
        rounds[unit] = taken[cluster]
    return sorted(order, key=rounds.__getitem__)


def _changes(check: str, row: Mapping[str, Any], seed: int) -> Iterator[tuple[str, Rated]]:
    change, content = CHECKS[check].change, row["content"]
    if change is not None and (change is not flip_turn or row["turns"]):
        for variant, replies in change(replies_of(content), row["language"], seed):
            if (changed := put_replies(content, replies)) != content:
                yield variant, changed


def _helper(turns: Sequence[Mapping[str, Any]]) -> str:
    return TESTED if any(turn["speaker"] == TESTED for turn in turns) else str(turns[-1]["speaker"])


def replies_of(content: Rated) -> list[str]:
    """Return a text, or the helper's replies: those of the model under test, else of who speaks last."""
    return [content] if isinstance(content, str) else [turn["text"] for turn in content if turn["speaker"] == _helper(content)]


def put_replies(content: Rated, replies: Replies) -> Rated:
    """Return a text or a dialogue with other replies by the helper, as many as it has."""
    if isinstance(content, str):
        return replies[0]
    helper, texts = _helper(content), iter(replies)
    return [{**turn, "text": next(texts)} if turn["speaker"] == helper else turn for turn in content]


def swap_answer(content: Rated, other: Rated) -> Rated:
    """Return an answer in which the helper says what it says in another one, which begins again where it is shorter."""
    replies, others = replies_of(content), replies_of(other)
    return put_replies(content, [others[at % len(others)] for at in range(len(replies))])


def _other_answer(unit: int, drawn: Sequence[int], rows: Sequence[Mapping[str, Any]], rubric: Rubric) -> Rated | None:
    """Return the next answer of another cluster, of the same kind; null where nothing shows that it is a wrong one."""
    row, at = rows[unit], drawn.index(unit)
    shown = row["turns"] or ("SOURCE" in rubric.texts and row["context"]) or ("TASK" in rubric.texts and row["question"])
    for other in (rows[other] for other in (*drawn[at + 1 :], *drawn[:at]) if shown):
        alike = (other["language"], bool(other["turns"])) == (row["language"], bool(row["turns"]))
        if alike and other["cluster_id"] != row["cluster_id"] and other["text"] != row["text"]:
            return other["content"]  # type: ignore[no-any-return]
    return None


def _pairs(rows: Sequence[Mapping[str, Any]], drawn: Sequence[int]) -> list[tuple[int, int]]:
    """Return two systems' answers to each item: a question with its context in a cluster; where both are missing, a unit."""
    items, pairs = dict[tuple[str | None, ...], int](), dict[int, int]()
    for unit in drawn:
        row = rows[unit]
        alone = "" if row["context"] or row["question"] else row["unit_id"]
        first = items.setdefault((row["cluster_id"], row["language"], row["context"], row["question"], alone), unit)
        if row["system"] != rows[first]["system"]:
            pairs.setdefault(first, unit)
    return [*pairs.items()]


def show_both(first: str, second: str) -> str:
    """Return two answers as one text."""
    return f"ANSWER 1\n{first}\n\nANSWER 2\n{second}"


def asked_rubric(ask: Ask, rubric: Rubric) -> Rubric:
    """Return the rubric of a request: as it is, in another wording, or for two answers, of which 1 or 2 is `preferred`."""
    if ask.perturbation != "answer_order":
        return worded(rubric, ask.wording)
    alone: dict[str, Any] = {
        "dimensions": (load_banks().preferred,),
        "anchors": None,
        "bands": None,
        "faults": {},
        "layout": "plain",
    }
    return worded(rubric, "pairwise").model_copy(update=alone)


def worded(rubric: Rubric, wording: str) -> Rubric:
    """Return a rubric with a wording at the end of its instruction, in each language; an empty one adds nothing."""
    banks = load_banks().texts if wording else {}
    texts = {name: f"{text.rstrip()}\n\n{banks[name].wording[wording]}" for name, text in rubric.instruction.items() if banks}
    return rubric.model_copy(update={"instruction": texts}) if texts else rubric
