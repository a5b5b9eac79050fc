"""Show what has to fit one screen only where there is room for it."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement

HEIGHT = 39
"""Lines of a screen of 40, less the one that the prompt takes."""


class FirstFit:
    """The first of several forms that is no wider than the terminal, or the last one."""

    def __init__(self, *forms: RenderableType) -> None:
        self.forms = forms

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the form."""
        room = options.update(max_width=10_000)  # to measure what a table needs
        fitting = (form for form in self.forms if Measurement.get(console, room, form).maximum <= options.max_width)
        yield next(fitting, self.forms[-1])


class Screen:
    """Views below each other, of `between` only those that HEIGHT lines have room for."""

    def __init__(
        self, above: Sequence[RenderableType], between: Sequence[RenderableType], below: Sequence[RenderableType]
    ) -> None:
        self.above, self.between, self.below = above, between, below

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the views."""
        yield from self.above
        spare = HEIGHT - sum(len(console.render_lines(view, options, pad=False)) for view in (*self.above, *self.below))
        for view in self.between:
            height = 1 + len(console.render_lines(view, options, pad=False))
            if height <= spare:
                spare -= height
                yield from ("", view)
        yield from self.below
