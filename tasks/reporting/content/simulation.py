"""Lay out what the persons did whom another model played."""

from schemas.documents.run import ScoreOverDialogues, SimulationCheck
from schemas.table import Cell, Column, Interval, Table, columns
from tasks.runs.run_tables import ReportData
from tasks.solvers.registry import setting_title
from tasks.text.number_format import count, counted, list_counts


def faults_table(checks: tuple[SimulationCheck, ...]) -> Table:
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


def criteria_table(data: ReportData, check: SimulationCheck) -> Table:
    """Return mean ratings of the persons that a model talked with, by dataset."""
    criteria = next(iter(check.criteria.values()))
    heads = (Column(check.model, "name"), *columns("number", *criteria, digits=1))
    rows = [(data.title_of(dataset), *means.values()) for dataset, means in check.criteria.items()]
    return Table(heads, rows, "Ratings of simulated persons, from 0 to 10")
