"""Write reports as files, complete in themselves: a page of a run and its summary in Markdown, a page of a leaderboard."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.chart import Chart
from schemas.documents.certificates import Certificate
from schemas.documents.leaderboard import AcrossModels, JudgedTotal
from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.printing import printable
from schemas.table import Table
from schemas.usage import by_model, total
from tasks.judging.prompts import describe_dimension
from tasks.judging.rubrics import words_of
from tasks.lake.files import replace_file
from tasks.lake.seal import PICTURE, REPORT, page_of
from tasks.leaderboard.rank_ranges import ties_said
from tasks.leaderboard.ranking import LeaderboardData, judges_said
from tasks.reporting import system_tables
from tasks.reporting.content import operations
from tasks.reporting.content.advice import LANGUAGES
from tasks.reporting.content.certificate import certificate_counts, certificate_tables, why
from tasks.reporting.content.leaderboard import lay_out_leaderboard, ranking_table, runs_behind, warn_of_rows
from tasks.reporting.content.operations import missing_table
from tasks.reporting.content.system_charts import ShownSystem, chart_systems, show_systems
from tasks.reporting.content.verdicts import (
    TOTAL_COLUMNS,
    change_notes,
    changes_table,
    interval_cell,
    state_said,
    total_cell,
)
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.figures.pictures import draw_panels, draw_picture, to_png
from tasks.reporting.report import Report, build_report, partitions_table
from tasks.reporting.run_figures import HEADLINE, source_of
from tasks.reporting.system_tables import results_table, scores_table, weakest_table
from tasks.runs.baselines import score_constant_answers
from tasks.runs.exhibits import lay_out_exhibits
from tasks.runs.rating_sheets import SheetAnswer
from tasks.runs.run_tables import ReportData
from tasks.runs.sections import Block
from tasks.runs.verdict import label_of
from tasks.scoring.published import paper_of
from tasks.text import number_format as formats
from tasks.text.tables import as_cell, cell_words, escape, note_words, to_markdown, value_words, worded, worded_table

MAX_PARTITIONS = 400
"""Partitions listed per layer; the manifest lists all."""

MOST_ROWS = 12
"""Rows of a table, and sentences, that are seen without being asked for."""

MOST_BLOCKS = 4
"""Parts of a section likewise."""

MOST_ON_A_PAGE = 16
"""Systems described on the page of the run; of more, each has a page of its own beside it: it takes 100 to 300 kB."""

FILTERS = (
    *(formats.number, formats.count, formats.interval, formats.percent, formats.shorten, formats.weight, formats.shares),
    formats.moment,
)
"""Filters of templates, under their own names; FUNCTIONS are called so."""

FUNCTIONS = (
    *(change_notes, changes_table, label_of, state_said, paper_of, partitions_table),
    *(formats.counted, formats.listed, as_cell, cell_words, interval_cell, note_words, total_cell, value_words),
)


def write_report(data: ReportData, folder: Folder, most: int = MOST_ON_A_PAGE) -> Report:
    """Write `report.md`, `report.png`, `report.html` and, of more than `most` systems, a page of each, and return the report.

    Each file is written at once or not at all. Where nothing was scored there is no picture. LakeError: the disk refuses a
    file.
    """
    report = build_report(data)
    write_text(folder / "report.md", write_summary(report))
    shown = show_report(report, most)
    charts = chart_systems(shown, data.blueprint)
    if HEADLINE in charts:
        source, word = source_of(data.manifest, data.blueprint), data.blueprint.ability_word
        picture = draw_picture(data.blueprint.title, HEADLINE, [charts[HEADLINE]], source, word)
        write_file(folder / PICTURE, to_png(picture))
    for name, html in render_pages(report, shown, charts, most):
        write_text(folder / name, html)
    return report


def render_pages(
    report: Report, shown: Sequence[ShownSystem], charts: Mapping[str, Chart], most: int = MOST_ON_A_PAGE
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page; the one of the run last, once those that it leads to are there.

    Styles and figures are inside, no script, nothing is loaded from anywhere. `shown`: of `show_report`; `charts`: of all these.
    """
    beside = len(report.systems) > most
    render = partial(render_template, "page.html.jinja", report.data.blueprint.ability_word, report=report, beside=beside)
    for entry, system in zip(report.systems, shown, strict=True) if beside else ():
        own = chart_systems([system], report.data.blueprint)
        yield page_of(entry.anchor), render(systems=[entry], alone=True, figures=own)
    yield REPORT, render(systems=() if beside else report.systems, alone=False, figures=charts)


