"""What papers print: their tables of models as they are, and best, median and worst of each ability."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import median

from docs.generate.markdown import bullets, folded, joined, table
from schemas.blueprint import Blueprint
from schemas.paper import Paper
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import PublishedTable, as_table, paper_of, published_of
from tasks.solvers.registry import setting_title
from tasks.text.tables import escape


@dataclass(frozen=True)
class Printed:
    """Scores of one ability in one setting, on 0-100, with the names of models as printed."""

    setting: str
    models: int
    best: tuple[str, float]
    median: float
    worst: tuple[str, float]


def paper_with(blueprint: Blueprint) -> Paper | None:
    """Return the paper that restates a benchmark itself, and not one that it is a variant of."""
    paper = paper_of(blueprint)
    return paper if paper and blueprint.name in paper.blueprints else None


def print_table(paper: Paper) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a paper's table of models, cells as printed, columns without any text left out."""
    with (paper.folder / paper.models.file).open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    kept = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    return [heads[index] for index in kept], [[row[index] for index in kept] for row in rows]


def table_part(paper: Paper) -> str:
    """Return the table of models with what its columns hold: scores, then what is said of the models."""
    heads, rows = print_table(paper)
    columns = paper.models.columns
    about = [f"`{name}`: {escape(about)}" for name, column in columns.items() if name in heads and (about := column.about)]
    end = max(place for place, head in enumerate(heads) if columns[head].kind != "text") + 1
    names, more = [head for head in heads[:end] if columns[head].kind == "text"], heads[end:]
    scores = [head for head in heads[:end] if head not in names]
    source = f"{paper.models.name} of the paper, {len(rows)} rows as printed (`data/published/{paper.models.file}`)."
    return joined(
        source,
        bullets(about),
        folded("Scores as printed", columns_table(paper, [*names, *scores], heads, rows)),
        folded(f"Also printed: {', '.join(more)}", columns_table(paper, [*names, *more], heads, rows)) if more else None,
    )


def columns_table(paper: Paper, shown: list[str], heads: list[str], rows: list[list[str]]) -> str:
    """Return some columns of a paper's table; numbers stand on the right."""
    titles = [f">{head}" if paper.models.columns[head].kind in {"number", "whole"} else head for head in shown]
    return table(titles, ([escape(row[heads.index(head)]) or "–" for head in shown] for row in rows))


def printed_of(blueprint: Blueprint, ability: str) -> Iterator[Printed]:
    """Yield what the paper of a benchmark prints of a main ability, by setting; nothing if it prints none."""
    if paper_with(blueprint) is None:
        return
    table = _scores_of(blueprint.name)
    if ability not in table.wide.columns:
        return
    for setting in table.settings:
        rows = table.wide.filter(setting=setting).select("model", ability).drop_nulls()
        pairs = sorted(rows.iter_rows(), key=lambda pair: -pair[1])
        if pairs:
            yield Printed(setting, len(pairs), pairs[0], median(score for _, score in pairs), pairs[-1])


@cache
def _scores_of(blueprint: str) -> PublishedTable:
    return as_table(published_of(load_blueprint(blueprint)))


def printed_part(blueprint: Blueprint, ability: str) -> str | None:
    """Return best, median and worst of an ability as a table; null if nothing is printed."""
    rows = [
        (setting_title(row.setting), row.models, *_named(row.best), row.median, *_named(row.worst))
        for row in printed_of(blueprint, ability)
    ]
    heads = ("Setting", ">Models", "Best", ">Score", ">Median", "Worst", ">Score")
    return table(heads, rows) if rows else None


def _named(model: tuple[str, float]) -> tuple[str, float]:
    return escape(model[0]), model[1]
