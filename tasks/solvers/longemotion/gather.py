"""What the model is shown beside its task, in the settings that gather it beforehand."""

from collections.abc import Mapping
from types import MappingProxyType

from schemas.vocabulary import Setting
from tasks.solvers.longemotion.coem import gather_enriched
from tasks.solvers.longemotion.rag import gather_chunks
from tasks.solvers.longemotion.self_rag import gather_criticised
from tasks.solvers.longemotion.state import Gather, Gathered, Pool, Query, SolverState

GATHER: Mapping[Setting, Gather] = MappingProxyType(
    {
        "rag": gather_chunks,
        "retrieve_only": gather_chunks,
        "coem": gather_enriched,
        "self_rag": gather_criticised,
    }
)


async def gather(scene: SolverState, pool: Pool, query: Query) -> Gathered:
    """What one query brings in the scene's setting."""
    return await GATHER[scene.how.setting](scene, pool, query)
