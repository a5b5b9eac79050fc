"""Look up the API capabilities of every model of a plan: in the lake, or among the providers."""

from schemas.chat import ModelEntry
from schemas.plan import Plan
from schemas.provider import Quirks
from tasks.lake.local_state import state_folder
from tasks.models.capabilities.probe_records import probe_file, recall
from tasks.models.capabilities.providers import choose_capabilities, needs_probe, provider_at


def with_capabilities(plan: Plan) -> Plan:
    """Return the plan with the API capabilities of every model filled in; a plan that has them all stays as it is."""
    lake = state_folder(plan.lake)

    def complete(entry: ModelEntry) -> ModelEntry:
        probe = None if entry.base_url is None else recall(lake, entry)
        return entry.model_copy(update={"dialect": choose_capabilities(entry.dialect, quirks_for(entry), probe)})

    return plan.map_entries(complete)


def quirks_for(entry: ModelEntry) -> Quirks | None:
    """Return what the provider's entry says of the model; None if no provider is at its address, or at the one it stands for."""
    provider = provider_at(entry.base_url) or provider_at(entry.identity)
    return provider.quirks_of(entry.name) if provider else None


def unprobed(plan: Plan) -> tuple[ModelEntry, ...]:
    """Return the models of a plan, roles included, that a run would probe before their first call; each model of a server once.

    The plan is as the user made it: a resolved one has all capabilities and leaves nothing to find out.
    """
    lake = state_folder(plan.lake)
    unknown = {
        probe_file(lake, entry): entry
        for entry in plan.entries
        if entry.base_url is not None and not entry.is_file and needs_probe(entry.dialect) and recall(lake, entry) is None
    }
    return tuple(unknown.values())
