"""What a model says of the whole conversation, against the person: mood afterwards (PANAS), four questions, four branches.

Source: AttuneBench 1.0 (totals are sums of the items; Q1 is intersection over union); for the rest the public port of its scorer.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from tasks.benchmarks.attunebench.conversation import Panas, PanasTotals, WideAnswers
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.values import read_scale
from tasks.benchmarks.attunebench.metrics.choices import jaccard
from tasks.benchmarks.attunebench.metrics.emotions import SPAN, Values
from tasks.benchmarks.attunebench.metrics.replies import CHANGES, ITEMS, Reply, read_items, read_phrases, read_text
from tasks.benchmarks.attunebench.metrics.rules import Rules

SPAN_OF_TOTAL = 60
ABSENT_TOTAL, ABSENT_BRANCH = 40, 4
"""What stands in for them in the port."""

LEAST_ALIKE, UNKNOWN_LEVEL = 0.3, 3.0


def panas_values(before: Panas, after: Panas, reply: Reply, rules: Rules) -> Values:
    """Score the predicted mood, in [0, 1]; the baseline-adjusted values in [-1, 1], 0 being the mood before."""
    said, book = read_items(reply, before.items), load_codebook()
    # A change of what the person did not say before comes to nothing that could be compared.
    changes = ITEMS not in reply and CHANGES in reply and rules.unread == "worst"
    unknown = book.adjectives.keys() - before.items.keys() if changes else frozenset[str]()
    items = {name: true for name, true in after.items.items() if name not in unknown}
    scored = [(name, true) for name, true in items.items() if name in said or rules.unread == "worst"]
    errors = [_error(said.get(name), true, SPAN) for name, true in scored]
    apart, skills = list[float](), list[float | None]()
    for sign in ("positive", "negative"):
        names: Collection[str] = getattr(book, sign)
        post = _total(after, sign, rules) if unknown.isdisjoint(names) else None
        predicted, silent = book.total(sign, said), said.keys().isdisjoint(names)
        if rules.unread == "lenient" and not silent:
            predicted = sum(said[name] for name in names if name in said)
        skills.append(_skill(_total(before, sign, rules), post, predicted, rules))
        if rules.empty == "counted" and not (silent and post is None):
            post, predicted = (ABSENT_TOTAL if post is None else post), (ABSENT_TOTAL if silent else predicted)
        if post is not None:
            apart.append(_error(predicted, post, SPAN_OF_TOTAL))
    return {
        "panas_normalized": 1 - fmean(apart) / SPAN_OF_TOTAL if apart else None,
        "panas_item_normalized": 1 - fmean(errors) / SPAN if errors else None,
        "panas_item_mae": fmean(errors) if errors else None,
        "panas_baseline_adjusted": _mean(skills),
        "panas_item_baseline_adjusted": _mean(
            _skill(before.items.get(name), true, said.get(name), rules) for name, true in scored
        ),
    }


def _total(panas: Panas, sign: str, rules: Rules) -> float | None:
    """Return a total of the person's: of all its items, else as stored; or as stored, else of the items that are there."""
    totals: list[float | None] = [getattr(one or PanasTotals(), sign) for one in (panas.recomputed, panas.stored)]
    summed, stored = totals
    if rules.totals == "items":
        return stored if summed is None else summed
    given = [panas.items[name] for name in getattr(load_codebook(), sign) if name in panas.items]
    return stored if stored is not None else min(max(sum(given), 10), 70) if given else None


def _error(said: float | None, true: float, worst: int) -> float:
    return worst if said is None else abs(said - true)


def _skill(before: float | None, after: float | None, said: float | None, rules: Rules) -> float | None:
    """Return 1 - error / change, at least -1, which an unread prediction has; null where nothing changed or is known.

    Under lenient rules nothing is known of an unread prediction.
    """
    if before is None or after is None or before == after or (said is None and rules.unread == "lenient"):
        return None
    return -1.0 if said is None else max(1 - abs(after - said) / abs(after - before), -1.0)


def question_values(gold: WideAnswers, said: Mapping[str, Any], fits: Sequence[str], rules: Rules) -> Values:
    """Score Q1 to Q3 and the follow-up, in [0, 1]; `q3_distance` in levels from 0 to 3.

    `said` is by the names of the record. Unless `fits`, the options of Q3, are the official ones, no two have a distance.
    """
    if gold == WideAnswers() and rules.empty == "left_out":
        return {}
    levels = load_codebook().levels(fits)
    clear, fit = (read_text(said.get(name)) for name in ("q2_emotionClarity", "q3_modelFit"))
    sought, off = (read_phrases(said.get(name)) for name in ("q1_lookingFor", "q3_followUp_whatFeltOff"))
    chosen = read_text(gold.q3)
    return {
        "q1_score": _compare(read_phrases(gold.q1), sought, jaccard if rules.q1 == "jaccard" else _set_f1, rules),
        "q2_score": _compare(read_text(gold.q2), clear, _same, rules),
        "q3_score": _compare(chosen, fit, _same, rules),
        "q3_distance": _distance(levels.get(chosen), levels.get(fit or "")) if chosen and levels else None,
        "q3_followup_score": _compare(read_phrases(gold.follow_up), off, phrase_f1, rules),
    }


def _compare(gold: Any, said: Any, measure: Callable[[Any, Any], float], rules: Rules) -> float | None:
    if gold is None and rules.empty == "left_out":
        return None
    return 0.0 if said is None and rules.unread == "worst" else measure(gold or "", said or "")


def _same(one: str, other: str) -> float:
    return float(one == other)


def _set_f1(gold: Sequence[str], said: Sequence[str]) -> float:
    here, there = set(gold), set(said)
    return 2 * len(here & there) / (len(here) + len(there)) if here or there else 1.0


def phrase_f1(gold: Sequence[str], said: Sequence[str]) -> float:
    """Return F1 of what phrases earn: 1 if the other side has it, else the likest one's shared tokens if that is 0.3 or more."""
    if not gold or not said:
        return float(not gold and not said)
    recall, precision = _earned(gold, said), _earned(said, gold)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _earned(phrases: Sequence[str], others: Sequence[str]) -> float:
    best = (1.0 if one in others else max(jaccard(one.split(), other.split()) for other in others) for one in set(phrases))
    return fmean(share if share >= LEAST_ALIKE else 0.0 for share in best)


def _distance(one: int | None, other: int | None) -> float:
    """Return how many levels lie between two; 3 if one of them is unknown, 0 if both are."""
    return 0.0 if one == other else UNKNOWN_LEVEL if one is None or other is None else abs(one - other)


def branch_values(gold: Mapping[str, int | None], said: Any, rules: Rules) -> Values:
    """Score the ratings of the four branches, in [0, 1], over those that the person gave."""
    ratings = said if isinstance(said, dict) else {}
    read = {name: read_scale(ratings.get(name)) for name in gold}
    unread = ABSENT_BRANCH if rules.unread == "lenient" else None
    each = {
        f"branch_{name}": 1 - _error(unread if read[name] is None else read[name], true, SPAN) / SPAN
        for name, true in gold.items()
        if true is not None
    }
    return {"four_branch_score": fmean(each.values()) if each else 1.0 if rules.empty == "counted" else None, **each}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
