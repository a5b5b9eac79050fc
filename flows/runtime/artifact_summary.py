"""Write the markdown summary of a run for the Prefect UI."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, RunChanges, ScoreDifference, SystemChanges
from schemas.lineage import RunManifest
from tasks.lineage.graph import diagram_of_run

MAX_CHANGES = 60
"""Rows of the table of changes; with more, only totals and regressions are shown there."""

MAX_SYSTEMS = 10
WEAKEST = 3
Lines = Iterator[str]


@dataclass(frozen=True)
class ReportLinks:
    """Where a reader finds the report and the other artifacts. `report` is an address if `linked`, else a path."""

    report: str
    linked: bool
    artifacts: tuple[tuple[str, str], ...] = ()
    """Names and addresses of the tables; none where the UI's address is not known."""


def summarise(
    manifest: RunManifest,
    changes: RunChanges | None,
    headline: str,
    tasks: pl.DataFrame,
    blueprint: Blueprint,
    links: ReportLinks,
) -> str:
    """Write the whole page.

    Args:
        manifest: of the run.
        changes: since the run before; null if nothing was compared.
        headline: one sentence per model and setting, each on its line.
        tasks: rows of `task_scores`.
        blueprint: has the titles of tasks.
        links: where report and tables are.
    """
    sections = (
        [f"# {manifest.benchmark}", "", f"Run `{manifest.run}`", ""],
        [f"- {line}" for line in headline.splitlines()],
        changes_lines(changes) if changes else (),
        calls_lines(manifest),
        weakest_lines(tasks, blueprint),
        link_lines(links),
        ["", "## Layers", "", *layer_graph(manifest)],
    )
    return "\n".join(line for section in sections for line in section)


def summarise_ablation(manifest: RunManifest, links: ReportLinks) -> str:
    """Write the page of an ablation: its scores are a table of their own."""
    named = manifest.ablation or {}
    varied = [f"{one['factor']}: {', '.join(one['values'])}" for one in named["varied"]]
    sections = (
        [f"# {named['name']}: {manifest.benchmark}", "", f"Run `{manifest.run}`", "", f"Varied: {'; '.join(varied)}."],
        calls_lines(manifest),
        link_lines(links),
        ["", "## Layers", "", *layer_graph(manifest)],
    )
    return "\n".join(line for section in sections for line in section)


def changes_lines(changes: RunChanges) -> Lines:
    """Write what changed since the run before, regressions first."""
    yield from ("", "## Since the previous run", "")
    if changes.previous is None:
        yield f"{_sentence(changes.reason or 'no earlier run')}."
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
        yield f"| {_cell(_system_name(system))} | {_what(change)} | {_numbers(change)} | {_cell(mark)} |"
    if not everything:
        left_out = len(rows) - len(shown[:MAX_CHANGES])
        yield from ("", f"{left_out} more rows are in the artifacts `leaderboard` and `abilities`, column `change`.")


def _what(change: ScoreDifference) -> str:
    return "total before the veto" if change.what == TOTAL else change.what


def _numbers(change: ScoreDifference) -> str:
    interval = "" if change.ci_low is None else f"{_signed(change.ci_low)} to {_signed(change.ci_high)}"
    return f"{_plain(change.before)} | {_plain(change.after)} | {_signed(change.change)} | {interval}"


def calls_lines(manifest: RunManifest) -> Lines:
    """Write how often models were called, and what has no score."""
    calls = manifest.calls
    yield from ("", "## Calls", "")
    yield f"{calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed."
    if manifest.missing:
        gaps = len({gap.dataset for gap in manifest.missing})
        yield from ("", f"{gaps} dataset{'s have' if gaps > 1 else ' has'} no score or not of every model: see `failures`.")


def weakest_lines(tasks: pl.DataFrame, blueprint: Blueprint) -> Lines:
    """Write the lowest tasks of each system; `tasks`: rows of `task_scores`."""
    titles = {task.id: task.title for _, task in blueprint.tasks()}
    scored = tasks.filter(pl.col("score_0_100").is_not_null()).sort("score_0_100", "task")
    systems = tasks.select("model", "setting").unique(maintain_order=True).rows()
    if scored.is_empty():
        return
    yield from ("", "## Weakest tasks", "", "| Model | Task | Score | Items |", "| --- | --- | ---: | ---: |")
    for model, setting in systems[:MAX_SYSTEMS]:
        own = scored.filter((pl.col("model") == model) & (pl.col("setting") == setting)).head(WEAKEST)
        for row in own.iter_rows(named=True):
            title = titles.get(row["task"], row["task"])
            yield f"| {_cell(f'{model} ({setting})')} | {_cell(title)} | {row['score_0_100']:.2f} | {row['n_scored']} |"
    if len(systems) > MAX_SYSTEMS:
        yield from ("", f"The first {MAX_SYSTEMS} of {len(systems)}; all of them are in the report.")


def link_lines(links: ReportLinks) -> Lines:
    """Write where report and tables are."""
    shown = f"[{links.report}]({links.report})" if links.linked else f"`{links.report}`"
    yield from ("", "## Report", "", f"Report: {shown}")
    if links.artifacts:
        yield from ("", "Tables: " + ", ".join(f"[{name}]({address})" for name, address in links.artifacts))


def layer_graph(manifest: RunManifest) -> Lines:
    """Draw the layers with their partitions and rows, as a mermaid graph."""
    yield from ("```mermaid", *diagram_of_run(manifest), "```")


def _system_name(system: SystemChanges) -> str:
    return f"{system.model} ({system.setting})"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:+.2f}" if round(value, 2) else "0.00"


def _cell(text: str) -> str:
    """Escape a bar, which a model's name may hold and which would end its cell."""
    return text.replace("|", "\\|")
