"""Everything that can be known to be wrong before anything is written."""

from flows.asking import stored
from flows.endpoints import check_endpoints
from flows.partitions import cells
from flows.resolution import Resolution, resolve
from schemas.settings import Plan


async def check_plan(plan: Plan) -> Resolution:
    """Look up names, prove that the lake can be written and, if calls are left to make, that the endpoints can be right.

    Raises:
        MoodflowError: the first thing that is wrong.
    """
    resolution = resolve(plan)
    resolution.lake.require_writable()
    if not all(stored(resolution, cell) for cell in cells(resolution)):
        await check_endpoints(resolution.plan)
    return resolution
