"""Publish what a run found: its state, its events, and artifacts in the Prefect UI under keys that stay the same."""

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote
from uuid import UUID

from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact, acreate_table_artifact
from prefect.events import emit_event
from prefect.settings import PREFECT_UI_URL

from flows.runtime import artifact_tables as tables
from schemas.addresses import REPORTS_URL
from schemas.changes import RunChanges
from schemas.lineage import RunManifest
from schemas.printing import printable
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder
from tasks.leaderboard.ranking import run_rows
from tasks.lineage.graph import diagram_of_run
from tasks.reporting.content.verdicts import label_of, state_said
from tasks.runs.past_run import past_run
from tasks.text.number_format import counted
from tasks.text.tables import to_records

RUN_SCORED = "moodflow.run.scored"
"""After every run. Resource `moodflow.run.<run>`; payload: run, benchmark, state, previous, models, regressed, calls_sent,
report, message."""

SCORE_REGRESSION = "moodflow.score.regression"
"""Per model and setting that regressed. Resource `moodflow.model.<name>`; payload: run, previous, benchmark, model, setting,
findings (list of {what, before, after, allowed, message}), message."""

MODEL_RESOURCE = "moodflow.model."

RUN_KEYS = ("summary", "leaderboard", "abilities", "coverage", "failures", "cost")
REPORT_KEY = "report"


async def publish_run(manifest: RunManifest, changes: RunChanges, lake: Lake) -> None:
    """Publish the artifacts of a run whose layers and report are written; `changes`: since the run before."""
    run = past_run(manifest, lake)
    about = f"{manifest.benchmark}, run `{manifest.run}`"
    since = f"{about}. Change since run `{changes.previous}`." if changes.previous else about
    found = {
        "leaderboard": (tables.leaderboard_table(run_rows(run), changes), since),
        "abilities": (tables.abilities_table(run.layers["ability_scores"], changes), since),
        "coverage": (tables.coverage_table(run.layers["raw_scores"]), about),
        "failures": (tables.failures_table(manifest, lake), about),
        "cost": (tables.costs_table(manifest), about),
    }
    made: dict[str, UUID] = {}
    for key, (table, description) in found.items():
        shown, rest = tables.few(table)
        made[key] = await acreate_table_artifact(to_records(shown), key=key, description=f"{description}{rest}")
    pages = {key: page for key, artifact in made.items() if (page := ui_address("artifacts/artifact", artifact))}
    where, served = report_address(manifest, lake)
    report = (run_folder(lake.root, manifest.run) / "report.md").read_text(encoding="utf-8")
    text = summarise(report, manifest, {"report": where, **pages})
    await acreate_markdown_artifact(printable(text), key="summary", description=about)
    if served:
        await acreate_link_artifact(where, link_text=f"Report of {manifest.run}", key=REPORT_KEY, description=about)


def summarise(text: str, manifest: RunManifest, links: Mapping[str, str]) -> str:
    """Write the markdown summary of a run: its report.md, calls, addresses by name (the report's may be a path), layers."""
    gaps = len({gap.dataset for gap in manifest.missing})
    without = f"Without a score, or not of every model or row: {counted(gaps, 'dataset')}; see `failures`."
    lines = (
        text.rstrip(),
        *("", "## Calls", "", f"{manifest.calls.line}."),
        *("", "Whose replies were scored:", "", *map(_whose, manifest.plan.get("models", ()))),
        *(("", without) if gaps else ()),
        *("", "## Where to look", "", *(f"- {name}: {_link(address)}" for name, address in links.items())),
        *("", "## Layers", "", "```mermaid", *diagram_of_run(manifest), "```"),
    )
    return "\n".join(lines)


def _link(address: str) -> str:
    return f"[{address}]({address})" if address.startswith("http") else f"`{address}`"


def _whose(entry: Mapping[str, Any]) -> str:
    places = dict.fromkeys(entry[name] for name in ("identity", "base_url") if entry.get(name))
    return f"- `{entry['name']}`: {', asked at '.join(f'`{place}`' for place in places)}"


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


def announce(manifest: RunManifest, changes: RunChanges) -> None:
    """Emit the events of a run that is written."""
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
        found = "; ".join(finding.message for finding in system.findings)
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
                "message": f"{label_of(system)} regressed against {system.previous}: {found}",
            },
        )
