"""Lay out what a report says of its systems as tables."""

from collections.abc import Mapping, Sequence

from schemas.table import Cell, Column, Interval, Part, Table, Value, columns
from schemas.vocabulary import LEVELS
from tasks.certificates.lookup import marked
from tasks.lake.seal import page_of
from tasks.reporting.content.score_tree import Node
from tasks.reporting.content.tables import RawRow
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, total_cell
from tasks.reporting.report import SystemReport
from tasks.runs.baselines import no_better
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, number, share_of, shorten

MISSING = Column("What is missing")
RAW = (
    *(Column("Method", "code"), Column("Raw value, 95 % interval", "number", 3), Column("On 0–100", "score", 1)),
    *(Column("Items scored", "part"), Column("Unreadable", "share")),
    *columns("number", "Constant answer", "Majority label", digits=3),
)


def overview_table(systems: Sequence[SystemReport], *, beside: bool = False) -> Table:
    """Return totals and abilities, a row per system. `beside`: each of them has a page of its own."""
    results, scores = results_table(systems, beside=beside), scores_table(systems)
    rows = [(*row, *own, coverage) for (*row, coverage, _), (_, *own) in zip(results.rows, scores.rows, strict=True)]
    *heads, coverage, _ = results.columns
    return Table((*heads, *scores.columns[1:], coverage), rows, "Totals of all models")


def results_table(systems: Sequence[SystemReport], *, beside: bool = False) -> Table:
    """Return rank, total, verdict and coverage, likewise."""
    rows = []
    for entry in systems:
        verdict, page = entry.verdict, page_of(entry.anchor) if beside else ""
        model = Cell(verdict.system.model, href=f"{page}#{entry.anchor}")
        note = verdict.rank_note if verdict.rank is None and verdict.verdict == "scored" else ""
        total = (total_cell(verdict), interval_cell(verdict), Cell(verdict.verdict, note))
        items = Part(verdict.n_scored, verdict.n_total)
        rank, setting = Cell(verdict.rank, verdict.rank_range), setting_title(verdict.system.setting)
        rows.append((rank, model, setting, *total, verdict.coverage, items))
    heads = (Column("Rank", "count"), *columns("name", "Model", "Setting"), *TOTAL_COLUMNS)
    return Table((*heads, Column("Coverage", "share"), Column("Items scored", "part")), rows, "Results")


def scores_table(systems: Sequence[SystemReport]) -> Table:
    """Return scores of the abilities, a row per system."""
    titles = (node.title for entry in systems[:1] for node in entry.abilities)
    rows = [(entry.label, *(node.part.score for node in entry.abilities)) for entry in systems]
    return Table((Column("Model", "name"), *columns("score", *titles, digits=1)), rows, "Abilities")


def weakest_table(systems: Sequence[SystemReport]) -> Table:
    """Return the weakest tasks of each system."""
    weak = ((entry.label, weakness.task) for entry in systems for weakness in entry.weak)
    rows = [(label, task.part.title, task.path.path, task.part.score) for label, task in weak]
    return Table((*columns("name", "Model", "Task", "Ability"), Column("Score", "score", 1)), rows, "Weakest tasks")


def abilities_table(entry: SystemReport) -> Table:
    """Return the scores of a system's abilities and the range of the published ones."""
    record, rows = entry.verdict.comparability, []
    for node in entry.tree.children:
        part, published = node.part, entry.paper.range_of(node.part.id, entry.verdict.setting)
        gate = "gate, not in the mean" if node.kind == "gate" else ""
        note = "; ".join(filter(None, (gate, shorten(node.reason or "", 90))))
        words = marked(node.title, entry.judges, {row.path.dataset for each in node.walk() for row in each.numbers})
        title = Cell(words, note, href=f"#{node.anchor}" if part.datasets_total else "")
        likeness = record.abilities.get(part.id, "") if record and published else ""
        datasets = Part(part.datasets_scored, part.datasets_total) if part.datasets_total else None
        rows.append((title, part.score, datasets, Cell(published, likeness)))
    heads = (Column("Ability", "name"), Column("Score", "score", 1), Column("Datasets", "part"))
    return Table((*heads, Column("Published range", "interval", 1)), rows, "Ability scores")


