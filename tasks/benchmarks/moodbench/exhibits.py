"""Tables 1, 3 and 4 of the MoodBench paper for any models."""

from collections import Counter
from collections.abc import Iterator, Mapping

from schemas.blueprint import Blueprint
from schemas.table import Cell, Column, Table, Value, columns
from tasks.benchmarks.moodbench.core_fit import draw_core
from tasks.benchmarks.moodbench.languages import WANTED
from tasks.datasets.catalogue import CATALOGUE
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table, with_total
from tasks.runs.model_figures import in_each_setting
from tasks.runs.sections import Block
from tasks.scoring.published import read_table
from tasks.text.tables import MARKS

MAINS = {
    "foundational": "Foundational",
    "emotional": "Emotional",
    "companionship": "Companionship",
    "values_safety": "Values & Safety",
}
"""Columns of Table 4, after the total."""

LANGUAGES = {"en": "English", "zh": "Chinese", "en+zh": "both"}


def lay_out_scores(models: RankedModels) -> Iterator[Block]:
    """Yield Table 4 for each setting: ranked models, then the others with their total before the veto."""
    heads = (Column("Rank", "count"), *columns("score", "Overall", *MAINS.values()))
    for setting, where in models.settings.items():
        rows = with_total(models.in_setting(setting).rows)
        vetoed = (
            " Vetoed models stand below, unmarked, with their total before the veto." if any(row.vetoed for row in rows) else ""
        )
        apart = " Ranks hold among your own models, and among the paper's." if len({row.run is None for row in rows}) > 1 else ""
        title = f"Main abilities{where}"
        if rows:
            yield Block(title, MARKS + vetoed + apart, (models_table(title, rows, heads, _scores),))


def _scores(row: ModelRow) -> Iterator[Value]:
    unranked = "not ranked" if row.verdict == "scored" else row.verdict
    yield Cell(row.rank, "" if row.rank else unranked)
    yield from (row.total_before_veto, *map(row.abilities.get, MAINS))


def lay_out_descriptions(models: RankedModels) -> Iterator[Block]:
    """Yield Table 3, what is said of the models; none where nothing is said of any."""
    rows = {(row.run is None, row.model): row for row in models.rows if row.about}
    table = read_table(models.paper, models.paper.models) if models.paper else None
    in_words = dict(table.select("model", "parameters").iter_rows()) if table is not None else {}
    heads = columns("name", "Series", "Institution", "Type", "Parameters", "Released")

    def describe(row: ModelRow) -> Iterator[Value]:
        yield from (row.said(name) for name in ("series", "institution", "openness"))
        yield row.said("parameters") or (in_words.get(row.model) if row.run is None else None)
        yield row.said("released")

    if rows:
        described = models_table("Models", [*rows.values()], heads, describe).without_empty("Released")
        yield Block("Models", "What the paper says about its models, and what you say about yours.", (described,), folds=True)


def lay_out_design(models: RankedModels) -> Iterator[Block]:
    """Yield Table 1: tasks, datasets and methods of each sub-ability, their ratios, and the languages of the datasets."""
    blueprint, paper = models.blueprint, models.paper
    above = {node.id: main.title for main in blueprint.abilities for _, node in main.walk()}
    design = list(blueprint.design())
    tasks, datasets, methods = (sum(counts) for counts in zip(*(counts for _, *counts in design), strict=True))
    few = [sum(len(task.datasets) < WANTED for task in node.tasks) for node, *_ in design]
    counted = columns("count", "Tasks", "Datasets", "Methods", f"Tasks with fewer than {WANTED} datasets")
    heads = (*columns("name", "Ability", "Sub-ability"), *counted)
    rows: list[tuple[Value, ...]] = [
        (above[node.id], node.title, *counts, fewer) for (node, *counts), fewer in zip(design, few, strict=True)
    ]
    targets = (paper.design if paper else None) or (None,) * 3
    means = (tasks / len(design), datasets / tasks, methods / datasets)
    names = (f"Tasks of a sub-{blueprint.ability_word}", "Datasets of a task", "Methods of a dataset")
    ratios = list(zip(names, means, targets, strict=True))
    yield Block(
        "Tasks, datasets and methods",
        tables=(
            Table(heads, [*rows, ("All", None, tasks, datasets, methods, sum(few))], "Tasks, datasets and methods"),
            Table((Column("On average", "name"), *columns("number", "Here", "Aim of the paper")), ratios, "Ratios"),
            _languages(blueprint, (paper and paper.languages) or {}),
        ),
        folds=True,
    )


def _languages(blueprint: Blueprint, printed: Mapping[str, float]) -> Table:
    """Return how many datasets are in which language; that of a file of one's own is not known."""
    listed = [CATALOGUE[name] for name, dataset in blueprint.datasets.items() if dataset.source is None and name in CATALOGUE]
    counts = Counter("+".join(spec.languages) for spec in listed)
    heads = (Column("Language", "name"), Column("Datasets", "count"), *columns("share", "Share", "Share in the paper"))
    rows = [(title, counts[name], counts[name] / len(blueprint.datasets), printed.get(name)) for name, title in LANGUAGES.items()]
    return Table(heads, rows, "Languages of the datasets")


_OWN = frozenset(MAINS)
EXHIBITS = (
    Exhibit("table4", lay_out_scores, _OWN),
    Exhibit("core", in_each_setting(draw_core), _OWN),
    Exhibit("table3", lay_out_descriptions, _OWN),
    Exhibit("table1", lay_out_design, _OWN, is_of_models=False),
)
