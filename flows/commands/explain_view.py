"""Show on a terminal how a score came about: the parts of a total with their arithmetic, and the rows behind it."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType

from flows.commands.console import bold, detail_lines, terminal_table
from flows.commands.run_notes import missing_lines
from flows.commands.screen import FirstFit
from schemas.documents.answered_item import AnsweredItem, AnswerScore, GivenAnswer, ItemExplanation, PartAnswer, ShownOption
from schemas.documents.explanation import (
    RowsExplanation,
    ScoreExplanation,
    SideScore,
    SubsetExplanation,
    SystemExplanation,
    TotalExplanation,
)
from schemas.question_types import QUESTION_TYPES
from schemas.table import Column, Interval, Table, Value
from schemas.usage import TESTED
from tasks.explain.words import PART_COLUMNS, metric_lines, part_rows, score_lines, verdict_lines
from tasks.lake.manifest import run_number
from tasks.runs.verdict import label_of
from tasks.text.number_format import counted, shorten

ROWS = 10
"""Shown without --worst."""

WIDTH = 300
MOST_OPTIONS = 8
MOST_PARTS = 10


def score_view(document: ScoreExplanation) -> list[RenderableType]:
    """Return everything above the rows: where this is, a table of each model's parts with their arithmetic, and the way down."""
    above = " > ".join(f"{part.kind} {part.id}" for part in document.above)
    title = bold(document.title, f", run {document.run}")
    lines: list[RenderableType] = [title, *([f"{above} > {document.kind} {document.id}"] if above else [])]
    return [*lines, *(line for model in document.models for line in _system_view(model)), *_ends(document)]


def _system_view(model: SystemExplanation) -> Iterator[RenderableType]:
    rows = [cells for _, cells in part_rows(model)]
    with_options, without = (
        terminal_table(Table(heads, [row[: len(heads)] for row in rows])) for heads in (PART_COLUMNS, PART_COLUMNS[:-1])
    )
    yield from ("", bold(label_of(model)), FirstFit(with_options, without), "")
    yield from score_lines(model)
    if isinstance(model, TotalExplanation):
        yield bold(model.total.headline)
        yield from verdict_lines(model)


def _ends(document: ScoreExplanation) -> Iterator[RenderableType]:
    yield from missing_lines(document.missing)
    if not document.adds_up:
        yield bold("The stored scores are not what their parts give", ": --json marks them with adds_up: false")
    if document.next and not (document.kind == "dataset" and len(document.models) > 1):
        yield _go_deeper(document.next, document)


def _go_deeper(command: str, document: ScoreExplanation) -> str:
    """Return a line with a command, in which the run has its short number."""
    return f"Go deeper: {command.replace(document.run, str(run_number(document.run) or document.run))}"


def subset_view(document: SubsetExplanation) -> list[RenderableType]:
    """Return a table per model: each metric over the items that fulfil the condition, and over the others."""
    counts = ", ".join(f"{count} {side}" for side, count in dict(document.items).items())
    lines: list[RenderableType] = [f"Where {document.where}: {counts}", f"Columns: {', '.join(document.columns)}"]
    sides = (
        (Column(title, "score"), Column("95 % interval", "interval"), Column("n", "count")) for title in ("Subset", "Complement")
    )
    columns = (Column("Score"), Column("Dataset"), *(column for side in sides for column in side))
    for model in document.models:
        rows = [(row.measure, row.dataset, *_side(row.subset), *_side(row.complement)) for row in model.scores]
        lines.append(terminal_table(Table(columns, rows, label_of(model))))
    return [*lines, document.note]


def _side(side: SideScore) -> tuple[Value, ...]:
    if side.suppressed:
        return "suppressed", None, side.n
    return side.score, Interval.of(side.ci_low, side.ci_high), side.n


def rows_view(document: RowsExplanation, worst: int | None) -> Iterator[RenderableType]:
    """Show how the metrics follow from the items, and some of the items."""
    for metric in document.metrics:
        yield from metric_lines(metric)
    if document.withheld:
        yield f"Texts are left out: the run is redacted and their licence is {document.withheld}"
    yield from (f"Note: {note}" for note in document.notes)
    rows = document.rows[: ROWS if worst is None else None]
    for row in rows:
        yield ""
        yield from _row(row)
    yield ""
    if worst is None and len(document.rows) > len(rows):
        more = counted(len(document.rows) - len(rows), "more row")
        yield f"and {more}: --worst 20 shows the lowest-scoring ones, --json has all"
    if rows:
        yield _go_deeper(rows[0].next, document)


