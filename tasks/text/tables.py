"""Write a table as Markdown, CSV, LaTeX or records. Its text comes from outside: no cell acts as markup, formula or command."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any, Literal

from schemas.printing import printable
from schemas.table import Cell, Column, Interval, Kind, Part, Table, Value, columns
from tasks.text import number_format as formats

_FORMULA = tuple("=+-@|\t\r\n＝＋－＠")
"""First characters that make a spreadsheet compute a cell."""

_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?")
"""A negative number as a paper prints it."""

_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': r"\textquotedbl{}"}
    | {
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        formats.NONE: "--",
        "−": "$-$",
        "≈": r"$\approx$",
        "▼": r"$\bigtriangledown$",
    }
    | {"[": "{[}", "*": "{*}"}
)
_MARKS = {"best": r"\textbf{%s}", "clear": r"\textbf{%s}", "second": r"\underline{%s}", "lowest": r"\textit{%s}", None: "%s"}

NEAR = 1.0
"""Points from the best or the lowest of a column within which a score is marked like it."""

MARKS = "Bold: within one point of the best of its column; underlined: the second; italic: within one point of the lowest."

_WORDS: Mapping[Kind, Callable[[Any, Column], str]] = {
    "score": lambda value, column: formats.number(value, column.digits),
    "number": lambda value, column: formats.number(value, 0 if isinstance(value, int) else column.digits),
    "difference": lambda value, column: formats.signed(value, column.digits),
    "interval": lambda ends, column: formats.interval(ends.low, ends.high, column.digits),
    "change": lambda ends, column: f"{formats.signed(ends.low, column.digits)} to {formats.signed(ends.high, column.digits)}",
    "share": lambda value, _: formats.percent(value),
    "count": lambda value, _: formats.count(value),
    "part": lambda part, _: f"{formats.count(part.n)} of {formats.count(part.of)}",
    "money": lambda value, column: formats.money(value, column.currency),
    "time": lambda value, _: formats.seconds(value),
}


def as_cell(value: Value) -> Cell:
    """Return a value as a cell, which most are not."""
    return value if isinstance(value, Cell) else Cell(value)


def value_words(value: Value, column: Column) -> str:
    """Return a value as people read it. A text in a column of numbers stays as it is, and null is a dash."""
    value = as_cell(value).value
    if value is None:
        return formats.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    words = _WORDS.get(column.kind)
    return words(value, column) if words else str(value)


def note_words(value: Value, column: Column) -> list[str]:
    """Return what stands in small print below a value: its interval, then its note."""
    cell = as_cell(value)
    ends = column._replace(kind="change" if column.kind == "difference" else "interval")
    return [*([value_words(cell.interval, ends)] if cell.interval else []), *([printable(cell.note)] if cell.note else [])]


def cell_words(value: Value, column: Column) -> str:
    """Return a value in one line, what is below it in brackets behind it."""
    words, notes = value_words(value, column), note_words(value, column)
    return f"{words} ({'; '.join(notes)})" if notes else words


def mark_scores(table: Table, cohorts: Sequence[object]) -> Table:
    """Return a table with marks on its scores: near the best of their column, the next one below these, near the lowest.

    Scores are compared at two decimals. One that is near both ends is marked as best, and a single one has no mark. `cohorts`
    are of each row: rows of one cohort are compared; null = the row is not marked. Columns of other kinds stay as they are.
    """
    rows = [list(row) for row in table.rows]
    for index in (index for index, column in enumerate(table.columns) if column.kind == "score"):
        for cohort in dict.fromkeys(cohort for cohort in cohorts if cohort is not None):
            cells = {n: as_cell(row[index]) for n, row in enumerate(rows) if cohorts[n] == cohort}
            scores = {n: round(cell.value, 2) for n, cell in cells.items() if isinstance(cell.value, int | float)}
            for n, mark in _marks(scores):
                rows[n][index] = cells[n]._replace(mark=mark)
    return replace(table, rows=rows)


def _marks(scores: Mapping[int, float]) -> Iterator[tuple[int, Literal["best", "second", "lowest"]]]:
    best, lowest = (end(scores.values(), default=0.0) for end in (max, min))
    second = max((score for score in scores.values() if round(best - score, 2) > NEAR), default=None)
    for n, score in scores.items() if len(scores) > 1 else ():
        if round(best - score, 2) <= NEAR:
            yield n, "best"
        elif score == second:
            yield n, "second"
        elif round(score - lowest, 2) <= NEAR:
            yield n, "lowest"


def correlations_table(title: str, head: str, matrix: Mapping[str, Mapping[str, float | None]]) -> Table:
    """Return correlations of any two, a row and a column for each; one with itself is left out."""
    rows = [(name, *("" if other == name else of_one[other] for other in matrix)) for name, of_one in matrix.items()]
    return Table((Column(head, "name"), *columns("number", *matrix)), rows, title)


def to_markdown(table: Table) -> str:
    """Return a table of GitHub-flavoured Markdown."""
    heads = [escape(column.full_title) for column in table.columns]
    rules = ["---:" if column.is_numeric else "---" for column in table.columns]
    rows = ([escape(cell_words(*pair)) for pair in zip(row, table.columns, strict=True)] for row in table.rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *rows))


def escape(text: str) -> str:
    """Return text for a line or a cell of Markdown: one line, nothing in it acts as Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#~&!])", r"\\\1", printable(" ".join(text.split())))


