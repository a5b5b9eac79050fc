"""Describe what models beside the one under test did: ratings of judges, how far to trust them, and persons who were played."""

from collections.abc import Iterable, Iterator

import polars as pl

from schemas.documents.run import ScoreOverDialogues, SimulationCheck
from schemas.roles import PEOPLE
from schemas.table import Cell, Column, Interval, Part, Table, columns
from tasks.certificates.lookup import say_judges
from tasks.judging.people import count_people
from tasks.judging.rubrics import title_dimension
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.sections import Block
from tasks.solvers.registry import setting_order, setting_title
from tasks.text.number_format import count, counted, list_counts, listed, number, signed

LEAST_ALPHA = 0.67
"""Krippendorff (2004): below .667 not even tentative conclusions."""

MOST_CORRELATION = 0.5
MAX_NAMED = 4

RATINGS = (
    "Mean ratings by dimension, of the judge or of people, on the dimension's own scale, with 95 % interval. Unrated answers are "
    "left out; they do not count as 0."
)
AGREEMENT = (
    "Alpha (Krippendorff's, for intervals) says how far ratings of the same answer agree: 1 is full agreement, 0 what chance "
    "would give; from 0.80 on ratings are reliable, below 0.67 nothing should be concluded from them. Length: rank correlation "
    "of rating and length of the answer; far from 0, a judge may rate length. Place: mean rating of a dimension asked first "
    "minus that of the same one asked last, in points of its scale; 0 is best."
)
NO_DOUBT = "No dimension has an alpha below 0.67 or ratings that go with the length of the answer beyond 0.5."
SIMULATION = (
    "The person seeking support is played by another model. A dialogue is tainted if that person falls out of the "
    "role, as found by rules or, where it was asked, by the judge; it may have several faults. Severity: whether a fault helped "
    "or hindered the model under test."
)


def lay_out_judges(data: ReportData) -> Iterator[Block]:
    """Yield ratings by dimension, which people rated, agreement, and a warning per dataset and system with a doubtful one."""
    agreements = [{**row, "doubts": _doubts(row["alpha"], row["length_correlation"])} for row in _named(data, data.agreements)]
    people = tuple(
        f"{listed([*row.raters])} rated {row.n_answers} of {counted(row.n_total, 'answer')} of "
        f"{System(row.model, row.setting).label} to {data.title_of(row.dataset)} by rubric {row.rubric}."
        for row in count_people(data.judgements.filter(judge=PEOPLE))
    )
    if (ratings := _dimensions_table(_named(data, data.dimension_scores))).rows:
        certified = (f"{line}." for line in say_judges(each for each in data.judges if each.may_rank))
        yield Block(words=" ".join((RATINGS, *people, *certified)), tables=(ratings,))
    if agreements:
        warnings = tuple(_warnings(agreements))
        words = AGREEMENT if warnings else f"{AGREEMENT} {NO_DOUBT}"
        yield Block("Agreement", words, (_agreement_table(agreements),), warnings=warnings)


def _named(data: ReportData, frame: pl.DataFrame) -> Iterator[Row]:
    """Yield rows by dataset, model and setting, each with how these and the dimension are called."""
    rows = frame.to_dicts()
    rows.sort(key=lambda row: (data.dataset_order(row["dataset"]), row["model"], setting_order(row["setting"])))
    for row in rows:
        title, system = data.title_of(row["dataset"]), System(row["model"], row["setting"]).label
        yield row | {
            "title": title,
            "system": system,
            "dimension": title_dimension(row["rubric"], row["dimension"], data.blueprint.own_rubrics),
        }


def _dimensions_table(rows: Iterable[Row]) -> Table:
    heads = columns("name", "Dataset", "Model", "Dimension", "Judge")
    means = (Column("Scale", "interval", 0), Column("Mean", "number"), Column("95 % interval", "interval"))
    cells = []
    for row in rows:
        about = (row["title"], row["system"], row["dimension"], row["judge"])
        scale, ends = Interval(row["scale_min"], row["scale_max"]), Interval.of(row["ci_low"], row["ci_high"])
        clusters = counted(row["n_clusters"], "cluster") if row["n_clusters"] < row["n_answers"] else ""
        cells.append((*about, scale, row["mean"], ends, Cell(Part(row["n_answers"], row["n_total"]), clusters)))
    return Table((*heads, *means, Column("Answers rated", "part")), cells, "Ratings by dimension")


