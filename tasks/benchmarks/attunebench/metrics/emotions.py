"""Emotions that a model reads off a message, against those the person tagged: names, likeness, intensity.

Source: AttuneBench 1.0; formulas of the public port of its scorer. The README's Hungarian assignment counts, the port's greedy
one stands beside it.
"""

from collections.abc import Sequence

import numpy as np

from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.metrics.replies import Tags
from tasks.benchmarks.attunebench.metrics.rules import Rules

SPAN = 6
"""Between the ends of a scale from 1 to 7."""

Values = dict[str, float | None]
"""By metric; null, and what is left out = nothing to score."""

NEVER = ("emotion_f1", "emotion_va_score", "emotion_va_greedy", "emotion_f1_intensity", "emotion_va_intensity", "hit_rate")
"""Metrics that are 0 where a reply says nothing of emotions."""


def emotion_values(gold: Tags | None, said: Tags | None, rules: Rules) -> Values:
    """Score the emotions of one turn: shares in [0, 1], `emotion_intensity_mae` in points of the scale.

    Null in `gold` = they are not known; one that is none of the twenty adjectives can be named by no reply. Null in `said` = the
    reply says nothing of them, which is not the same as none.
    """
    alike = load_codebook().similarity
    if rules.empty == "left_out" and (gold is None or any((name, name) not in alike for name, _ in gold)):
        return {}
    gold = gold or []
    merged = rules.duplicates == "merged"
    felt, read = (list(dict(tags).items()) if merged else tags for tags in (gold, said or []))
    wanted, named = dict(felt), dict(read)
    if not felt or not read:
        agree = float(not felt and not read and not (said is None and rules.unread == "worst"))
        return {**dict.fromkeys(NEVER, agree), "hit_rate_tagged": agree if felt else None}
    hits = [(wanted[name], named[name]) for name in wanted if name in named]
    apart = [abs(one - other) for one, other in hits if one is not None and other is not None]
    mae, missing = sum(apart) / len(apart) if apart else None, 0.0 if rules.unread == "lenient" else None
    f1, recall = 2 * len(hits) / (len(wanted) + len(named)), len(hits) / len(wanted)
    similar = [[alike.get((one, other), 0.0) for other, _ in read] for one, _ in felt]
    blended = [
        [_blend(s, here, there, rules) for s, (_, there) in zip(row, read, strict=True)]
        for row, (_, here) in zip(similar, felt, strict=True)
    ]
    most = max(len(felt), len(read))
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
    pairs = sorted(((-s, i, j) for i, row in enumerate(similar) for j, s in enumerate(row)))
    rows, columns, total = set[int](), set[int](), 0.0
    for s, i, j in pairs:
        if i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            total -= s
    return total


def _blend(similar: float, one: int | None, other: int | None, rules: Rules) -> float:
    """Return 0.7 likeness + 0.3 closeness; where an intensity is not given likeness alone, or with 0 as in the port."""
    if one is not None and other is not None:
        return 0.7 * similar + 0.3 * (1 - abs(one - other) / SPAN)
    return 0.7 * similar if rules.unread == "lenient" else similar
