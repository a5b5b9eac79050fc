"""Yes-or-no judgements, comparisons of replies, and drafts of one turn, against the person's own.

Source: AttuneBench 1.0; formulas of the public port of its scorer. Differs: tau-b of the win counts next to the port's tau.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import sqrt
from statistics import fmean
from typing import Any

from tasks.benchmarks.attunebench.conversation import Comparison
from tasks.benchmarks.attunebench.datasets.values import read_number
from tasks.benchmarks.attunebench.metrics.emotions import SPAN, Values
from tasks.benchmarks.attunebench.metrics.replies import RATINGS, Reply, read_selections, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules

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
    for one, other in combinations(sorted(labels), 2):
        gold, own = (counts.get(one, 0) - counts.get(other, 0) for counts in (gold_wins, wins))
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


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Return intersection over union of two sets; 1 if both are empty."""
    first, second = frozenset(one), frozenset(other)
    return len(first & second) / len(first | second) if first or second else 1.0
