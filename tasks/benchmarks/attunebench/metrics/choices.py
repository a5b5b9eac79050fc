"""Yes-or-no judgements, comparisons of replies, and drafts of one turn, against the person's own.

Source: AttuneBench 1.0; formulas of the public port of its scorer. Differs: tau-b of the win counts stands beside the port's tau.
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
from tasks.benchmarks.attunebench.metrics.emotions import SPAN
from tasks.benchmarks.attunebench.metrics.replies import RATINGS, Reply, read_selections, read_words
from tasks.benchmarks.attunebench.metrics.rules import Rules

Truths = Mapping[str, str | None]
"""By question id: yes or no; anything else is not scored."""

OUTCOMES = ("tp", "tn", "fp", "fn")


def count_outcomes(truths: Truths, answers: Mapping[str, str], rules: Rules) -> dict[str, int]:
    """Count true and false positives and negatives, "yes" being positive, over the judgements that are yes or no.

    An answer that is not there, or `na`, is the wrong one; under lenient rules it is "no".
    """
    counts, lenient = dict.fromkeys(OUTCOMES, 0), rules.unread == "lenient"
    for question, truth in truths.items():
        said = answers.get(question)
        if truth == "yes":
            counts["tp" if said == "yes" else "fn"] += 1
        elif truth == "no":
            counts["tn" if said == "no" or (lenient and said != "yes") else "fp"] += 1
    return counts


def accuracy(counts: Mapping[str, int], truths: Truths, rules: Rules, unlisted: float) -> float | None:
    """Return the share of right answers; `unlisted`: what the port gives where no judgement is listed at all."""
    if total := sum(counts.values()):
        return (counts["tp"] + counts["tn"]) / total
    if rules.empty == "left_out":
        return None
    return 0.0 if truths else unlisted


def pooled(tp: float, tn: float, fp: float, fn: float) -> dict[str, float]:
    """Return precision, recall, F1 and MCC of counts; 0 where they are not defined."""
    root = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "precision": tp / (tp + fp) if tp + fp else 0.0,
        "recall": tp / (tp + fn) if tp + fn else 0.0,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0,
        "mcc": (tp * tn - fp * fn) / root if root else 0.0,
    }


def perspective(observer: float | None, facing: float | None) -> dict[str, float | None]:
    """Return how a share changes when the person is not spoken of but spoken as: gap, and ratio (0 if nothing is above 0)."""
    if observer is None or facing is None:
        return {"gap": None, "ratio": None}
    return {"gap": observer - facing, "ratio": facing / observer if observer > 0 else 0.0}


def pairwise_values(comparisons: Sequence[Comparison], said: Any, rules: Rules) -> dict[str, float | None]:
    """Score the comparisons of one turn: share of the person's winners that are named, and agreement of the two orders.

    `said` has sides by the number of the comparison, from "0"; one that is not there is wrong.
    """
    sides = read_selections(said, comparisons)
    right: list[bool] = []
    won, named = Counter[str](), Counter[str]()
    for number, one in enumerate(comparisons):
        side = sides.get(str(number))
        label = None if side is None else one.label_a if side == "A" else one.label_b
        if label:
            named[label] += 1
        if one.winner:
            won[one.winner] += 1
        if one.winner or rules.empty == "counted":
            right.append(label is not None and label == one.winner)
    nothing = 1.0 if rules.empty == "counted" else None
    tau, tau_b = kendall(won, named, sorted({label for one in comparisons for label in (one.label_a, one.label_b)}))
    return {"pairwise_accuracy": sum(right) / len(right) if right else nothing, "kendall_tau": tau, "kendall_tau_b": tau_b}


def kendall(won: Mapping[str, int], named: Mapping[str, int], labels: Sequence[str]) -> tuple[float | None, float | None]:
    """Return Kendall's tau of two orders of labels by wins, and tau-b of the win counts; null without wins on either side.

    Of labels with as many wins the alphabetically first stands first, for tau; tau-b is null where all of one side are tied.
    """
    if not won or not named:
        return None, None
    agree = untied = tied_won = tied_named = 0
    for one, other in combinations(sorted(labels), 2):
        here, there = (wins.get(one, 0) - wins.get(other, 0) for wins in (won, named))
        agree += 1 if (here >= 0) == (there >= 0) else -1
        untied += (here > 0) - (here < 0) if there > 0 else (here < 0) - (here > 0) if there < 0 else 0
        tied_won += here != 0
        tied_named += there != 0
    root = sqrt(tied_won * tied_named)
    return agree / (len(labels) * (len(labels) - 1) / 2), untied / root if root else None


def draft_values(truths: Truths, judged: Sequence[Reply]) -> dict[str, float | None]:
    """Score a draft by its judges: mean of their ratings on 0 to 1, and share of wanted behaviour that they find in it.

    A rating is the mean over judges, a yes or no their majority, and a tie is yes.
    """
    given = [[number for reply in judged if (number := read_number(reply.get(name))) is not None] for name in RATINGS]
    ratings = [min(max(fmean(numbers), 1), 7) for numbers in given if numbers]
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


def similarity_values(
    draft: Any, texts: Mapping[str, str], comparisons: Sequence[Comparison], rules: Rules
) -> dict[str, float | None]:
    """Score a draft by the words it shares with the replies that the person compared, whose texts are by label.

    Without a draft there is nothing to compare; in the port it shares no word. Numbers of wins weigh the likeness to each reply.
    """
    if not texts or (not isinstance(draft, str) and rules.unread == "worst"):
        return {}
    words = tokens(draft) if isinstance(draft, str) else ()
    alike = {label: jaccard(words, tokens(text)) for label, text in texts.items()}
    wins = Counter(one.winner for one in comparisons if one.winner in alike)
    preferred = sum(alike[label] * times for label, times in wins.items() if label) / wins.total() if wins else None
    each = {f"response_similarity_{label}": share for label, share in alike.items()}
    return {"response_similarity": max(alike.values()), "preference_alignment": preferred, **each}


@lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """Return the different words of a text, in lower case, split at blanks."""
    return frozenset(text.lower().split())


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Return intersection over union of two sets; 1 if both are empty."""
    here, there = frozenset(one), frozenset(other)
    return len(here & there) / len(here | there) if here or there else 1.0
