"""Find what recurs among the rows of a run: unread replies, failed calls, items that all fail, choices that follow the order."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import polars as pl

from schemas.documents.rows import FacetCount, FailedGroup, FlippedChoice, HardItem, OrderFlips, RowExample, RowGroup, UnreadGroup
from schemas.documents.run_scores import LetterShare
from schemas.item import option_letters
from schemas.roles import JUDGE
from schemas.tables.responses import Judgements, Responses
from tasks.lake.frames import sort_keys
from tasks.metrics.answer_forms import FORMS, Question
from tasks.models.http.failures import BUDGET_SPENT
from tasks.rows.index import PLACE, Place, RowIndex, open_rows
from tasks.rows.reply_shapes import describe_unread, fold_message
from tasks.runs.past_run import PastRun, no_rows
from tasks.runs.run_tables import from_row
from tasks.solvers.answers import ANSWER, ASKED, ITEM, OWN_WORDS
from tasks.statistics.paired import compare_pairs

MOST_EXAMPLES, SHOWN = 3, 300
"""Examples of a group, and characters of their replies."""

GroupT = TypeVar("GroupT", bound=RowGroup)


def group_unread(run: PastRun, most: int = MOST_EXAMPLES) -> tuple[UnreadGroup, ...]:
    """Group the replies that cannot be read by their shape, the most frequent first, each with examples, `most` at the most."""
    unread = run.layers["raw_scores"].filter(pl.col("n_unparsed") > 0).select(PLACE).unique().sort(PLACE)
    by_dataset = unread.partition_by("dataset", maintain_order=True)
    return _group(UnreadGroup, ["shape"], [_shapes(run, open_rows(run), places.rows(), most) for places in by_dataset], most)


def _shapes(run: PastRun, index: RowIndex, places: list[Place], most: int) -> pl.DataFrame:
    """Return the unread replies of a dataset with their shapes; `reply` is null but in the first rows of a shape."""
    unread = index.read("item_scores", places, lambda scores: scores.filter(pl.col("status") == "unparsed")).lazy()
    answers = index.read("answers", places, lambda rows: rows.join(unread, on=ANSWER, how="semi"))
    asked = index.read("items", places, lambda rows: rows.join(unread, on="item_id", how="semi"))
    items = {item["item_id"]: item for item in asked.iter_rows(named=True)}
    replies = answers.with_columns(text=OWN_WORDS).sort(ANSWER)
    shapes = [describe_unread(items[reply["item_id"]], reply) for reply in replies.iter_rows(named=True)]
    if is_withheld := places[0][0] in run.manifest.withheld:
        shapes = [shape.partition(" with ")[0] for shape in shapes]  # what an object's keys are called is the reply's
    is_shown = pl.lit(not is_withheld) & (pl.int_range(pl.len()).over("shape") < most)
    reply = pl.when(is_shown).then(pl.col("text").str.head(SHOWN))
    return replies.with_columns(shape=pl.Series(shapes, dtype=pl.String)).select(*ASKED, "shape", reply=reply)


def group_failed_calls(run: PastRun) -> tuple[FailedGroup, ...]:
    """Group the calls that failed by the server's message, and those of a judge that gave no rating, the most frequent first."""
    scores, frames = run.layers["raw_scores"], []
    shared = ["role", "asked_model", "failure", "http_status", "message"]
    lacking = set(scores.filter(pl.col("n_scored") < pl.col("n_total")).select(PLACE).iter_rows())
    budget = pl.when(pl.col("error") == BUDGET_SPENT).then(pl.lit("budget"))
    of_judges: Any = {"role": pl.lit(JUDGE), "asked_model": "judge", "failure": budget, "http_status": pl.lit(None, pl.Int64)}
    message = pl.col("error").fill_null("no message").map_elements(fold_message, pl.String)
    is_withheld = pl.col("dataset").is_in([*run.manifest.withheld])
    shown = pl.when(is_withheld).then(pl.lit("withheld: its licence")).otherwise(message)
    for ref in run.manifest.partitions:
        if ref.layer == "responses" and not ref.complete:
            calls = run.lake.read(ref, Responses).filter(pl.col("failure").is_not_null())
        elif ref.layer == "judgements" and not ref.by_people and tuple(ref.key(name) for name in PLACE) in lacking:
            unrated = run.lake.read(ref, Judgements).filter(pl.col("rating").is_null())
            calls = unrated.unique("call_key", keep="first", maintain_order=True).with_columns(**of_judges)
        else:
            continue
        calls = calls.cast({"failure": pl.String}).with_columns(message=shown)
        frames.append(calls.select(*ASKED, *shared, reply=pl.lit(None, pl.String)))
    return _group(FailedGroup, shared, frames, MOST_EXAMPLES)


