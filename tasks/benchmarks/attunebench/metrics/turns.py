"""What a model makes of one turn, against the person: emotions, yes-or-no judgements, comparisons of replies, drafts.

Source: AttuneBench 1.0; formulas of the public port of its scorer. Differs: the README's Hungarian assignment of emotions counts,
the port's greedy one stands next to it, as tau-b of the win counts does next to the port's tau.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np

from tasks.benchmarks.attunebench.conversation import Comparison
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook, read_number
from tasks.benchmarks.attunebench.metrics.replies import RATINGS, Reply, Tags, read_selections, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules

SPAN = 6
"""Between the ends of a scale from 1 to 7."""

Values = dict[str, float | None]
"""By metric; null, and what is left out = nothing to score."""

SCORED_AS_ZERO = (
    "emotion_f1",
    "emotion_va_score",
    "emotion_va_greedy",
    "emotion_f1_intensity",
    "emotion_va_intensity",
    "hit_rate",
)
"""Metrics that are 0 where a reply names no emotion."""


def emotion_values(gold: Tags | None, predicted: Tags | None, rules: Rules) -> Values:
    """Score the emotions of one turn: shares in [0, 1], `emotion_intensity_mae` in points of the scale.

    Null in `gold` = they are not known; no reply can name one that is none of the twenty adjectives. Null in `predicted` = the
    reply has no list, which is not the same as an empty one.
    """
    alike = load_codebook().similarity
    if rules.empty == "left_out" and (gold is None or any((name, name) not in alike for name, _ in gold)):
        return {}
    merged = rules.duplicates == "merged"
    gold, tags = (list(dict(tags).items()) if merged else tags for tags in (gold or [], predicted or []))
    if not gold or not tags:
        agree = float(not gold and not tags and not (predicted is None and rules.unread == "worst"))
        return {**dict.fromkeys(SCORED_AS_ZERO, agree), "hit_rate_tagged": agree if gold else None}
    gold_by_name, tag_by_name = dict(gold), dict(tags)
    hits = [(gold_by_name[name], tag_by_name[name]) for name in gold_by_name if name in tag_by_name]
    errors = [abs(first - second) for first, second in hits if first is not None and second is not None]
    mae, missing = sum(errors) / len(errors) if errors else None, 0.0 if rules.unread == "lenient" else None
    f1, recall = 2 * len(hits) / (len(gold_by_name) + len(tag_by_name)), len(hits) / len(gold_by_name)
    similar = [[alike.get((name, other), 0.0) for other, _ in tags] for name, _ in gold]
    blended = [
        [_blend(likeness, first, second, rules) for likeness, (_, second) in zip(row, tags, strict=True)]
        for row, (_, first) in zip(similar, gold, strict=True)
    ]
    most = max(len(gold), len(tags))
    return {
        "emotion_f1": f1,
        "emotion_va_score": best_sum(similar) / most,
        "emotion_va_greedy": greedy_sum(similar) / most,
        "emotion_intensity_mae": mae,
        "emotion_f1_intensity": 0.0 if not hits else missing if mae is None else f1 * (1 - mae / SPAN),
        "emotion_va_intensity": best_sum(blended) / most,
        "hit_rate": recall,
        "hit_rate_tagged": recall,
    }


def best_sum(similar: Sequence[Sequence[float]]) -> float:
    """Return the largest sum of a one-to-one assignment of rows to columns (Hungarian)."""
    if len(similar) == 1 or len(similar[0]) == 1:
        return max(map(max, similar))
    # Imported on first use, since few commands need it.
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    matrix = np.array(similar)
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def greedy_sum(similar: Sequence[Sequence[float]]) -> float:
    """Return the sum of the assignment that takes the likest pair left, again and again."""
    pairs = sorted((-likeness, i, j) for i, row in enumerate(similar) for j, likeness in enumerate(row))
    rows, columns, total = set[int](), set[int](), 0.0
    for negative, i, j in pairs:
        if i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            total -= negative
    return total


def _blend(likeness: float, intensity: int | None, other: int | None, rules: Rules) -> float:
    """Return 0.7 likeness + 0.3 closeness of intensities; where one is not given likeness alone, or with 0 as in the port."""
    if intensity is not None and other is not None:
        return 0.7 * likeness + 0.3 * (1 - abs(intensity - other) / SPAN)
    return 0.7 * likeness if rules.unread == "lenient" else likeness


Truths = Mapping[str, str | None]
"""By question id: yes or no; anything else is not scored."""

OUTCOMES = ("tp", "tn", "fp", "fn")


def count_outcomes(truths: Truths, answers: Mapping[str, str], rules: Rules) -> dict[str, int]:
    """Count true and false positives and negatives, "yes" being positive, over the judgements that are yes or no.

    A missing answer, or `na`, is the wrong one; under lenient rules it is "no".
    """
    counts, lenient = dict.fromkeys(OUTCOMES, 0), rules.unread == "lenient"
    for question, truth in truths.items():
        answer = answers.get(question)
        if truth == "yes":
            counts["tp" if answer == "yes" else "fn"] += 1
        elif truth == "no":
            counts["tn" if answer == "no" or (lenient and answer != "yes") else "fp"] += 1
    return counts


def accuracy(counts: Mapping[str, int], truths: Truths, rules: Rules, unlisted: float) -> float | None:
    """Return the share of right answers; `unlisted`: what the port gives where no judgement is listed at all."""
    if total := sum(counts.values()):
        return (counts["tp"] + counts["tn"]) / total
    if rules.empty == "left_out":
        return None
    return 0.0 if truths else unlisted


def pooled(tp: float, tn: float, fp: float, fn: float) -> Values:
    """Return accuracy, precision, recall, F1 and MCC of counts; null without any, 0 where they are not defined."""
    if not (total := tp + tn + fp + fn):
        return dict.fromkeys(("accuracy", "precision", "recall", "f1", "mcc"))
    root = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "accuracy": (tp + tn) / total,
        "precision": tp / (tp + fp) if tp + fp else 0.0,
        "recall": tp / (tp + fn) if tp + fn else 0.0,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0,
        "mcc": (tp * tn - fp * fn) / root if root else 0.0,
    }


def pairwise_values(comparisons: Sequence[Comparison], selections: Any, rules: Rules) -> Values:
    """Score the comparisons of one turn: share of the person's winners that are chosen, and agreement of the two orders.

    `selections` has sides by the number of the comparison, from "0"; a missing one is wrong.
    """
    sides = read_selections(selections, comparisons)
    chosen = [{"A": pair.label_a, "B": pair.label_b}.get(sides.get(str(number), "")) for number, pair in enumerate(comparisons)]
    scored = [(pair.winner, label) for pair, label in zip(comparisons, chosen, strict=True)]
    right = [label is not None and label == winner for winner, label in scored if winner or rules.empty == "counted"]
    gold_wins, wins = Counter[str](winner for winner, _ in scored if winner), Counter[str](label for label in chosen if label)
    nothing = 1.0 if rules.empty == "counted" else None
    labels = {label for comparison in comparisons for label in (comparison.label_a, comparison.label_b)}
    tau, tau_b = kendall(gold_wins, wins, sorted(labels))
    return {"pairwise_accuracy": sum(right) / len(right) if right else nothing, "kendall_tau": tau, "kendall_tau_b": tau_b}


def kendall(gold_wins: Mapping[str, int], wins: Mapping[str, int], labels: Sequence[str]) -> tuple[float | None, float | None]:
    """Return Kendall's tau of two orders of labels by wins, and tau-b of the win counts; null without wins on either side.

    For tau, labels with as many wins are in alphabetical order. Tau-b is null where all labels of one side are tied.
    """
    if not gold_wins or not wins:
        return None, None
    agree = untied = gold_untied = own_untied = 0
    for label, other in combinations(sorted(labels), 2):
        gold, own = (counts.get(label, 0) - counts.get(other, 0) for counts in (gold_wins, wins))
        agree += 1 if (gold >= 0) == (own >= 0) else -1
        untied += (gold > 0) - (gold < 0) if own > 0 else (gold < 0) - (gold > 0) if own < 0 else 0
        gold_untied += gold != 0
        own_untied += own != 0
    root = sqrt(gold_untied * own_untied)
    return agree / (len(labels) * (len(labels) - 1) / 2), untied / root if root else None


def draft_values(truths: Truths, judged: Sequence[Reply]) -> Values:
    """Score a draft by its judges: mean of their ratings on 0 to 1, and share of wanted behaviour that they see in it.

    A rating is the mean over judges, a yes or no their majority, and a tie is yes.
    """
    numbers = [[number for reply in judged if (number := read_number(reply.get(name))) is not None] for name in RATINGS]
    ratings = [min(max(fmean(of_judges), 1), 7) for of_judges in numbers if of_judges]
    assessed = [answers for reply in judged if (answers := read_words(reply.get("draft_binary_assessment")))]
    wanted = {question: truth for question, truth in truths.items() if truth in ("yes", "no")}
    right = [_majority([answers.get(question) for answers in assessed]) == truth for question, truth in wanted.items()]
    return {
        "draft_judge_score": (fmean(ratings) - 1) / SPAN if ratings else None,
        "draft_binary_alignment": sum(right) / len(right) if assessed and right else None,
    }


def _majority(answers: Sequence[str | None]) -> str | None:
    yes, no = answers.count("yes"), answers.count("no")
    return ("yes" if yes >= no else "no") if yes or no else None


def similarity_values(draft: Any, texts: Mapping[str, str], comparisons: Sequence[Comparison], rules: Rules) -> Values:
    """Score a draft by the words it shares with the replies that the person compared, whose texts are by label.

    Without a draft there is nothing to compare; in the port it shares no word. Numbers of wins weigh the likeness to each reply.
    """
    if not texts or (not isinstance(draft, str) and rules.unread == "worst"):
        return {}
    words = _tokens(draft) if isinstance(draft, str) else ()
    alike = {label: jaccard(words, _tokens(text)) for label, text in texts.items()}
    wins = Counter(comparison.winner for comparison in comparisons if comparison.winner in alike)
    preferred = sum(alike[label] * times for label, times in wins.items() if label) / wins.total() if wins else None
    each = {f"response_similarity_{label}": share for label, share in alike.items()}
    return {"response_similarity": max(alike.values()), "preference_alignment": preferred, **each}


@lru_cache(maxsize=4096)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


def jaccard(words: Iterable[str], others: Iterable[str]) -> float:
    """Return intersection over union of two sets; 1 if both are empty."""
    first, second = frozenset(words), frozenset(others)
    return len(first & second) / len(first | second) if first or second else 1.0
