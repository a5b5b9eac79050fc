"""One number of a conversation: three pillars and their composite, on 0 to 100.

Source: AttuneBench 1.0 for weights and members; the public port of its scorer for the weights within a pillar and the
equal-weight composite. Observer wording; what is missing is dropped and the rest weighed anew, but no pillar may be missing.
"""

from collections.abc import Mapping
from math import fsum

from tasks.metrics.attunebench.emotions import Values
from tasks.metrics.attunebench.rules import Rules

Members = tuple[tuple[float, float | None], ...]
"""Weights and values."""

PILLARS = {"pillar_emotion": 0.24, "pillar_behaviour": 0.49, "pillar_conversation": 0.27}


def composite_values(values: Values, rules: Rules) -> Values:
    """Return the pillars and the accuracy of judgements in [0, 1], and both composites on 0 to 100.

    Args:
        values: of a conversation, by metric.
        rules: of the profile.
    """
    emotion = _equal(values, "emotion_f1", "emotion_va_score")
    judged = _equal(values, "binary_om_accuracy", "binary_human_accuracy")
    asked = _equal(values, "q1_score", "q2_score", "q3_score", "q3_followup_score")
    skill, pairwise, branches = (
        values.get(name) for name in ("panas_baseline_adjusted", "pairwise_accuracy", "four_branch_score")
    )
    mood = (skill + 1) / 2 if skill is not None else 0.5 if rules.undefined == "half" else None
    behaviour = weighted_mean((0.5, judged), (0.5, pairwise))
    conversation = weighted_mean((0.4, mood), (0.3, asked), (0.3, branches))
    pillars = dict(zip(PILLARS, (emotion, behaviour, conversation), strict=True))
    turns, whole = (weighted_mean(*((1, one) for one in some)) for some in ((emotion, judged, pairwise), (mood, asked, branches)))
    return {
        **pillars,
        "binary_accuracy": judged,
        "composite_score": _points([(weight, pillars[name]) for name, weight in PILLARS.items()], rules),
        "composite_equal": _points([(0.5, turns), (0.5, whole)], rules),
    }


def weighted_mean(*members: tuple[float, float | None]) -> float | None:
    """Return the mean of the members that are there, by their weights; null if none is."""
    known = [(weight, value) for weight, value in members if value is not None]
    return fsum(weight * value for weight, value in known) / fsum(weight for weight, _ in known) if known else None


def _equal(values: Mapping[str, float | None], *names: str) -> float | None:
    return weighted_mean(*((1, values.get(name)) for name in names))


def _points(members: list[tuple[float, float | None]], rules: Rules) -> float | None:
    known = [weight * value for weight, value in members if value is not None]
    if len(known) < len(members):
        return None
    points = 100 * fsum(known)
    return points if rules.digits is None else round(points, rules.digits)
