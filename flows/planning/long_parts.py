"""Where the partitions of one cell of long items are, and which models take part in it."""

from dataclasses import dataclass
from typing import Self

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.vocabulary import LongTask, Setting, TooLong
from tasks.retrieval.embedding import find_embedder
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.solvers.longemotion.keys import chunks_key, long_key, long_settings, round_settings
from tasks.solvers.longemotion.parameters import Parameters, choose_parameters
from tasks.solvers.longemotion.prompts import load_long_prompts
from tasks.solvers.longemotion.solve import SOLVERS_VERSION
from tasks.solvers.longemotion.state import SolverOptions
from tasks.solvers.longemotion.steps import ChunkJob, LongKeys

IN_SEGMENTS: frozenset[LongTask] = frozenset({"ed"})
"""Tasks whose contexts come in segments."""

SELF_WRITTEN: frozenset[LongTask] = frozenset({"ee"})
"""Tasks whose corpus is what the model wrote before."""


@dataclass(frozen=True)
class LongParts:
    """What one dataset, model and setting are asked with, and where its partitions are."""

    items: PartitionRef
    contexts: PartitionRef
    options: SolverOptions
    parameters: Parameters
    long_task: LongTask
    chunks: PartitionKey | None
    keys: LongKeys

    @classmethod
    def of(
        cls,
        plan: Plan,
        entry: ModelEntry,
        setting: Setting,
        long_task: LongTask,
        built: tuple[PartitionRef, PartitionRef],
        too_long: TooLong,
    ) -> Self:
        """Work out the parts of a cell.

        Args:
            plan: resolved.
            entry: the model under test.
            setting: how it is asked.
            long_task: of the dataset.
            built: items and contexts.
            too_long: what becomes of items longer than the model's context.
        """
        items, contexts = built
        options = SolverOptions(setting, plan.retrieval, plan.contexts.length_demand)
        parameters = choose_parameters(plan.retrieval, long_task, setting, entry.name)
        retrieves = parameters.retrieves
        embedder = find_embedder(plan.retrieval.embedder).identity if retrieves and plan.retrieval.ranking != "bm25" else None
        texts = {
            "prompts_sha256": load_long_prompts().sha256,
            "solvers_version": SOLVERS_VERSION,
            **({"ranking_version": RANKING_VERSION} if retrieves else {}),
        }
        settings = {
            **long_settings(options, helpers_of(plan, entry, setting), embedder, texts),
            **round_settings(plan.repeat, too_long),
        }

        def key(layer: str) -> PartitionKey:
            return long_key(layer, entry, setting, settings, built)

        own = long_task in SELF_WRITTEN
        size = None if long_task in IN_SEGMENTS else parameters.chunk_tokens
        return cls(
            items=items,
            contexts=contexts,
            options=options,
            parameters=parameters,
            long_task=long_task,
            chunks=chunks_key(items, size, plan.retrieval) if retrieves and not own else None,
            keys=LongKeys(
                responses=key("responses"),
                retrievals=key("retrievals") if retrieves else None,
                written=key("chunks") if retrieves and own else None,
            ),
        )

    @property
    def chunk_job(self) -> ChunkJob | None:
        """How the contexts are split; None if the setting does not retrieve from them."""
        if self.chunks is None:
            return None
        size = None if self.long_task in IN_SEGMENTS else self.parameters.chunk_tokens
        overlap = self.options.retrieval.overlap_tokens
        return ChunkJob(self.items.key("dataset"), self.items, self.contexts, size, overlap, self.chunks)


def helpers_of(plan: Plan, entry: ModelEntry, setting: Setting) -> dict[str, ModelEntry]:
    """Models that take part besides the one under test, by role; where the plan names none, that one is asked itself."""
    if setting == "coem":
        return {"sage": plan.sage or entry}
    return {"critic": plan.critic or entry} if setting == "self_rag" else {}
