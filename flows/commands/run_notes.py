"""Say what to know before one trusts the scores of a run: gaps, replies, instruments, published numbers, calls and cost."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import RenderableType

from flows.commands.console import MOST_TOLD, first_lines, terminal_table
from schemas.documents.leaderboard import SystemRow
from schemas.documents.run import Cost, FailedCalls, RunDocument
from schemas.documents.run_scores import LetterShare, UnreadReplies
from schemas.lineage import Missing
from schemas.table import Column, Table, columns
from tasks.certificates.lookup import say_judges
from tasks.compare.regression import list_some
from tasks.runs.past_run import PastRun
from tasks.runs.verdict import label_of
from tasks.text.number_format import count, counted, percent, share_of

LONGEST_ERROR = 200
"""Characters of a server's own words."""


def run_notes(document: RunDocument, run: PastRun) -> Iterator[str]:
    """Yield gaps, replies, instruments, published numbers and calls."""
    lacking = [row for row in document.models if row.n_scored < row.n_total or row.datasets_scored < row.datasets_total]
    yield from first_lines([_scored_line(row, run) for row in lacking])
    unread = sorted((row for row in document.unread if row.unread), key=lambda row: row.unread / row.total, reverse=True)
    yield from first_lines([_unread_line(row) for row in unread])
    if not unread:
        replies = sum(row.total for row in document.unread)
        yield f"Unread replies: none of {count(replies)}" if replies else "No reply was scored"
    yield from first_lines([_letter_line(row) for row in document.one_letter])
    yield from first_lines([*say_judges(document.judges)])
    faults = [row for row in document.instruments if not row.failed and row.instrument != "reader"]
    yield from first_lines([f"{label_of(fault)}: {fault.words}" for fault in faults])
    is_bundled = {notice.sources for notice in run.manifest.datasets} == {("bundled",)}
    yield from _published(document.models, "the bundled items are not the paper's; " if is_bundled else "")
    yield f"Calls: {document.calls.line}"
    yield from first_lines([_failure_lines(failure) for failure in document.failures])
    yield from missing_lines(document.missing)


def _scored_line(row: SystemRow, run: PastRun) -> str:
    plan = run.manifest.plan
    repeat, orders = plan.get("repeat", 1), plan.get("permute", 0)
    # Asked several times, an item counts as often; in several orders, only if it has options.
    unit = "answer" if max(repeat, orders) > 1 else "item"
    items = f"{count(row.n_scored)} of {counted(row.n_total, unit)}"
    items += f" to {counted(row.n_total // repeat, 'item')}" if repeat > 1 >= orders else ""
    return f"Scored of {label_of(row)}: {row.datasets_scored} of {counted(row.datasets_total, 'dataset')}, {items}"


def _unread_line(row: UnreadReplies) -> str:
    where = list_some([f"{name} {n}" for name, n in row.datasets.items()], MOST_TOLD)
    share = percent(share_of(row.unread, row.total))
    return f"Unread replies of {label_of(row)}: {count(row.unread)} of {count(row.total)} ({share}): {where}"


def _letter_line(row: LetterShare) -> str:
    chosen, right = (f"{count(n)} ({percent(share_of(n, row.read))})" for n in (row.chosen, row.right))
    told = f"{chosen} of {count(row.read)} readable replies; {row.letter} is right in {right}"
    return f"{label_of(row)} answers {row.letter} whatever is asked: {told}"


def _failure_lines(row: FailedCalls) -> str:
    error = f"\n  The first error: {row.error[:LONGEST_ERROR]!r}" if row.error else ""  # repr escapes what moves the cursor
    return f"Failed: {counted(row.calls, 'call')} of {row.model}, {row.what}. What to do: {row.next_step}{error}"


def _published(rows: Sequence[SystemRow], why: str) -> Iterator[str]:
    records = [row.comparability for row in rows if row.comparability]
    for verdict, some in groupby(sorted(records, key=attrgetter("verdict")), key=attrgetter("verdict")):
        alike = [*some]
        whose = "" if len(alike) == len(records) else f" of {list_some([label_of(record) for record in alike], MOST_TOLD)}"
        position = f"; {alike[0].position.words}" if len(alike) == 1 and alike[0].position else ""
        reasons = counted(len(alike[0].reasons), "reason")
        yield f"Published numbers of {alike[0].paper}{whose}: {verdict}{position} ({why}moodflow explain gives {reasons})"


def missing_lines(gaps: Iterable[Missing]) -> list[str]:
    """Return lines for a terminal about datasets that have no score, or not over all their rows, one for each reason."""
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for gap in gaps:
        alike.setdefault((gap.reason, gap.next_step), {})[gap.dataset] = None
    lines = [f"Missing: {list_some([*names])}: {reason}; {step}" for (reason, step), names in alike.items()]
    return [*first_lines(lines)]


def usage_view(cost: Cost) -> list[RenderableType]:
    """Return tokens and cost for a terminal, by model where there are prices, and what has to be known about them."""
    if not cost.models:
        return []
    if cost.currency is None:
        tokens = f"Tokens: {count(cost.total.prompt_tokens)} in prompts, {count(cost.total.completion_tokens)} in replies"
        return [" ".join((f"{tokens}.", *cost.notes[:1])), *cost.notes[1:]]
    money = (Column(title, "money", currency=cost.currency) for title in ("Cost", "Paid now"))
    heads = (*columns("name", "Model", "Role"), *columns("count", "Replies", "Prompt tokens", "Reply tokens"), *money)
    rows = [
        (model, role, row.calls, row.prompt_tokens, row.completion_tokens, row.cost, row.paid_cost)
        for model, role, row in (*((row.model, row.role, row) for row in cost.models), ("All models", "", cost.total))
    ]
    return [terminal_table(Table(heads, rows)), *cost.notes]
