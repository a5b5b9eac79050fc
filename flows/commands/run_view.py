"""Turn the manifest and layers of a run into its JSON document and its tables for a terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from flows.commands.console import bold, decimal, folded, label_system, numbers, terminal_table, text_table, unbroken
from flows.runtime.artifact_tables import failure_kinds
from schemas.changes import RunChanges
from schemas.errors import UsageError
from schemas.lineage import CallCounts, Missing, PartitionRef, RunManifest
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.usage import Usage, by_model, total
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_changes, run_folder
from tasks.leaderboard.ranking import run_rows
from tasks.reporting.content.headlines import describe_headlines
from tasks.reporting.content.operations import cost_notes, model_costs_table
from tasks.runs.baselines import Baselines
from tasks.runs.instruments import check_simulation
from tasks.runs.mean_lengths import read_lengths
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_tables import ReportData
from tasks.runs.sections import read_sections
from tasks.runs.verdict import say_interval, say_total, say_verdict
from tasks.text.number_format import interval, number

MAX_COLUMNS = 3
"""Models shown side by side; more are listed below each other."""

LONGEST_ERROR = 200
"""Characters of a server's own words below the table of failed calls."""


def run_document(manifest: RunManifest, lake: Lake) -> dict[str, Any]:
    """Return the JSON document of `moodflow run --json`."""
    run = past_run(manifest, lake)
    document = {
        "run": manifest.run,
        "benchmark": manifest.benchmark,
        "manifest": str(run_folder(lake.root, manifest.run) / MANIFEST),
        "models": run_rows(run),
        "instruments": [asdict(one) | {"failed": one.failed, "words": one.words} for one in run.instruments],
        "lengths": [one._asdict() for one in read_lengths(run)],
        "simulation": check_simulation(run),
        "headlines": [asdict(one) for one in describe_headlines(run.blueprint, run.layers)],
        "raw_scores": run.layers["raw_scores"].to_dicts(),
        "dimension_scores": run.dimension_scores.to_dicts(),
        "calls": manifest.calls.model_dump(),
        "failures": failure_kinds(manifest, lake),
        **usage_document(manifest.usage, manifest.currency, manifest.partitions),
        "missing": [gap.model_dump() for gap in manifest.missing],
        "canaries": [finding.model_dump() for finding in manifest.canaries],
        "report": str(lake.root / manifest.report) if manifest.report else None,
        **_changes_document(read_changes(lake.root, manifest.run)),
    }
    sections = read_sections(run)
    if taken := sorted(sections.keys() & document.keys()):
        step = "give the section of the installed package another name"
        raise UsageError(f"a section has the name {taken[0]}, which the document of a run has", next_step=step)
    return {**document, **sections}


def _changes_document(changes: RunChanges | None) -> dict[str, Any]:
    """Return how the run ended, which run it was compared with and what regressed; null if nothing was compared."""
    if changes is None:
        return dict.fromkeys(("state", "previous", "regressions"))
    regressions = [
        {"model": system.model, "setting": system.setting, "previous": system.previous, **finding.model_dump()}
        for system in changes.regressed
        for finding in system.findings
    ]
    return {"state": changes.state, "previous": changes.previous, "regressions": regressions}


def missing_lines(gaps: Iterable[Missing]) -> list[str]:
    """Return a line for a terminal per dataset that has no score, or not over all its rows."""
    return [f"Missing: {gap.dataset} {gap.reason}; {gap.next_step}" for gap in gaps]


def usage_document(rows: Sequence[Usage], currency: str | None, refs: Iterable[PartitionRef] = ()) -> dict[str, Any]:
    """Return tokens and cost: by dataset and model, by model, and of the run.

    `unpriced` names models whose price is not known, `notes` say what has to be known about the numbers.
    """
    models = by_model(rows)
    return {
        "usage": [row.model_dump() for row in rows],
        "cost": {
            "currency": currency,
            "models": [row.model_dump() for row in models],
            "total": total(rows).model_dump(),
            "unpriced": [row.model for row in models if row.cost is None and row.prompt_tokens is not None],
            "notes": list(cost_notes(rows, refs)),
        },
    }


def _calls_view(document: dict[str, Any]) -> list[RenderableType]:
    """Return how many calls a run took and why some of them failed."""
    failures = document["failures"]
    table = text_table("Failed calls of", folded("What"), *numbers("Calls"), folded("What to do"))
    for row in failures:
        table.add_row(*(str(row[name]) for name in ("model", "what", "calls", "next_step")))
    # repr escapes characters that move the cursor or hide others.
    errors = (
        f"First {row['what'].partition(':')[0]} of {row['model']}: {row['error'][:LONGEST_ERROR]!r}"
        for row in failures
        if row["error"]
    )
    return [f"Calls: {CallCounts(**document['calls']).line}", *([table] if failures else []), *errors]


