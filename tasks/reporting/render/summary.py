"""Write report.md: a run, or an ablation, on one page of markdown that leads to the full report."""

import re
from collections.abc import Iterable, Iterator

from schemas.lineage import Missing
from tasks.analysis.number_format import NONE, count, interval, number, percent
from tasks.reporting.content.ablations import AblationContent
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.report import Report

FULL_REPORT = "The full report, with figures, every task and example items, is the page report.html beside this file."


def write_summary(report: Report) -> str:
    """Return a run's summary as GitHub-flavoured markdown."""
    blocks = [
        f"# {escape(report.title)}",
        f"Run `{report.manifest.run}`, {report.manifest.started_at} to {report.manifest.finished_at}.",
        *([escape(report.provenance.short_note)] if report.provenance.short_note else []),
        *_results(report),
        *_abilities(report),
        *_weakest(report),
        *_missing(report.manifest.missing),
        FULL_REPORT,
    ]
    return "\n\n".join(blocks) + "\n"


def _results(report: Report) -> Iterator[str]:
    yield "## Result"
    heads = ["Model", "Setting", "Total", "95 % interval", "Rank", "State", "Coverage", "Items scored"]
    yield table(heads, (_result(entry.verdict) for entry in report.systems))
    for entry in report.systems:
        yield f"{escape(entry.verdict.sentence)} {escape(entry.verdict.trust)}"


def _result(verdict: TotalVerdict) -> list[str]:
    totals = {"vetoed": f"0 ({number(verdict.before_veto, 2)} before the veto)", "unscored": f"{NONE} (no score)"}
    return [
        escape(verdict.system.model),
        escape(verdict.system.setting),
        totals.get(verdict.state, number(verdict.total, 2)),
        interval(verdict.ci_low, verdict.ci_high, 2),
        escape(verdict.rank_note),
        verdict.state_word,
        percent(verdict.coverage),
        f"{count(verdict.n_scored)} of {count(verdict.n_total)}",
    ]


def _abilities(report: Report) -> Iterator[str]:
    titles = [row.title for entry in report.systems[:1] for row in entry.abilities if row.datasets_total]
    if not titles:
        return
    yield "## Abilities"
    rows = (
        [escape(entry.label), *(number(row.score) for row in entry.abilities if row.datasets_total)] for entry in report.systems
    )
    yield table(["Model", *map(escape, titles)], rows)


def _weakest(report: Report) -> Iterator[str]:
    rows = [
        [escape(entry.label), escape(weak.task.title), escape(weak.task.path), number(weak.task.score)]
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


def write_ablation_summary(title: str, run: str, contents: tuple[AblationContent, ...], notes: tuple[str, ...]) -> str:
    """Return an ablation's scores by variant as GitHub-flavoured markdown.

    Args:
        title: of the ablation.
        run: its name.
        contents: what was measured, by dataset, method and metric.
        notes: what is missing or was done otherwise, in sentences.
    """
    rows = (
        [
            escape(f"{content.dataset}, {content.metric}"),
            escape(row.system),
            escape(row.variant),
            number(row.score),
            interval(row.ci_low, row.ci_high),
            f"{count(row.n_scored)} of {count(row.n_total)}",
        ]
        for content in contents
        for row in content.rows
    )
    scores = table(["Score", "Model", "Variant", "0 to 100", "95 % interval", "Items scored"], rows)
    told = [escape(sentence) for sentence in (*notes, *(sentence for content in contents for sentence in content.sentences))]
    return "\n\n".join([f"# {escape(title)}", f"Ablation run `{run}`.", scores, *told, FULL_REPORT]) + "\n"


def escape(text: str) -> str:
    """Return text for a line or a table cell: one line, nothing in it acts as markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#~&!])", r"\\\1", " ".join(text.split()))


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; cells must be escaped already."""
    columns = list(heads)
    return "\n".join(f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows))
