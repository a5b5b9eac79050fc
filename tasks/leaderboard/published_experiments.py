"""Set a paper's experiments beside those of the lake: settings, thinking, judged dialogues; show its tables as printed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import polars as pl

from schemas.blueprint import Blueprint
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.paper import MethodsTable, Paper, ThinkingTable
from schemas.tables.scores import DimensionScores, NormalizedScores
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version, read_manifests
from tasks.lake.partitions import canonical_json
from tasks.leaderboard.ranking import rank_stored_systems
from tasks.runs.comparable_runs import basis
from tasks.runs.run_tables import Row
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.published import BASE_SETTING, ability_score, as_table, paper_of, published_of, read_table
from tasks.text.number_format import counted

ON, OFF = "true", "false"


@dataclass(frozen=True)
class Experiments:
    """Rows as the page shows them, the paper's first; `run` is null for these.

    `settings`: run, model, setting, n (items scored; null for the paper's), and a score on 0-100 by ability, where there is one.
    `thinking`: run, model, task, on, off and gain, on 0-100. `judged`: run, model, and means on 0-5 by dimension,
    where there is one. `dimensions`: titles, by name in the rubrics. `printed`: tables as `read_printed` returns them. `notes`:
    on settings, thinking and dialogues.
    """

    settings: Sequence[Row]
    thinking: Sequence[Row]
    judged: Sequence[Row]
    dimensions: Mapping[str, str]
    printed: Sequence[Row] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


def read_printed(paper: Paper) -> list[Row]:
    """Return the tables that are shown as printed: title, note, columns and rows of each."""
    tables = [(printed, pl.read_csv(paper.folder / printed.file, infer_schema=False)) for printed in paper.shown]
    return [{**printed.model_dump(), "columns": table.columns, "rows": table.rows()} for printed, table in tables]


def read_experiments(benchmark: str, folder: Folder) -> Experiments | None:
    """Read the paper's experiments, and the lake's: newest results of each model, and newest scores with thinking on and off.

    Args:
        benchmark: name or file of a blueprint; null is returned for one whose paper has no experiments and no tables as printed.
        folder: the lake; it may be empty.

    Raises:
        SourceMissingError, SourceError: as published.read_table.
    """
    blueprint = load_blueprint(benchmark)
    if (paper := paper_of(blueprint)) is None:
        return None
    printed = read_printed(paper)
    if (tables := paper.experiments) is None:
        return Experiments((), (), (), {}, printed) if printed else None
    lake = Lake(folder, read_code_version())
    manifests = [manifest for manifest in read_manifests(folder) if manifest.benchmark == blueprint.name]
    runs = {manifest.run: manifest for manifest in manifests}
    own = [row.model_dump() for row in rank_stored_systems(benchmark, folder, (), "corrected").rows] if runs else []
    dialogues = read_table(paper, tables.dialogues)
    dimensions = {re.sub(r"[ -]", "_", title.lower()): title for title in dialogues["dimension"]}
    judged = [
        {"run": None, "model": title, **dict(zip(dimensions, dialogues[name], strict=True))}
        for name, title in tables.dialogues.ways.items()
    ]
    return Experiments(
        [*_medians(blueprint, paper), *_methods(paper, tables.settings), *(row | row["abilities"] for row in own)],
        list(_thinking(paper, tables.thinking, manifests, blueprint, lake)),
        [*judged, *_own_judged((row for row in own if row["setting"] == BASE_SETTING), runs, lake, list(dimensions))],
        dimensions,
        printed,
        {name: table.note for name, table in tables},
    )


def _medians(blueprint: Blueprint, paper: Paper) -> Iterator[Row]:
    """Yield the median of each task over the paper's models, by setting."""
    table = as_table(published_of(blueprint))
    for setting in table.settings:
        scores = {name: table.scores(name, setting) for name in paper.models.abilities}
        models = counted(max(map(len, scores.values())), "model")
        medians = {name: median(values) for name, values in scores.items()}
        yield {
            "run": None,
            "model": f"median of {models} of {paper.models.name}",
            "setting": setting,
            "n_scored": None,
            **medians,
        }


def _methods(paper: Paper, table: MethodsTable) -> Iterator[Row]:
    """Yield a model's scores by setting on the scales of runs, after its row in base of the table of models."""
    settings = {**paper.models.methods, **table.methods}
    scores = {name: ability_score(columns) for name, columns in paper.models.abilities.items()}
    in_base = pl.col("method").replace_strict(paper.models.methods) == BASE_SETTING
    base = read_table(paper, paper.models).filter(in_base, model=table.model)
    for printed in (base, read_table(paper, table)):
        aggregates = {name: score for name, score in scores.items() if {*score.meta.root_names()} <= {*printed.columns}}
        for row in printed.select("model", "method", **aggregates).to_dicts():
            yield {"run": None, **row, "setting": settings[row.pop("method")], "n_scored": None}


def _thinking(
    paper: Paper, table: ThinkingTable, manifests: Iterable[RunManifest], blueprint: Blueprint, lake: Lake
) -> Iterator[Row]:
    """Yield scores with thinking on and off by task: the paper's, then each model's newest."""
    printed = read_table(paper, table)
    both = printed.filter("thinking").join(printed.filter(~pl.col("thinking")), on="model")
    own = list(_own_thinking(manifests, blueprint, lake))
    for column, ending in table.datasets.items():
        for dataset in (name for name in blueprint.datasets if name.endswith(ending)):
            theirs = ((None, *row) for row in both.select("model", column, f"{column}_right").iter_rows())
            measured = ((run, *row) for run, of, *row in own if of == dataset)
            for run, model, on, off in [*theirs, *measured]:
                gain = None if on is None or off is None else on - off
                task = column.replace("_", "-")
                yield {"run": run, "model": model, "task": task, "on": on, "off": off, "gain": gain}


def _own_thinking(
    manifests: Iterable[RunManifest], blueprint: Blueprint, lake: Lake
) -> Iterator[tuple[str, str, str, float | None, float | None]]:
    """Yield the run with thinking on, dataset, model, and the scores on and off of metrics that count.

    They are of the newest two runs that differ in thinking alone; `manifests` are newest first.
    """
    methods = ((name, method) for name, dataset in blueprint.datasets.items() for method in dataset.methods)
    counting = {(name, method.id, spec.metric) for name, method in methods for spec in method.metrics if spec.weight}
    newest = defaultdict[tuple[str, ...], dict[str | None, tuple[str, float | None]]](dict)
    seen = set()
    for manifest in manifests:
        thinking = {entry["name"]: entry.get("dialect") or {} for entry in manifest.plan["models"]}
        if not {ON, OFF} & {dialect.get("reasoning_effort") for dialect in thinking.values()}:
            continue
        shared = basis(manifest)
        rows = lake.read(manifest.partition("normalized_scores"), NormalizedScores).filter(setting=BASE_SETTING)
        for *key, score in rows.select("model", "dataset", "method", "metric", "normalized_0_100").iter_rows():
            model, *measured = key
            otherwise = canonical_json([shared, {**thinking[model], "reasoning_effort": None}])
            scores = newest[otherwise, *key]
            scores.setdefault(thinking[model].get("reasoning_effort"), (manifest.run, score))
            if tuple(key) not in seen and tuple(measured) in counting and scores.keys() >= {ON, OFF}:
                seen.add(tuple(key))
                (run, on), (_, off) = scores[ON], scores[OFF]
                yield run, measured[0], model, on, off


def _own_judged(rows: Iterable[Row], runs: Mapping[str, RunManifest], lake: Lake, dimensions: list[str]) -> Iterator[Row]:
    """Yield mean ratings of a model's replies by dimension; models of which none was judged are left out."""
    for row in rows:
        for ref in (ref for ref in runs[row["run"]].partitions if ref.layer == "dimension_scores"):
            of_model = lake.read(ref, DimensionScores).filter(model=row["model"], setting=row["setting"])
            rated = judges_first(of_model).filter(scale_min=0, scale_max=5)
            means: Row = dict(rated.filter(pl.col("dimension").is_in(dimensions)).select("dimension", "mean").iter_rows())
            if means:
                yield {"run": row["run"], "model": row["model"], **means}
