"""Layers of the lake, in the order in which they are computed, and the schema of each."""

from collections.abc import Mapping

import dataframely as dy

from schemas.tables.comparisons import Ablations, Agreements, NeedleScores, SettingGains
from schemas.tables.contexts import Chunks, Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements, Responses
from schemas.tables.scores import (
    AbilityScores,
    DatasetScores,
    DimensionScores,
    ItemScores,
    LevelScores,
    NormalizedScores,
    RawScores,
    SubAbilityScores,
    TaskScores,
    Totals,
)

LAYERS: Mapping[str, type[dy.Schema]] = {
    "items": Items,
    "contexts": Contexts,
    "chunks": Chunks,
    "retrievals": Retrievals,
    "responses": Responses,
    "answers": Answers,
    "judgements": Judgements,
    "item_scores": ItemScores,
    "raw_scores": RawScores,
    "normalized_scores": NormalizedScores,
    "dataset_scores": DatasetScores,
    "task_scores": TaskScores,
    "level_scores": LevelScores,
    "sub_ability_scores": SubAbilityScores,
    "ability_scores": AbilityScores,
    "totals": Totals,
    "setting_gains": SettingGains,
    "needle_scores": NeedleScores,
    "dimension_scores": DimensionScores,
    "agreements": Agreements,
    "ablations": Ablations,
}
"""Every layer that a manifest lists. `items_rejected` stands beside `items`, with the rules that its rows break."""

AGGREGATED: tuple[str, ...] = tuple(LAYERS)[tuple(LAYERS).index("raw_scores") : tuple(LAYERS).index("totals") + 1]
"""Layers that every run with scores has once, from raw score to total."""