def _agreement_table(rows: Iterable[Row]) -> Table:
    numbers = (*columns("count", "Answers", "Ratings"), Column("Alpha", "number"), *columns("difference", "Length", "Place"))
    cells = []
    for row in rows:
        dimension = Cell(row["dimension"], f"doubtful: {', '.join(row['doubts'])}" if row["doubts"] else "")
        values = (row[name] for name in ("n_answers", "n_ratings", "alpha", "length_correlation", "place_effect"))
        cells.append((row["title"], row["system"], dimension, ", ".join(sorted(row["judges"])), *values))
    return Table((*columns("name", "Dataset", "Model", "Dimension", "Judges"), *numbers), cells, "Agreement of judges")


def _doubts(alpha: float | None, correlation: float | None) -> tuple[str, ...]:
    doubts = []
    if alpha is not None and alpha < LEAST_ALPHA:
        doubts.append(f"alpha {number(alpha, 2)}")
    if correlation is not None and abs(correlation) > MOST_CORRELATION:
        doubts.append(f"length {signed(correlation, 2)}")
    return tuple(doubts)


def _warnings(rows: list[Row]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by = f" rated by {listed(sorted(row['judges']))}" if PEOPLE in row["judges"] else ""
        groups.setdefault((row["title"], row["system"] + by), []).append(row)
    for (title, system), group in groups.items():
        doubtful = [f"{row['dimension']} ({', '.join(row['doubts'])})" for row in group if row["doubts"]]
        if doubtful:
            more = [f"{len(doubtful) - MAX_NAMED} more"] if len(doubtful) > MAX_NAMED else []
            which = f"{len(doubtful)} of {len(group)} dimensions: {listed([*doubtful[:MAX_NAMED], *more])}"
            yield f"{title}, {system}: doubtful ratings in {which}."


def lay_out_simulation(data: ReportData) -> Iterator[Block]:
    """Yield how often the persons whom models talked with fell out of their part, and what a judge found of them."""
    if data.simulation:
        yield Block(words=SIMULATION, tables=(_faults_table(data.simulation),))
    for check in data.simulation:
        if check.unreviewed is not None:
            refused = f"{counted(check.refused, 'fault')} rejected, because their quotes are not where they should be"
            unread = f"{counted(check.unreviewed, 'dialogue')} without a readable review"
            tables = (_criteria_table(data, check),) if check.criteria else ()
            yield Block(words=f"The judge's review: {refused}; {unread}.", tables=tables)


def _faults_table(checks: tuple[SimulationCheck, ...]) -> Table:
    """Return faults of simulated persons, and the totals with and without the dialogues that have one."""
    rows = []
    for check in checks:
        model = Cell(check.model, setting_title(check.setting))
        share = Cell(check.share, f"{count(check.tainted)} of {count(check.dialogues)}")
        counts = map(list_counts, (check.kinds, check.severities))
        rest = _total_cell(check.untainted) if check.untainted else "nothing is left"
        rows.append((model, share, *counts, _total_cell(check.all), rest))
    heads = (Column("Model", "name"), Column("Tainted dialogues", "share"), *columns("text", "By kind", "By severity"))
    return Table((*heads, *columns("score", "Score over all", "Without tainted dialogues")), rows, "Faults of simulated persons")


def _total_cell(row: ScoreOverDialogues) -> Cell:
    over = f"{counted(row.n_scored, 'item')}, {counted(row.datasets_scored, 'dataset')}"
    return Cell(row.total, over, interval=Interval.of(row.ci_low, row.ci_high))


def _criteria_table(data: ReportData, check: SimulationCheck) -> Table:
    """Return mean ratings of the persons that a model talked with, by dataset."""
    criteria = next(iter(check.criteria.values()))
    heads = (Column(check.model, "name"), *columns("number", *criteria, digits=1))
    rows = [(data.title_of(dataset), *means.values()) for dataset, means in check.criteria.items()]
    return Table(heads, rows, "Ratings of simulated persons, from 0 to 10")
