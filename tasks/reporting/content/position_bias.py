"""Describe position bias: accuracy and choices by the position of an option, and what a choice followed when they moved.

Places are counted from 0 as shown, so place 0 is the option lettered A.
"""

from dataclasses import dataclass
from operator import itemgetter

import polars as pl

from schemas.item import option_letters
from schemas.question_types import answered_by
from schemas.table import Cell, Column, Table, columns
from tasks.rows.patterns import answers_by_position
from tasks.runs.run_tables import ReportData, System
from tasks.text.number_format import count, counted, number, percent, share_of

HOW_TO_TELL = (
    "Each item was asked in one order of its options, so a choice may follow the letter or the content. "
    "Run with --set permute=4 to find out."
)
FEW = 10
"""Places with fewer replies are shown and not spoken of."""

_ITEM = ["dataset", "item_id"]


@dataclass(frozen=True)
class PositionRow:
    """One place. `golds` replies are to items with the right option there, `right` of them are right.

    Of the `read` readable replies `chosen` chose this place, and `golds_read` had the right option there.
    """

    letter: str
    golds: int
    right: int
    read: int
    chosen: int
    golds_read: int

    @property
    def accuracy(self) -> float | None:
        """Share of right replies where the right option is here; unreadable ones count as wrong."""
        return share_of(self.right, self.golds)

    @property
    def chosen_share(self) -> float | None:
        """Share of the readable replies that chose this place."""
        return share_of(self.chosen, self.read)

    @property
    def gold_share(self) -> float | None:
        """Share of the same replies whose item has the right option here."""
        return share_of(self.golds_read, self.read)


@dataclass(frozen=True)
class Stability:
    """What choices did when the same options came in other orders.

    `items`: those with two readable replies or more. `content` of them chose the same option in all orders, `letter` the same
    place while the options there changed, `mixed` neither. `unread`: the others, with fewer than two readable replies.
    """

    items: int
    content: int
    letter: int
    mixed: int
    unread: int

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if not self.items:
            return "No item has readable replies to two orders of its options."
        return (
            f"In {count(self.letter)} of {count(self.items)} items the choice followed the letter, not the content; in "
            f"{count(self.content)} it stayed with the content, in {count(self.mixed)} with neither."
        )


