"""Lay out what has to fit one screen: bars, tables without rules, and what is shown only where there is room for it."""

from collections.abc import Sequence

import rich.table
from rich.bar import Bar
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from flows.commands.console import terminal_table
from schemas.table import Table

HEIGHT = 39
"""Lines of a screen of 40, less the one that the prompt takes."""

UNLIMITED = 10_000
"""Columns, to measure what a table needs."""


class ScoreBar(Bar):
    """A score on 0-100 as a bar of block characters, or of `#` where the terminal has no such characters."""

    def __init__(self, score: float, width: int) -> None:
        super().__init__(100, 0, score, width=width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the bar."""
        if options.ascii_only:
            yield Text("#" * round((self.width or 0) * self.end / self.size))
        else:
            yield from super().__rich_console__(console, options)


def plain_grid(table: Table) -> rich.table.Table:
    """Return a table without rules, which takes fewer lines and columns; titles of scores stand a word below the other."""
    grid = terminal_table(table)
    for column, head in zip(grid.columns, table.columns, strict=True):
        column.header = head.title.replace(" ", "\n") if head.kind == "score" else column.header
    grid.box, grid.padding, grid.pad_edge, grid.title_justify = None, (0, 1, 0, 0), False, "left"
    return grid


class FirstFit:
    """The first of several forms that is no wider than the terminal, or the last one."""

    def __init__(self, *forms: RenderableType) -> None:
        self.forms = forms

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the form."""
        room = options.update(max_width=UNLIMITED)
        fitting = (form for form in self.forms if Measurement.get(console, room, form).maximum <= options.max_width)
        yield next(fitting, self.forms[-1])


class Screen:
    """Views below each other, with those of `between` that HEIGHT lines have room for, the last ones first."""

    def __init__(
        self, above: Sequence[RenderableType], between: Sequence[RenderableType], below: Sequence[RenderableType]
    ) -> None:
        self.above, self.between, self.below = above, between, below

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the views."""

        def height(view: RenderableType) -> int:
            return len(console.render_lines(view, options, pad=False))

        spare = HEIGHT - sum(map(height, (*self.above, "", *self.below)))
        fitting: list[RenderableType] = []
        for view in reversed(self.between):
            if height(view) <= spare:
                spare -= height(view)
                fitting.insert(0, view)
        yield from (*self.above, *(["", *fitting] if fitting else []), *self.below)
