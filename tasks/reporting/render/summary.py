"""Write report.md: a run, or an ablation, on one page of markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas.changes import RunChanges, ScoreDifference
from schemas.lineage import Missing, RunManifest
from schemas.printing import printable
from tasks.reporting.content.changes import change_notes, changed_scores, label_of, state_said
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.report import Report
from tasks.text.number_format import count, interval, number, percent, signed, signed_interval

FULL_REPORT = "The full report, with figures, every task and example items, is the page report.html beside this file."


def write_summary(report: Report) -> str:
    """Return a run's summary as GitHub-flavoured markdown."""
    blocks = [
        f"# {escape(report.data.blueprint.title)}",
        f"Run `{report.data.manifest.run}`, {report.data.manifest.started_at} to {report.data.manifest.finished_at}.",
        *([escape(report.provenance.short_note)] if report.provenance.short_note else []),
        *_headlines(report),
        *(_since(report.data.changes) if report.data.changes else ()),
        *_results(report),
        *_abilities(report),
        *_weakest(report),
        *_missing(report.data.manifest.missing),
        FULL_REPORT,
    ]
    return "\n\n".join(blocks) + "\n"


def _since(changes: RunChanges) -> Iterator[str]:
    yield "## Since the previous run"
    yield f"{changes.state}: {escape(state_said(changes))}."
    findings = [f"{label_of(system)}: {finding.message}" for system in changes.regressed for finding in system.findings]
    if noted := [*findings, *change_notes(changes)]:
        yield "\n".join(f"- {escape(note)}" for note in noted)
    if rows := [[escape(system), escape(score.label), *_difference(score)] for system, score in changed_scores(changes)]:
        yield table(["Model", "Score", "Before", "Now", "Change", "95 % interval"], rows)
        yield "Over the items scored in both runs: each total, before the veto, and the abilities that fell most."


def _difference(score: ScoreDifference) -> list[str]:
    interval_of = signed_interval(score.ci_low, score.ci_high, 2)
    return [number(score.before, 2), number(score.after, 2), signed(score.change, 2), interval_of]


def _headlines(report: Report) -> Iterator[str]:
    for one in report.headlines:
        yield f"## Scores side by side: {escape(one.dataset)}"
        rows = one.table(entry.verdict.system for entry in report.systems).rows
        shown = ([*map(escape, names), *(number(cell["score"] if cell else None, 2) for cell in cells)] for names, cells in rows)
        yield table(["Model", *map(escape, one.metrics)], shown)


def _results(report: Report) -> Iterator[str]:
    yield "## Result"
    heads = ["Model", "Setting", "Total", "95 % interval", "Rank", "Verdict", "Coverage", "Items scored"]
    yield table(heads, (_result(entry.verdict) for entry in report.systems))
    for entry in report.systems:
        yield f"{escape(entry.verdict.sentence)} {escape(entry.verdict.trust)}"
        if record := entry.verdict.comparability:
            reasons = escape("; ".join(reason.text for reason in record.reasons))
            yield f"Beside the published numbers of {record.paper} it is {record.verdict}: {reasons}."


def _result(verdict: TotalVerdict) -> list[str]:
    return [
        escape(verdict.system.model),
        escape(verdict.system.setting),
        verdict.total_words,
        verdict.interval_words,
        escape(verdict.rank_note),
        verdict.verdict,
        percent(verdict.coverage),
        f"{count(verdict.n_scored)} of {count(verdict.n_total)}",
    ]


def _abilities(report: Report) -> Iterator[str]:
    titles = [node.title for entry in report.systems[:1] for node in entry.abilities]
    if not titles:
        return
    yield "## Abilities"
    rows = ([escape(entry.label), *(number(node.part.score) for node in entry.abilities)] for entry in report.systems)
    yield table(["Model", *map(escape, titles)], rows)


def _weakest(report: Report) -> Iterator[str]:
    rows = [
        [escape(entry.label), escape(weak.task.part.title), escape(weak.task.path.path), number(weak.task.part.score)]
        for entry in report.systems
        for weak in entry.weak
    ]
    if rows:
        yield "## Weakest tasks"
        yield table(["Model", "Task", "Ability", "Score"], rows)


def _missing(missing: tuple[Missing, ...]) -> Iterator[str]:
    if missing:
        yield "## What is missing"
        rows = ([gap.dataset, gap.model or "all", gap.setting or "all", gap.reason, gap.next_step] for gap in missing)
        yield table(["Dataset", "Model", "Setting", "Reason", "Next step"], (map(escape, row) for row in rows))


def write_ablation_summary(manifest: RunManifest, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return an ablation's scores by variant, rows of `ablations`, as GitHub-flavoured markdown."""
    heads = ["Variant", "Model", "Setting", "Dataset", "Metric", "0 to 100", "95 % interval", "Items scored"]
    cells = (
        [
            *(escape(row[name]) for name in ("variant", "model", "setting", "dataset", "metric")),
            number(row["value_0_100"]),
            interval(row["ci_low"], row["ci_high"]),
            f"{count(row['n_scored'])} of {count(row['n_total'])}",
        ]
        for row in sorted(rows, key=variant_order)
    )
    blocks = [
        f"# {escape(str((manifest.ablation or {})['name']))}: {escape(manifest.benchmark)}",
        f"Ablation run `{manifest.run}`, {manifest.started_at} to {manifest.finished_at}.",
        table(heads, cells),
        *_missing(manifest.missing),
    ]
    return "\n\n".join(blocks) + "\n"


def variant_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a row of `ablations`: variants of one score together, numbers as numbers and before words."""
    values = ((row["x_value"], row["x"]), (row["y_value"], row["y"]))
    return (
        *(row[name] for name in ("model", "setting", "dataset", "method", "metric")),
        *((value is None, value or 0.0, text or "") for value, text in values),
    )


def escape(text: str) -> str:
    """Return text for a line or a table cell: one line, nothing in it acts as markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#~&!])", r"\\\1", printable(" ".join(text.split())))


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; cells must be escaped already."""
    columns = list(heads)
    return "\n".join(f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows))
