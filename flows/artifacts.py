"""What a run shows in the Prefect UI: leaderboard, coverage and failures, and a summary with the layer graph."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from schemas.lineage import RunManifest
from schemas.usage import by_model, total
from tasks.reporting.steps import ReportFiles

LEADERBOARD_KEY = "leaderboard"
FAILURES_KEY = "coverage-and-failures"
SUMMARY_KEY = "summary"
COSTS_KEY = "tokens-and-cost"
ARTIFACT_KEYS = (LEADERBOARD_KEY, FAILURES_KEY, COSTS_KEY, SUMMARY_KEY)

BESIDE = (
    ("items", "contexts"),
    ("contexts", "chunks"),
    ("chunks", "retrievals"),
    ("retrievals", "responses"),
    ("responses", "judgements"),
    ("judgements", "item_scores"),
    ("item_scores", "setting_gains"),
    ("contexts", "needle_scores"),
    ("item_scores", "needle_scores"),
    ("judgements", "agreements"),
)
"""What rests on what beside the chain from items to totals, where a run has it."""


async def publish_artifacts(manifest: RunManifest, files: ReportFiles, leaderboard: list[dict[str, Any]]) -> None:
    """Publish the run's artifacts under stable keys, so that each key has a history over runs."""
    about = f"{manifest.benchmark}, run `{manifest.run}`"
    await acreate_table_artifact([_flatten(row) for row in leaderboard], key=LEADERBOARD_KEY, description=about)
    await acreate_table_artifact(failure_rows(manifest), key=FAILURES_KEY, description=about)
    await acreate_table_artifact(usage_rows(manifest), key=COSTS_KEY, description=about)
    await acreate_markdown_artifact(summary(manifest, files), key=SUMMARY_KEY, description=about)


def failure_rows(manifest: RunManifest) -> list[dict[str, Any]]:
    """One row per dataset without a score, or a single row saying that there is none."""
    rows = [
        {"dataset": gap.dataset, "model": gap.model or "all", "reason": gap.reason, "next step": gap.next_step}
        for gap in manifest.missing
    ]
    if manifest.calls.failed:
        rows.append({"dataset": "", "model": "all", "reason": f"{manifest.calls.failed} calls failed", "next step": "run again"})
    return rows or [{"dataset": "", "model": "all", "reason": "nothing is missing", "next step": ""}]


def usage_rows(manifest: RunManifest) -> list[dict[str, Any]]:
    """One row per dataset, model and role, then one per model, then one of the run; costs that are not known stay empty."""
    if not manifest.usage:
        return [{"dataset": "", "model": "all", "note": "this run recorded no tokens"}]
    rows = [
        *(row.model_dump() for row in manifest.usage),
        *({"dataset": "all", **row.model_dump()} for row in by_model(manifest.usage)),
        {"dataset": "all", "model": "all", "role": "all", **total(manifest.usage).model_dump()},
    ]
    first = ("dataset", "model", "role")
    return [{**{name: row[name] for name in first}, **row, "currency": manifest.currency} for row in rows]


def summary(manifest: RunManifest, files: ReportFiles) -> str:
    """Markdown: where the report is, the calls, and the graph of layers with their partitions and rows."""
    partitions = Counter(ref.layer for ref in manifest.partitions)
    rows: Counter[str] = Counter()
    for ref in manifest.partitions:
        rows[ref.layer] += ref.rows
    nodes = [f'    {layer}["{layer}<br/>{count} partitions, {rows[layer]} rows"]' for layer, count in partitions.items()]
    beside = {layer for edge in BESIDE for layer in edge} - {"items", "responses", "item_scores"}
    chain = pairwise(layer for layer in partitions if layer not in beside)
    edges = [f"    {above} --> {below}" for above, below in (*chain, *BESIDE) if {above, below} <= partitions.keys()]
    calls = manifest.calls
    return "\n".join(
        [
            f"# {manifest.benchmark}: {manifest.run}",
            "",
            files.headline,
            "",
            f"Calls: {calls.sent} sent, {calls.answered} answered, {calls.from_journal} from the journal, {calls.failed} failed.",
            f"Report: `{Path(files.html)}`",
            "",
            "```mermaid",
            "graph TD",
            *nodes,
            *edges,
            "```",
        ]
    )


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    # Table cells are plain text in the Prefect UI: a nested object would be shown as [object Object].
    flat = {**{name: value for name, value in row.items() if name != "abilities"}, **row["abilities"]}
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in flat.items()}
