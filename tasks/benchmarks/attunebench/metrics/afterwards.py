"""What a model infers of the whole conversation, against the person: mood afterwards (PANAS), four questions, four branches.

Source: AttuneBench 1.0 (totals are sums of the items; Q1 is intersection over union); for the rest the public port of its scorer.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import eq
from statistics import fmean
from typing import Any

from tasks.benchmarks.attunebench.conversation import Panas, PanasTotals, WideAnswers
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook, read_scale
from tasks.benchmarks.attunebench.metrics.replies import CHANGES, ITEMS, Reply, read_items, read_phrases, read_text
from tasks.benchmarks.attunebench.metrics.rules import Rules
from tasks.benchmarks.attunebench.metrics.turns import SPAN, Values, jaccard

SPAN_OF_TOTAL = 60
ABSENT_TOTAL, ABSENT_BRANCH = 40, 4
"""What stands in for them in the port."""

LEAST_ALIKE, UNKNOWN_LEVEL = 0.3, 3.0


def panas_values(before: Panas, after: Panas, reply: Reply, rules: Rules) -> Values:
    """Score the predicted mood, in [0, 1]; the baseline-adjusted values in [-1, 1], 0 being the mood before."""
    predicted, book = read_items(reply, before.items), load_codebook()
    # A change of an item that the person did not rate before comes to nothing that could be compared.
    changes = ITEMS not in reply and CHANGES in reply and rules.unread == "worst"
    unknown = book.adjectives.keys() - before.items.keys() if changes else frozenset[str]()
    scored = [
        (name, true)
        for name, true in after.items.items()
        if name not in unknown and (name in predicted or rules.unread == "worst")
    ]
    errors = [_error(predicted.get(name), true, SPAN) for name, true in scored]
    total_errors, skills = list[float](), list[float | None]()
    for sign in ("positive", "negative"):
        names: Collection[str] = getattr(book, sign)
        true_total = _total(after, sign, rules) if unknown.isdisjoint(names) else None
        total, absent = book.total(sign, predicted), predicted.keys().isdisjoint(names)
        if rules.unread == "lenient" and not absent:
            total = sum(predicted[name] for name in names if name in predicted)
        skills.append(_skill(_total(before, sign, rules), true_total, total, rules))
        if rules.empty == "counted" and not (absent and true_total is None):
            true_total, total = (ABSENT_TOTAL if true_total is None else true_total), (ABSENT_TOTAL if absent else total)
        if true_total is not None:
            total_errors.append(_error(total, true_total, SPAN_OF_TOTAL))
    return {
        "panas_normalized": 1 - fmean(total_errors) / SPAN_OF_TOTAL if total_errors else None,
        "panas_item_normalized": 1 - fmean(errors) / SPAN if errors else None,
        "panas_item_mae": fmean(errors) if errors else None,
        "panas_baseline_adjusted": mean(skills),
        "panas_item_baseline_adjusted": mean(
            _skill(before.items.get(name), true, predicted.get(name), rules) for name, true in scored
        ),
    }


def _total(panas: Panas, sign: str, rules: Rules) -> float | None:
    """Return a total of the person's: of all its items, else as stored; or as stored, else of the items that are there."""
    totals: list[float | None] = [getattr(of or PanasTotals(), sign) for of in (panas.recomputed, panas.stored)]
    summed, stored = totals
    if rules.totals == "items":
        return stored if summed is None else summed
    items = [panas.items[name] for name in getattr(load_codebook(), sign) if name in panas.items]
    return stored if stored is not None else min(max(sum(items), 10), 70) if items else None


def _error(predicted: float | None, true: float, worst: int) -> float:
    return worst if predicted is None else abs(predicted - true)


def _skill(before: float | None, after: float | None, predicted: float | None, rules: Rules) -> float | None:
    """Return 1 - error / change, at least -1, which an unread prediction has; null where nothing changed or is known.

    Under lenient rules an unread prediction has no skill.
    """
    if before is None or after is None or before == after or (predicted is None and rules.unread == "lenient"):
        return None
    return -1.0 if predicted is None else max(1 - abs(after - predicted) / abs(after - before), -1.0)


def question_values(gold: WideAnswers, answers: Mapping[str, Any], fits: Sequence[str], rules: Rules) -> Values:
    """Score Q1 to Q3 and the follow-up, in [0, 1]; `q3_distance` in levels from 0 to 3.

    The model's `answers` are by the names of the record. Unless `fits`, the options of Q3, are the official ones, no two have a
    distance.
    """
    if gold == WideAnswers() and rules.empty == "left_out":
        return {}
    levels = load_codebook().levels(fits)
    clear, fit = (read_text(answers.get(name)) for name in ("q2_emotionClarity", "q3_modelFit"))
    sought, off = (read_phrases(answers.get(name)) for name in ("q1_lookingFor", "q3_followUp_whatFeltOff"))
    gold_fit = read_text(gold.q3)
    return {
        "q1_score": _compare(read_phrases(gold.q1), sought, jaccard if rules.q1 == "jaccard" else _set_f1, rules),
        "q2_score": _compare(read_text(gold.q2), clear, eq, rules),
        "q3_score": _compare(gold_fit, fit, eq, rules),
        "q3_distance": _distance(levels.get(gold_fit), levels.get(fit or "")) if gold_fit and levels else None,
        "q3_followup_score": _compare(read_phrases(gold.follow_up), off, phrase_f1, rules),
    }


def _compare(gold: Any, answer: Any, measure: Callable[[Any, Any], float], rules: Rules) -> float | None:
    if gold is None and rules.empty == "left_out":
        return None
    return 0.0 if answer is None and rules.unread == "worst" else float(measure(gold or "", answer or ""))


def _set_f1(phrases: Sequence[str], others: Sequence[str]) -> float:
    first, second = set(phrases), set(others)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


def phrase_f1(gold: Sequence[str], phrases: Sequence[str]) -> float:
    """Return F1 of what phrases earn: 1 if the other side has it, else the likest one's shared tokens if that is 0.3 or more."""
    if not gold or not phrases:
        return float(not gold and not phrases)
    recall, precision = _earned(gold, phrases), _earned(phrases, gold)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _earned(phrases: Sequence[str], others: Sequence[str]) -> float:
    best = (
        1.0 if phrase in others else max(jaccard(phrase.split(), other.split()) for other in others) for phrase in set(phrases)
    )
    return fmean(share if share >= LEAST_ALIKE else 0.0 for share in best)


def _distance(level: int | None, other: int | None) -> float:
    """Return how many levels lie between two; 3 if one of them is unknown, 0 if both are."""
    return 0.0 if level == other else UNKNOWN_LEVEL if level is None or other is None else abs(level - other)


def branch_values(gold: Mapping[str, int | None], ratings: Any, rules: Rules) -> Values:
    """Score the ratings of the four branches, in [0, 1], over those that the person rated."""
    read = {name: read_scale(ratings.get(name)) if isinstance(ratings, dict) else None for name in gold}
    unread = ABSENT_BRANCH if rules.unread == "lenient" else None
    each = {
        f"branch_{name}": 1 - _error(unread if read[name] is None else read[name], true, SPAN) / SPAN
        for name, true in gold.items()
        if true is not None
    }
    return {"four_branch_score": fmean(each.values()) if each else 1.0 if rules.empty == "counted" else None, **each}


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are there; null if none is."""
    valued = [value for value in values if value is not None]
    return fmean(valued) if valued else None
