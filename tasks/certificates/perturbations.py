"""Change texts that people rated, to see what else than the answer moves a judge: changes, checks with limits, what to ask."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import count, cycle
from textwrap import indent
from typing import Any, NamedTuple

import dataframely as dy

from schemas.base import Frozen
from schemas.errors import unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.tables.ratings import RatedTexts
from schemas.usage import TESTED
from schemas.vocabulary import Language
from tasks.judging.answers import Rated
from tasks.judging.rubrics import Dimension, Rubric


class Check(Frozen):
    """A way to move a judge. `limits`: rule by figure, and the number in it; `needs`: what else than a text, in words."""

    limits: dict[str, tuple[str, float]]
    needs: str = ""
    by_dimension: bool = True


class Perturbations(Frozen):
    """Checks, families of models that an answer may claim to be, what a judge of two answers rates, and texts by language."""

    checks: dict[str, Check]
    models: tuple[str, ...]
    preferred: Dimension
    texts: dict[Language, dict[str, Any]]


@cache
def load_perturbations() -> Perturbations:
    """Return data/perturbations.yaml."""
    return Perturbations.model_validate(read_yaml(read_text(DATA_FOLDER / "perturbations.yaml")))


RELEVANCE = "relevan"  # in the name of a dimension in which an answer to something else is bad
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])\s*(?=[^\s。！？”’」』）])")
_HALF, _FULL = ",!?:;()", "，！？：；（）"


def change(check: str, replies: Sequence[str], language: Language, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield what a check makes of replies, by variant; the seed chooses the texts. Of other checks there is nothing."""
    bank, n = load_perturbations().texts[language], len(replies)
    match check:
        case "format":
            yield from _layouts(replies, language)
        case "length":
            yield "", [*_lengthened(replies, bank, seed)]
        case "flipped_turn":
            places = {n // 2: "middle", 0: "first", n - 1: "last"}
            for kind, texts in (("", bank["dismissive"]), ("control ", bank["supportive"])):
                for at, name in places.items():
                    yield f"{kind}{name}", [*replies[:at], texts[seed % len(texts)], *replies[at + 1 :]]
        case "injection":
            yield from ((name, [*replies[:-1], f"{replies[-1]}\n\n{text}"]) for name, text in bank["injection"].items())
        case "floor":
            yield from ((name, [text] * n) for name, text in bank["floor"].items())
        case "name":
            said = ((model, bank["name"].format(model=model)) for model in load_perturbations().models)
            yield from ((model, [text + replies[0], *replies[1:]]) for model, text in said)


def _layouts(replies: Sequence[str], language: Language) -> Iterator[tuple[str, list[str]]]:
    """Yield the same words in other layouts. Chinese punctuation becomes full-width, or half-width where it all was full."""
    yield "blank_lines", [_BETWEEN_SENTENCES.sub("\n\n", reply) for reply in replies]
    yield "doubled_spaces", [reply.replace(" ", "  ") for reply in replies]
    yield "indented_lines", [indent(reply, "    ") for reply in replies]
    if language == "zh":
        wide, narrow = ([reply.translate(to) for reply in replies] for to in map(str.maketrans, (_HALF, _FULL), (_FULL, _HALF)))
        yield ("half_width", narrow) if wide == list(replies) else ("full_width", wide)


def _lengthened(replies: Sequence[str], bank: Mapping[str, Any], seed: int) -> Iterator[str]:
    """Yield replies with neutral sentences, until half as many characters are added; the bank begins again where it ends."""
    whole, added, places = 0, 0, count(seed)
    for reply in replies:
        text, whole = reply, whole + len(reply)
        while 2 * added < whole:
            sentence = bank["gap"] + bank["neutral"][next(places) % len(bank["neutral"])]
            text, added = text + sentence, added + len(sentence)
        yield text


def _helper(turns: Sequence[Mapping[str, Any]]) -> str:
    """Return the model under test; in a dialogue without it, who does not begin."""
    speakers = [str(turn["speaker"]) for turn in turns]
    return TESTED if TESTED in speakers else next((name for name in speakers if name != speakers[0]), speakers[0])


def replies_of(content: Rated) -> list[str]:
    """Return a text, or the helper's replies."""
    return [content] if isinstance(content, str) else [turn["text"] for turn in content if turn["speaker"] == _helper(content)]


def put_replies(content: Rated, replies: Sequence[str]) -> Rated:
    """Return a text or a dialogue with other replies by the helper, which begin again where they are fewer."""
    if isinstance(content, str):
        return replies[0]
    helper, texts = _helper(content), cycle(replies)
    return [{**turn, "text": next(texts)} if turn["speaker"] == helper else turn for turn in content]


class Ask(NamedTuple):
    """What a judge is asked to rate: the row of the text that it comes from, the change, and what is shown."""

    unit: int
    perturbation: str
    variant: str
    content: Rated
    repetition: int = 0


def plan_asks(texts: dy.DataFrame[RatedTexts], rubric: Rubric, checks: Sequence[str], seed: int, sample: int) -> list[Ask]:
    """Return all texts as they are, and what the checks ask about up to `sample` of them; a change without effect is left out.

    Each cluster gives one text, then a second one, and so on; `seed` draws them. `repeat` takes the five repetitions in which
    the dimensions stand in the first order, `dimension_order` each order once. UsageError: there is no such check.
    """
    known = load_perturbations().checks
    if unknown := [name for name in checks if name not in known]:
        raise unknown_name("check", unknown[0], known, "--checks", "give all, none or names")
    rows = texts.to_dicts()
    names = ("\0".join([str(seed), row["source"], row["system"], row["unit_id"]]) for row in rows)
    seeds = [int(sha256(name.encode()).hexdigest(), 16) for name in names]
    rounds = defaultdict[str, "count[int]"](count)
    order = sorted(range(len(rows)), key=seeds.__getitem__)
    drawn = sorted(order, key=lambda unit: next(rounds[rows[unit]["cluster_id"]]))
    orders = len(rubric.names) if rubric.ask == "together" else 1
    again = {*range(1, orders if "dimension_order" in checks else 0)}
    again |= {*range(orders, 5 * orders if "repeat" in checks else 0, orders)}
    asks = [Ask(unit, "", "", row["turns"] or row["text"]) for unit, row in enumerate(rows)]
    for unit in drawn[:sample]:
        row, content = rows[unit], asks[unit].content
        asks += [Ask(unit, "", "", content, repetition) for repetition in sorted(again)]
        for check in checks if row["turns"] else [name for name in checks if name != "flipped_turn"]:
            changed = change(check, replies_of(content), row["language"], seeds[unit])
            put = ((variant, put_replies(content, replies)) for variant, replies in changed)
            asks += [Ask(unit, check, variant, shown) for variant, shown in put if shown != content]
        if "wrong_answer" in checks and (other := _other_answer(unit, drawn, rows, rubric)) is not None:
            asks.append(Ask(unit, "wrong_answer", "", put_replies(content, replies_of(asks[other].content))))
        asks += [Ask(unit, "wording", name, content) for name in ("strict", "lenient") if "wording" in checks]
    for pair in _pairs(rows, drawn)[: sample if "answer_order" in checks else 0]:
        for name, both in (("first", pair), ("second", pair[::-1])):
            shown = "ANSWER 1\n{}\n\nANSWER 2\n{}".format(*(rows[unit]["text"] for unit in both))
            asks.append(Ask(pair[0], "answer_order", name, shown))
    return asks


def _other_answer(unit: int, drawn: Sequence[int], rows: Sequence[Mapping[str, Any]], rubric: Rubric) -> int | None:
    """Return the next answer of another cluster, of the same kind; null where nothing shows that it is wrong."""
    row, at = rows[unit], drawn.index(unit)
    shown = row["turns"] or ("SOURCE" in rubric.texts and row["context"]) or ("TASK" in rubric.texts and row["question"])
    shown = shown and any(RELEVANCE in name for name in rubric.names)
    others = [other for other in (*drawn[at + 1 :], *drawn[:at]) if shown and rows[other]["language"] == row["language"]]
    others = [other for other in others if bool(rows[other]["turns"]) == bool(row["turns"])]
    return next((at for at in others if rows[at]["cluster_id"] != row["cluster_id"] and rows[at]["text"] != row["text"]), None)


def _pairs(rows: Sequence[Mapping[str, Any]], drawn: Sequence[int]) -> list[tuple[int, int]]:
    """Return two systems' answers to each item: a question with its context in a cluster; where both are missing, a unit."""
    items = defaultdict[tuple[str | None, ...], dict[str, int]](dict)
    for unit in drawn:
        cluster, language, *asked = (rows[unit][name] for name in ("cluster_id", "language", "context", "question"))
        item = (cluster, language, *asked, "" if any(asked) else rows[unit]["unit_id"])
        items[item].setdefault(rows[unit]["system"], unit)
    return [(first, second) for first, second, *_ in (units.values() for units in items.values() if len(units) > 1)]


def asked_rubric(ask: Ask, rubric: Rubric) -> Rubric:
    """Return the rubric of a request: as it is, in another wording, or for two answers, of which 1 or 2 is `preferred`."""
    wording = {"answer_order": "pairwise", "wording": ask.variant}.get(ask.perturbation)
    if wording is None:
        return rubric
    known, changes = load_perturbations(), dict[str, Any]()
    if wording == "pairwise":
        changes = {"dimensions": (known.preferred,), "anchors": None, "bands": None, "faults": {}, "layout": "plain"}
    texts = {name: f"{text.rstrip()}\n\n{known.texts[name]['wording'][wording]}" for name, text in rubric.instruction.items()}
    return rubric.model_copy(update={"instruction": texts, **changes})
