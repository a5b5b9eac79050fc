"""An item of AttuneBench as the score stage has it: its row and rows of gold, its answers by part."""

from collections.abc import Mapping

import polars as pl

from schemas.attunebench import ConversationGold, VisibleConversation
from schemas.vocabulary import Profile
from tasks.datasets.attunebench.conversations import TURNS, WHOLE, read_gold
from tasks.metrics.attunebench.conversation import score_conversation
from tasks.metrics.attunebench.emotions import Values
from tasks.metrics.attunebench.rules import PROFILES
from tasks.text.json_objects import read_object

Known = tuple[ConversationGold, VisibleConversation]


def known_items(items: pl.DataFrame, gold: Mapping[str, pl.DataFrame]) -> dict[str, Known]:
    """Return annotations and visible part of each item by its id, from rows of `items` and of both layers of annotations."""
    turns = gold[TURNS].rows_by_key("item_id", named=True)
    whole = {row["item_id"]: read_gold(row, turns.get(row["item_id"], ())) for row in gold[WHOLE].iter_rows(named=True)}
    shown = items.select("item_id", "context").iter_rows()
    return {item: (whole[item], VisibleConversation.model_validate_json(context)) for item, context in shown}


def measure_parts(known: Known, parts: Mapping[str, str | None], profile: Profile) -> Values:
    """Return values by metric of the answers to one item; null = the call of a part failed."""
    return score_conversation(*known, {part: read_object(text) for part, text in parts.items()}, PROFILES[profile])
