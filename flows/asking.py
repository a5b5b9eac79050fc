"""One cell of a run through the infer stage: ask, then judge where the dataset needs it."""

from collections.abc import Mapping

from flows.partitions import Cell, find_items, judgements_partition, responses_partition, rounds_of, too_long_of
from flows.resolution import Resolution
from flows.usage import Meter, usage_of
from schemas.chat import ModelEntry
from schemas.lineage import Missing, PartitionRef
from schemas.usage import Usage
from schemas.watching import Watcher
from tasks.inference.asking import Endpoint
from tasks.inference.steps import InferJob, infer_partition
from tasks.judging.steps import JudgeJob, judge_partition
from tasks.steps import outcome


def stored(resolution: Resolution, cell: Cell) -> list[PartitionRef] | None:
    """The cell's complete partitions; None if something is left to ask."""
    key = responses_partition(resolution, cell)
    responses = resolution.lake.find(key) if key else None
    if responses is None:
        return None
    judged = judgements_partition(resolution, cell, responses)
    if judged is None:
        return [responses]
    judgements = resolution.lake.find(judged)
    return [responses, judgements] if judgements else None


async def ask_cell(
    resolution: Resolution, cell: Cell, endpoints: Mapping[ModelEntry, Endpoint], watcher: Watcher
) -> list[PartitionRef | Missing | Usage]:
    """Responses of one cell and, where its dataset is judged, the ratings of them; and what each of them took."""
    items = find_items(resolution, cell.chosen)
    key = responses_partition(resolution, cell)
    if items is None or key is None:
        return [cell.missing("its items are not built", "moodflow build says why")]
    lake, asked, judging = resolution.lake, Meter(watcher), Meter(watcher)
    rounds, too_long = rounds_of(resolution.plan), too_long_of(resolution)
    infer = InferJob(cell.dataset, cell.setting, cell.entry, items, key, rounds, too_long)
    responses: PartitionRef = await outcome(infer_partition(infer, lake, endpoints[cell.entry], asked))
    judged = judgements_partition(resolution, cell, responses)
    judge = resolution.plan.judge
    if judged is None or judge is None:
        return [responses, usage_of(responses, lake, asked)]
    job = JudgeJob(cell.dataset, cell.entry.name, cell.chosen.rubric or "", judge, items, responses, judged)
    judgements: PartitionRef = await outcome(judge_partition(job, lake, endpoints[judge].chat, judging))
    return [responses, judgements, usage_of(responses, lake, asked), usage_of(judgements, lake, judging)]
