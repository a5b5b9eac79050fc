"""Layers of the lake, one row each, in the order in which they are computed."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import dataframely as dy

from schemas.tables import scores
from schemas.tables.annotations import ConversationAnnotations, TurnAnnotations
from schemas.tables.comparisons import Agreements, NeedleScores, SettingGains
from schemas.tables.contexts import Chunks, Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements, Responses, SimulationFaults

Stage = Literal["build", "infer", "score"]


class Layer(NamedTuple):
    """A layer: the schema of its rows, the stage that writes it, and the layers its partitions are computed from."""

    schema: type[dy.Schema]
    written_by: Stage
    parents: tuple[str, ...] = ()


BUILT = ("items", "contexts")

LAYER_ROWS: Mapping[str, Layer] = {
    "items": Layer(Items, "build"),
    "contexts": Layer(Contexts, "build"),
    "turn_annotations": Layer(TurnAnnotations, "build"),
    "conversation_annotations": Layer(ConversationAnnotations, "build"),
    "chunks": Layer(Chunks, "infer", BUILT),
    "retrievals": Layer(Retrievals, "infer", BUILT),
    "responses": Layer(Responses, "infer", BUILT),
    "answers": Layer(Answers, "infer", ("items", "responses")),
    "judgements": Layer(Judgements, "infer", ("answers",)),
    "item_scores": Layer(scores.ItemScores, "score", ("answers", "judgements", "turn_annotations", "conversation_annotations")),
    "raw_scores": Layer(scores.RawScores, "score", ("item_scores",)),
    "normalized_scores": Layer(scores.NormalizedScores, "score", ("item_scores",)),
    "dataset_scores": Layer(scores.DatasetScores, "score", ("item_scores",)),
    "task_scores": Layer(scores.TaskScores, "score", ("item_scores",)),
    "level_scores": Layer(scores.LevelScores, "score", ("item_scores",)),
    "sub_ability_scores": Layer(scores.SubAbilityScores, "score", ("item_scores",)),
    "ability_scores": Layer(scores.AbilityScores, "score", ("item_scores",)),
    "totals": Layer(scores.Totals, "score", ("item_scores",)),
    "setting_gains": Layer(SettingGains, "score", ("item_scores",)),
    "needle_scores": Layer(NeedleScores, "score", ("contexts", "item_scores")),
    "dimension_scores": Layer(scores.DimensionScores, "score", ("items", "judgements")),
    "agreements": Layer(Agreements, "score", ("items", "answers", "judgements")),
    "simulation_faults": Layer(SimulationFaults, "score", ("items", "answers", "judgements")),
}
"""Every layer that a manifest lists. `items_rejected` stands beside `items`, with the rules that its rows break.

The version of the code that writes a layer enters its keys; what it is now, `tasks.verify.drift` knows of each.
"""

LAYERS: Mapping[str, type[dy.Schema]] = {name: row.schema for name, row in LAYER_ROWS.items()}

GOLD = tuple(name for name, row in LAYER_ROWS.items() if row.written_by == "build" and name not in BUILT)
"""Layers that hold what is right where items do not."""

AGGREGATED: tuple[str, ...] = tuple(LAYERS)[tuple(LAYERS).index("raw_scores") : tuple(LAYERS).index("totals") + 1]
"""Layers that every run with scores has once, from raw score to total."""
