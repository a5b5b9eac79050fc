"""Take in what others answered to the calls of a plan."""

from pathlib import Path

from flows.commands.dry_run import build_first
from schemas.chat import ChatReply
from schemas.plan import Plan
from tasks.analysis.annotation_files import is_asked, read_results, replies_of
from tasks.models.journal.files import ImportedReplies, add_replies
from tasks.models.journal.table import JOURNAL, JournalRow, journal_row
from tasks.solvers.forecast import place_replies


async def import_results(plan: Plan, folder: Path) -> ImportedReplies:
    """Keep the replies of result files in the journal, as those to the calls of a plan.

    Refused is a reply to what the plan does not ask, or another file answers already. Of equal calls the first reply stays.
    """
    results = [(result, replies_of(result)) for result in read_results(folder)]
    resolved, _ = await build_first(plan)
    taken, rows = ImportedReplies(), dict[str, JournalRow]()
    left = {(number, step) for number, (_, replies) in enumerate(results) for step in replies}
    for infer in filter(None, (job.infer_job() for job in resolved.jobs)):
        asked = [(number, replies) for number, (result, replies) in enumerate(results) if is_asked(result, infer)]
        of_file = {step: number for number, replies in reversed(asked) for step in replies}
        said = {step: results[number][1][step] for step, number in of_file.items()}
        for step, (request, text) in (await place_replies(infer, resolved.lake, said)).items():
            left.discard((of_file[step], step))
            row = journal_row(request, ChatReply(text=text, latency_s=None))
            if (first := rows.setdefault(row.key, row)) is not row:
                taken.read += 1
                taken.same += first.reply == row.reply
                taken.kept_ours += first.reply != row.reply
    taken.read += len(left)
    taken.refused += len(left)
    if left:
        taken.rules["plan_asks_it_once"] = len(left)
    return add_replies([*rows.values()], folder, resolved.lake.state / JOURNAL, taken)