def levels_table(entry: SystemReport, *, has_levels: bool) -> Table:
    """Return the scores of a system's sub-abilities, at each level where there are several."""
    levels = LEVELS if has_levels else ()
    titles = (*(level.capitalize() for level in levels), "All levels" if levels else "Score")
    rows: list[tuple[Value, ...]] = []
    for main, node in entry.levels:
        name = Cell(node.title, main.title if main.title != node.title else "", href=f"#{node.anchor}")
        gaps = dict.fromkeys(each.reason for each in (node.children if levels else (node,)) if each.reason)
        cells = (_level_cell(each) for each in (*map(node.level, levels), node))
        rows.append((name, *cells, shorten("; ".join(gaps), 240)))
    heads = (Column("Sub-ability", "name"), *columns("score", *titles, digits=1), MISSING)
    title = "Scores per sub-ability" + (" and level" if levels else "")
    return Table(heads, rows, title).without_empty(MISSING.title)


def _level_cell(node: Node | None) -> Cell:
    if node is None:
        return Cell(None, "no tasks")
    scored = f"{node.part.datasets_scored} of {counted(node.part.datasets_total, 'dataset')}"
    return Cell(node.part.score, scored, href=f"#{node.anchor}")


def raw_table(entry: SystemReport) -> Table:
    """Return every number of a system's datasets, in its own unit."""
    rows: list[tuple[Value, ...]] = []
    for row in entry.raw:
        path = row.path.path if row.path.path == row.path.task.title else f"{row.path.path} › {row.path.task.title}"
        words = marked(row.path.title, entry.judges, {row.path.dataset})
        title = Cell(words, path, href=f"#{entry.anchor}-d-{row.path.dataset}")
        rows.append((title, *_raw_cells(row), shorten(row.reason or "", 140)))
    heads = (Column("Dataset", "name"), *RAW, Column("Why no value"))
    return Table(heads, rows, "Raw scores").without_empty("Why no value")


def numbers_table(node: Node) -> Table:
    """Return the numbers of a dataset in the score tree."""
    return Table(RAW, [_raw_cells(row) for row in node.numbers], f"Numbers of {node.title}")


def _raw_cells(row: RawRow) -> tuple[Value, ...]:
    constant, majority = row.baselines.constant, row.baselines.majority
    ends = (f"always {end.answer}: {number(end.share, 3)}" for end in row.baselines.ends)
    unreadable = counted(row.n_unparsed, "reply", "replies") if row.n_unparsed else ""
    return (
        Cell(row.path.method.id, row.path.metric_label),
        Cell(
            row.value,
            no_better(row.value, constant.share, constant.answer) if constant else "",
            interval=Interval.of(row.ci_low, row.ci_high),
        ),
        row.normalized_0_100,
        Part(row.n_scored, row.n_total),
        Cell(share_of(row.n_unparsed, row.n_scored), unreadable),
        Cell(constant.share, "; ".join((f"always {constant.answer}", *ends))) if constant else None,
        Cell(majority.share, shorten(majority.answer, 40)) if majority else None,
    )


def likeness_table(entry: SystemReport, *, titles: Mapping[str, str]) -> Table:
    """Return how far each dataset of a system is that of the paper."""
    rows = []
    for each in entry.verdict.comparability.datasets if entry.verdict.comparability else ():
        why = "\n".join(shorten(departure.text, 200) for departure in each.differences)
        rows.append((titles.get(each.dataset, each.dataset), each.verdict, why))
    heads = (*columns("name", "Dataset", "Verdict"), Column("Why, besides what holds for all"))
    return Table(heads, rows, "Datasets beside the paper's")
