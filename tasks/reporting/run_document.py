"""Make the document of a run from its manifest and layers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from schemas.changes import RunChanges
from schemas.documents.leaderboard import DimensionScore, SystemRow
from schemas.documents.run import Agreement, Cost, RawScore, RunDocument, SystemRegression
from schemas.documents.run_scores import SettingGain, UnreadReplies, WeakTask
from schemas.lineage import PartitionRef, RunManifest
from schemas.roles import PEOPLE
from schemas.usage import Usage, by_model, total
from tasks.certificates.lookup import covered_datasets
from tasks.judging.people import count_people
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_changes, run_folder, run_number
from tasks.leaderboard.rank_ranges import ranked_run
from tasks.leaderboard.ranking import run_rows
from tasks.reporting.content.operations import cost_notes
from tasks.reporting.content.request import read_lengths
from tasks.reporting.content.score_tables import describe_headlines
from tasks.reporting.content.score_tree import ability_scores, part_fields
from tasks.reporting.content.tables import task_rows, weakest
from tasks.rows.patterns import one_letter
from tasks.runs.baselines import Baselines
from tasks.runs.failures import check_simulation, count_unread, failure_kinds
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_tables import System
from tasks.runs.score_tree import Scores, explain_total, scores_of
from tasks.runs.sections import read_sections

MOST_WEAK = 3
"""Tasks of each model and setting that are listed as its weakest."""


def describe_run(manifest: RunManifest, lake: Lake) -> RunDocument:
    """Describe a run."""
    run, changes = past_run(manifest, lake), read_changes(lake.root, manifest.run)
    sections, judges = read_sections(run), covered_datasets(run)
    certified = pl.lit(all(each.may_rank for each in judges) if judges else None, pl.Boolean)
    totals = ranked_run(run, run.read("item_scores")).with_columns(certified=certified)
    scores = {system: scores_of(run.layers, system, run.baselines) for system in run.systems}
    models = tuple(
        row.model_copy(update={"constant": explain_total(scores[System(row.model, row.setting)], run.blueprint).constant})
        for row in run_rows(run, totals)
    )
    return RunDocument(
        run=manifest.run,
        number=run_number(manifest.run),
        benchmark=manifest.benchmark,
        manifest=str(run_folder(lake.root, manifest.run) / MANIFEST),
        models=models,
        abilities=tuple(
            score for row in models for score in ability_scores(row, scores[System(row.model, row.setting)], run.blueprint)
        ),
        weakest_tasks=tuple(_weakest_tasks(run, models, scores)),
        gains=tuple(SettingGain(**row) for row in run.read("setting_gains").iter_rows(named=True)),
        unread=tuple(_unread_replies(run, models)),
        one_letter=tuple(one_letter(run)),
        instruments=run.instruments,
        lengths=tuple(read_lengths(run)),
        simulation=check_simulation(run),
        headlines=tuple(describe_headlines(run.blueprint, run.layers)),
        raw_scores=tuple(_raw_scores(run)),
        dimension_scores=tuple(DimensionScore(**row) for row in run.dimension_scores.iter_rows(named=True)),
        agreements=tuple(Agreement(**row) for row in run.read("agreements").iter_rows(named=True)),
        people=count_people(run.read("judgements", judge=PEOPLE)),
        judges=judges,
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


def _raw_scores(run: PastRun) -> Iterator[RawScore]:
    for row in run.layers["raw_scores"].iter_rows(named=True):
        constant = run.baselines.get((row["dataset"], row["metric"]), Baselines()).constant
        yield RawScore(**row, constant=constant and constant.share, constant_answer=constant and constant.answer)


def _weakest_tasks(run: PastRun, models: Iterable[SystemRow], scores: Mapping[System, Scores]) -> Iterator[WeakTask]:
    for row in models:
        for task in weakest(task_rows(run.blueprint, scores[System(row.model, row.setting)]), MOST_WEAK):
            lowest = min((below for below in task.part.parts if below.score is not None), key=lambda below: below.score or 0.0)
            yield WeakTask(**part_fields(row, task.part), ability=task.path.main.title, dataset=lowest.id)


def _unread_replies(run: PastRun, models: Iterable[SystemRow]) -> Iterator[UnreadReplies]:
    counts = count_unread(run)
    for row in models:
        own = System(row.model, row.setting).of(counts).sort("faulty", "dataset", descending=[True, False])
        by_dataset = own.filter(pl.col("faulty") > 0).select("dataset", "faulty")
        unread, total = own.select(pl.col("faulty", "total").sum()).row(0)
        yield UnreadReplies(model=row.model, setting=row.setting, unread=unread, total=total, datasets=dict(by_dataset.rows()))


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
