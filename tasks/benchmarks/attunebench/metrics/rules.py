"""The seven rules in which the profiles of AttuneBench differ; each can be set alone.

Source: AttuneBench 1.0 for what it states; for the rest a public port of its scorer, which is the profile `reference`.
`corrected` departs from the port where a perfect prediction would not score 100, or something missing would count as right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.errors import ScoringError
from schemas.vocabulary import Profile


@dataclass(frozen=True)
class Rules:
    """How one conversation is scored.

    Attributes:
        q1: what a conversation was sought for: intersection over union, or F1 of the two sets.
        totals: the person's PANAS totals: sums of the items (stored where items lack), or as stored (else sums of what is there).
        empty: nothing to score, or a call that failed: null, or the port's constants, a failed call being an empty reply.
        undefined: a baseline-adjusted PANAS without value: dropped from its pillar, or counted there as 0.5.
        unread: a part that a reply lacks, or `na`: the worst value, or the port's stand-ins ("no", 4, 0 for an intensity that is
            not given and for a draft's likeness, else left out).
        duplicates: of an adjective in one list of emotions: merged, the last one kept, or all kept.
        digits: to which both composites are rounded per conversation; null = they are not.
    """

    q1: Literal["jaccard", "f1"] = "jaccard"
    totals: Literal["items", "stored"] = "items"
    empty: Literal["left_out", "counted"] = "left_out"
    undefined: Literal["dropped", "half"] = "dropped"
    unread: Literal["worst", "lenient"] = "worst"
    duplicates: Literal["merged", "kept"] = "merged"
    digits: int | None = None


PROFILES: Mapping[Profile, Rules] = {
    "corrected": Rules(),
    "reference": Rules("f1", "stored", "counted", "half", "lenient", "kept", 2),
}


def rules_of(profile: Profile) -> Rules:
    """Return the rules of a profile; raise ScoringError if it is another benchmark's."""
    if profile not in PROFILES:
        step = "score the dataset in one of these profiles"
        raise ScoringError("a profile has no rules for conversations", expected=", ".join(PROFILES), got=profile, next_step=step)
    return PROFILES[profile]
