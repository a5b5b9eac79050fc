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
    """How one conversation is scored."""

    q1: Literal["jaccard", "f1"] = "jaccard"
    """What a conversation was sought for: intersection over union, or F1 of the two sets."""

    totals: Literal["items", "stored"] = "items"
    """The person's PANAS totals: sums of the items (stored where items lack), or as stored (else sums of what is there)."""

    empty: Literal["left_out", "counted"] = "left_out"
    """Nothing to score, or a call that failed: null, or the port's constants, a failed call being an empty reply."""

    undefined: Literal["dropped", "half"] = "dropped"
    """A baseline-adjusted PANAS without value: dropped from its pillar, or counted there as 0.5."""

    unread: Literal["worst", "lenient"] = "worst"
    """A part that a reply lacks, or `na`: the worst value, or the port's stand-ins.

    These are "no", 4, and 0 for an intensity that is not given and for a draft's likeness; the rest is left out.
    """

    duplicates: Literal["merged", "kept"] = "merged"
    """Of an adjective in one list of emotions: merged, the last one kept, or all kept."""

    digits: int | None = None
    """To which both composites are rounded per conversation; null = they are not."""


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