def _row(row: AnsweredItem) -> Iterator[RenderableType]:
    times = f", repetition {row.repetition}" if row.repetition else ""
    value = "no value" if row.value is None else f"{row.value:.4g}"
    yield bold(row.item_id, f"{times}: {value}   --item {row.item_id}")
    if row.context:
        yield f"  Context: {shorten(row.context, WIDTH)}"
    before = f"[{row.context_characters:,} characters before it] " if row.context_characters and not row.context else ""
    yield f"  Question: {before}{shorten(row.question, WIDTH)}"
    if row.options:
        yield f"  Options: {_options(row.options, row.question_type)}"
    for text in (row.references or ())[:2]:
        yield f"  Right: {shorten(text, WIDTH)}"
    for answer in row.answers[:MOST_PARTS] or [row]:
        yield from _answer(answer)
    if len(row.answers) > MOST_PARTS:
        yield f"  and {counted(len(row.answers) - MOST_PARTS, 'more part')}: --item {row.item_id} has all"
    if row.answers:
        yield from _scores(_of_no_part(row.scores))


def _answer(answer: GivenAnswer) -> Iterator[str]:
    if isinstance(answer, PartAnswer):
        yield f"  Part {answer.part}:"
    yield from _said(answer)
    yield from _scores(answer.scores)
    for rating in answer.ratings:
        given = "-" if rating.rating is None else f"{rating.rating} on {rating.lowest} to {rating.highest}"
        yield f"  {rating.judge} rates {rating.dimension} {given} ({rating.parse_status})"
    for reply in dict.fromkeys(rating.raw_reply for rating in answer.ratings):
        yield f"  Reply of a judge: {shorten(reply or '(nothing)', WIDTH)}"


def _scores(scores: Iterable[AnswerScore]) -> Iterator[str]:
    for score in scores:
        value = "-" if score.value is None else f"{score.value:.4g}"
        yield f"  {score.method}.{score.metric} {value} ({score.status}): {shorten(score.why, WIDTH)}"


def item_view(document: ItemExplanation) -> Iterator[RenderableType]:
    """Show everything about one item; what belongs to one of several answers, with it alone."""
    repetitions = [
        each.model_copy(update={"turns": None, "ratings": (), "scores": _of_no_part(each.scores)}) if each.answers else each
        for each in document.asked
    ]
    return detail_lines(document.model_copy(update={"asked": tuple(repetitions)}))


def _of_no_part(scores: Iterable[AnswerScore]) -> tuple[AnswerScore, ...]:
    return tuple(score for score in scores if not score.part)


def _said(answer: GivenAnswer) -> Iterator[str]:
    """Show the turns of a dialogue, a line each, and the reply where it is none."""
    lines = [(turn.speaker, turn.text) for turn in answer.turns or ()]
    yield from (f"  {speaker}: {shorten(text, WIDTH)}" for speaker, text in lines)
    if lines and answer.reply == "\n".join(f"{speaker}: {text}" for speaker, text in lines):
        return
    whose = f" of the {answer.failed_role}" if answer.failed_role not in (None, TESTED) else ""
    failed = f"call{whose} {answer.call}, {answer.failure}"
    reply = failed if answer.reply is None else shorten(answer.reply, WIDTH) or "(empty)"
    yield f"  Reply: {reply}" + (f" [{answer.remark}]" if answer.remark else "")


def _options(options: Sequence[ShownOption], kind: str) -> str:
    """Return the options as shown; of more than MOST_OPTIONS only those that are right or chosen."""
    told = [option for option in options if option.gold or option.chosen]
    listed = told if len(options) > MOST_OPTIONS else options
    rest = [f"and {len(options) - len(listed)} more"] if len(listed) < len(options) else []
    return "; ".join([*(_option(option, kind) for option in listed), *rest])


def _option(option: ShownOption, kind: str) -> str:
    names = {"index": f"{option.index}. ", "label": ""}  # these are answered by number and by label
    marks = [word for word, is_so in (("right", option.gold), ("chosen", option.chosen)) if is_so]
    marks += [f"{option.points:g} points"] if option.points is not None else []
    text = names.get(QUESTION_TYPES[kind].answer, f"{option.letter}. ") + shorten(option.text, 80)
    return text + (f" [{', '.join(marks)}]" if marks else "")
