"""Layers of the lake, in the order in which they are computed: the schema of each, and the layers it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass

import dataframely as dy

from schemas.tables.comparisons import Ablations, Agreements, NeedleScores, SettingGains
from schemas.tables.contexts import Chunks, Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import (
    AbilityScores,
    DatasetScores,
    ItemScores,
    LevelScores,
    NormalizedScores,
    RawScores,
    SubAbilityScores,
    TaskScores,
    Totals,
)


@dataclass(frozen=True)
class Layer:
    """One layer: the schema of its rows, and the layers its rows are computed from where a run has them."""

    schema: type[dy.Schema]
    rests_on: tuple[str, ...] = ()


LAYERS: Mapping[str, Layer] = {
    "items": Layer(Items),
    "contexts": Layer(Contexts, ("items",)),
    "chunks": Layer(Chunks, ("contexts",)),
    "retrievals": Layer(Retrievals, ("chunks",)),
    "responses": Layer(Responses, ("items", "retrievals")),
    "judgements": Layer(Judgements, ("responses",)),
    "item_scores": Layer(ItemScores, ("responses", "judgements")),
    "raw_scores": Layer(RawScores, ("item_scores",)),
    "normalized_scores": Layer(NormalizedScores, ("raw_scores",)),
    "dataset_scores": Layer(DatasetScores, ("normalized_scores",)),
    "task_scores": Layer(TaskScores, ("dataset_scores",)),
    "level_scores": Layer(LevelScores, ("task_scores",)),
    "sub_ability_scores": Layer(SubAbilityScores, ("level_scores",)),
    "ability_scores": Layer(AbilityScores, ("sub_ability_scores",)),
    "totals": Layer(Totals, ("ability_scores",)),
    "setting_gains": Layer(SettingGains, ("item_scores",)),
    "needle_scores": Layer(NeedleScores, ("contexts", "item_scores")),
    "agreements": Layer(Agreements, ("judgements",)),
    "ablations": Layer(Ablations, ("raw_scores", "normalized_scores")),
}
"""Every layer that a manifest lists. `items_rejected` stands beside `items`, with the rules that its rows break."""

AGGREGATED: tuple[str, ...] = tuple(LAYERS)[tuple(LAYERS).index("raw_scores") : tuple(LAYERS).index("totals") + 1]
"""Layers that every run with scores has once, from raw score to total."""
