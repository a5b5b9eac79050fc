"""Write a table as Markdown, CSV or LaTeX. Its text comes from outside: no cell acts as markup, formula or command."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from typing import Any

from schemas.printing import printable
from schemas.table import Cell, Column, Interval, Kind, Table, Value
from tasks.text import number_format as formats

_FORMULA = tuple("=+-@|\t\r\n＝＋－＠")
"""First characters that make a spreadsheet compute a cell."""

_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': r"\textquotedbl{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", formats.NONE: "--", "−": "$-$", "≈": r"$\approx$"}
)
_MARKS = {"best": r"\textbf{%s}", "second": r"\underline{%s}", None: "%s"}

_WORDS: Mapping[Kind, Callable[[Any, Column], str]] = {
    "score": lambda value, column: formats.number(value, column.digits),
    "number": lambda value, column: formats.number(value, column.digits),
    "difference": lambda value, column: formats.signed(value, column.digits),
    "interval": lambda ends, column: formats.interval(ends.low, ends.high, column.digits),
    "change": lambda ends, column: formats.signed_interval(ends.low, ends.high, column.digits),
    "share": lambda value, _: formats.percent(value),
    "count": lambda value, _: formats.count(value),
    "money": lambda value, column: formats.money(value, column.currency),
    "time": lambda value, _: formats.seconds(value),
}


def value_words(value: Value, column: Column) -> str:
    """Return a value as people read it. A text in a column of numbers stays as it is, and null is a dash."""
    if isinstance(value, Cell):
        value = value.value
    if value is None:
        return formats.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    words = _WORDS.get(column.kind)
    return words(value, column) if words else str(value)


def cell_words(value: Value, column: Column) -> str:
    """Return a value in one line, its note in brackets behind it."""
    words = value_words(value, column)
    return f"{words} ({printable(value.note)})" if isinstance(value, Cell) and value.note else words


def to_markdown(table: Table) -> str:
    """Return a table of GitHub-flavoured Markdown."""
    heads = [escape(column.title) for column in table.columns]
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
    writer.writerow([name for column in table.columns for name in _csv_heads(column)])
    writer.writerows([text for pair in zip(row, table.columns, strict=True) for text in _csv_values(*pair)] for row in table.rows)
    return out.getvalue()


def _csv_heads(column: Column) -> tuple[str, ...]:
    return (f"{column.title} low", f"{column.title} high") if column.kind in {"interval", "change"} else (column.title,)


def _csv_values(value: Value, column: Column) -> Iterator[object]:
    plain = value.value if isinstance(value, Cell) else value
    if column.kind in {"interval", "change"}:
        yield from plain if isinstance(plain, Interval) else (None, None)
    elif isinstance(plain, str):
        yield f"'{plain}" if plain.lstrip(" ").startswith(_FORMULA) else plain
    else:
        yield plain


def to_latex(table: Table) -> str:
    """Return a table of LaTeX that needs the package booktabs. The best of a row is bold, the second is underlined."""
    heads = " & ".join(_latex(column.title) for column in table.columns)
    places = "".join("r" if column.is_numeric else "l" for column in table.columns)
    rows = (" & ".join(_latex_cell(*pair) for pair in zip(row, table.columns, strict=True)) for row in table.rows)
    head, *body = [rf"{line} \\" for line in (heads, *rows)]
    caption = [rf"\caption{{{_latex(table.title)}}}"] if table.title else []
    opening = [r"\begin{table}", *caption, rf"\begin{{tabular}}{{{places}}}"]
    return "\n".join([*opening, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _latex_cell(value: Value, column: Column) -> str:
    words, note = value_words(value, column), ""
    mark = None
    if isinstance(value, Cell):
        value, note, mark = value
    if not isinstance(value, str):
        words = words.replace("-", "−")
    return _MARKS[mark] % _latex(words) + (f" ({_latex(note)})" if note else "")


def _latex(text: str) -> str:
    return " ".join(printable(text).split()).translate(_LATEX)
