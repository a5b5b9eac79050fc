"""Write the page of a leaderboard: one file, complete in itself."""

from pathlib import Path
from typing import Any

from tasks.analysis.leaderboard import LeaderboardData
from tasks.reporting.content.leaderboard import Leaderboard, build_leaderboard
from tasks.reporting.render.page import make_environment, write_text


def render_leaderboard(data: LeaderboardData) -> str:
    """Return the leaderboard as one page: styles and figures inside, no script, nothing loaded from anywhere."""
    # The drawing libraries take half a second to load; commands that draw nothing do not pay for it.
    from tasks.reporting.figures.drawing import COLOURS, drawing  # noqa: PLC0415

    leaderboard = build_leaderboard(data)
    with drawing():
        figures = _draw(leaderboard, data)
    template = make_environment().get_template("leaderboard.html.jinja")
    return template.render(leaderboard=leaderboard, figures=figures, colours=COLOURS)


def write_leaderboard(data: LeaderboardData, path: Path) -> None:
    """Write the page at once or not at all.

    Raises:
        LakeError: if the disk refuses the file.
    """
    write_text(path, render_leaderboard(data))


def _draw(leaderboard: Leaderboard, data: LeaderboardData) -> dict[str, Any]:
    """Return the page's drawings as SVG elements; those it does not have are null."""
    from tasks.reporting.figures import leaderboard_figures, radar  # noqa: PLC0415

    models = leaderboard.published
    best = leaderboard.entries[: radar.MAX_SHAPES]
    shapes = [radar.Shape(entry.system.label, entry.scores) for entry in best]
    measured = [main.id for main in data.blueprint.abilities if main.title in leaderboard.titles]
    setting = best[0].system.setting if best else ""
    return {
        "overlay": radar.draw_overlay(leaderboard.titles, shapes, radar.band_of(measured, data.paper, setting)),
        "history": leaderboard_figures.draw_histories(leaderboard.histories),
        "boxes": {scores.setting: leaderboard_figures.draw_boxes(scores) for scores in models.settings} if models else {},
        "openness": leaderboard_figures.draw_openness(models) if models else None,
        "sizes": leaderboard_figures.draw_sizes(models) if models else None,
        "core": leaderboard_figures.draw_core(models) if models else None,
    }
