"""Write a leaderboard as CSV and as LaTeX. Names come from outside: no cell is a formula, no name is a command."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from schemas.documents.leaderboard import AcrossModels, ModelScore
from schemas.documents.system import SystemRow
from schemas.printing import printable
from tasks.leaderboard.published_experiments import Experiments
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.render.page import MOST_COMPARED, render_leaderboard, write_text
from tasks.runs.run_tables import Row
from tasks.runs.verdict import say_total, say_verdict
from tasks.text.number_format import number

_FORMULA = tuple("=+-@|\t\r\n＝＋－＠")
"""First characters that make a spreadsheet compute a cell."""

_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': r"\textquotedbl{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)
_COLUMNS = 6
"""Models beside each other in a table of LaTeX."""


def write_leaderboard(
    form: str, file: Path, data: LeaderboardData, across: Sequence[AcrossModels], experiments: Experiments | None = None
) -> None:
    """Write a leaderboard as `html`, `csv` or `latex`.

    Args:
        form: which.
        file: to write. In CSV it has a row per model; `-tasks`, `-pairs` and `-ranks` (by other weights) stand beside it.
        data: the ranked models.
        across: of the same leaderboard.
        experiments: of its paper, for `html`.

    Raises:
        LakeError: if the disk refuses a file.
    """
    if form == "csv":
        for ending, rows in _rows(data, across).items():
            write_text(file.with_stem(file.stem + ending), _csv(rows))
    else:
        page = form == "html"
        write_text(file, render_leaderboard(data, across, experiments) if page else "\n\n".join(_tables(data, across)))


def _rows(data: LeaderboardData, across: Sequence[AcrossModels]) -> dict[str, list[Row]]:
    """Return the rows of each file that has any, by its ending."""
    tables: dict[str, list[Row]] = {"": [], "-tasks": [], "-pairs": [], "-ranks": []}
    of_model: dict[Any, Row] = {}
    for one in across:
        place = {"group": one.group, "setting": one.setting}
        ranks = ((each.title, *pair) for each in one.variations for pair in zip(one.models, each.ranks, strict=True))
        tables["-tasks"] += [place | {"task": task.id} | score.model_dump() for task in one.tasks for score in task.scores]
        tables["-pairs"] += [place | pair.model_dump() for pair in one.pairs]
        tables["-ranks"] += [place | {"variation": title, "model": model, "rank": rank} for title, model, rank in ranks]
        for score, name in ((score, task.id) for task in one.tasks for score in task.scores):
            of_model.setdefault((one.group, one.setting, score.model), {})[name] = score.score
    for row in data.rows:
        tasks = of_model.get((row.group, row.setting, row.model), {})
        plain = row.model_dump(exclude={"abilities"}) | {"comparability": _likeness(row)}
        tables[""].append(plain | row.abilities | tasks)
    return {ending: rows for ending, rows in tables.items() if rows}


def _likeness(row: SystemRow) -> str | None:
    return row.comparability.verdict if row.comparability else None


def _csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV; a text that a spreadsheet would compute has an apostrophe before it."""
    out = StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    for row in rows:
        formulas = (name for name, value in row.items() if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA))
        writer.writerow(row | {name: f"'{row[name]}" for name in formulas})
    return out.getvalue()


def _tables(data: LeaderboardData, across: Sequence[AcrossModels]) -> Iterator[str]:
    yield "% Needs \\usepackage{booktabs}. Bold: best, underlined: second; \\approx: the best is not clearly better."
    titles = {main.id: main.title for main in data.blueprint.abilities if main.evaluated}
    heads = ["Group", "Rank", "Model", "Setting", "Total", "Verdict", "Beside published", *titles.values()]
    ranking = [
        [
            *(row.group, row.rank, row.model, row.setting, say_total(row), say_verdict(row), _likeness(row)),
            *map(row.abilities.get, titles),
        ]
        for row in data.rows
    ]
    yield _table(f"{data.blueprint.title}: ranking", heads, ranking)
    for one in across:
        name = f"{data.blueprint.title}, setting {one.setting}, group {one.group}" if one.group else data.blueprint.title
        for start in range(0, len(one.models) if one.tasks else 0, _COLUMNS):
            some = slice(start, start + _COLUMNS)
            yield _table(f"{name}: tasks", ["Task", *one.models[some]], [[task.title, *task.scores[some]] for task in one.tasks])
        first = set(one.models[:MOST_COMPARED])
        pairs = [list(pair.model_dump().values())[:-1] for pair in one.pairs if {pair.first, pair.second} <= first]
        if pairs:
            yield _table(f"{name}: total less total", ["Model", "Less", "Points", "From", "To", "Items"], pairs)
        if one.variations:
            ranks = list(zip(one.models, *(each.ranks for each in one.variations), strict=True))
            yield _table(f"{name}: ranks otherwise", ["Model", *(each.title for each in one.variations)], ranks)


def _table(caption: str, heads: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    head, *lines = [" & ".join(map(_cell, row)) + r" \\" for row in (heads, *body)]
    parts = [r"\begin{table}", rf"\caption{{{_cell(caption)}}}", rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}"]
    return "\n".join([*parts, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _cell(value: object) -> str:
    if isinstance(value, ModelScore):
        command = {"best": r"\textbf{%s}", "second": r"\underline{%s}", None: "%s"}[value.mark]
        return command % _cell(value.score) + (r"$^{\approx}$" if value.tied and value.mark != "best" else "")
    if isinstance(value, float):
        return number(value, 2).replace("-", "$-$")
    return "--" if value is None else " ".join(printable(str(value)).split()).translate(_LATEX)
