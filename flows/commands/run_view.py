"""Lay out runs for a terminal: the leaderboard, calls, tokens and cost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import rich.table
from rich.console import RenderableType

from flows.commands.console import label_system, terminal_table
from schemas.documents.leaderboard import StoredRow, SystemRow
from schemas.documents.run import Cost, RunDocument
from schemas.lineage import Missing, RunManifest
from schemas.table import Column, Interval, Table
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.lake.lake import Lake
from tasks.reporting.content.operations import model_costs_table
from tasks.runs.baselines import Baselines
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_tables import ReportData
from tasks.runs.verdict import say_interval, say_total, say_verdict
from tasks.text.number_format import number
from tasks.text.tables import value_words

MAX_COLUMNS = 3
"""Models shown side by side; more are listed below each other."""

LONGEST_ERROR = 200
"""Characters of a server's own words below the table of failed calls."""


def missing_lines(gaps: Iterable[Missing]) -> list[str]:
    """Return a line for a terminal per dataset that has no score, or not over all its rows."""
    return [f"Missing: {gap.dataset} {gap.reason}; {gap.next_step}" for gap in gaps]


def _calls_view(document: RunDocument) -> Iterator[RenderableType]:
    """Yield how many calls a run took and why some of them failed."""
    yield f"Calls: {document.calls.line}"
    columns = (Column("Failed calls of"), Column("What"), Column("Calls", "count"), Column("What to do"))
    if document.failures:
        yield terminal_table(Table(columns, [(row.model, row.what, row.calls, row.next_step) for row in document.failures]))
    for row in document.failures:
        if row.error:  # repr escapes characters that move the cursor or hide others
            yield f"First {row.what.partition(':')[0]} of {row.model}: {row.error[:LONGEST_ERROR]!r}"


def usage_view(cost: Cost) -> list[RenderableType]:
    """Return tokens and cost by model for a terminal, and what has to be known about them."""
    if not cost.models:
        return []
    table = model_costs_table(cost.models, cost.currency)
    kept = [n for n, column in enumerate(table.columns) if not column.title.endswith(("sent now", "received now"))]
    columns = tuple(table.columns[n] for n in kept)
    narrow = replace(table, columns=columns, rows=[[row[n] for n in kept] for row in table.rows])
    return [terminal_table(narrow), *cost.notes]


def leaderboard_table(
    title: str, rows: Sequence[SystemRow], regressed: frozenset[tuple[str, str, str]] = frozenset()
) -> rich.table.Table:
    """Return the leaderboard for a terminal: one column per model while they fit, else one row per model.

    `regressed` has run, model and setting of what regressed against the run before.
    """
    abilities = list(dict.fromkeys(name for row in rows for name in row.abilities))
    is_compared = any(row.comparability for row in rows)
    columns = (
        *(Column("Model", "name"), Column("Rank", "count"), Column("Total", "score"), Column("95 % interval", "interval")),
        *(Column("Verdict", "verdict"), Column("Coverage", "share")),
        *((Column("Beside published", "verdict"),) if is_compared else ()),
        *(Column("Items", "count"), *(Column(name, "score") for name in abilities)),
        *((Column("Run before", "verdict"),) if regressed else ()),
    )
    values = [
        (
            *(label_system(row), row.rank, say_total(row), say_interval(row), say_verdict(row), row.coverage),
            *((row.comparability and row.comparability.verdict,) if is_compared else ()),
            *(f"{row.n_scored} of {row.n_total}", *map(row.abilities.get, abilities)),
            *(
                ("regressed" if isinstance(row, StoredRow) and (row.run, row.model, row.setting) in regressed else "",)
                * bool(regressed)
            ),
        )
        for row in rows
    ]
    if len(rows) > MAX_COLUMNS:
        return terminal_table(Table(columns, values, title))
    beside = [(column.title, *(value_words(row[index], column) for row in values)) for index, column in enumerate(columns)][1:]
    return terminal_table(Table((Column(""), *(Column(label_system(row)) for row in rows)), beside, title))


def run_view(title: str, document: RunDocument, manifest: RunManifest, lake: Lake) -> list[RenderableType]:
    """Return a run for a terminal; the report comes last.

    The scores of its datasets are shown where few are scored or it chose some.
    """
    few = manifest.plan.get("datasets") is not None or any(row.verdict == "too little scored" for row in document.models)
    # A line per system whose verdict is not `scored`, then one per other instrument with faults.
    return [
        *([_dataset_table(title, document, past_run(manifest, lake))] if few else []),
        leaderboard_table(title, document.models),
        *(row.headline for row in document.models if row.verdict != "scored"),
        *(f"{label_system(count)}: {count.words}" for count in document.instruments if not count.failed),
        *_calls_view(document),
        *usage_view(document.cost),
        *missing_lines(document.missing),
        f"Report: {document.report}",
    ]


def _dataset_table(title: str, document: RunDocument, run: PastRun) -> rich.table.Table:
    items, answers = Items.cast(run.read("items")), Answers.cast(run.read("answers"))
    baselines = ReportData(run.manifest, run.blueprint, items=items, answers=answers).baselines
    columns = (
        *(Column("Dataset", "name"), Column("Model"), Column("Metric"), Column("Score", "number", 3)),
        *(Column("95 % interval", "interval", 3), Column("Items", "count"), Column("Unreadable", "count")),
        Column("Constant answer", "number", 3),
    )
    rows = []
    for row in document.raw_scores:
        constant = baselines.get((row.dataset, row.metric), Baselines()).constant
        always = f"{number(constant.share, 3)}, always {constant.letter}" if constant else None
        ends = Interval.of(row.ci_low, row.ci_high)
        items_scored = f"{row.n_scored} of {row.n_total}"
        rows.append((row.dataset, label_system(row), row.metric, row.value, ends, items_scored, row.n_unparsed, always))
    return terminal_table(Table(columns, rows, title))
