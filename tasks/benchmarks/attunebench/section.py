"""The section of the report on annotated conversations: what a model reads well in them, and how that is laid out.

Perspective, single emotions, intensities, turn by turn. Source: AttuneBench 1.0 and the public port of its scorer for perspective
and pooled judgements; the rest is ours.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from schemas.blueprint import MethodSpec
from schemas.table import Cell, Column, Table, Value, columns
from tasks.benchmarks.attunebench.benchmark import TURNS, WHOLE
from tasks.benchmarks.attunebench.conversation import TurnGold, part_of
from tasks.benchmarks.attunebench.metrics import conversation as scoring
from tasks.benchmarks.attunebench.metrics.conversation import COUNTED, FACING, MEASURE, Annotated
from tasks.benchmarks.attunebench.metrics.replies import read_tags
from tasks.benchmarks.attunebench.metrics.rules import Rules, rules_of
from tasks.benchmarks.attunebench.metrics.turns import Values, pooled
from tasks.metrics.item_scores import wholes_of
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row
from tasks.runs.sections import Block, RunSection
from tasks.solvers.answers import ASKED, SAID
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, list_counts, number, signed
from tasks.text.replies import read_object

NONE, UNREAD, NOTHING_ELSE = "none", "unread", "nothing else"
"""In place of an emotion: an empty list; a reply without a list; a list whose every emotion was tagged, too."""

OF_TURN = {
    "pillar_emotion": "Emotion",
    "binary_accuracy": "Behaviour",
    "pairwise_accuracy": "Preference",
    "draft_judge_score": "Judged drafts",
}
"""Capabilities that are scored turn by turn, by metric."""

JUDGED = {"binary_om_accuracy": "reply did", "binary_human_accuracy": "person wanted"}
SIDES = {"observer": "observer", "participant": "person"}
RATIOS = {"accuracy": "Accuracy", "mcc": "MCC", "precision": "Precision", "recall": "Recall", "f1": "F1"}


class ReadTurn(NamedTuple):
    """A turn as a model read it."""

    item: str
    gold: TurnGold
    values: Values
    tags: Mapping[str, int | None] | None
    """Intensities by emotion, or by what stands in its place; null = the call failed."""

    @property
    def gold_tags(self) -> dict[str, int | None]:
        """Intensities that the person gave, by emotion; none where the tags are not known."""
        return {tag.name: tag.intensity for tag in self.gold.emotions or ()}


def read_annotations(run: PastRun) -> tuple[Row, ...]:
    """Describe how each model reads the conversations that people annotated, by dataset and setting; nothing without such.

    Rows have dataset, method, model, setting; `judgements`: what a reply did and what was wanted, each with `n` of yes or no, the
    mean `accuracy` and pooled ratios, asked as an `observer` and as the `participant`, and the `shift` between these; `emotions`:
    per emotion tagged in `n` turns `recall`, and how many of the others name each that was not tagged `instead`; `intensities`:
    per intensity that a person gave, the `mean` named for the same emotion, 1 to 7; `turns`: per number, over `n` turns, of each
    of OF_TURN `score` on 0-100 and `n` with one. A failed call is left out; null = nothing is known.
    """
    methods = ((name, method) for name, dataset in run.blueprint.datasets.items() for method in dataset.methods)
    return tuple(row for name, method in methods if MEASURE in wholes_of([method]) for row in _describe(run, name, method))


def _describe(run: PastRun, dataset: str, method: MethodSpec) -> Iterator[Row]:
    key = {"dataset": dataset, "method": method.id}
    gold = {layer: run.read(layer, dataset=dataset) for layer in (TURNS, WHOLE)}
    items = scoring.annotated_items(run.read("items", dataset=dataset), gold)
    answers, raw = run.read("answers", dataset=dataset), run.layers["raw_scores"].filter(**key)
    for system in run.systems if items else ():
        turns = [*_read_turns(items, system.of(answers), rules_of(method.profile))]
        values = dict(system.of(raw).select("metric", "value").iter_rows())
        yield {
            **(key | system._asdict()),
            "judgements": [_judgements(turns, values, judged) for judged in JUDGED],
            "emotions": _emotions(turns),
            "intensities": _intensities(turns),
            "turns": _by_number(turns),
        }


def _read_turns(items: Mapping[str, Annotated], answers: pl.DataFrame, rules: Rules) -> Iterator[ReadTurn]:
    for row in answers.group_by(ASKED, maintain_order=True).agg("part", texts=SAID).to_dicts():
        replies = {part: read_object(text) for part, text in zip(row["part"], row["texts"], strict=True)}
        gold, _ = items[row["item_id"]]
        for turn in gold.turns:
            values = scoring.score_turn(turn, {}, replies, rules)
            review = replies.get(part_of("review", turn.number))
            tags = None if review is None else read_tags(review.get("emotion_tags"))
            read = dict(tags) if tags else {UNREAD if tags is None else NONE: None}
            values |= scoring.composite_values(values, rules)
            yield ReadTurn(row["item_id"], turn, values, None if review is None else read)


def _judgements(turns: Sequence[ReadTurn], values: Mapping[str, float | None], judged: str) -> Row:
    sides: Row = {}
    whole = scoring.over_turns(turn.values for turn in turns)
    for side, metric in (("observer", judged), ("participant", f"{judged}{FACING}")):
        counts = [int(whole.get(name) or 0) for name in COUNTED[metric]]
        sides[side] = {"n": sum(counts), **pooled(*counts), "accuracy": values.get(metric)}
    items = defaultdict[str, list[Values]](list)
    for turn in turns:
        items[turn.item].append(turn.values)
    shifts = [scoring.shift_of(scoring.over_turns(of_item), judged) for of_item in items.values()]
    # The mean of the shifts of each conversation.
    shift = {
        name: {"gap": None, "ratio": None, **scoring.over_turns(row[name] for row in shifts)} for name in ("accuracy", "mcc")
    }
    return {"judged": judged, **sides, "shift": shift}


def _emotions(turns: Sequence[ReadTurn]) -> list[Row]:
    tagged, missed, instead = Counter[str](), Counter[str](), defaultdict[str, Counter[str]](Counter)
    for turn in turns:
        if turn.tags is not None and turn.gold.emotions is not None:
            gold = turn.gold_tags.keys() or {NONE}
            tagged.update(gold)
            missed.update(gold - turn.tags.keys())
            for name in gold - turn.tags.keys():
                instead[name].update(sorted(turn.tags.keys() - gold) or [NOTHING_ELSE])
    return [
        {"emotion": name, "n": n, "recall": 1 - missed[name] / n, "instead": dict(instead[name].most_common())}
        for name, n in sorted(tagged.items(), key=lambda counted: (-counted[1], counted[0]))
    ]


def _intensities(turns: Sequence[ReadTurn]) -> list[Row]:
    pairs = [(intensity, (turn.tags or {}).get(name)) for turn in turns for name, intensity in turn.gold_tags.items()]
    rows = pl.DataFrame(pairs, schema={"intensity": pl.Int64, "predicted": pl.Int64}, orient="row").drop_nulls()
    return rows.group_by("intensity").agg(n=pl.len(), mean=pl.col("predicted").mean()).sort("intensity").to_dicts()


def _by_number(turns: Sequence[ReadTurn]) -> list[Row]:
    values = [(turn.gold.number, *map(turn.values.get, OF_TURN)) for turn in turns]
    rows = pl.DataFrame(values, schema={"turn": pl.Int64, **dict.fromkeys(OF_TURN, pl.Float64)}, orient="row")
    scores = {name: pl.struct(score=100 * pl.col(name).mean(), n=pl.col(name).count()) for name in OF_TURN}
    return rows.group_by("turn").agg(n=pl.len(), **scores).sort("turn").to_dicts()


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
        yield Block(name_reader(data, row), tables=reading_tables(row), folds=len(rows) > 1)


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


SECTIONS = (RunSection("annotations", read_annotations, "Annotated conversations", lay_out_annotations),)
