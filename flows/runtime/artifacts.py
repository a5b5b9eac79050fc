"""Publish what a run found: its state, its events, and artifacts in the Prefect UI under keys that stay the same."""

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

import polars as pl
from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact, acreate_table_artifact
from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.settings import PREFECT_UI_URL

from schemas.addresses import REPORTS_URL
from schemas.changes import TOTAL, RunChanges
from schemas.documents.leaderboard import SystemRow
from schemas.lineage import RunManifest
from schemas.printing import printable
from schemas.table import Column, Part, Table, columns
from schemas.usage import COSTS, Amounts, by_model, total
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder
from tasks.lake.seal import PICTURE
from tasks.leaderboard.ranking import run_rows
from tasks.lineage.graph import diagram_of_run
from tasks.reporting.content.verdicts import state_said
from tasks.runs.failures import failed_calls
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.verdict import label_of, say_verdict
from tasks.solvers.registry import setting_title
from tasks.text.number_format import moment
from tasks.text.tables import to_records

RUN_SCORED = "moodflow.run.scored"
"""After every run. Resource `moodflow.run.<run>`; payload: run, benchmark, state, previous, models, regressed, calls_sent,
report, message."""

SCORE_REGRESSION = "moodflow.score.regression"
"""Per model and setting that regressed. Resource `moodflow.model.<name>`; payload: run, previous, benchmark, model, setting,
findings (list of {what, before, after, allowed, message}), message, and text: one sentence, and where report and run are."""

MODEL_RESOURCE = "moodflow.model."

RUN_KEYS = ("summary", "leaderboard", "abilities", "coverage", "failures", "cost")
REPORT_KEY = "report"


async def publish_run(manifest: RunManifest, changes: RunChanges, lake: Lake) -> None:
    """Publish the artifacts of a run whose layers and report are written; `changes`: since the run before."""
    run = past_run(manifest, lake)
    about = f"{run.blueprint.title}, run `{manifest.run}` of {moment(manifest.finished_at)}."
    since = f"{about} Change since run `{changes.previous}`." if changes.previous else about
    tables = {
        "leaderboard": (leaderboard_table(run_rows(run), changes), since),
        "abilities": (abilities_table(run, changes), since),
        "coverage": (coverage_table(run.layers["raw_scores"]), about),
        "failures": (failures_table(manifest, lake), about),
        "cost": (costs_table(manifest), about),
    }
    made: dict[str, UUID] = {}
    for key, (table, description) in tables.items():
        head, rest = few(table)
        made[key] = await acreate_table_artifact(to_records(head), key=key, description=f"{description}{rest}")
    pages = {key: page for key, artifact in made.items() if (page := ui_address("artifacts/artifact", artifact))}
    where, served = report_address(manifest, lake)
    folder = run_folder(lake.root, manifest.run)
    text = printable(summarise((folder / "report.md").read_text(encoding="utf-8"), manifest, {"report": where, **pages}))
    if (picture := folder / PICTURE).exists():  # the UI shows no file beside the text
        text = text.replace(f"({PICTURE})", f"(data:image/png;base64,{b64encode(picture.read_bytes()).decode()})", 1)
    await acreate_markdown_artifact(text, key="summary", description=about)
    if served:
        title = printable(f"Report on {', '.join(model['name'] for model in manifest.plan['models'])}, {run.blueprint.title}")
        await acreate_link_artifact(where, link_text=title, key=REPORT_KEY, description=about)


def summarise(text: str, manifest: RunManifest, links: Mapping[str, str]) -> str:
    """Write the markdown summary of a run: its report.md, calls, addresses by name (the report's may be a path), layers."""
    gaps = len({gap.dataset for gap in manifest.missing})
    without = f"Datasets without a score, or not for every model and row: {gaps}. The failures below say why."
    lines = (
        text.rstrip(),
        *("", "## Calls", "", f"{manifest.calls.line}."),
        *("", "Models whose replies were scored:", "", *map(_whose, manifest.plan.get("models", ()))),
        *(("", without) if gaps else ()),
        *("", "## Where to look", "", *(_link(name.capitalize(), address) for name, address in links.items())),
        *("", "## What was written, layer by layer", "", "```mermaid", *diagram_of_run(manifest), "```"),
    )
    return "\n".join(lines)


