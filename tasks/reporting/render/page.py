"""Write pages as files, complete in themselves: of a run and of a leaderboard."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from schemas.documents.leaderboard import AcrossModels
from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.printing import printable
from schemas.usage import by_model, total
from tasks.lake.files import replace_file
from tasks.lake.seal import REPORT, page_of
from tasks.leaderboard.published_experiments import Experiments
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting import system_tables
from tasks.reporting.content import across, experiments, operations, simulation
from tasks.reporting.content.advice import LANGUAGES
from tasks.reporting.content.changes import change_notes, changes_table, label_of, state_said
from tasks.reporting.content.leaderboard import Leaderboard, build_leaderboard
from tasks.reporting.content.verdicts import TOTAL
from tasks.reporting.figures import radar
from tasks.reporting.figures.ability_bars import draw_abilities
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.render.summary import write_summary
from tasks.reporting.report import Report, build_report, partitions_table
from tasks.runs.run_tables import ReportData
from tasks.runs.sections import lay_out_sections
from tasks.scoring.published import paper_of
from tasks.solvers.registry import setting_title
from tasks.text import number_format as formats
from tasks.text.tables import as_cell, cell_words, note_words, value_words

MAX_PARTITIONS = 400
"""Partitions listed per layer; the manifest lists all."""

MOST_ON_A_PAGE = 16
"""Systems described on the page of the run; of more, each has a page of its own beside it: it takes 100 to 300 kB."""

FILTERS = (formats.number, formats.count, formats.interval, formats.percent, formats.shorten, formats.weight, formats.shares)
"""Filters of templates, under their own names; FUNCTIONS are called so."""


FUNCTIONS = (
    *(change_notes, changes_table, label_of, state_said, paper_of, partitions_table, lay_out_sections),
    *(formats.counted, formats.listed, as_cell, cell_words, note_words, value_words),
)


def write_report(data: ReportData, folder: Folder) -> None:
    """Write `report.md`, `report.html` and, of many systems, a page of each into a folder; each at once or not at all.

    Raises:
        LakeError: if the disk refuses a file.
    """
    report = build_report(data)
    write_text(folder / "report.md", write_summary(report))
    for name, html in render_pages(report):
        write_text(folder / name, html)


def render_pages(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page; the one of the run last, once those that it leads to are there.

    Styles and figures are inside, no script, nothing is loaded from anywhere.
    """
    figures, beside = _draw(report), len(report.systems) > MOST_ON_A_PAGE
    for entry in report.systems if beside else ():
        yield page_of(entry.anchor), _render("page.html.jinja", figures, report=report, shown=[entry], alone=True, beside=beside)
    shown = () if beside else report.systems
    yield REPORT, _render("page.html.jinja", figures, report=report, shown=shown, alone=False, beside=beside)


def _render(template: str, figures: dict[str, object], **content: object) -> str:
    return make_environment().get_template(template).render(figures=figures, colours=COLOURS, **content)


def _draw(report: Report) -> dict[str, object]:
    """Draw the page's figures as SVG elements, by the anchor of what they show; of recall by dataset."""
    found = report.retrieval.by_dataset if report.retrieval else {}
    figures: dict[str, object] = {
        "abilities": {entry.anchor: draw_abilities(entry) for entry in report.systems},
        "overlay": radar.overlay_systems(report.systems),
    }
    if not (report.gains or found or report.needles):
        return figures
    # The drawing libraries take a second to load; pages without charts do not pay for it.
    from tasks.reporting.figures import drawing, run_figures  # noqa: PLC0415

    with drawing.unchecked():
        return figures | {
            "gains": {entry.anchor: run_figures.draw_gains(entry) for entry in report.gains},
            "recall": {dataset: run_figures.draw_recall(rows) for dataset, rows in found.items()},
            "needles": {grid.anchor: run_figures.draw_needles(grid) for grid in report.needles},
        }


@cache
def make_environment() -> Environment:
    """Make templates with what they call: numbers as readers see them, and shared names. Templates are compiled once."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {function.__name__: function for function in FILTERS} | {
        "heat": lambda score: f" heat-{formats.heat_step(score)}" if isinstance(score, float | int) else "",
        "setting": setting_title,
    }
    shared: dict[str, object] = {
        **{function.__name__: function for function in FUNCTIONS},
        "across_tables": across,
        "experiment_tables": experiments,
        "operations": operations,
        "simulation_tables": simulation,
        "system_tables": system_tables,
        "report_page": REPORT,
        "languages": LANGUAGES,
        "sum_usage": total,
        "models_used": by_model,
        "max_partitions": MAX_PARTITIONS,
        "most": across.MOST_COMPARED,
        "total_interval": TOTAL[1],
    }
    environment.globals.update(shared)
    return environment


def write_text(path: Folder, text: str) -> None:
    """Write a file for people, at once or not at all; what cannot be seen in it is shown.

    Raises:
        LakeError: if the disk refuses it.
    """
    try:
        replace_file(path, printable(text).encode())
    except OSError as error:
        raise LakeError(
            "the report cannot be written",
            where=str(path),
            got=str(error),
            next_step="check space and permissions of the folder and try again",
        ) from error


def render_leaderboard(data: LeaderboardData, groups: Sequence[AcrossModels] = (), of_paper: Experiments | None = None) -> str:
    """Return the leaderboard as one page: styles and figures inside, no script, nothing loaded from anywhere.

    Args:
        data: the ranked models.
        groups: those that are ranked together, side by side.
        of_paper: the experiments of their paper.
    """
    leaderboard = build_leaderboard(data)
    figures = _draw_leaderboard(leaderboard, data, groups)
    return _render("leaderboard.html.jinja", figures, leaderboard=leaderboard, across=groups, of_paper=of_paper)


def _draw_leaderboard(leaderboard: Leaderboard, data: LeaderboardData, groups: Sequence[AcrossModels]) -> dict[str, object]:
    """Return the page's drawings as SVG elements; those it does not have are null."""
    from tasks.reporting.figures import drawing, leaderboard_figures  # noqa: PLC0415

    models, draw_boxes = leaderboard.published, leaderboard_figures.draw_boxes
    # Only what is ranked together is drawn together.
    group = leaderboard.entries[0].group if leaderboard.entries else None
    best = [entry for entry in leaderboard.entries if entry.group == group and entry.has_total][: radar.MAX_SHAPES]
    shapes = [radar.Shape(entry.system.label, entry.scores) for entry in best]
    measured = [main.id for main in data.blueprint.abilities if main.title in leaderboard.titles]
    setting = best[0].system.setting if best else ""
    band = [data.paper.range_of(name, setting) for name in measured]
    with drawing.unchecked():
        return {
            "overlay": radar.draw_overlay(leaderboard.titles, shapes, band),
            "history": leaderboard_figures.draw_histories(leaderboard.histories) if leaderboard.histories else None,
            "boxes": {name: draw_boxes(rows) for name, rows in models.settings.items()} if models else {},
            "openness": leaderboard_figures.draw_openness(models.openness) if models and models.openness.height else None,
            "sizes": leaderboard_figures.draw_sizes(models.sizes) if models and models.sizes.height else None,
            "core": leaderboard_figures.draw_core(models) if models and models.core.height else None,
            "tasks": [
                draw_boxes([(task.title, task.quartiles) for task in group.tasks]) if group.tasks else None for group in groups
            ],
        }
