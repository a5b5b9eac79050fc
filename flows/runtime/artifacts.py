"""What a run shows in the Prefect UI, under keys that stay the same, so that each has a history over runs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from prefect.artifacts import acreate_link_artifact, acreate_markdown_artifact, acreate_table_artifact
from prefect.settings import PREFECT_UI_URL

from flows.runtime import artifact_summary as summary
from flows.runtime import artifact_tables as tables
from schemas.addresses import REPORTS_URL
from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.comparisons import Ablations
from schemas.tables.scores import AbilityScores, RawScores, TaskScores, Totals
from tasks.lake.lake import Lake

SUMMARY_KEY = "summary"
LEADERBOARD_KEY = "leaderboard"
ABILITIES_KEY = "abilities"
COVERAGE_KEY = "coverage"
FAILURES_KEY = "failures"
COSTS_KEY = "cost"
REPORT_KEY = "report"
ABLATION_KEY = "ablation"
ABLATION_SUMMARY_KEY = "ablation-summary"

RUN_KEYS = (SUMMARY_KEY, LEADERBOARD_KEY, ABILITIES_KEY, COVERAGE_KEY, FAILURES_KEY, COSTS_KEY)
ABLATION_KEYS = (ABLATION_SUMMARY_KEY, ABLATION_KEY, FAILURES_KEY, COSTS_KEY)


@dataclass(frozen=True)
class ArtifactInput:
    """A run to show."""

    manifest: RunManifest
    blueprint: Blueprint
    headline: str
    changes: RunChanges | None


async def publish_run(shown: ArtifactInput, lake: Lake) -> None:
    """Publish the artifacts of a run."""
    manifest, changes = shown.manifest, shown.changes
    totals = lake.read(manifest.partition("totals"), Totals)
    abilities = lake.read(manifest.partition("ability_scores"), AbilityScores)
    raw = lake.read(manifest.partition("raw_scores"), RawScores)
    tasks = lake.read(manifest.partition("task_scores"), TaskScores)
    about = _about(manifest)
    since = f"{about}. Change since run `{changes.previous}`." if changes and changes.previous else about
    made = {
        LEADERBOARD_KEY: await _table(LEADERBOARD_KEY, tables.leaderboard_rows(totals, changes), since),
        ABILITIES_KEY: await _table(ABILITIES_KEY, tables.ability_rows(abilities, changes), since),
        COVERAGE_KEY: await _table(COVERAGE_KEY, tables.coverage_rows(raw, manifest), about),
        **await _publish_losses(manifest, lake),
    }
    place = find_place(manifest, lake, made, os.environ)
    text = summary.summarise(manifest, changes, shown.headline, tasks, shown.blueprint, place)
    await acreate_markdown_artifact(text, key=SUMMARY_KEY, description=about)
    await _publish_link(manifest, place)


async def publish_ablation(manifest: RunManifest, table: PartitionRef, lake: Lake) -> None:
    """Publish the artifacts of an ablation."""
    about = f"{_about(manifest)}, ablation {(manifest.ablation or {})['name']}"
    made = {
        ABLATION_KEY: await _table(ABLATION_KEY, tables.ablation_rows(lake.read(table, Ablations)), about),
        **await _publish_losses(manifest, lake),
    }
    place = find_place(manifest, lake, made, os.environ)
    text = summary.summarise_ablation(manifest, place)
    await acreate_markdown_artifact(text, key=ABLATION_SUMMARY_KEY, description=about)
    await _publish_link(manifest, place)


async def _publish_losses(manifest: RunManifest, lake: Lake) -> dict[str, UUID]:
    about = _about(manifest)
    return {
        FAILURES_KEY: await _table(FAILURES_KEY, tables.failure_rows(manifest, lake), about),
        COSTS_KEY: await _table(COSTS_KEY, tables.cost_rows(manifest), about),
    }


async def _table(key: str, rows: Sequence[tables.Row], about: str) -> UUID:
    shown, rest = tables.few(rows)
    return await acreate_table_artifact(shown, key=key, description=f"{about}{rest}")


async def _publish_link(manifest: RunManifest, place: summary.ReportLinks) -> None:
    if place.linked:
        await acreate_link_artifact(
            place.report, link_text=f"Report of {manifest.run}", key=REPORT_KEY, description=_about(manifest)
        )


def find_place(manifest: RunManifest, lake: Lake, tables: Mapping[str, UUID], environ: Mapping[str, str]) -> summary.ReportLinks:
    """Where a run's report is, an address if the lake's runs are served, else a path; and where its tables are."""
    addresses = tuple((key, address) for key, found in tables.items() if (address := ui_address("artifacts/artifact", found)))
    if served := environ.get(REPORTS_URL):
        return summary.ReportLinks(f"{served.rstrip('/')}/{quote(manifest.run)}/report.html", linked=True, artifacts=addresses)
    return summary.ReportLinks(str(lake.root / str(manifest.report)), linked=False, artifacts=addresses)


def ui_address(page: str, which: object) -> str | None:
    """Address of a page of the UI; null if no UI is known, as with a temporary server. The side bar leads to no artifact."""
    ui = PREFECT_UI_URL.value()
    return f"{str(ui).rstrip('/')}/v2/{page}/{which}" if ui else None


def addresses_of(keys: Sequence[str], flow_run: UUID | None) -> list[str]:
    """Pages of the UI to open after a run: the run itself, then the histories of its artifacts."""
    served = (REPORT_KEY,) if os.environ.get(REPORTS_URL) else ()
    pages = [ui_address("runs/flow-run", f"{flow_run}?tab=Artifacts") if flow_run else None]
    pages += [ui_address("artifacts/key", key) for key in (*keys, *served)]
    return [page for page in pages if page]


def _about(manifest: RunManifest) -> str:
    return f"{manifest.benchmark}, run `{manifest.run}`"
