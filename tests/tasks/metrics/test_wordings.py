"""Wordings of replies, filled with items of real datasets: what any person reads is read, and what is no answer is none.

Options can make a plain wording arguable. Whether they do follows from the item and the template alone, before anything is read:

* An option is named by its text alone, and that text holds another option's or is held by it, says yes or no or denies something,
  or is or joins letters of options ("C", "both A and B"): the wording counts as EITHER.
* Letter and text are named, and some option of the item is or joins letters: EITHER.
* A word of the template is also the name of an option ("AI: B" where there are 41 of them): not filled with this item.
* A wording that denies, withdraws, asks, reports or declines is filled with items of which no option says yes or no or denies.

Items whose options hold a line break or a bar, are equal, or are longer than 300 characters are not filled in: no template shows
them as they stand.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from schemas.letters import option_letters
from tasks.datasets.catalogue import find_dataset
from tasks.metrics.answer_forms import Question, read_answer
from tests.flows.scripted import built
from tests.mirror import MIRROR, needs_mirror, ready
from tests.tasks.metrics import wordings

SINGLES = (
    *("bbq", "ag_news", "mnli", "copa", "mutual", "logiqa", "hellaswag", "cosmos_qa", "piqa", "mmlu_pro", "emobench1"),
    *("safetybench_ethics_morality", "safetybench_mental_health", "safetybench_privacy_property", "thucnews", "ocnli", "cmmlu"),
    *("moodbench1", "moodbench2", "moodbench4", "cped"),
)
BUNDLED_SINGLES = (
    *("mini_commonsense_qa", "mini_coarse_emotion_recognition", "mini_emotion_cause_analysis", "mini_textual_entailment"),
    *("mini_complex_logical_reasoning", "mini_content_safety", "mini_daily_scenario_qa", "mini_simple_causal_reasoning"),
)
SAMPLE = 40
"""Items taken from each dataset, spread over all of it; every wording meets another of them."""

LEAST_READ = 0.99
LONGEST = 300
LETTERS = re.compile(
    r"\W*([A-Z])\W*|.*\b[A-Z]\W*(?:and|or|,|、|和|与|或|&|/)\W*[A-Z]\b.*|.*(?:of the above|以上|above choices).*", re.DOTALL
)
SAYS_NO = re.compile(
    r"\b(?:no|not|non|none|never|neither|nor|nothing|nobody|cannot|without|unable|yes|true|false|wrong|incorrect|correct|right|"
    r"unknown|undetermined|unclear|insufficient|lack\w*|dis\w+|deny|denies|denied|\w+n\s?['’]t)\b|[不没沒无無非否错錯未别對对]|是。|正确|都",
    re.IGNORECASE,
)
CURLY = str.maketrans({"'": "’", "’": "'", '"': "”", "”": '"', "“": '"', "-": "–", "–": "-", "，": ",", ",": "，"})
PLACE = re.compile(r"\{([a-z_]+)\}(?=([.。,，;；:：!！?？])?)")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
BY_LETTER = {"letter", "lower", "wide", "circled", "bold"}
SHOWS_OPTIONS = {"text", "other_text", "typed", "small_text", "json_text", "listing", "rejected", "verdicts"}
WORDS = {
    "en": ("the text does not support it", "incorrect, the text does not support it", "correct, this is what the text says"),
    "zh": ("原文没有依据", "不正确，原文没有依据", "正确，符合原文"),
}
"""Of an option: why it is rejected, what is said of a wrong one, and of the right one."""


class Outcome(NamedTuple):
    """A wording filled with an item, what it has to be read as, and what it was read as."""

    kind: str
    template: str
    dataset: str
    options: Sequence[str]
    reply: str
    expected: Sequence[int]
    read: Sequence[int | str] | None
    """The options read, in order; the name of an exception if a reader raised one."""

    @property
    def verdict(self) -> str:
        """What became of it."""
        if self.read is None:
            return "refused"
        return "read" if self.kind != "refuse" and tuple(self.read) == tuple(self.expected) else "misread"


def questions(name: str) -> list[Question]:
    """Items of a dataset that templates can be filled with."""
    rows = built(find_dataset(name), MIRROR if MIRROR.is_dir() else None).items
    asked = (Question.from_row(row) for row in rows.iter_rows(named=True))
    return [question for question in asked if question.form == "letter" and _fits(question.options)]


def spread(asked: Sequence[Question]) -> Sequence[Question]:
    """Some of these, spread over all."""
    return asked[:: max(1, len(asked) // SAMPLE)]


def language_of(question: Question) -> str:
    return "zh" if re.search(r"[\u3400-\u9fff]", "".join(question.options)) else "en"


def _fits(options: Sequence[str]) -> bool:
    texts = [text.strip() for text in options]
    return len(set(texts)) == len(texts) > 1 and all(
        text and len(text) <= LONGEST and not set("\n|") & set(text) for text in texts
    )


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@cache
def joins_letters(options: Sequence[str]) -> bool:
    return any(LETTERS.fullmatch(text.strip()) for text in options)


@cache
def denies(options: Sequence[str]) -> bool:
    return any(SAYS_NO.search(text) for text in options)


@cache
def contains_another(options: Sequence[str]) -> bool:
    bare = [_bare(text) for text in options]
    return any(one in other for place, one in enumerate(bare) for other in bare[:place] + bare[place + 1 :])


def places_of(template: str) -> set[str]:
    return {match[1] for match in PLACE.finditer(template)}


def is_arguable(template: str, options: Sequence[str]) -> bool:
    """Say whether the options make a plain wording arguable, by the rule above."""
    places = places_of(template)
    if not places & BY_LETTER:
        return joins_letters(options) or denies(options) or contains_another(options)
    return joins_letters(options) and bool(places & SHOWS_OPTIONS)


def shows_a_label(template: str, options: Sequence[str]) -> bool:
    """Say whether a template has a word that is also the name of an option."""
    return not set(re.findall(r"\b[A-Z]{2}\b", template)).isdisjoint(option_letters(len(options)))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill a template; a text that ends in a full stop loses it before another mark."""
    return PLACE.sub(lambda match: values[match[1]].rstrip(".。") if match[2] else values[match[1]], template)


