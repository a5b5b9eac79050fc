"""Make the document of a run from its manifest and layers."""

from collections.abc import Iterable, Sequence

from schemas.changes import RunChanges
from schemas.documents.leaderboard import DimensionScore
from schemas.documents.run import Agreement, Cost, RawScore, RunDocument, SystemRegression
from schemas.lineage import PartitionRef, RunManifest
from schemas.roles import PEOPLE
from schemas.usage import Usage, by_model, total
from tasks.judging.people import count_people
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_changes, run_folder, run_number
from tasks.leaderboard.ranking import run_rows
from tasks.reporting.content.operations import cost_notes
from tasks.reporting.content.request import read_lengths
from tasks.reporting.content.score_tables import describe_headlines
from tasks.runs.failures import check_simulation, failure_kinds
from tasks.runs.past_run import past_run
from tasks.runs.sections import read_sections


def describe_run(manifest: RunManifest, lake: Lake) -> RunDocument:
    """Describe a run."""
    run, changes = past_run(manifest, lake), read_changes(lake.root, manifest.run)
    sections = read_sections(run)
    return RunDocument(
        run=manifest.run,
        number=run_number(manifest.run),
        benchmark=manifest.benchmark,
        manifest=str(run_folder(lake.root, manifest.run) / MANIFEST),
        models=tuple(run_rows(run)),
        instruments=run.instruments,
        lengths=tuple(read_lengths(run)),
        simulation=check_simulation(run),
        headlines=tuple(describe_headlines(run.blueprint, run.layers)),
        raw_scores=tuple(RawScore(**row) for row in run.layers["raw_scores"].iter_rows(named=True)),
        dimension_scores=tuple(DimensionScore(**row) for row in run.dimension_scores.iter_rows(named=True)),
        agreements=tuple(Agreement(**row) for row in run.read("agreements").iter_rows(named=True)),
        people=count_people(run.read("judgements", judge=PEOPLE)),
        calls=manifest.calls,
        failures=tuple(failure_kinds(manifest, lake)),
        usage=manifest.usage,
        cost=describe_cost(manifest.usage, manifest.currency, manifest.partitions),
        missing=manifest.missing,
        canaries=manifest.canaries,
        report=str(lake.root / manifest.report) if manifest.report else None,
        state=changes.state if changes else None,
        previous=changes.previous if changes else None,
        regressions=tuple(_regressions(changes)) if changes else None,
        **sections,
    )


def _regressions(changes: RunChanges) -> list[SystemRegression]:
    return [
        SystemRegression(model=system.model, setting=system.setting, previous=system.previous, **dict(finding))
        for system in changes.regressed
        for finding in system.findings
    ]


def describe_cost(rows: Sequence[Usage], currency: str | None, refs: Iterable[PartitionRef] = ()) -> Cost:
    """Describe tokens and cost, by model and of all; `refs`: what they were spent on."""
    models = by_model(rows)
    return Cost(
        currency=currency,
        models=models,
        total=total(rows),
        unpriced=tuple(row.model for row in models if row.cost is None and row.prompt_tokens is not None),
        notes=tuple(cost_notes(rows, refs)),
    )