def show_report(report: Report, most: int = MOST_ON_A_PAGE) -> list[ShownSystem]:
    """Return the systems of a report as its figures show them, in its order."""
    constants = score_constant_answers(report.data.blueprint, report.data.baselines)
    anchors = [entry.anchor for entry in report.systems] if len(report.systems) <= most else ()
    return show_systems(report.data, [entry.verdict for entry in report.systems], constants, anchors)


def render_template(template: str, word: str = "ability", /, **content: object) -> str:
    """Return a template with its content, and another word for an ability."""
    return make_environment(word).get_template(template).render(**content)


def name_total(total: JudgedTotal) -> str:
    """Return a system with its total, or with the verdict if that is not all there is to say."""
    return f"{label_of(total)} {formats.number(total.total) if total.verdict == 'scored' else total.verdict}"


def name_page(totals: Sequence[JudgedTotal], benchmark: str) -> str:
    """Return the title of a page: the first system with its total, how many models there are besides, and the benchmark."""
    others = len({total.model for total in totals}) - 1
    more = f" and {others} more" if others > 0 else ""
    return f"{name_total(totals[0])}{more} - {benchmark}" if totals else benchmark


def render_sheet(run: str, answers: Sequence[SheetAnswer]) -> str:
    """Return a sheet as one page to fill in, which loads nothing; what it saves is made by a script inside."""
    return render_template("sheet.html.jinja", run=run, answers=answers, describe=describe_dimension, words_of=words_of)


