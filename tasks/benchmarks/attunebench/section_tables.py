"""Lay out the section of the report on how models read annotated conversations."""

from collections.abc import Iterator

from schemas.table import Cell, Column, Table, Value, columns
from tasks.runs.run_tables import ReportData, Row
from tasks.runs.sections import Block
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, list_counts, number, signed

JUDGED = {"binary_om_accuracy": "reply did", "binary_human_accuracy": "person wanted"}
SIDES = {"observer": "observer", "participant": "person"}
RATIOS = {"accuracy": "Accuracy", "mcc": "MCC", "precision": "Precision", "recall": "Recall", "f1": "F1"}
OF_TURN = {
    "pillar_emotion": "Emotion",
    "binary_accuracy": "Behaviour",
    "pairwise_accuracy": "Preference",
    "draft_judge_score": "Judged drafts",
}


MOST_OPEN = 3
"""Models whose tables are shown without being asked for."""

PERSPECTIVE = (
    "What stands behind the scores; calls that failed are left out. The same yes or no, asked of an observer and as if of the "
    "person. Gap: observer less person; ratio: person over observer, 0 where the observer's is not above 0; each of a "
    "conversation, then their mean. Accuracy is a mean over turns, then over conversations; the others are counted over all "
    "judgements, “yes” being positive, and 0 where they are not defined."
)
READING = (
    "By turn: scores on 0–100 over the conversations that have it; fewer have later ones. By emotion: recall, the share of the "
    "turns that the person tagged so in which the model names it; and of the others what it names instead. There every emotion "
    "counts that is named and not tagged, so one turn may count for several; “nothing else”: all that is named was tagged, "
    "“none”: an empty list, “unread”: a reply without a list. By intensity, 1 to 7: what the model gives emotions that both name."
)


def lay_out_annotations(data: ReportData, rows: tuple[Row, ...]) -> Iterator[Block]:
    """Yield the blocks of the section; none where no conversation was annotated."""
    if not rows:
        return
    yield Block("Perspective", PERSPECTIVE, (perspective_table(data, rows),))
    yield Block("Turns, emotions, intensities", READING)
    for row in rows:
        yield Block(name_reader(data, row), tables=reading_tables(row), folds=True, is_open=len(rows) <= MOST_OPEN)


def name_reader(data: ReportData, read: Row) -> str:
    """Return who read, and what where that is not clear."""
    setting = f" ({setting_title(read['setting'])})" if len(data.settings) > 1 else ""
    dataset = f", {data.title_of(read['dataset'])}" if len(data.blueprint.datasets) > 1 else ""
    return f"{read['model']}{setting}{dataset}"


def perspective_table(data: ReportData, rows: tuple[Row, ...]) -> Table:
    """Return the same yes or no, asked of an observer and as if of the person."""
    heads = (*columns("name", "Model", "Judged", "Asked of"), Column("Judgements", "count"))
    cells = [
        (name_reader(data, read), JUDGED[row["judged"]], title, row[side]["n"], *_ratios(row, side))
        for read in rows
        for row in read["judgements"]
        for side, title in SIDES.items()
    ]
    return Table((*heads, *columns("number", *RATIOS.values(), digits=3)), cells, "Perspective")


def _ratios(row: Row, side: str) -> Iterator[Value]:
    for name in RATIOS:
        shift = row["shift"].get(name) if side == "participant" else None
        yield Cell(row[side][name], f"gap {signed(shift['gap'], 3)}, ratio {number(shift['ratio'], 2)}" if shift else "")


def reading_tables(read: Row) -> tuple[Table, ...]:
    """Return what a model reads turn by turn, by emotion and by intensity."""
    turns = (Column("Turn", "name"), Column("Asked", "count"), *columns("score", *OF_TURN.values(), digits=1))
    emotions = (Column("Tagged by the person", "name"), Column("Turns", "count"), Column("Recall, %", "score", 0))
    intensities = columns("number", *(str(row["intensity"]) for row in read["intensities"]))
    means = (Cell(row["mean"], counted(row["n"], "emotion")) for row in read["intensities"])
    return (
        Table(turns, [tuple(_turn(row)) for row in read["turns"]], f"By turn: {read['model']}"),
        Table(
            (*emotions, Column("Named instead, in turns")),
            [(row["emotion"], row["n"], 100 * row["recall"], list_counts(row["instead"])) for row in read["emotions"]],
            f"By emotion: {read['model']}",
        ),
        Table(
            (Column("Intensity given by the person", "name"), *intensities),
            [("Mean given by the model", *means)],
            f"By intensity: {read['model']}",
        ),
    )


def _turn(row: Row) -> Iterator[Value]:
    yield from (str(row["turn"]), row["n"])
    for name in OF_TURN:
        scored = row[name]["n"]
        yield Cell(row[name]["score"], f"{scored:,d}" if 0 < scored < row["n"] else "")