def usage_view(document: dict[str, Any]) -> list[RenderableType]:
    """Return tokens and cost by model for a terminal, and what has to be known about them; from a run's JSON document."""
    rows = [Usage.model_validate(row) for row in document["usage"]]
    if not rows:
        return []
    table = model_costs_table(rows, document["cost"]["currency"])
    kept = [n for n, column in enumerate(table.columns) if not column.title.endswith(("sent now", "received now"))]
    columns = tuple(table.columns[n] for n in kept)
    narrow = replace(table, columns=columns, rows=[[row[n] for n in kept] for row in table.rows])
    return [terminal_table(narrow), *document["cost"]["notes"]]


def leaderboard_table(title: str, rows: list[dict[str, Any]], regressed: frozenset[tuple[str, str, str]] = frozenset()) -> Table:
    """Return the leaderboard for a terminal: one column per model while they fit, else one row per model.

    `regressed` has run, model and setting of what regressed against the run before.
    """
    names = dict.fromkeys(name for row in rows for name in row["abilities"])
    cells = [_model_cells(row, names) for row in rows]
    if regressed:
        for row, cell in zip(rows, cells, strict=True):
            cell["Run before"] = bold("regressed") if (row["run"], row["model"], row["setting"]) in regressed else ""
    labels = [label_system(row) for row in rows]
    if len(rows) > MAX_COLUMNS:
        listed = ((label, *cell.values()) for label, cell in zip(labels, cells, strict=True))
        return text_table(unbroken("Model"), *map(folded, cells[0]), rows=listed, title=title)
    beside = ((name, *(cell[name] for cell in cells)) for name in (cells[0] if cells else ()))
    return text_table("", *labels, rows=beside, title=title)


def run_view(title: str, document: dict[str, Any], manifest: RunManifest, lake: Lake) -> list[RenderableType]:
    """Return a run for a terminal, from its JSON document; the report comes last.

    The scores of its datasets are shown where few are scored or it chose some.
    """
    models = document["models"]
    few = manifest.plan.get("datasets") is not None or any(row["verdict"] == "too little scored" for row in models)
    tables = [_dataset_table(title, document, past_run(manifest, lake))] if few else []
    # A line per system whose verdict is not `scored`, then one per other instrument with faults.
    verdicts = [row["headline"] for row in models if row["verdict"] != "scored"]
    faults = [f"{label_system(one)}: {one['words']}" for one in document["instruments"] if not one["failed"]]
    scores = [*tables, leaderboard_table(title, models), *verdicts, *faults]
    gaps = missing_lines(manifest.missing)
    return [*scores, *_calls_view(document), *usage_view(document), *gaps, f"Report: {document['report']}"]


def _dataset_table(title: str, document: dict[str, Any], run: PastRun) -> Table:
    heads = numbers("Score", "95 % interval", "Items", "Unreadable", "Constant answer")
    table = text_table(unbroken("Dataset"), "Model", "Metric", *heads, title=title)
    items, answers = Items.cast(run.read("items")), Answers.cast(run.read("answers"))
    baselines = ReportData(run.manifest, run.blueprint, items=items, answers=answers).baselines
    for row in document["raw_scores"]:
        constant = baselines.get((row["dataset"], row["metric"]), Baselines()).constant
        table.add_row(
            row["dataset"],
            label_system(row),
            row["metric"],
            number(row["value"], 3),
            interval(row["ci_low"], row["ci_high"], 3),
            f"{row['n_scored']} of {row['n_total']}",
            str(row["n_unparsed"]),
            f"{number(constant.share, 3)}, always {constant.letter}" if constant else number(None),
        )
    return table


def _model_cells(row: dict[str, Any], abilities: Iterable[str]) -> dict[str, str | Text]:
    return {
        "Rank": str(row["rank"] or "-"),
        "Total": bold(say_total(row)),
        "95 % interval": say_interval(row),
        "Verdict": say_verdict(row),
        "Coverage": f"{100 * row['coverage']:.0f} %",
        **({"Beside published": likeness["verdict"]} if (likeness := row.get("comparability")) else {}),
        **({"Items": f"{row['n']} of {row['n_total']}"} if row["n"] is not None else {}),
        **{name: decimal(row["abilities"].get(name)) for name in abilities},
    }
