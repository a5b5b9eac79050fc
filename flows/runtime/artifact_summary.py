"""Write the markdown summary of a run for the Prefect UI."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.changes import TOTAL, RunChanges, ScoreDifference, SystemChanges
from schemas.lineage import RunManifest
from tasks.lineage.graph import diagram_of_run

MAX_CHANGES = 60
"""Rows of the table of changes; with more, only totals and regressions are shown there."""

Lines = Iterator[str]


@dataclass(frozen=True)
class ReportLinks:
    """Where a reader finds the report and the other artifacts. `report` is an address if `linked`, else a path."""

    report: str
    linked: bool
    artifacts: tuple[tuple[str, str], ...] = ()
    """Names and addresses of the tables; none where the UI's address is not known."""


def summarise(report: str, manifest: RunManifest, changes: RunChanges | None, links: ReportLinks) -> str:
    """Write the whole page.

    Args:
        report: report.md of the run, its summary on one page.
        manifest: of the run.
        changes: since the run before; None if nothing was compared.
        links: where report and tables are.
    """
    sections = (
        [report.rstrip()],
        changes_lines(changes) if changes else (),
        calls_lines(manifest),
        link_lines(links),
        ["", "## Layers", "", "```mermaid", *diagram_of_run(manifest), "```"],
    )
    return "\n".join(line for section in sections for line in section)


def changes_lines(changes: RunChanges) -> Lines:
    """Write what changed since the run before, regressions first."""
    yield from ("", "## Since the previous run", "")
    if changes.previous is None:
        reason = changes.reason or "no earlier run"
        yield f"{reason[:1].upper()}{reason[1:]}."
    elif changes.state == "UpToDate":
        yield f"Nothing changed since `{changes.previous}`: no model call was sent."
    else:
        yield f"Compared with `{changes.previous}`, over the items scored in both."
    for system in changes.regressed:
        yield from ("", f"**{_system_name(system)} regressed:**", "", *(f"- {finding.message}" for finding in system.findings))
    apart = [system for system in changes.units if changes.previous and (system.reason or system.previous != changes.previous)]
    notes = [f"{_system_name(system)}: {system.reason or f'compared with `{system.previous}`'}" for system in apart]
    notes += [f"{_system_name(system)}: {remark}" for system in changes.units for remark in system.remarks]
    notes += list(changes.remarks)
    if notes:
        yield from ("", *(f"- {note}" for note in notes))
    if changes.previous is not None and changes.state != "UpToDate":
        yield from _changes_table(changes.units)


def _changes_table(systems: Sequence[SystemChanges]) -> Lines:
    rows = [(system, change) for system in systems for change in system.changes]
    everything = len(rows) <= MAX_CHANGES
    fallen = {(system.model, system.setting, finding.what) for system in systems for finding in system.findings}
    shown = [
        (system, change)
        for system, change in rows
        if everything or change.what == TOTAL or (system.model, system.setting, change.what) in fallen
    ]
    if not shown:
        return
    yield from (
        "",
        "| Model | Score | Before | Now | Change | 95 % interval | |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    )
    for system, change in shown[:MAX_CHANGES]:
        mark = "**regressed**" if (system.model, system.setting, change.what) in fallen else change.note or ""
        what = "total before the veto" if change.what == TOTAL else change.what
        yield f"| {_cell(_system_name(system))} | {what} | {_numbers(change)} | {_cell(mark)} |"
    if not everything:
        left_out = len(rows) - len(shown[:MAX_CHANGES])
        yield from ("", f"{left_out} more rows are in the artifacts `leaderboard` and `abilities`, column `change`.")


def _numbers(change: ScoreDifference) -> str:
    interval = "" if change.ci_low is None else f"{_signed(change.ci_low)} to {_signed(change.ci_high)}"
    before, after = ("" if value is None else f"{value:.2f}" for value in (change.before, change.after))
    return f"{before} | {after} | {_signed(change.change)} | {interval}"


def calls_lines(manifest: RunManifest) -> Lines:
    """Write how often models were called, and what has no score."""
    calls = manifest.calls
    yield from ("", "## Calls", "")
    yield f"{calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed."
    if manifest.missing:
        gaps = len({gap.dataset for gap in manifest.missing})
        yield from ("", f"{gaps} dataset{'s have' if gaps > 1 else ' has'} no score or not of every model: see `failures`.")


def link_lines(links: ReportLinks) -> Lines:
    """Write where report and tables are."""
    shown = f"[{links.report}]({links.report})" if links.linked else f"`{links.report}`"
    yield from ("", "## Report", "", f"Report: {shown}")
    if links.artifacts:
        yield from ("", "Tables: " + ", ".join(f"[{name}]({address})" for name, address in links.artifacts))


def _system_name(system: SystemChanges) -> str:
    return f"{system.model} ({system.setting})"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:+.2f}" if round(value, 2) else "0.00"


def _cell(text: str) -> str:
    """Escape a bar, which a model's name may hold and which would end its cell."""
    return text.replace("|", "\\|")
