"""`moodflow batches`: show, collect, cancel and give up calls that providers answer as batches."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, detail_lines, terminal_table
from schemas.documents.batches import ENDED, BatchJob, BatchList, BatchNews, BatchState, WaitingRun
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.table import Column, Table
from tasks.lake.local_state import state_folder
from tasks.models.batches.apis import NoAnswerError
from tasks.models.batches.desk import BatchDesk, open_desk
from tasks.models.batches.store import StoredBatch
from tasks.models.batches.waves import waiting_words
from tasks.models.journal.files import require_journal
from tasks.models.journal.table import JOURNAL
from tasks.text.number_format import counted

WAITING = 3
"""Exit status of a run that waits."""

app = typer.Typer(no_args_is_help=True, add_completion=False)

Job = Annotated[str, typer.Argument(metavar="JOB", help="beginning of a batch's name")]
AnyJob = Annotated[str | None, typer.Argument(metavar="JOB", help="beginning of a batch's name; default all that are open")]


def waiting_result(waiting: WaitingRun) -> CommandResult:
    """Return the result of a run that waits for batches."""
    view: list[RenderableType] = [f"{waiting_words(waiting)}; nothing is scored yet."]
    if waiting.jobs:
        how = "Run the same command again to collect them; moodflow batches collect does it without the run."
        view += [_table(waiting.jobs), how]
    for file in waiting.files:
        view.append(f"Take the replies in with: moodflow journal import OUT --requests {file}")
    if waiting.files:
        view.append("Then run again with another FILE.")
    return CommandResult(WAITING, waiting, view)


@app.command("list")
def list_batches(*, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """List the batches of a lake."""
    with _desk(lake) as desk:
        jobs = tuple(map(desk.store.describe, desk.store.jobs()))
    CommandResult(0, BatchList(jobs=jobs), [_table(jobs)] if jobs else ["no batches; moodflow run --batch makes one"]).finish(
        as_json=as_json
    )


@app.command("show")
def show_batch(job: Job, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Show a batch as it was when its provider was last asked."""
    with _desk(lake) as desk:
        described = desk.store.describe(desk.store.find(job))
    CommandResult(0, BatchList(jobs=(described,)), [*detail_lines(described)]).finish(as_json=as_json)


@app.command("collect")
def collect_batches(job: AnyJob = None, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take in the replies of batches that have ended. Ends with status 1 if a line was refused, 3 if calls still wait."""
    with _desk(lake) as desk:
        jobs = [desk.store.find(job)] if job else desk.store.jobs(is_open=True)
        news = asyncio.run(desk.work_on(jobs))
        _finish(desk, jobs, news, as_json=as_json)


@app.command("cancel")
def cancel_batch(job: Job, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Ask the provider to end a batch; what it has answered by then is paid for, and is collected as usual."""
    with _desk(lake) as desk:
        stored = desk.store.find(job)
        _require_none_of(stored, *ENDED)
        news = asyncio.run(_cancel(desk, stored))
        _finish(desk, [stored], news, as_json=as_json)


@app.command("give-up")
def give_up_batch(job: Job, *, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Free the calls of a batch: the next run sends them again, also those that its provider was paid for."""
    with _desk(lake) as desk:
        stored = desk.store.find(job)
        before = desk.store.describe(stored)
        _require_none_of(stored, "collected", "given_up")
        desk.store.change(stored, frees=True, state="given_up")
        said = ", ".join(f"{count} {name}" for name, count in before.counts.items() if count) or "nothing"
        paid = f"the provider last said of its calls: {said}; what it completed is paid for and is lost"
        news = BatchNews(jobs=(), freed=before.open, notes=(f"{counted(before.open, 'call')} may be sent again; {paid}",))
        _finish(desk, [stored], news, as_json=as_json)


async def _cancel(desk: BatchDesk, job: StoredBatch) -> BatchNews:
    if job.remote_id is None:
        raise UsageError(
            "this batch is not with its provider yet", where="JOB", next_step=f"moodflow batches give-up {job.job[:12]}"
        )
    try:
        async with desk.api(job) as api:
            remote = await api.cancel(job.remote_id)
    except NoAnswerError as error:
        raise UsageError("the provider did not answer", where=str(error), next_step="run the same command again") from error
    desk.store.change(job, counts=remote.json)
    return BatchNews(jobs=(), notes=(f"batch {job.job[:12]}: {remote.id} is {remote.status}",))


def _require_none_of(job: StoredBatch, *states: BatchState) -> None:
    if job.state in states:
        state = job.state.replace("_", " ")
        raise UsageError("this batch holds no calls", where=f"batch {job.job[:12]}", got=state, next_step="moodflow batches list")


def _desk(lake: Folder | None) -> AbstractContextManager[BatchDesk]:
    return open_desk(require_journal(state_folder(lake or DEFAULT_LAKE) / JOURNAL))


def _finish(desk: BatchDesk, jobs: Sequence[StoredBatch], news: BatchNews, *, as_json: bool) -> None:
    described = tuple(desk.store.describe(desk.store.find(job.job)) for job in jobs)
    document = news.model_copy(update={"jobs": described})
    status = int(bool(news.rules)) or (WAITING if any(job.open for job in described) else 0)
    view = [*news.notes, _table(described) if described else "no open batches"]
    CommandResult(status, document, view).finish(as_json=as_json)


def _table(jobs: Sequence[BatchJob]) -> RenderableType:
    names = (Column("Job", "name"), Column("Model", "name"), Column("State"), Column("Provider says"))
    counts = tuple(Column(title, "count") for title in ("Calls", "Open", "Answered", "Free"))
    rows = [
        (job.job[:12], job.model, job.state.replace("_", " "), job.status, job.calls, job.open, job.answered, job.free)
        for job in jobs
    ]
    return terminal_table(Table((*names, *counts), rows))
