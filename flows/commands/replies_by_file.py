"""Write the calls of a plan for others to answer, and take in what they answered."""

from pathlib import Path

from flows.commands.dry_run import build_first
from flows.planning.jobs import ResolvedPlan
from schemas.chat import ChatReply
from schemas.documents.lake import WrittenRequests
from tasks.models.journal.files import ImportedReplies, add_replies
from tasks.models.journal.request_files import write_requests
from tasks.models.journal.table import JOURNAL, journal_row
from tasks.runs.sections import EXCHANGES
from tasks.solvers.forecast import place_replies, plan_wave
from tasks.solvers.registry import SOLVERS


async def write_wave(resolved: ResolvedPlan, folder: Path) -> WrittenRequests:
    """Write the calls that a run of a plan would make now, and return what was written."""
    missing = await build_first(resolved)
    jobs = [infer for job in resolved.jobs if (infer := job.infer_job()) and not infer.keys.find_all(resolved.lake)]
    calls = {request.key: request for infer in jobs for request in await plan_wave(infer, resolved.lake)}
    settings = {infer.options.setting for infer in jobs}
    return WrittenRequests(
        folder=str(folder),
        calls=len(calls),
        several_messages=sum(len(request.messages) > 1 for request in calls.values()),
        files=write_requests(calls.values(), folder, resolved.blueprint.name),
        not_known=tuple(sorted(setting for setting in settings if SOLVERS[setting].retrieves)),
        missing=missing,
    )


async def import_results(resolved: ResolvedPlan, folder: Path) -> ImportedReplies:
    """Keep the replies of result files in the journal, as those to the calls of a plan.

    Refused is a reply to what the plan does not ask, or another file answers already.
    """
    of_plan = [exchange for setting, exchange in EXCHANGES.items() if setting in resolved.plan.settings]
    files = [file for exchange in of_plan or EXCHANGES.values() for file in exchange.read(folder)]
    await build_first(resolved)
    taken, placed = ImportedReplies(), set[tuple[int, tuple[str, str]]]()
    for infer in filter(None, (job.infer_job() for job in resolved.jobs)):
        of_job = [(number, file.replies) for number, file in enumerate(files) if file.is_asked(infer)]
        file_of = {step: number for number, replies in reversed(of_job) for step in replies}
        texts = {step: files[number].replies[step] for step, number in file_of.items()}
        calls = await place_replies(infer, resolved.lake, texts)
        placed |= {(file_of[step], step) for step in calls}
        rows = {call.key: journal_row(call, ChatReply(text=text, latency_s=None)) for call, text in calls.values()}
        add_replies([*rows.values()], folder, resolved.lake.state / JOURNAL, taken)
    if left := sum(len(file.replies) for file in files) - len(placed):
        taken.read += left
        taken.refused += left
        taken.rules["plan_asks_it_once"] = left
    return taken
