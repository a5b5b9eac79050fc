"""Write pages as files, complete in themselves: of a run and of a leaderboard."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment, FileSystemLoader, StrictUndefined

from schemas.documents.leaderboard import AcrossModels
from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.printing import printable
from schemas.usage import by_model, total
from schemas.vocabulary import LEVELS
from tasks.lake.files import replace_file
from tasks.lake.seal import REPORT, page_of
from tasks.leaderboard.published_experiments import Experiments
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.content.advice import LANGUAGES
from tasks.reporting.content.changes import change_notes, changed_scores, label_of, state_said
from tasks.reporting.content.leaderboard import Leaderboard, build_leaderboard
from tasks.reporting.content.operations import HEADS, amount_cells, cost_notes
from tasks.reporting.content.retrieval import CUTOFFS
from tasks.reporting.figures import radar
from tasks.reporting.figures.ability_bars import draw_abilities
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.render.summary import write_summary
from tasks.reporting.report import Report, build_report
from tasks.runs.run_tables import ReportData, Row
from tasks.runs.sections import SECTIONS
from tasks.scoring.published import paper_of
from tasks.solvers.registry import setting_title
from tasks.text import number_format as formats
from tasks.text.tables import value_words

MAX_PARTITIONS = 400
"""Partitions listed per layer; the manifest lists all."""

MOST_COMPARED = 10
"""Models set side by side on a page or in a table of a leaderboard; JSON and CSV have all."""

MOST_ON_A_PAGE = 16
"""Systems described on the page of the run; of more, each has a page of its own beside it: it takes 100 to 300 kB."""

RAW_HEADS = [
    *("Method", "#Raw value|95\u00a0% interval", "#On 0–100", "#Items scored"),
    *("#Unreadable", "#Constant answer", "#Majority label"),
]

FORMATS = (
    *(formats.number, formats.count, formats.interval, formats.percent, formats.seconds, formats.shorten),
    *(formats.signed, formats.signed_interval, formats.weight, formats.shares),
)
"""Filters of templates, under their own names; FUNCTIONS are called so."""


def own_sections(found: Mapping[str, Sequence[Row]]) -> list[tuple[str, str, Sequence[Row], None]]:
    """Return anchor, which is the template's name too, title and rows of the sections that benchmarks render themselves."""
    return [(name, one.title, found.get(name, ()), None) for name, one in SECTIONS.items() if one.template]


FUNCTIONS = (
    *(changed_scores, change_notes, label_of, state_said, paper_of, cost_notes),
    *(formats.counted, formats.listed, formats.share_of, value_words, own_sections),
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


def _render(template: str, figures: dict[str, Any], **content: object) -> str:
    return make_environment().get_template(template).render(figures=figures, colours=COLOURS, **content)


def _draw(report: Report) -> dict[str, Any]:
    """Draw the page's figures as SVG elements, by the anchor of what they show; of recall by dataset."""
    found = report.retrieval.by_dataset if report.retrieval else {}
    figures: dict[str, Any] = {
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
    own_templates = {name: one.template.read_text(encoding="utf-8") for name, one in SECTIONS.items() if one.template}
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(Path(__file__).parents[1] / "templates"), DictLoader(own_templates)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {function.__name__: function for function in FORMATS} | {
        "page": page_of,
        "heat": lambda score: "" if score is None else f" heat-{formats.heat_step(score)}",
        "amounts": amount_cells,
        "setting": setting_title,
    }
    shared: dict[str, Any] = {
        **{function.__name__: function for function in FUNCTIONS},
        "numbered": lambda names, form="{}": [f"#{form.format(name)}" for name in names],  # heads of columns of numbers
        "raw_heads": RAW_HEADS,
        "report_page": REPORT,
        "languages": LANGUAGES,
        "level_names": LEVELS,
        "cost_heads": HEADS,
        "sum_usage": total,
        "usage_by_model": by_model,
        "max_partitions": MAX_PARTITIONS,
        "cutoffs": CUTOFFS,
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


def render_leaderboard(data: LeaderboardData, across: Sequence[AcrossModels] = (), experiments: Experiments | None = None) -> str:
    """Return the leaderboard as one page: styles and figures inside, no script, nothing loaded from anywhere."""
    leaderboard = build_leaderboard(data)
    shown = {"leaderboard": leaderboard, "across": across, "of_paper": experiments, "most": MOST_COMPARED}
    return _render("leaderboard.html.jinja", _draw_leaderboard(leaderboard, data, across), **shown)


def _draw_leaderboard(leaderboard: Leaderboard, data: LeaderboardData, across: Sequence[AcrossModels]) -> dict[str, Any]:
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
            "openness": leaderboard_figures.draw_openness(models.openness) if models and models.openness else None,
            "sizes": leaderboard_figures.draw_sizes(models.sizes) if models and models.sizes else None,
            "core": leaderboard_figures.draw_core(models) if models and models.core else None,
            "tasks": [draw_boxes([(task.title, task.quartiles) for task in one.tasks]) if one.tasks else None for one in across],
        }
