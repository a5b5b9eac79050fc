"""Set the LongEmotion paper's experiments beside those of the lake: settings (Table 3), thinking (4), judged dialogues (6)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.documents import read_text, read_yaml
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.tables.scores import DimensionScores, NormalizedScores
from tasks.lake.fingerprint import canonical_json
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version, read_manifests
from tasks.leaderboard.ranking import rank_stored_systems
from tasks.runs.comparable_runs import basis
from tasks.runs.papers import paper_of
from tasks.runs.published_tables import BASE_SETTING, read_table
from tasks.runs.run_tables import Row
from tasks.scoring import published
from tasks.scoring.blueprints import load_blueprint
from tasks.text.number_format import counted

LONG = published.TABLES[1]
CORE = "Qwen3-8B"
"""The model of Table 3."""

METHODS = {"RAG": "rag", "Self-RAG": "self_rag", "Search-o1": "search_o1", "CoEM": "coem"}
THINKING = {"EC_E": "_ec_emobench", "ED": "_ed", "EE": "_ee"}
"""What names of datasets end in, by the columns of Table 4."""

ON, OFF = "true", "false"


class PublishedMethods(dy.Schema):
    """LongEmotion, Table 3: one row per method, all of one model."""

    method = dy.Enum(list(METHODS), primary_key=True)
    model = dy.String(min_length=1)
    EC = dy.Float64(min=0, max=100, description="accuracy, percent")
    ED = dy.Float64(min=0, max=100, description="accuracy, percent")
    QA = dy.Float64(min=0, max=100, description="F1, percent")
    ES = dy.Float64(min=1, max=5, description="mean rating on 1 to 5; RAG has 4.51 here and 4.54 in Table 2")
    MC4 = dy.Float64(min=0, max=5, description="mean rating on 0 to 5")


class PublishedThinking(dy.Schema):
    """LongEmotion, Table 4: one row per model, with thinking on and off, in base."""

    model = dy.String(primary_key=True, min_length=1)
    thinking = dy.Bool(primary_key=True)
    EC_E = dy.Float64(min=0, max=100, description="accuracy, percent")
    ED = dy.Float64(min=0, max=100, description="accuracy, percent")
    EE = dy.Float64(min=0, max=100, description="mean rating on 0 to 100")


class PublishedDialogues(dy.Schema):
    """LongEmotion, Table 6: mean ratings on 0 to 5 of the dataset's dialogues, by how they were written."""

    stage = dy.Int64(min=1, max=4)
    dimension = dy.String(primary_key=True, min_length=1)
    one_stage = dy.Float64(min=0, max=5)
    two_stage = dy.Float64(min=0, max=5)


@dataclass(frozen=True)
class Experiments:
    """Rows as the page shows them, the paper's first; `run` is null for these.

    `settings`: run, model, setting, n (items scored; null for the paper's), and a score on 0-100 by ability, where there is one.
    `thinking`: run, model, task, on, off and gain, on 0-100. `judged`: run, model, and means on 0-5 by dimension,
    where there is one. `dimensions`: titles, by name in the rubrics. `printed`: tables as `read_printed` returns them.
    """

    settings: Sequence[Row]
    thinking: Sequence[Row]
    judged: Sequence[Row]
    dimensions: Mapping[str, str]
    printed: Sequence[Row] = ()


def read_printed(paper: str) -> list[Row]:
    """Return the tables that are shown as printed, by the title of their paper: title, note, columns and rows of each."""
    entries = read_yaml(read_text(published.FOLDER / "printed.yaml")).get(paper, ())
    tables = [(entry, pl.read_csv(published.FOLDER / entry["file"], infer_schema=False)) for entry in entries]
    return [{**entry, "columns": table.columns, "rows": table.rows()} for entry, table in tables]


