"""Find what recurs among the rows of a run: unread replies, failed calls, items that all fail, choices that follow the order."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import polars as pl

from schemas.documents.patterns import (
    FailedGroup,
    FlippedChoice,
    HardItem,
    OrderFlips,
    RowExample,
    RowGroup,
    UnreadGroup,
)
from schemas.documents.rows import FacetCount
from schemas.item import option_letters
from schemas.roles import JUDGE
from schemas.tables.responses import Judgements, Responses
from tasks.metrics.answer_forms import FORMS, Question
from tasks.models.http.client import BUDGET_SPENT
from tasks.rows.index import PLACE, Place, RowFiles, open_rows
from tasks.rows.reply_shapes import describe_unread, fold_message
from tasks.rows.texts import withheld_datasets
from tasks.runs.option_orders import answers_by_position
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import from_row
from tasks.solvers.answers import ANSWER, ASKED, ITEM, OWN_WORDS

MOST_EXAMPLES, SHOWN = 3, 300
"""Examples of a group, and characters of their replies."""

FAILED = ["role", "asked_model", "failure", "http_status", "message"]
"""What failed calls of one group share."""

GroupT = TypeVar("GroupT", bound=RowGroup)


def group_unread(run: PastRun) -> tuple[UnreadGroup, ...]:
    """Group the replies that cannot be read by their shape, the most frequent first; only partitions are read that have some."""
    unread = run.layers["raw_scores"].filter(pl.col("n_unparsed") > 0).select(PLACE).unique().sort(PLACE)
    by_dataset = unread.partition_by("dataset", maintain_order=True)
    files = RowFiles(run)
    return _group(UnreadGroup, ["shape"], [_shapes(run, files, places.rows()) for places in by_dataset])


def _shapes(run: PastRun, files: RowFiles, places: list[Place]) -> pl.DataFrame:
    """Return the unread replies of a dataset with their shapes; `reply` is null but in the first rows of a shape."""
    unread = files.read("item_scores", places, lambda scores: scores.filter(pl.col("status") == "unparsed")).lazy()
    answers = files.read("answers", places, lambda rows: rows.join(unread, on=ANSWER, how="semi"))
    asked = files.read("items", places, lambda rows: rows.join(unread, on="item_id", how="semi"))
    items = {item["item_id"]: item for item in asked.iter_rows(named=True)}
    replies = answers.with_columns(text=OWN_WORDS).sort(ANSWER)
    shapes = [describe_unread(items[reply["item_id"]], reply) for reply in replies.iter_rows(named=True)]
    if is_withheld := places[0][0] in withheld_datasets(run):
        shapes = [shape.partition(" with ")[0] for shape in shapes]  # what an object's keys are called is the reply's
    is_shown = pl.lit(not is_withheld) & (pl.int_range(pl.len()).over("shape") < MOST_EXAMPLES)
    reply = pl.when(is_shown).then(pl.col("text").str.head(SHOWN))
    return replies.with_columns(shape=pl.Series(shapes, dtype=pl.String)).select(*ASKED, "shape", reply=reply)


def group_failed_calls(run: PastRun) -> tuple[FailedGroup, ...]:
    """Group the calls that failed by the server's message, and those of a judge that gave no rating, the most frequent first.

    Only partitions are read that have some.
    """
    scores, frames = run.layers["raw_scores"], []
    lacking = set(scores.filter(pl.col("n_scored") < pl.col("n_total")).select(PLACE).iter_rows())
    for ref in (ref for ref in run.manifest.partitions if not ref.by_people):
        if ref.layer == "responses" and not ref.complete:
            calls = run.lake.read(ref, Responses).filter(pl.col("failure").is_not_null())
        elif ref.layer == "judgements" and tuple(ref.key(name) for name in PLACE) in lacking:
            unrated = run.lake.read(ref, Judgements).filter(pl.col("rating").is_null())
            budget = pl.when(pl.col("error") == BUDGET_SPENT).then(pl.lit("budget"))
            calls = unrated.unique("call_key", keep="first", maintain_order=True).with_columns(
                role=pl.lit(JUDGE), asked_model="judge", failure=budget, http_status=pl.lit(None, pl.Int64)
            )
        else:
            continue
        message = pl.col("error").fill_null("no message").map_elements(fold_message, pl.String)
        hidden = pl.col("dataset").is_in([*withheld_datasets(run)])
        shown = pl.when(hidden).then(pl.lit("withheld: its licence")).otherwise(message)
        calls = calls.cast({"failure": pl.String}).with_columns(message=shown)
        frames.append(calls.select(*ASKED, *FAILED, reply=pl.lit(None, pl.String)))
    return _group(FailedGroup, FAILED, frames)


def _group(kind: type[GroupT], shared: list[str], frames: Sequence[pl.DataFrame]) -> tuple[GroupT, ...]:
    """Return the groups of rows that have the same in some columns, the largest first."""
    groups = pl.concat(frames).partition_by(shared, maintain_order=True) if frames else []
    return tuple(
        kind(
            **rows.select(shared).row(0, named=True),
            rows=rows.height,
            counts=tuple(_counts(rows)),
            examples=tuple(RowExample(**row) for row in rows.head(MOST_EXAMPLES).select(*ASKED, "reply").to_dicts()),
        )
        for rows in sorted(groups, key=lambda rows: -rows.height)
    )


def _counts(rows: pl.DataFrame) -> Iterator[FacetCount]:
    for name in PLACE:
        for value, number in rows.group_by(name).len().sort("len", name, descending=[True, False]).iter_rows():
            yield FacetCount(facet=name, value=value, rows=number)


def items_all_fail(run: PastRun) -> tuple[HardItem, ...]:
    """Find the items that all systems with a score of them fail, two at least, by dataset."""
    status = pl.col("status")
    scored = open_rows(run).rows.filter(status.is_in(["right", "partial", "wrong", "unread"]))
    by_system = scored.group_by(*ITEM, "model", "setting").agg(
        fails=status.is_in(["wrong", "unread"]).all(), unread=(status == "unread").all(), repetition=pl.col("repetition").min()
    )
    by_item = by_system.group_by(ITEM).agg(
        pl.col("fails").all(),
        pl.col("unread").sum(),
        systems=pl.len(),
        row=pl.struct("model", "setting", "repetition").sort().first(),
    )
    hard = by_item.filter("fails", pl.col("systems") > 1).unnest("row").sort(ITEM).collect()
    return tuple(item for (name,), rows in hard.group_by("dataset", maintain_order=True) for item in _hard(run, str(name), rows))


def _hard(run: PastRun, dataset: str, hard: pl.DataFrame) -> Iterator[HardItem]:
    """Yield these items of a dataset, with what is right and what most systems took for it."""
    files = RowFiles(run)
    places = [place for place in files.places if place[0] == dataset]
    read = files.read(
        "item_scores", places, lambda scores: scores.drop_nulls("parsed_answer").join(hard.lazy(), on="item_id", how="semi")
    )
    given = read.group_by("item_id", wrong="parsed_answer").agg(wrong_systems=pl.struct("model", "setting").n_unique())
    first = given.sort("wrong_systems", "wrong", descending=[True, False]).unique("item_id", keep="first")
    items = run.read("items", dataset=dataset)
    known = hard.join(first, on="item_id", how="left").join(items, on="item_id", suffix="_item", maintain_order="left")
    for row in known.iter_rows(named=True):
        question = Question.from_row(row)
        names = FORMS[question.form].names(question.options)
        gold = ",".join(names[index] for index in FORMS[question.form].right(question)) if question.gold_indices else None
        shown = {"gold": gold} if gold and dataset not in withheld_datasets(run) else {"gold": None, "wrong": None}
        yield from_row(HardItem, row, wrong_systems=row["wrong_systems"] or 0, **shown)


def order_flips(run: PastRun) -> tuple[OrderFlips, ...]:
    """Find items asked in several orders of their options of which more than one was chosen, by dataset and system."""
    if run.manifest.plan.get("permute", 0) < 2:  # noqa: PLR2004  orders
        return ()
    flips = (_flips(run, {name: str(ref.key(name)) for name in PLACE}) for ref in run.partitions("answers"))
    return tuple(flip for flip in flips if flip.items)


def _flips(run: PastRun, keys: dict[str, str]) -> OrderFlips:
    chosen = answers_by_position(run.read("item_scores", **keys), run.read("answers", **keys))
    option = pl.col("option_order").list.get(pl.col("chosen_place"), null_on_oob=True)
    read = chosen.filter(pl.col("option_order").is_not_null()).with_columns(option=option)
    several = read.filter(pl.col("option").count().over("item_id") > 1)
    flipped = several.filter(pl.col("option").drop_nulls().n_unique().over("item_id") > 1)
    letters = pl.col("chosen_place").map_elements(lambda place: option_letters(place + 1)[place], pl.String)
    by_item = flipped.with_columns(letters=letters).group_by("item_id", maintain_order=True)
    rows = by_item.agg(repetitions="repetition", letters="letters", options="option").to_dicts()
    items = tuple(FlippedChoice(**row) for row in rows)
    return OrderFlips(**keys, items=several["item_id"].n_unique(), flipped=items)
