"""Emotions that a model reads off a message, against those the person tagged: names, likeness, intensity.

Source: AttuneBench 1.0; formulas of the public port of its scorer. The README's Hungarian assignment counts, the port's greedy
one stands next to it.
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
    errors = [abs(one - other) for one, other in hits if one is not None and other is not None]
    mae, missing = sum(errors) / len(errors) if errors else None, 0.0 if rules.unread == "lenient" else None
    f1, recall = 2 * len(hits) / (len(gold_by_name) + len(tag_by_name)), len(hits) / len(gold_by_name)
    similar = [[alike.get((one, other), 0.0) for other, _ in tags] for one, _ in gold]
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


def _blend(likeness: float, one: int | None, other: int | None, rules: Rules) -> float:
    """Return 0.7 likeness + 0.3 closeness of intensities; where one is not given likeness alone, or with 0 as in the port."""
    if one is not None and other is not None:
        return 0.7 * likeness + 0.3 * (1 - abs(one - other) / SPAN)
    return 0.7 * likeness if rules.unread == "lenient" else likeness
