"""Layer `role_cards`: what each step of building role cards makes of a card, and why it drops one."""

from typing import Literal, get_args

import dataframely as dy
import polars as pl

from schemas.vocabulary import LANGUAGES

CardStep = Literal["extract", "filter", "annotate", "adjudicate"]
CARD_STEPS: tuple[CardStep, ...] = get_args(CardStep)
QUALITIES = ("high", "middle")


class RoleCards(dy.Schema):
    """What a step makes of a card; what it keeps enters the next. Key: (card_id, step). Written by `moodflow cards`."""

    card_id = dy.String(primary_key=True, min_length=1, description="id of the card")
    step = dy.Enum(list(CARD_STEPS), primary_key=True, description="step of the building")
    form = dy.Enum(["post", "dialogue", "card"], description="as which it came in")
    language = dy.Enum(list(LANGUAGES), description="of the card")
    source = dy.String(min_length=1, description="where it comes from")
    posted = dy.String(nullable=True, description="the post or dialogue; null = it came as a card, empty = the record is none")
    text = dy.String(nullable=True, description="the card, four labelled lines; null = not extracted")
    scene = dy.String(nullable=True, description="domain that the filter sees; null = not filtered")
    annotations = dy.List(
        dy.Struct({"annotator": dy.String(), **{name: dy.String(nullable=True) for name in ("category", "grade")}}),
        nullable=True,
        description="of two, then what a third settled, null where that was not open; null = not annotated",
    )
    category = dy.String(nullable=True, description="leaf of the taxonomy that was adjudicated")
    quality = dy.Enum(list(QUALITIES), nullable=True, description="grade that was adjudicated")
    status = dy.Enum(["kept", "dropped", "failed"], description="failed = a call was not answered, or people said too little")
    reason = dy.String(nullable=True, description="why it was dropped, or how it failed")
    call_keys = dy.List(dy.String(), description="of this step's calls, in the journal")

    @dy.rule()
    def only_what_is_kept_has_no_reason(cls) -> pl.Expr:
        return pl.col("reason").is_null() == (pl.col("status") == "kept")