def read_experiments(benchmark: str, folder: Folder) -> Experiments | None:
    """Read the paper's experiments, and the lake's: newest results of each model, and newest scores with thinking on and off.

    Args:
        benchmark: name or file of a blueprint; null is returned for one without LongEmotion's abilities or tables as printed.
        folder: the lake; it may be empty.

    Raises:
        SourceMissingError, SourceError: as published.read_table.
    """
    blueprint = load_blueprint(benchmark)
    if not LONG.abilities.keys() & {ability.id for ability in blueprint.abilities}:
        printed = read_printed(paper.title) if (paper := paper_of(blueprint)) else None
        return Experiments((), (), (), {}, printed) if printed else None
    lake = Lake(folder, read_code_version())
    manifests = [one for one in read_manifests(folder) if one.benchmark == blueprint.name]
    runs = {one.run: one for one in manifests}
    own = rank_stored_systems(benchmark, folder, (), "corrected").rows if runs else []
    dialogues = published.read_table(published.FOLDER / "longemotion_table6.csv", PublishedDialogues)
    dimensions = {re.sub(r"[ -]", "_", title.lower()): title for title in dialogues["dimension"]}
    ways = {"one_stage": "dialogues written in one stage", "two_stage": "dialogues written in two stages"}
    judged = [
        {"run": None, "model": title, **dict(zip(dimensions, dialogues[name], strict=True))} for name, title in ways.items()
    ]
    return Experiments(
        [*_medians(blueprint), *_methods(), *({**row, **row["abilities"]} for row in own)],
        list(_thinking(manifests, blueprint, lake)),
        [*judged, *_own_judged((row for row in own if row["setting"] == BASE_SETTING), runs, lake, list(dimensions))],
        dimensions,
    )


def _medians(blueprint: Blueprint) -> Iterator[Row]:
    """Yield the median of each task over the models of Table 2, by setting."""
    table = read_table(published.published_of(blueprint))
    for setting in table.settings:
        scores = {name: table.scores(name, setting) for name in LONG.abilities}
        models = counted(max(map(len, scores.values())), "model")
        medians = {name: median(values) for name, values in scores.items()}
        yield {"run": None, "model": f"median of {models} of Table 2", "setting": setting, "n": None, **medians}


def _methods() -> Iterator[Row]:
    """Yield Table 3 on the scales of runs, after the same model's row of Table 2 in base."""
    base = published.read_table(LONG.file, published.PublishedLongEmotion).filter(method="Base", model=CORE)
    methods = published.read_table(published.FOLDER / "longemotion_table3.csv", PublishedMethods)
    for table in (base, methods):
        shown = {name: on_100 for name, on_100 in LONG.abilities.items() if {*on_100.meta.root_names()} <= {*table.columns}}
        for row in table.select("model", "method", **shown).to_dicts():
            yield {"run": None, **row, "setting": METHODS.get(row.pop("method"), BASE_SETTING), "n": None}


def _thinking(manifests: Iterable[RunManifest], blueprint: Blueprint, lake: Lake) -> Iterator[Row]:
    """Yield scores with thinking on and off by task: the paper's, then each model's newest."""
    table = published.read_table(published.FOLDER / "longemotion_table4.csv", PublishedThinking)
    both = table.filter("thinking").join(table.filter(~pl.col("thinking")), on="model")
    own = list(_own_thinking(manifests, blueprint, lake))
    for column, ending in THINKING.items():
        for dataset in (name for name in blueprint.datasets if name.endswith(ending)):
            printed = ((None, *row) for row in both.select("model", column, f"{column}_right").iter_rows())
            measured = ((run, *row) for run, of, *row in own if of == dataset)
            for run, model, on, off in [*printed, *measured]:
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
            rated = lake.read(ref, DimensionScores).filter(model=row["model"], setting=row["setting"], scale_min=0, scale_max=5)
            means: Row = dict(rated.filter(pl.col("dimension").is_in(dimensions)).select("dimension", "mean").iter_rows())
            if means:
                yield {"run": row["run"], "model": row["model"], **means}
