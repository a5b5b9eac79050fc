"""Advise on a weak task: rules over its numbers, each saying which numbers it saw."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tasks.reporting.content.tables import RawRow
from tasks.runs.answers import ScoredItem
from tasks.text.number_format import count, counted, number, percent, share_of, shorten

UNPARSED_SHARE = 0.10
LANGUAGE_GAP = 0.15
MIN_GROUP = 10
"""Fewer items per language say nothing about a difference."""

LABEL_LENGTH = 60
MIN_CONFUSIONS = 3
WIDE_POINTS = 20.0
AIM_HALF_WIDTH = 5.0
LANGUAGES = {"en": "English", "zh": "Chinese"}


@dataclass(frozen=True)
class Diagnosis:
    """One dataset of a weak task: its main number and the answers behind it."""

    raw: RawRow
    answers: tuple[ScoredItem, ...]


@dataclass(frozen=True)
class AdviceOptions:
    """What the plan asked for: items of each dataset and the reply limit in tokens that the plan sets; null if it sets none.

    `broken`: instruments that failed, in words, by dataset.
    """

    samples: Mapping[str, int]
    max_tokens: int | None
    broken: Mapping[str, str] = field(default_factory=dict)


def advise(diagnoses: tuple[Diagnosis, ...], options: AdviceOptions) -> tuple[str, ...]:
    """Return findings about every dataset of a weak task with a score."""
    broken = dict.fromkeys(options.broken.get(diagnosis.raw.path.dataset) for diagnosis in diagnoses)
    step = "Mend it first: the score says more about it than about the model."
    findings = [f"An instrument failed: {words}. {step}" for words in broken if words]
    for diagnosis in diagnoses:
        findings += _on_format(diagnosis, options)
        findings += _on_guessing(diagnosis)
        findings += _on_languages(diagnosis)
        findings += _on_confusion(diagnosis)
        findings += _on_precision(diagnosis, options)
    return tuple(findings)


def _on_format(diagnosis: Diagnosis, options: AdviceOptions) -> Iterator[str]:
    raw = diagnosis.raw
    share = share_of(raw.n_unparsed, raw.n_scored)
    if share is None or share < UNPARSED_SHARE:
        return
    cut_off = sum(answer.was_cut_off for answer in diagnosis.answers if answer.score["status"] == "unparsed")
    seen = f"{raw.path.title}: unreadable replies: {count(raw.n_unparsed)} of {count(raw.n_scored)} ({percent(share)})"
    if 2 * cut_off >= raw.n_unparsed:
        limit = f"Raise max_tokens (now {count(options.max_tokens)})." if options.max_tokens else "Compare the replies below."
        step = f", {count(cut_off)} of them cut off at the token limit. {limit}"
    else:
        step = ". Check the chat template and that the model follows the format it is told; compare the replies below."
    yield f"{seen}{step}"


def _on_guessing(diagnosis: Diagnosis) -> Iterator[str]:
    raw = diagnosis.raw
    readable = raw.n_scored - raw.n_unparsed
    if raw.path.spec.metric != "accuracy" or raw.baselines.constant is None or raw.value is None or not readable:
        return
    to_beat, always = raw.baselines.constant.share, f"always answering {raw.baselines.constant.answer}"
    if raw.baselines.majority and raw.baselines.majority.share > to_beat:
        to_beat, always = raw.baselines.majority.share, f"always choosing {shorten(raw.baselines.majority.answer, LABEL_LENGTH)}"
    # Unreadable replies count as wrong; whether the others beat a constant answer is another question.
    accuracy = raw.value * raw.n_scored / readable
    among = f" among the {counted(readable, 'readable reply', 'readable replies')}" if raw.n_unparsed else ""
    seen = f"{raw.path.title}: an accuracy of {number(accuracy, 3)}{among}"
    always = f"{always} ({number(to_beat, 3)})"
    if accuracy <= to_beat:
        yield (
            f"{seen} is no better than {always}. There is no sign yet that the model understands the question: it may be "
            "guessing or preferring a position."
        )
    elif not raw.n_unparsed and raw.ci_low is not None and raw.ci_low <= to_beat:
        yield (
            f"{seen} cannot be told from {always}: its interval begins at {number(raw.ci_low, 3)}. Treat it as guessing until "
            "more items say otherwise."
        )


def _on_languages(diagnosis: Diagnosis) -> Iterator[str]:
    groups: dict[str, list[float]] = {}
    for answer in diagnosis.answers:
        if answer.points is not None:
            groups.setdefault(answer.item["language"], []).append(answer.points)
    means = {name: sum(values) / len(values) for name, values in groups.items() if len(values) >= MIN_GROUP}
    if not means:
        return
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if means[high] - means[low] >= LANGUAGE_GAP:
        yield (
            f"{diagnosis.raw.path.title}: {LANGUAGES[low]} items do worse than {LANGUAGES[high]} ones ({number(means[low], 0)} "
            f"against {number(means[high], 0)} of 100 per item). Look at the {LANGUAGES[low]} replies first."
        )


def _on_confusion(diagnosis: Diagnosis) -> Iterator[str]:
    pairs: Counter[tuple[str, str]] = Counter()
    for answer in diagnosis.answers:
        gold, predicted = answer.score["gold"], answer.score["predicted"]
        if gold and predicted and len(gold) == len(predicted) == 1 and gold != predicted:
            pairs[gold[0], predicted[0]] += 1
    if not pairs:
        return
    names, times = min(pairs.items(), key=lambda entry: (-entry[1], entry[0]))
    gold, predicted = (shorten(name, LABEL_LENGTH) for name in names)
    if times >= MIN_CONFUSIONS:
        yield f"{diagnosis.raw.path.title}: the commonest mistake is {gold} taken for {predicted} ({times} times)."


def _on_precision(diagnosis: Diagnosis, options: AdviceOptions) -> Iterator[str]:
    raw = diagnosis.raw
    if raw.interval_0_100 is None or (spread := raw.interval_0_100.high - raw.interval_0_100.low) <= WIDE_POINTS:
        return
    # An interval narrows with the square root of the number of items.
    needed = math.ceil(raw.n_scored * (spread / 2 / AIM_HALF_WIDTH) ** 2)
    seen = f"{raw.path.title}: the interval spans {number(spread, 0)} points on {counted(raw.n_scored, 'item')}"
    if raw.n_total < options.samples[raw.path.dataset]:
        step = "The dataset has no more items; add a second dataset to the task."
    else:
        step = f"About {count(needed)} items would narrow it to plus or minus {number(AIM_HALF_WIDTH, 0)}; raise --sample."
    yield f"{seen}. {step}"
