"""Write report.md: a run on one page of markdown."""

from collections.abc import Iterator

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.table import Table
from tasks.reporting.content.changes import change_notes, changes_table, label_of, state_said
from tasks.reporting.content.operations import missing_table
from tasks.reporting.report import Report
from tasks.reporting.system_tables import results_table, scores_table, weakest_table
from tasks.text.tables import escape, to_markdown

FULL_REPORT = "The full report, with figures, every task and example items, is the page report.html beside this file."


def write_summary(report: Report) -> str:
    """Return a run's summary as GitHub-flavoured markdown."""
    blocks = [
        f"# {escape(report.data.blueprint.title)}",
        f"Run `{report.data.manifest.run}`, {report.data.manifest.started_at} to {report.data.manifest.finished_at}.",
        *([escape(report.provenance.short_note)] if report.provenance.short_note else []),
        *_headlines(report),
        *(_since(report.data.changes, report.data.blueprint) if report.data.changes else ()),
        *_results(report),
        *(_section("Abilities", scores_table(report.systems)) if report.systems and report.systems[0].abilities else ()),
        *_section("Weakest tasks", weakest_table(report.systems)),
        *_section("What is missing", missing_table(report.data)),
        FULL_REPORT,
    ]
    return "\n\n".join(blocks) + "\n"


def _section(title: str, table: Table) -> list[str]:
    return [f"## {title}", to_markdown(table)] if table.rows else []


def _since(changes: RunChanges, blueprint: Blueprint) -> Iterator[str]:
    yield "## Since the previous run"
    yield f"{changes.state}: {escape(state_said(changes))}."
    findings = [f"{label_of(system)}: {finding.message}" for system in changes.regressed for finding in system.findings]
    if noted := [*findings, *change_notes(changes)]:
        yield "\n".join(f"- {escape(note)}" for note in noted)
    if (table := changes_table(changes, blueprint)).rows:
        yield to_markdown(table)
        yield "Over the items scored in both runs: each total, before the veto, and the abilities that fell most."


def _headlines(report: Report) -> Iterator[str]:
    for one in report.headlines:
        yield f"## Scores side by side: {escape(one.dataset)}"
        yield to_markdown(one.table(entry.verdict.system for entry in report.systems))


def _results(report: Report) -> Iterator[str]:
    yield from ("## Result", to_markdown(results_table(report.systems)))
    for entry in report.systems:
        yield f"{escape(entry.verdict.sentence)} {escape(entry.verdict.trust)}"
        if record := entry.verdict.comparability:
            reasons = escape("; ".join(reason.text for reason in record.reasons))
            yield f"Beside the published numbers of {record.paper} it is {record.verdict}: {reasons}."
