"""Write the markdown summary of a run for the Prefect UI."""

from collections.abc import Iterator, Mapping, Sequence

from schemas.changes import TOTAL, RunChanges, SystemChanges
from schemas.lineage import RunManifest
from tasks.analysis.number_format import counted, number, signed, signed_interval
from tasks.lineage.graph import diagram_of_run
from tasks.reporting.render.summary import escape

Lines = Iterator[str]


def summarise(text: str, manifest: RunManifest, changes: RunChanges | None, links: Mapping[str, str]) -> str:
    """Write the whole page.

    Args:
        text: report.md of the run, its summary on one page.
        manifest: of the run.
        changes: since the run before; None if nothing was compared.
        links: addresses by name: the report, which may be a path, then tables.
    """
    sections = (
        [text.rstrip()],
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
        yield from (
            "",
            f"**{escape(system.label)} regressed:**",
            "",
            *(f"- {escape(finding.message)}" for finding in system.findings),
        )
    apart = [system for system in changes.units if changes.previous and (system.reason or system.previous != changes.previous)]
    notes = [f"{escape(system.label)}: {system.reason or f'compared with `{system.previous}`'}" for system in apart]
    notes += [f"{escape(system.label)}: {remark}" for system in changes.units for remark in system.remarks]
    notes += list(changes.remarks)
    if notes:
        yield from ("", *(f"- {note}" for note in notes))
    if changes.previous is not None and changes.state != "UpToDate":
        yield from _totals_table(changes.units)


def _totals_table(systems: Sequence[SystemChanges]) -> Lines:
    totals = [(system, change) for system in systems for change in system.changes if change.what == TOTAL]
    if totals:
        yield from ("", "| Model | Before | Now | Change | 95 % interval |", "| --- | ---: | ---: | ---: | --- |")
    for system, change in totals:
        numbers = (number(change.before, 2), number(change.after, 2), signed(change.change, 2))
        name = escape(system.label)
        yield f"| {' | '.join((name, *numbers, signed_interval(change.ci_low, change.ci_high, 2)))} |"
    yield from ("", "Totals are before the veto; abilities are in the artifact `abilities`, column `change`.")


def calls_lines(manifest: RunManifest) -> Lines:
    """Write how often models were called, and what has no score."""
    calls = manifest.calls
    yield from ("", "## Calls", "")
    yield f"{calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed."
    if manifest.missing:
        gaps = len({gap.dataset for gap in manifest.missing})
        yield from ("", f"Without a score, or not of every model: {counted(gaps, 'dataset')}; see `failures`.")


def link_lines(links: Mapping[str, str]) -> Lines:
    """Write where report and tables are."""
    yield from ("", "## Where to look", "")
    for name, address in links.items():
        yield f"- {name}: " + (f"[{address}]({address})" if address.startswith("http") else f"`{address}`")
