"""Benchmark `diary`: a model is asked of a day, and its answer is held against the writer's mood."""

from collections.abc import Iterator
from pathlib import Path

import dataframely as dy
import polars as pl

from schemas.benchmark import Benchmark
from schemas.chat import ChatMessage
from schemas.dataset import DatasetSpec, LocalFile
from schemas.item import Item, Record
from schemas.table import Column, Table
from schemas.tables.columns import OfItem
from schemas.tables.layers import gold_layer
from schemas.usage import TESTED
from tasks.metrics.metric import Metric, WholeMeasure
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row
from tasks.runs.sections import Block, FileExchange, RunSection
from tasks.solvers.registry import Solver
from tasks.solvers.state import AskedItem, PlainOptions, SolverCode, SolverOutput, SolverResources, state_answer

FOLDER = Path(__file__).parent
MOODS = "diary_moods"


class Moods(OfItem):
    """Gold: how the writer felt."""

    mood = dy.String(min_length=1)


def read_day(record: Record) -> Item:
    return Item(
        item_id=record.fields["id"], language="en", question_type="open_ended", question="How was the day?", references=("x",)
    )


async def ask(asked: AskedItem, _options: PlainOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    messages = (ChatMessage(role="user", content=f"Diary of {asked.item_id}. {asked.item.question}"),)
    call = await resources.ask(TESTED, "day", messages, 50, repetition)
    return SolverOutput((call,), state_answer([call]))


def read_moods(run: PastRun) -> tuple[Row, ...]:
    rows = run.read(MOODS) if run.partitions(MOODS) else pl.DataFrame()
    return tuple(rows.select("item_id", "mood").to_dicts()) if rows.height else ()


def lay_out(_data: ReportData, rows: tuple[Row, ...]) -> Iterator[Block]:
    if rows:
        table = Table((Column("Day", "name"), Column("Mood")), [(row["item_id"], row["mood"]) for row in rows], "Moods")
        yield Block("Moods of the writer", "As the diary has them.", (table,))


def export(run: PastRun, folder: Path) -> list[Path]:
    folder.mkdir()
    path = folder / "moods.csv"
    path.write_text(run.read(MOODS).select("item_id", "mood").write_csv(), encoding="utf-8")
    return [path]


DATASETS = (
    DatasetSpec(
        id="diary_days",
        title="Days of a diary",
        files=(LocalFile(path=FOLDER / "days.jsonl"),),
        adapter=read_day,
        annotate=lambda record: {MOODS: [{"mood": record.fields["mood"]}]},
        annotation_layers=(MOODS,),
        question_types=("open_ended",),
        licence="the user's own",
        paper="none",
        required=("id", "mood"),
    ),
)
SOLVERS = (Solver("diary", "Diary", ask, (SolverCode("1"),), question_types=("open_ended",)),)
METRICS = (
    Metric(
        "mood_named",
        "Share of moods that are named.",
        question_types=("open_ended",),
        whole=WholeMeasure(
            gold=lambda _items, gold: dict(gold[MOODS].select("item_id", "mood").iter_rows()),
            values=lambda mood, parts, _profile: {"mood_named": None if parts[""] is None else float(mood in parts[""])},
            is_unread=lambda _part, _reply: False,
            judge="judge",
        ),
    ),
)
LAYERS = (gold_layer(MOODS, "diary:Moods"),)
RUBRICS, BLUEPRINTS, PAPERS = (FOLDER / "rubrics",), (FOLDER / "blueprints",), (FOLDER / "paper.yaml",)
SECTIONS = (RunSection("diary", read_moods, "The diary", lay_out),)
EXCHANGES = (FileExchange("diary", export, lambda _folder: ()),)

DIARY = Benchmark(
    "diary",
    datasets="diary:DATASETS",
    solvers="diary:SOLVERS",
    metrics="diary:METRICS",
    layers="diary:LAYERS",
    rubrics="diary:RUBRICS",
    blueprints="diary:BLUEPRINTS",
    papers="diary:PAPERS",
    sections="diary:SECTIONS",
    exchanges="diary:EXCHANGES",
)