def to_csv(table: Table) -> str:
    """Return a table as CSV: values in full, both ends of an interval, null empty.

    A text that a spreadsheet would compute has an apostrophe before it.
    """
    out = StringIO()
    writer = csv.writer(out)
    heads: list[object] = [name for column in table.columns for name in _csv_heads(column)]
    rows = ([value for pair in zip(row, table.columns, strict=True) for value in _plain_values(*pair)] for row in table.rows)
    for line in (heads, *rows):
        writer.writerow([f"'{value}" if _is_formula(value) else value for value in line])
    return out.getvalue()


def _is_formula(value: object) -> bool:
    return isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(value)


def _csv_heads(column: Column) -> tuple[str, ...]:
    endings = {"interval": (" low", " high"), "change": (" low", " high"), "part": ("", " of")}.get(column.kind, ("",))
    return tuple(f"{column.full_title}{ending}" for ending in endings)


def _plain_values(value: Value, column: Column) -> Iterator[object]:
    """Yield a value for each head of its column."""
    plain = as_cell(value).value
    if column.kind in {"interval", "change", "part"}:
        yield from plain if isinstance(plain, Interval | Part) else (None, None)
    else:
        yield plain


def to_records(table: Table) -> list[dict[str, object]]:
    """Return plain values by title: rounded numbers, shares in percent, both ends of an interval, and null."""
    heads = [name for column in table.columns for name in _csv_heads(column)]
    rows = ([value for pair in zip(row, table.columns, strict=True) for value in _records_values(*pair)] for row in table.rows)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def _records_values(value: Value, column: Column) -> Iterator[object]:
    for plain in _plain_values(value, column):
        if isinstance(plain, float):
            yield round(plain * 100 if column.kind == "share" else plain, column.digits) + 0.0  # no negative zero
        else:
            yield printable(plain) if isinstance(plain, str) else plain


def to_latex(table: Table) -> str:
    """Return a table of LaTeX that needs the package booktabs. Best: bold; second: underlined; lowest: italic."""
    heads = " & ".join(_latex(column.title) for column in table.columns)
    places = "".join("r" if column.is_numeric else "l" for column in table.columns)
    rows = (" & ".join(_latex_cell(*pair) for pair in zip(row, table.columns, strict=True)) for row in table.rows)
    head, *body = [rf"{line} \\" for line in (heads, *rows)]
    caption = [rf"\caption{{{_latex(table.title)}}}"] if table.title else []
    opening = [r"\begin{table}", *caption, rf"\begin{{tabular}}{{{places}}}"]
    above = _latex_groups(table) if table.groups else []
    return "\n".join([*opening, r"\toprule", *above, head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _latex_groups(table: Table) -> list[str]:
    """Return the line of titles above columns, and the rules below these."""
    cells, rules, last = [], [], 0
    for title, width in table.groups:
        first, last = last + 1, last + width
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex(title)}}}")
        rules += [rf"\cmidrule(lr){{{first}-{last}}}"] if title else []
    return [" & ".join(cells) + r" \\", "".join(rules)]


def _latex_cell(value: Value, column: Column) -> str:
    cell, words, notes = as_cell(value), value_words(value, column), note_words(value, column)
    if not isinstance(cell.value, str):
        words = words.replace("-", "−")
    return _MARKS[cell.mark] % _latex(words) + (f" ({_latex('; '.join(notes))})" if notes else "")


def _latex(text: str) -> str:
    return " ".join(printable(text).split()).translate(_LATEX)


def worded(text: str, word: str) -> str:
    """Return a title with another word for an ability, such as `Capabilities` for `Abilities`."""
    stem = word.removesuffix("y")
    return re.sub(r"\babilit", stem, re.sub(r"\bAbilit", stem.capitalize(), text))


def worded_table(table: Table, word: str) -> Table:
    """Return a table with another word for an ability in its titles."""
    heads = tuple(column._replace(title=worded(column.title, word)) for column in table.columns)
    return Table(heads, table.rows, table.title and worded(table.title, word))
