"""The page of a leaderboard: one file, complete in itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.analysis.leaderboard import BoardData
from tasks.reporting.content.leaderboard import Board, build_board
from tasks.reporting.render.page import make_environment, write_text


@dataclass(frozen=True)
class BoardFigures:
    """Drawings of the page as SVG elements. `boxes` by setting; `overlay` with the key of its colours."""

    boxes: dict[str, str]
    overlay: Any
    history: Any
    openness: str | None
    sizes: str | None
    core: str | None


def render_board(data: BoardData) -> str:
    """The leaderboard as one page: styles and figures inside, no script, nothing loaded from anywhere."""
    # The drawing libraries take half a second to load; commands that draw nothing do not pay for it.
    from tasks.reporting.figures.drawing import COLOURS, drawing  # noqa: PLC0415

    board = build_board(data)
    with drawing():
        figures = _draw(board, data)
    return make_environment().get_template("board.html.jinja").render(board=board, figures=figures, colours=COLOURS)


def write_board(data: BoardData, path: Path) -> None:
    """Write the page at once or not at all.

    Raises:
        LakeError: if the disk refuses the file.
    """
    write_text(path, render_board(data))


def _draw(board: Board, data: BoardData) -> BoardFigures:
    from tasks.reporting.figures import figures, histories, radar  # noqa: PLC0415

    field = board.field
    best = board.entries[: radar.MAX_SHAPES]
    shapes = [radar.Shape(entry.system.label, entry.scores) for entry in best]
    measured = [main.id for main in data.blueprint.abilities if main.title in board.titles]
    setting = best[0].system.setting if best else ""
    band = radar.band_of(measured, data.paper, setting)
    return BoardFigures(
        boxes={group.setting: figures.draw_boxes(group) for group in field.groups} if field else {},
        overlay=radar.draw_overlay(board.titles, shapes, band),
        history=histories.draw_histories(board.histories),
        openness=figures.draw_openness(field) if field else None,
        sizes=figures.draw_sizes(field) if field else None,
        core=figures.draw_core(field) if field else None,
    )
