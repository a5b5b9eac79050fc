"""Share colours and sizes between figures, whatever draws them.

Colours are placeholders that the style sheet replaces (`[fill="..."]`), so that one drawing serves light and dark.
"""

INK, MUTED, GRID = "#1f2933", "#66727f", "#e2e6ea"
PUBLISHED, OURS, GATE = "#aab4bf", "#0f6e84", "#a34a06"
VIOLET, LEAF, ROSE = "#6b4fa3", "#4f7a10", "#b0305d"
HEAT = ("#f6c9bd", "#f8d5c9", "#fae0d3", "#fbeadf", "#fbf3e6", "#eef4ec", "#dcefe8", "#c6e7e1", "#aeddd9", "#93d0d0")
"""Scores from 0 to 100 in ten steps."""

COLOURS = {
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "published": PUBLISHED,
    "ours": OURS,
    "gate": GATE,
    "violet": VIOLET,
    "leaf": LEAF,
    "rose": ROSE,
    **{f"heat-{step}": colour for step, colour in enumerate(HEAT)},
}
"""Placeholders by the name of the style sheet's variable."""

SERIES = (OURS, GATE, VIOLET, LEAF, ROSE, INK)
"""Colours of lines and dots that are told apart, in the order of their use."""

WIDTH = 300
"""Of the plotting area in pixels: labels stay readable when the drawing shrinks to a phone."""

ROW = 52
FONT, SMALL = 13, 11