def _link(title: str, address: str) -> str:
    return f"- [{title}]({address})" if address.startswith("http") else f"- {title}: `{address}`"


def _whose(entry: Mapping[str, Any]) -> str:
    places = dict.fromkeys(entry[name] for name in ("identity", "base_url") if entry.get(name))
    return f"- `{entry['name']}`: {', asked at '.join(f'`{location}`' for location in places)}"


def report_address(manifest: RunManifest, lake: Lake) -> tuple[str, bool]:
    """Return where a run's report is, and whether that is an address: the lake's runs are served; else it is a path."""
    if served := os.environ.get(REPORTS_URL):
        return f"{served.rstrip('/')}/{quote(manifest.run)}/report.html", True
    return str(lake.root / str(manifest.report)), False


def ui_address(page: str, which: object) -> str | None:
    """Return the address of a page of the UI, which no side bar leads to; None if no UI is known, as of a temporary server."""
    ui = PREFECT_UI_URL.value()
    return f"{str(ui).rstrip('/')}/v2/{page}/{which}" if ui else None


def addresses_of(keys: Sequence[str], flow_run: UUID | None) -> list[str]:
    """Return the pages of the UI to open after a run: the run itself, then the histories of its artifacts."""
    served = (REPORT_KEY,) if os.environ.get(REPORTS_URL) else ()
    pages = [ui_address("runs/flow-run", f"{flow_run}?tab=Artifacts") if flow_run else None]
    pages += [ui_address("artifacts/key", key) for key in (*keys, *served)]
    return [page for page in pages if page]


def announce(manifest: RunManifest, changes: RunChanges, lake: Lake) -> None:
    """Emit the events of a run that is written."""
    context = FlowRunContext.get()
    flow_run = context.flow_run if context else None
    page = ui_address("runs/flow-run", flow_run.id) if flow_run else None
    links = [f"Report: {report_address(manifest, lake)[0]}", *([f"Run: {page}"] if page else [])]
    emit_event(
        RUN_SCORED,
        resource={"prefect.resource.id": f"moodflow.run.{manifest.run}", "prefect.resource.name": manifest.run},
        payload={
            "run": manifest.run,
            "benchmark": manifest.benchmark,
            "state": changes.state,
            "previous": changes.previous,
            "models": [model["name"] for model in manifest.plan["models"]],
            "regressed": [label_of(system) for system in changes.regressed],
            "calls_sent": manifest.calls.sent,
            "report": manifest.report,
            "message": state_said(changes),
        },
    )
    for system in changes.regressed:
        messages = "; ".join(finding.message for finding in system.findings)
        alone = changes.model_copy(update={"units": (system,), "differences": ()})
        emit_event(
            SCORE_REGRESSION,
            resource={"prefect.resource.id": f"{MODEL_RESOURCE}{system.model}", "prefect.resource.name": system.model},
            payload={
                "run": manifest.run,
                "previous": system.previous,
                "benchmark": manifest.benchmark,
                "model": system.model,
                "setting": system.setting,
                "findings": [finding.model_dump(mode="json") for finding in system.findings],
                "message": f"{label_of(system)} regressed against {system.previous}: {messages}",
                "text": "\n".join((f"Regressed on {manifest.benchmark}: {state_said(alone)}", *links)),
            },
        )


JOB_KEY = ["dataset", "model", "setting"]
JOB = columns("name", "Dataset", "Model", "Setting")

MAX_ROWS = 1000
"""Above that the UI gets slow; the description says what was left out."""


def leaderboard_table(models: Sequence[SystemRow], changes: RunChanges | None) -> Table:
    """Return one row per system; `models`: of `run_rows`, in their order; `changes`: None if nothing was compared.

    Interval and `change` are of the total before the veto.
    """
    moved = _moved(changes)
    total = (Column("Total", "score"), Column("Verdict", "verdict"))
    ends = (*columns("score", "Total before the veto", "95 % low", "95 % high"), Column("Change", "difference"))
    rows = [
        (
            *(row.rank, row.model, setting_title(row.setting), row.total, say_verdict(row), row.total_before_veto),
            *(row.ci_low, row.ci_high, moved.get((row.model, row.setting, TOTAL)), row.coverage),
            row.comparability.verdict if row.comparability else None,
        )
        for row in models
    ]
    heads = (Column("Rank", "count"), *columns("name", "Model", "Setting"), *total, *ends)
    return Table((*heads, Column("Coverage %", "share"), Column("Published numbers")), rows)


