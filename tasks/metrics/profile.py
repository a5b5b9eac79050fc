"""Another way to read replies than ours, such as that of a benchmark's released code: a row of the registry of profiles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dataframely as dy

from schemas.benchmark import Rows
from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.tables.scores import ItemScores


@dataclass(frozen=True)
class ScoringProfile:
    """How replies are scored by other rules; `corrected`, by ours, has no row.

    Attributes:
        name: in plans and methods.
        version: bumped when a reply is scored differently.
        blueprint: from a blueprint to the same with the methods of the profile, under a name of its own.
        gap: why a dataset has no score in it, as the end of a sentence; null = it has one.
        key: of the item scores of a partition of answers, by some methods.
        score: scores the answers to a dataset by one method.
    """

    name: str
    version: str
    blueprint: Callable[[Blueprint], Blueprint]
    gap: Callable[[str, BlueprintDataset], str | None]
    key: Callable[[PartitionRef, Sequence[MethodSpec]], PartitionKey]
    score: Callable[[dy.DataFrame[Items], dy.DataFrame[Answers], MethodSpec], dy.DataFrame[ItemScores]]


PROFILES = Rows("profiles", ScoringProfile)
