"""`moodflow judges`: judges next to people, rating sheets, certificates, and votes on which simulated person is more human."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.certify import certify_command, list_certificates
from flows.commands.console import CommandResult, detail_lines, terminal_table
from flows.commands.plan_options import PlanCommand
from flows.commands.sheet import sheet_command
from schemas.documents.certificates import CriterionAgreement, JudgeCheck
from schemas.documents.comparison import PairFiles
from schemas.errors import UsageError, try_each
from schemas.folders import DATA_FOLDER, DEFAULT_LAKE
from schemas.json_yaml import read_text, read_yaml
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.certificates.agreement import check_judges
from tasks.certificates.panels import PANELS
from tasks.compare.votes import compare_persons, pair_items, votes_of_people, votes_of_run
from tasks.lake.files import replace_file
from tasks.reporting.content.certificate import SIDES, agreement_notes, side_by_side
from tasks.runs.past_run import reopen

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command("certify", cls=PlanCommand)(certify_command)
app.command("certificates")(list_certificates)
app.command("sheet")(sheet_command)

Human = Annotated[Path, typer.Option("--human", metavar="FILE", help="ratings by people: .parquet, .csv or .jsonl")]
Across = Annotated[bool, typer.Option("--across", help="also compare each judged dimension with each criterion of people")]
Panel = Annotated[str, typer.Option("--panel", metavar="NAMES", help=f"add judges taken together: any of {', '.join(PANELS)}")]
Least = Annotated[int | None, typer.Option("--panel-min", metavar="K", min=1, help="judges a panel needs per answer, else all")]


@app.command("check")
def check_command(
    run: opt.Run,
    human: Human,
    across: Across = False,
    panel: Panel = "",
    least: Least = None,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare judges with people, people with each other, and a constant rating. Ends with status 1 if rows were refused."""
    panels = [name.strip() for name in panel.split(",") if name.strip()]
    document = check_judges(reopen(lake or DEFAULT_LAKE, run), human, across=across, panels=panels, least=least)
    CommandResult(int(document.refused > 0), document, _view(document)).finish(as_json=as_json)


@app.command("pairs")
def pairs_command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN RUN", help="of the same cards, each with another simulated person")],
    to: opt.ToFolder = Path(),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write pairs of dialogues on the same card, and a blueprint that asks a judge which person seems more human."""
    setup = read_yaml(read_text(DATA_FOLDER / "more_human.yaml"))
    items = [*pair_items(try_each(partial(reopen, lake or DEFAULT_LAKE), runs), setup)]
    texts = {"pairs.jsonl": "\n".join(map(json.dumps, items)), "pairs.yaml": json.dumps(setup["blueprint"], indent=1)}
    if not items:
        raise UsageError(
            "no card was played by two different simulated persons with the same model",
            where="RUN RUN",
            expected="runs of one benchmark and model that differ in who plays the person",
            next_step="run the benchmark again with another model in that role",
        )
    for name, text in texts.items():
        replace_file(to / name, text.encode())
    CommandResult(0, PairFiles(pairs=len(items) // 2, files=tuple(str(to / name) for name in texts))).finish(as_json=as_json)


@app.command("votes")
def votes_command(
    source: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="run of pairs, or .csv: card_id, first, second, winner, rater")
    ],
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Rank simulated persons by votes on which of two seems more human, and count votes that change with the order."""
    is_file = source.endswith(".csv")
    document = compare_persons(votes_of_people(Path(source)) if is_file else votes_of_run(reopen(lake or DEFAULT_LAKE, source)))
    rows = [(row.person, row.strength, Interval.of(row.ci_low, row.ci_high)) for row in document.persons]
    table = Table((Column("Person", "name"), Column("Strength", "number"), Column("95 %", "interval")), rows)
    counts = detail_lines(document.model_dump(exclude={"persons"}))
    CommandResult(0, document, [*counts, terminal_table(table)]).finish(as_json=as_json)


def _view(document: JudgeCheck) -> list[RenderableType]:
    defined = [row for row in document.agreements if row.value is not None]
    counts = document.model_dump(exclude={"agreements", "across", "refused_rows"})
    tables = [Table(SIDES, [*map(side_by_side, defined)]), *_matrices(document.across)]
    return [*detail_lines(counts), *map(terminal_table, tables), *agreement_notes(document)]


def _matrices(rows: Sequence[CriterionAgreement]) -> Iterator[Table]:
    """Yield a table per dataset, level and statistic: dimensions down, criteria across."""
    criteria = tuple(dict.fromkeys(row.criterion for row in rows))
    heads = (*columns("text", "Judge", "Dimension"), *columns("number", *criteria))
    for source, level, statistic in dict.fromkeys((row.source, row.level, row.statistic) for row in rows):
        cells: dict[tuple[str, str], dict[str, Value]] = {}
        for row in rows:
            if (row.source, row.level, row.statistic) == (source, level, statistic):
                ends = Interval.of(row.value_low, row.value_high)
                side = cells.setdefault((f"{row.judge} {row.rubric}".strip(), row.dimension), {})
                side[row.criterion] = Cell(row.value, interval=ends)
        lines = [(*side, *(values.get(name) for name in criteria)) for side, values in cells.items()]
        yield Table(heads, lines, f"{source}: {statistic} {level}")