def _group(kind: type[GroupT], shared: list[str], frames: Sequence[pl.DataFrame], most: int) -> tuple[GroupT, ...]:
    """Return the groups of rows that have the same in some columns, the largest first."""
    groups = pl.concat(frames).partition_by(shared, maintain_order=True) if frames else []
    return tuple(
        kind(
            **rows.select(shared).row(0, named=True),
            rows=rows.height,
            counts=tuple(
                FacetCount(facet=name, value=value, rows=number)
                for name in PLACE
                for value, number in rows.group_by(name).len().sort("len", name, descending=[True, False]).iter_rows()
            ),
            examples=tuple(RowExample(**row) for row in rows.head(most).select(*ASKED, "reply").to_dicts()),
        )
        for rows in sorted(groups, key=lambda rows: -rows.height)
    )


def items_all_fail(run: PastRun) -> tuple[HardItem, ...]:
    """Find the items that all systems with a score of them fail, two at least, by dataset."""
    index = open_rows(run)
    datasets = dict.fromkeys(place[0] for place in index.places)
    return tuple(item for dataset in datasets for item in _hard(run, index, dataset))


def _fail_all(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return the items among rows of the index that all systems fail, two at least, each with its first row."""
    status = pl.col("status")
    scored = rows.filter(status.is_in(["right", "partial", "wrong", "unread"]))
    by_system = scored.group_by(*ITEM, "model", "setting").agg(
        fails=status.is_in(["wrong", "unread"]).all(), unread=(status == "unread").all(), repetition=pl.col("repetition").min()
    )
    row = pl.struct("model", "setting", "repetition").sort().first()
    by_item = by_system.group_by(ITEM).agg(pl.col("fails").all(), pl.col("unread").sum(), systems=pl.len(), row=row)
    return by_item.filter("fails", pl.col("systems") > 1).unnest("row").sort(ITEM).collect()


def _hard(run: PastRun, index: RowIndex, dataset: str) -> Iterator[HardItem]:
    """Yield the items of a dataset that all systems fail, with what is right and what most systems took for it."""
    hard = _fail_all(index.rows.filter(pl.col("dataset") == dataset))
    if hard.is_empty():
        return
    places = [place for place in index.places if place[0] == dataset]
    wanted = hard.lazy().select("item_id")
    scores, answers, items = (
        index.read(layer, places, lambda rows: rows.join(wanted, on="item_id", how="semi"))
        for layer in ("item_scores", "answers", "items")
    )
    chosen = scores.drop_nulls("parsed_answer").join(answers.select(*ANSWER, "option_order"), on=ANSWER, how="left")
    wrong = pl.coalesce(_letter(pl.coalesce(OPTION, "chosen_place")), "parsed_answer")
    given = chosen.group_by("item_id", wrong=wrong).agg(wrong_systems=pl.struct("model", "setting").n_unique())
    first = given.sort("wrong_systems", "wrong", descending=[True, False]).unique("item_id", keep="first")
    rows = hard.join(first, on="item_id", how="left").join(items, on="item_id", suffix="_item", maintain_order="left")
    for row in rows.iter_rows(named=True):
        question = Question.from_row(row)
        names = FORMS[question.form].names(question.options)
        gold = ",".join(names[index] for index in FORMS[question.form].right(question)) if question.gold_indices else None
        shown = {"gold": gold} if gold and dataset not in run.manifest.withheld else {"gold": None, "wrong": None}
        yield from_row(HardItem, row, wrong_systems=row["wrong_systems"] or 0, **shown)


OPTION = pl.col("option_order").list.get(pl.col("chosen_place"), null_on_oob=True)
"""Index of the chosen option in its item; null = it was not read, or was shown as the item has it."""


def _letter(place: pl.Expr) -> pl.Expr:
    return place.map_elements(lambda number: option_letters(number + 1)[number], pl.String)


def order_flips(run: PastRun) -> Iterator[OrderFlips]:
    """Yield items asked in several orders of their options of which more than one was chosen, by dataset and system."""
    has_orders = run.manifest.plan.get("permute", 0) > 1
    for keys in (dict(ref.place) for ref in run.partitions("answers") if has_orders):
        chosen = answers_by_position(run.read("item_scores", **keys), run.read("answers", **keys))
        read = chosen.drop_nulls("option_order").with_columns(options=OPTION, letters=_letter(pl.col("chosen_place")))
        several = read.filter(pl.col("options").count().over("item_id") > 1)
        flipped = several.filter(pl.col("options").drop_nulls().n_unique().over("item_id") > 1)
        rows = flipped.group_by("item_id", maintain_order=True).agg("letters", "options", repetitions="repetition").to_dicts()
        if several.height:
            items = several["item_id"].n_unique()
            yield OrderFlips(**keys, items=items, flipped=tuple(FlippedChoice(**row) for row in rows))


ONE_LETTER = 0.75
"""Least share of a letter of which it is said that a model chooses it whatever is asked."""


def one_letter(run: PastRun) -> Iterator[LetterShare]:
    """Yield the models that choose one letter, whatever is asked: at ONE_LETTER or more, and clearly more often than it is right.

    Clearly: by the paired difference over the items, at 95 %.
    """
    for system in run.systems:
        orders = run.read("answers", **system._asdict()) if run.manifest.plan.get("permute", 0) > 1 else no_rows("answers")
        read = answers_by_position(run.read("item_scores", **system._asdict()), orders).drop_nulls("chosen_place")
        if read.is_empty():
            continue
        place, chosen = read["chosen_place"].value_counts().sort("count", "chosen_place", descending=[True, False]).row(0)
        excess = (pl.col("chosen_place") == place).cast(pl.Float64) - (pl.col("gold_place") == place).cast(pl.Float64)
        by_item = read.group_by(ITEM).agg(excess.mean()).sort(ITEM).to_series(len(ITEM)).to_numpy()
        if chosen >= ONE_LETTER * read.height and by_item.mean() > 0 and compare_pairs(by_item, 0.0, 1.0, 1.0).differs:
            right = int((read["gold_place"] == place).sum())
            letter = option_letters(place + 1)[place]
            yield LetterShare(**system._asdict(), letter=letter, read=read.height, chosen=chosen, right=right)


def answers_by_position(item_scores: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Return the answered single choices of one system, once per item and order of its options.

    An order that comes again is answered by the same stored reply, so it counts once; so does an item that several methods score.

    Returns:
        columns dataset, item_id, repetition, option_order (null = as the item has them), chosen_place (null = unreadable),
        gold_place.
    """
    key = [*ITEM, "repetition"]
    answered = item_scores.filter(pl.col("gold_place").is_not_null() & pl.col("status").is_in(["scored", "unparsed"]))
    once = answered.sort(sort_keys((*key, "method", "metric"))).unique(key, keep="first", maintain_order=True)
    orders = given.sort(*key, "part").unique(key, keep="last").select(*key, "option_order")
    joined = once.join(orders, on=key, how="left").sort(key)
    distinct = joined.with_columns(order=pl.col("option_order").cast(pl.List(pl.String)).list.join(",")).unique(
        [*ITEM, "order"], keep="first", maintain_order=True
    )
    return distinct.select(*ITEM, "repetition", "option_order", "chosen_place", "gold_place")
