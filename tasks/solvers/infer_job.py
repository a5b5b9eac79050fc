"""What one dataset, model and setting are asked with, and the keys of what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.usage import TESTED, Role
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.solvers.chunk_rows import ChunkJob
from tasks.solvers.presentation import TRUNCATION_VERSION, Epochs
from tasks.solvers.state import SolverOptions, SolverPlan

RESPONSES_VERSION = "1"
"""Bumped when every solver's calls, or what was retrieved for them, are recorded otherwise. Keys of version 1 do not have it."""

ANSWERS_VERSION = "1"
"""Bumped when answers are taken otherwise from the same replies."""

RESERVED = frozenset(
    (
        *("model", "identity", "sampling", "reasoning_effort", "extra", "token_probabilities"),
        *("responses_version", "prompts_sha256", "options", "permute", "repeat", "too_long"),
    )
)
"""Names that settings of a key have beside those of roles."""


class InferKeys(NamedTuple):
    """Where what a setting yields is written; null = the setting yields none of it."""

    responses: PartitionKey
    retrievals: PartitionKey | None = None
    written: PartitionKey | None = None

    def find_all(self, lake: Lake) -> list[PartitionRef] | None:
        """Find everything that a setting yielded, the replies first, then the answers; None if something is missing."""
        stored = [lake.find(key) for key in self if key is not None]
        answers = lake.find(answers_key(stored[0])) if stored[0] else None
        refs = [ref for ref in (stored[0], answers, *stored[1:]) if ref]
        return refs if len(refs) == len(stored) + 1 else None


@dataclass(frozen=True)
class InferJob:
    """One dataset, model and setting to ask; `contexts`: what is known of those that were built for items, null = none were."""

    models: Mapping[Role, ModelEntry]
    options: SolverOptions[Any]
    plan: SolverPlan
    items: PartitionRef
    contexts: PartitionRef | None = None
    epochs: Epochs = field(default_factory=Epochs)

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.items.key("dataset")

    @property
    def entry(self) -> ModelEntry:
        """Return the model under test."""
        return self.models[TESTED]

    @property
    def chunk_job(self) -> ChunkJob | None:
        """Return how the contexts are split; null = they are not."""
        if self.contexts is None or self.plan.chunking is None:
            return None
        return ChunkJob(self.items, self.contexts, self.plan.chunking)

    @cached_property
    def keys(self) -> InferKeys:
        """Return where the replies are, and what else the solver yields."""
        too_long = self.options.too_long
        settings = {
            "model": self.entry.name,
            **self.entry.meaning,
            **{role: {"model": helper.name, **helper.meaning} for role, helper in self.models.items() if role != TESTED},
            **self.plan.code.settings(self.options.prompts),
            **self.plan.settings,
            **self.epochs.settings,
            **({} if RESPONSES_VERSION == "1" else {"responses_version": RESPONSES_VERSION}),
            **({} if too_long == "missing" else {"too_long": {"policy": too_long, "version": TRUNCATION_VERSION}}),
        }
        keys = {"dataset": self.dataset, "model": self.entry.name, "setting": self.options.setting}
        parents = [ref.identity for ref in (self.items, self.contexts) if ref]

        def key(layer: str) -> PartitionKey:
            return partition_key(layer, keys, settings, parents, self.plan.code.version)

        further = (key(layer) if layer in self.plan.yields else None for layer in ("retrievals", "chunks"))
        return InferKeys(key("responses"), *further)


def answers_key(responses: PartitionRef) -> PartitionKey:
    """Return the key of the answers that one partition of replies comes to."""
    return partition_key("answers", dict(responses.place), {}, [responses.identity], ANSWERS_VERSION)
