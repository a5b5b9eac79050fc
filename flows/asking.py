"""One cell of a run through the infer stage: ask, then judge where the dataset needs it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from flows.dialects import unprobed
from flows.partitions import Cell, cells, find_items, judgements_partition, responses_partition, rounds_of, too_long_of
from flows.resolution import Resolution
from flows.usage import Meter, usage_of
from schemas.chat import ModelEntry
from schemas.lineage import Missing, PartitionRef
from schemas.settings import Plan
from schemas.tables.items import Items
from schemas.usage import Usage
from schemas.watching import Watcher
from schemas.working import DoAll
from tasks.inference.asking import Endpoint
from tasks.inference.calls.crew import Crew, Work
from tasks.inference.journal.table import JOURNAL
from tasks.inference.money.forecasting import find_journaled, plan_requests
from tasks.inference.steps import InferJob, infer_partition
from tasks.judging.steps import JudgeJob, judge_partition
from tasks.steps import outcome

ResultT = TypeVar("ResultT")


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


async def to_probe(plan: Plan, resolution: Resolution) -> list[ModelEntry]:
    """Models of a plan to be probed before their first call: those of which something is left to ask.

    A tested model whose every question, asked as it would be now, is answered by the journal needs no probe. A judge is always
    left: what it is asked depends on answers.

    Args:
        plan: as the user made it.
        resolution: the same plan, with what is known of its models now.

    Raises:
        LakeError: if the journal or what was found about a model cannot be read.
    """
    return [entry for entry in unprobed(plan) if _is_judge(entry, plan) or not await _is_answered(entry, resolution)]


def _is_judge(entry: ModelEntry, plan: Plan) -> bool:
    return plan.judge is not None and _who(plan.judge) == _who(entry)


def _who(entry: ModelEntry) -> tuple[str, str]:
    return entry.identity, entry.name


async def _is_answered(entry: ModelEntry, resolution: Resolution) -> bool:
    for cell in cells(resolution):
        items, key = find_items(resolution, cell.chosen), responses_partition(resolution, cell)
        if _who(cell.entry) != _who(entry) or items is None or key is None or resolution.lake.find(key):
            continue
        rows = resolution.lake.read(items, Items)
        calls = {request.key for request in await plan_requests(rows, cell.entry, rounds_of(resolution.plan))}
        if len(find_journaled(resolution.lake.root / JOURNAL, list(calls))) < len(calls):
            return False
    return True


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
    endpoint = endpoints[judge]
    judgements: PartitionRef = await outcome(judge_partition(job, lake, endpoint.chat, in_crew(endpoint.crew), judging))
    return [responses, judgements, usage_of(responses, lake, asked), usage_of(judgements, lake, judging)]


def in_crew(crew: Crew) -> DoAll:
    """The crew as stages know it that do not know the infer stage."""

    async def do_all(works: Sequence[tuple[float, Callable[[], Awaitable[ResultT]]]]) -> list[ResultT]:
        return await crew.do_all([Work(length, do) for length, do in works])

    return do_all