@dataclass(frozen=True)
class Positions:
    """The single choices of one dataset, or of all and each of these `datasets`, by place.

    `shared`: places that every item has, the only ones to be compared. `stability`: null if no item was asked in several orders.
    """

    title: str
    places: tuple[PositionRow, ...]
    shared: int
    stability: Stability | None
    datasets: tuple["Positions", ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader should know, most telling first."""
        return (self.stability.sentence if self.stability else HOW_TO_TELL, *_spoken_places(self.places, self.shared))

    @property
    def table(self) -> Table:
        """Accuracy and choices by place."""
        heads = (Column("Right option at", "name"), Column("Replies", "count"), Column("Accuracy", "number", 3))
        shares = columns("share", "Chosen, share of readable replies", "Right, share of the same")
        rows = []
        for row in self.places:
            chosen = Cell(row.chosen_share, counted(row.chosen, "reply", "replies"))
            right = Cell(row.gold_share, counted(row.golds_read, "reply", "replies"))
            rows.append((row.letter, row.golds, row.accuracy, chosen, right))
        return Table((*heads, *shares), rows, "Accuracy and choices by place")

    @property
    def dataset_table(self) -> Table:
        """Accuracy by place in each dataset, and what its choices followed where any item was asked in several orders."""
        letters = [row.letter for row in self.places]
        places = columns("number", *(f"Accuracy at {letter}" for letter in letters))
        heads = ("Items in several orders", "Followed the content", "Followed the letter", "Neither")
        rows = []
        for part in self.datasets:
            cells = {row.letter: Cell(row.accuracy, counted(row.golds, "reply", "replies")) for row in part.places}
            moved = part.stability
            counts = (moved.items, moved.content, moved.letter, moved.mixed) if moved else [None] * 4
            rows.append((part.title, *map(cells.get, letters), *counts))
        table = Table((Column("Dataset", "name"), *places, *columns("count", *heads)), rows, "Places by dataset")
        return table.without_empty(*heads)


def describe_positions(data: ReportData, system: System) -> Positions | None:
    """Describe places and stability of one system's single choices; null if it was asked none."""
    choices = data.items.filter(pl.col("question_type").is_in(answered_by("letter")))
    answers = answers_by_position(system.of(data.item_scores), system.of(data.answers))
    answers = answers.join(choices.select(*_ITEM, n_options=pl.col("options").list.len()), on=_ITEM)
    if answers.is_empty():
        return None
    present = set(answers["dataset"].unique())
    parts = [_positions(data.titles[name], answers.filter(dataset=name)) for name in data.titles if name in present]
    return _positions("", answers, tuple(parts))


def _positions(title: str, answers: pl.DataFrame, datasets: tuple[Positions, ...] = ()) -> Positions:
    return Positions(title, position_rows(answers), min(answers["n_options"]), find_stability(answers), datasets)


def position_rows(answers: pl.DataFrame) -> tuple[PositionRow, ...]:
    """Return one row per place that is right or chosen somewhere in `answers_by_position`, and those before it."""
    chosen, gold = answers["chosen_place"], answers["gold_place"]
    readable = answers.filter(pl.col("chosen_place").is_not_null())
    highest = answers.select(pl.max_horizontal(pl.col("chosen_place").max(), pl.col("gold_place").max())).item()
    letters = option_letters(0 if highest is None else highest + 1)
    return tuple(
        PositionRow(
            letter=letter,
            golds=int((gold == index).sum()),
            right=int(((gold == index) & (chosen == index)).fill_null(value=False).sum()),
            read=readable.height,
            chosen=int((chosen == index).sum()),
            golds_read=int((readable["gold_place"] == index).sum()),
        )
        for index, letter in enumerate(letters)
    )


def find_stability(answers: pl.DataFrame) -> Stability | None:
    """Find what the choices of items that `answers_by_position` has in several orders followed; null if there is no such item."""
    moved = answers.filter(pl.col("option_order").is_not_null())
    if moved.height == moved.select(_ITEM).n_unique():
        return None
    option = pl.col("option_order").list.get(pl.col("chosen_place"), null_on_oob=True)
    per_item = (
        moved.with_columns(option=option)
        .group_by(_ITEM)
        .agg(
            read=pl.col("chosen_place").count(),
            options=pl.col("option").drop_nulls().n_unique(),
            places=pl.col("chosen_place").drop_nulls().n_unique(),
        )
    )
    told = per_item.filter(pl.col("read") > 1)
    content = told.filter(pl.col("options") == 1).height
    letter = told.filter((pl.col("options") > 1) & (pl.col("places") == 1)).height
    return Stability(told.height, content, letter, told.height - content - letter, per_item.height - told.height)


def _spoken_places(places: tuple[PositionRow, ...], shared: int) -> tuple[str, ...]:
    spoken = []
    accuracies = [(row.accuracy, row) for row in places[:shared] if row.accuracy is not None and row.golds >= FEW]
    low, worst = min(accuracies, key=itemgetter(0), default=(0.0, None))
    high, best = max(accuracies, key=itemgetter(0), default=(0.0, None))
    if best and worst and high > low:
        spoken.append(
            f"Accuracy is {number(high, 2)} where the right option is {best.letter} ({counted(best.golds, 'reply', 'replies')}) "
            f"and {number(low, 2)} where it is {worst.letter} ({counted(worst.golds, 'reply', 'replies')})."
        )
    favourite = max(places, key=lambda row: row.chosen - row.golds_read, default=None)
    if favourite and favourite.read >= FEW and favourite.chosen > favourite.golds_read:
        spoken.append(
            f"{favourite.letter} is chosen in {percent(favourite.chosen_share)} of the readable replies and right in "
            f"{percent(favourite.gold_share)}."
        )
    return tuple(spoken)