def single_values(options: Sequence[str], chosen: int, other: int) -> dict[str, str]:
    """What stands at each place of a template about one option."""
    letters, texts = option_letters(len(options)), [text.strip() for text in options]
    why_not, wrong, right = WORDS["zh" if re.search(r"[\u3400-\u9fff]", "".join(options)) else "en"]
    lines = [f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True)]
    place = ord(letters[chosen]) - ord("A")
    return {
        "letter": letters[chosen],
        "text": texts[chosen],
        "other": letters[other],
        "other_text": texts[other],
        "outside": option_letters(len(options) + 1)[-1],
        "lower": letters[chosen].lower(),
        "wide": chr(0xFF21 + place),
        "circled": chr(0x24B6 + place),
        "bold": chr(0x1D400 + place),
        "ordinal": ORDINALS[min(chosen, 9)],
        "ordinal_zh": "一二三四五六七八九十"[min(chosen, 9)],
        "json_text": json.dumps(texts[chosen], ensure_ascii=False)[1:-1],
        "typed": texts[chosen].translate(CURLY),
        "small_text": texts[chosen].lower(),
        "listing": "\n".join(lines),
        "rejected": "\n".join(f"- {line}: {why_not}" for index, line in enumerate(lines) if index != chosen),
        "verdicts": "\n".join(f"- {line}: {right if index == chosen else wrong}" for index, line in enumerate(lines)),
    }


def read(question: Question, reply: str, *, cut: bool = False) -> Sequence[int | str] | None:
    try:
        answer = read_answer(question, reply, cut=cut)
    except Exception as error:  # noqa: BLE001 - whatever a reader raises is a failure of this wording, not the end of all
        return (type(error).__name__,)
    return None if answer is None else answer.indices


CLASSES: Sequence[tuple[str, Mapping[str, Iterable[str]], bool]] = (
    ("plain", wordings.PLAIN, False),
    ("refuse", wordings.NOTHING, False),
    ("denied", wordings.DENIED, False),
    ("refuse", wordings.CUT_REFUSED, True),
    ("either", wordings.EITHER, False),
    ("either", wordings.CUT_EITHER, True),
)
SINGLE_WORDINGS = [
    (kind, language, template, cut)
    for kind, by_language, cut in CLASSES
    for language, templates in by_language.items()
    for template in templates
]


def single_outcomes(names: Sequence[str]) -> Iterator[Outcome]:
    """Every wording about one option with an item of each dataset in its language."""
    for shift, name in enumerate(names):
        asked = spread(questions(name))
        quiet = [question for question in asked if not denies(question.options)]
        for number, (kind, language, template, cut) in enumerate(SINGLE_WORDINGS):
            fit = quiet if kind == "denied" else asked
            if not fit:
                continue
            question = fit[(number + 7 * shift) % len(fit)]
            if language not in {"any", language_of(question)} or shows_a_label(template, question.options):
                continue
            size = min(len(question.options), 26)
            chosen = (number // len(fit) + number + shift) % size
            other = (chosen + 1 + number % (size - 1)) % size
            reply = fill(template, single_values(question.options, chosen, other))
            demanded = "refuse" if kind == "denied" else kind
            if kind == "plain" and is_arguable(template, question.options):
                demanded = "either"
            found = read(question, reply, cut=cut)
            yield Outcome(demanded, template, name, question.options, reply, (chosen,), found)


def failures(outcomes: Sequence[Outcome], kind: str, verdict: str) -> dict[str, str]:
    """Template -> what went wrong with one of its fillings."""
    wrong = [outcome for outcome in outcomes if (outcome.kind, outcome.verdict) == (kind, verdict)]
    return {
        outcome.template: f"{outcome.reply!r} of {list(outcome.options)} ({outcome.dataset}) was read as {outcome.read}"
        for outcome in reversed(wrong)
    }


@pytest.fixture(scope="module", params=["some", pytest.param("others", marks=[pytest.mark.long, needs_mirror])])
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    """All that is filled, from the mirror if there is one."""
    if request.param == "others":
        return list(single_outcomes([name for name in ready() if name not in SINGLES]))
    return list(single_outcomes(SINGLES if MIRROR.is_dir() else BUNDLED_SINGLES))


def test_no_wording_is_read_as_another_answer(outcomes: list[Outcome]) -> None:
    assert failures(outcomes, "plain", "misread") == {}
    assert failures(outcomes, "either", "misread") == {}


def test_plain_wordings_are_read(outcomes: list[Outcome]) -> None:
    plain = [outcome for outcome in outcomes if outcome.kind == "plain"]
    read_well = sum(outcome.verdict == "read" for outcome in plain)
    assert read_well >= LEAST_READ * len(plain), failures(outcomes, "plain", "refused")


def test_what_is_no_answer_is_not_read(outcomes: list[Outcome]) -> None:
    assert failures(outcomes, "refuse", "misread") == {}