@cache
def make_environment(ability_word: str = "ability") -> Environment:
    """Make templates with what they call: numbers as readers see them, and shared names. Templates are compiled once."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {function.__name__: function for function in FILTERS} | {
        "heat": lambda score: f" heat-{formats.heat_step(score)}" if isinstance(score, float | int) else "",
        "worded": partial(worded, word=ability_word),
        "worded_table": partial(worded_table, word=ability_word),
    }
    shared: dict[str, object] = {
        "draw_panels": partial(draw_panels, word=ability_word),
        **{function.__name__: function for function in (*FUNCTIONS, name_page, name_total)},
        "operations": operations,
        "system_tables": system_tables,
        "report_page": REPORT,
        "report_picture": PICTURE,
        "colours": COLOURS,
        "languages": LANGUAGES,
        "to_json": partial(json.dumps, ensure_ascii=False, indent=2),
        "sum_usage": total,
        "models_used": by_model,
        "max_partitions": MAX_PARTITIONS,
        "most_rows": MOST_ROWS,
        "most_blocks": MOST_BLOCKS,
        "total_interval": TOTAL_COLUMNS[1],
    }
    environment.globals.update(shared)
    return environment


def write_text(path: Folder, text: str) -> None:
    """Write a file for people as `write_file` does; what cannot be seen in it is shown."""
    write_file(path, printable(text).encode())


def write_file(path: Folder, content: bytes) -> None:
    """Write a file, at once or not at all. LakeError: the disk refuses it."""
    try:
        replace_file(path, content)
    except OSError as error:
        raise LakeError(
            "the report cannot be written",
            where=str(path),
            got=str(error),
            next_step="check space and permissions of the folder and try again",
        ) from error


def render_leaderboard(data: LeaderboardData, groups: Sequence[AcrossModels] = (), files: Sequence[str] = ()) -> str:
    """Return the leaderboard as one page: styles and figures inside, no script, nothing loaded from anywhere.

    `groups`: those that are ranked together, side by side. `files`: beside the page, to link to.
    """
    blocks: dict[str, list[Block]] = {}
    for group, _, block in lay_out_exhibits(data.models, data.groups):
        blocks.setdefault(group, []).append(block)
        blocks[group].sort(key=lambda block: (not block.tables, block.folds))  # tables stand before figures
    exhibits = [
        (f"exhibits{n if n > 1 else ''}", f"Figures and tables{group}", shown)
        for n, (group, shown) in enumerate(blocks.items(), 1)
    ]
    return render_template(
        "leaderboard.html.jinja",
        data.blueprint.ability_word,
        data=data,
        files=files,
        rows=data.rows,
        ranking=ranking_table(data),
        warnings=warn_of_rows(data),
        notes=(*ties_said(data), *judges_said(data)),
        runs=runs_behind(data),
        sections=lay_out_leaderboard(data, groups, exhibits),
    )


def render_certificate(certificate: Certificate) -> str:
    """Return a certificate as one page, which loads nothing."""
    tables = [(f"table-{number}", table) for number, table in enumerate(certificate_tables(certificate), 1) if table.rows]
    content = {"certificate": certificate, "why": why(certificate), "counts": [*certificate_counts(certificate)]}
    return render_template("certificate.html.jinja", tables=tables, **content)


def write_summary(report: Report) -> str:
    """Return a run's summary as GitHub-flavoured markdown."""
    word = report.data.blueprint.ability_word
    blocks = [
        f"# {escape(report.data.blueprint.title)}",
        f"Run `{report.data.manifest.run}`, {formats.moment(report.data.manifest.started_at)}.",
        *([escape(report.provenance.short_note)] if report.provenance.short_note else []),
        *([f"![Totals]({PICTURE})"] if any(entry.verdict.total_before_veto is not None for entry in report.systems) else ()),
        *_headlines(report),
        *(_since(report.data.changes, report.data.blueprint) if report.data.changes else ()),
        *_results(report),
        *(_section("Abilities", scores_table(report.systems), word) if report.systems and report.systems[0].abilities else ()),
        *_section("Weakest tasks", weakest_table(report.systems), word),
        *_section("What is missing", missing_table(report.data), word),
        "The full report, with figures, every task and example items, is the page report.html beside this file.",
    ]
    return "\n\n".join(blocks) + "\n"


def _section(title: str, table: Table, word: str) -> list[str]:
    return [f"## {worded(title, word)}", to_markdown(worded_table(table, word))] if table.rows else []


def _since(changes: RunChanges, blueprint: Blueprint) -> Iterator[str]:
    yield "## Since the previous run"
    yield f"{changes.state}: {escape(state_said(changes))}."
    findings = [f"{label_of(system)}: {finding.message}" for system in changes.regressed for finding in system.findings]
    if noted := [*findings, *change_notes(changes)]:
        yield "\n".join(f"- {escape(note)}" for note in noted)
    if (table := changes_table(changes, blueprint)).rows:
        yield to_markdown(table)
        yield worded(
            "Over the items scored in both runs: each total, before the veto, and the abilities that fell most.",
            blueprint.ability_word,
        )


def _headlines(report: Report) -> Iterator[str]:
    for headline in report.headlines:
        yield f"## Scores side by side: {escape(headline.dataset)}"
        yield to_markdown(headline.table(entry.verdict.system for entry in report.systems))


def _results(report: Report) -> Iterator[str]:
    yield from ("## Result", to_markdown(results_table(report.systems)))
    for entry in report.systems:
        yield f"{escape(entry.verdict.sentence)} {escape(entry.verdict.trust)}"
        if record := entry.verdict.comparability:
            reasons = escape("; ".join(reason.text for reason in record.reasons))
            yield f"Published numbers of {record.paper}: {record.verdict} ({reasons})."