def abilities_table(run: PastRun, changes: RunChanges | None) -> Table:
    """Return one row per system and main ability."""
    moved, titles = _moved(changes), {main.id: main.title for main in run.blueprint.abilities}
    scores = (Column("Score", "score"), Column("Change", "difference"), *columns("part", "Datasets", "Items"))
    of_each = ("model", "setting", "ability", "score_0_100", "datasets_scored", "datasets_total", "n_scored", "n_total")
    rows = [
        (model, setting_title(setting), titles[main], score, moved.get((model, setting, main)), Part(scored, of), Part(n, total))
        for model, setting, main, score, scored, of, n, total in run.layers["ability_scores"].select(of_each).iter_rows()
    ]
    return Table((*columns("name", "Model", "Setting", run.blueprint.ability_word.capitalize()), *scores), rows)


def coverage_table(raw: pl.DataFrame) -> Table:
    """Return one row per dataset and system that has a score, the least covered first; `raw`: rows of `raw_scores`.

    An item counts as scored if each of its metrics is. Datasets without a score are among the failures.
    """
    counts = (*columns("count", "Scored", "Of"), Column("Scored %", "share"), Column("Unreadable", "count"))
    jobs = raw.group_by(JOB_KEY).agg(
        *(pl.col("n_scored").min(), pl.col("n_total").max()),
        share=pl.col("n_scored").min() / pl.col("n_total").max(),
        unreadable=pl.col("n_unparsed").max(),
        metrics=pl.col("metric").cast(pl.String).unique().sort().str.join(", "),
    )
    shares = pl.when(pl.col("n_total") > 0).then("share")
    rows = jobs.sort("share", *JOB_KEY).with_columns(share=shares).rows()
    titled = [(dataset, model, setting_title(setting), *of_job) for dataset, model, setting, *of_job in rows]
    return Table((*JOB, *counts, Column("Metrics")), titled)


def failures_table(manifest: RunManifest, lake: Lake) -> Table:
    """Return what has no score, and calls that failed, by dataset, model and kind; a single row says that there is nothing."""
    gaps = [(gap.dataset, gap.model or "all", gap.setting or "all", gap.reason, None, gap.next_step) for gap in manifest.missing]
    rows = [*gaps, *(row for row, _ in failed_calls(manifest, lake))] or [("", "all", "all", "nothing failed", None, "")]
    return Table((*JOB, Column("What"), Column("Calls", "count"), Column("Next step")), rows)


def costs_table(manifest: RunManifest) -> Table:
    """Return one row of the run, then one per model, then one per dataset, model and role; unknown costs stay empty."""
    if not manifest.usage:
        return Table((*columns("name", "Dataset", "Model"), Column("Note")), [("", "all", "this run recorded no tokens")])
    rows = [
        {"dataset": "all", "model": "all", "role": "all", **total(manifest.usage).model_dump()},
        *({"dataset": "all", **row.model_dump()} for row in by_model(manifest.usage)),
        *(row.model_dump() for row in manifest.usage),
    ]
    counts = (name for name in Amounts.model_fields if name not in COSTS)
    costs = (*columns("money", *COSTS, digits=6), Column("currency", "name"))
    heads = (*columns("name", "dataset", "model", "role"), *costs, *columns("count", *counts))
    values = [[{**row, "currency": manifest.currency}[head.title] for head in heads] for row in rows]
    return Table(tuple(head._replace(title=head.title.replace("_", " ").capitalize()) for head in heads), values)


def _moved(changes: RunChanges | None) -> dict[tuple[str, str, str], float | None]:
    """Return changes by model, setting and what they are of."""
    systems = changes.units if changes else ()
    return {(system.model, system.setting, change.what): change.change for system in systems for change in system.changes}


def few(table: Table) -> tuple[Table, str]:
    """Return at most MAX_ROWS rows, and a sentence on the others."""
    if len(table.rows) <= MAX_ROWS:
        return table, ""
    rest = f" The first {MAX_ROWS:,} of {len(table.rows):,} rows; all of them are in the report."
    return replace(table, rows=table.rows[:MAX_ROWS]), rest
