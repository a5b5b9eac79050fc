"""Score as Prefect steps: item scores of all models to totals, means of dimensions, gains and needle scores."""

from typing import Any

from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.lake import Lake
from tasks.scoring.jobs import AggregateJob, GainsJob, LayerJob, compute_layers
from tasks.steps import step, up_to_date


@step("aggregate {job.blueprint.name}")
async def aggregate(job: AggregateJob, lake: Lake) -> Any:
    """Reduce, normalise, aggregate and apply the veto: a PartitionRef per layer, in the order of AGGREGATED."""
    stored = [lake.find(job.key(layer)) for layer in AGGREGATED]
    refs = [ref for ref in stored if ref is not None]
    if len(refs) == len(AGGREGATED):
        return up_to_date(refs)
    scored = compute_layers(job, lake)
    return [
        ref or lake.write(job.key(layer), scored.layer(layer), LAYERS[layer].schema)
        for ref, layer in zip(stored, AGGREGATED, strict=True)
    ]


@step("compute {job.key.layer}")
async def compute_layer(job: LayerJob | GainsJob, lake: Lake) -> Any:
    """Compute one layer of a run, unless the lake has it, and return its PartitionRef."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    return lake.write(job.key, job.compute(lake), LAYERS[job.key.layer].schema)
