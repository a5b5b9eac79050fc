"""Print the result of a command: to the terminal, or as one JSON document."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

import typer
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

import schemas.table
from schemas.base import Frozen
from schemas.documents.document import Document
from schemas.printing import printable
from tasks.text.number_format import count
from tasks.text.tables import cell_words

MOST_TOLD = 3
"""Lines of one kind, such as failures, that the screen of a run has."""

LONGEST = 4000
"""Characters of one text that a terminal shows."""


@dataclass(frozen=True)
class CommandResult:
    """What a command found: its exit status, one JSON document, and the same for a terminal, by default a line per value."""

    status: int
    document: Document
    view: Sequence[RenderableType] = ()

    def finish(self, *, as_json: bool) -> NoReturn:
        """Print the result and end the command with its status."""
        with suppress(BrokenPipeError):  # whoever read the output, such as `head`, has enough
            if as_json:
                print_json(self.document)
            else:
                terminal().print(*(self.view or detail_lines(self.document)), sep="\n", highlight=False)
        raise typer.Exit(self.status)


class Terminal(Console):
    """A console that prints every text as it is, and shows control characters instead of sending them."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to print; brackets that a name or a reply has are no markup."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command what a reader that has gone means."""
        raise BrokenPipeError


def terminal() -> Console:
    """Return standard output; wide where it is a file or a pipe, which cannot be widened."""
    return Terminal(width=None if sys.stdout.isatty() else 140, emoji=False, markup=False)


def print_json(document: Document | Any) -> None:
    """Print one JSON document on standard output."""
    document = document.model_dump(mode="json") if isinstance(document, Document) else document
    sys.stdout.write(printable(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)) + "\n")
    sys.stdout.flush()  # a command that serves goes on, and a program waits for where


def bold(head: str, rest: str = "") -> Text:
    """Return a text that begins in bold."""
    return Text.assemble((printable(head), "bold"), printable(rest))


def detail_lines(document: Frozen | Mapping[Any, Any], indent: str = "") -> Iterator[Text]:
    """Yield a JSON document for a terminal: a line per value, what is nested further in; what is empty is left out."""
    values = document.model_dump(mode="json") if isinstance(document, Frozen) else document
    for name, value in values.items():
        if value in (None, [], (), {}):
            continue
        head = f"{indent}{name}:"
        inner = dict(enumerate(value, 1)) if isinstance(value, list | tuple) else value
        if isinstance(inner, Mapping):
            yield bold(head)
            yield from detail_lines(inner, f"{indent}  ")
        else:
            text = _cut(str(value)).replace("\n", f"\n{indent}  ")
            yield bold(head, f" {text}")


def _cut(text: str) -> str:
    left_out = len(text) - LONGEST
    middle = f"\n[... {left_out:,} characters, --json has them ...]\n"
    return text if left_out <= 0 else text[: LONGEST // 2] + middle + text[-LONGEST // 2 :]


def terminal_table(table: schemas.table.Table) -> Table:
    """Return a table for a terminal, without rules; titles of scores stand a word below the other."""
    grid = Table(title=table.title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for column in table.columns:
        justify: JustifyMethod = "right" if column.is_numeric else "left"
        title = printable(column.title.replace(" ", "\n") if column.kind == "score" else column.title)
        grid.add_column(title, justify=justify, no_wrap=column.kind == "name", overflow="fold")
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        grid.add_row(*(Text(cell_words(*cell), "bold" if getattr(cell[0], "mark", None) == "best" else "") for cell in cells))
    return grid


def first_lines(lines: Sequence[str], most: int = MOST_TOLD) -> Iterator[str]:
    """Yield the first of these lines, and how many more there are."""
    yield from (*lines[:most], *count_rest(len(lines) - most))


def count_rest(more: int) -> Iterator[str]:
    """Yield a line about those of a list that are not shown, if there are any."""
    if more > 0:
        yield f"and {count(more)} more: --json lists them"


def local_time(stamp: str) -> str:
    """Return an ISO time as people here write it, such as 2026-11-26 19:02; a text that is none as it stands."""
    try:
        return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return stamp
