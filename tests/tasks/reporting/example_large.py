"""The example run as large as MoodBench: 60 more datasets, three models with long replies to each, in two languages."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.tables.scores import ItemScores
from tasks.runs.run_tables import ReportData
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import BLUEPRINT, example_data
from tests.tasks.reporting.example_scores import score_layers

DATASETS, MODELS = 60, ("alpha", "beta", "gamma")
CHINESE, ENGLISH = "她今天很难过，因为朋友没有来。" * 60, "She waited for her friend the whole evening. " * 60


def large_data() -> ReportData:
    """A run of three models on 60 datasets of four items, each task with one dataset."""
    fields, names = BLUEPRINT.model_dump(mode="json"), [f"mood{n}" for n in range(DATASETS)]
    fields["datasets"] |= {name: fields["datasets"]["mood"] | {"title": name.capitalize()} for name in names}
    fields["abilities"][1]["children"][0]["tasks"] += [
        {"id": f"more_{name}", "title": f"Task {name}", "level": "low", "weight": 1.0, "datasets": [{"id": name}]}
        for name in names
    ]
    blueprint = BLUEPRINT.model_validate(fields)
    more = [{"dataset": name} for name in names]
    asked = [row | {"model": model} for row in more for model in MODELS]
    scores = _repeated(ItemScores, example_items.item_scores(), asked)
    return example_data(
        blueprint=blueprint,
        items=_repeated(Items, example_items.items(), [row | {"context": CHINESE, "question": ENGLISH} for row in more]),
        item_scores=scores,
        responses=_repeated(Responses, example_items.responses(), [row | {"reply": ENGLISH + CHINESE} for row in asked]),
        **score_layers(scores, blueprint),
    )


def crowded_data(models: int) -> ReportData:
    """The example run with so many models that all answer as alpha does, besides its own three, which were not asked."""
    names, alpha = [{"model": f"model-{n}"} for n in range(models)], pl.col("model") == "alpha"

    def of_all(schema: type[dy.Schema], frame: pl.DataFrame) -> dy.DataFrame[Any]:
        return make_table(schema, [row | name for name in names for row in frame.filter(alpha).to_dicts()])

    scores, responses = of_all(ItemScores, example_items.item_scores()), of_all(Responses, example_items.responses())
    return example_data(item_scores=scores, responses=responses, **score_layers(scores, BLUEPRINT))


def _repeated(schema: type[dy.Schema], frame: pl.DataFrame, changes: list[dict[str, Any]]) -> dy.DataFrame[Any]:
    """The frame, and alpha's rows about one dataset again with each of these changes."""
    rows = frame.to_dicts()
    template = [row for row in rows if row["dataset"] == "mood" and row.get("model", "alpha") == "alpha"]
    return make_table(schema, [*rows, *(row | change for change in changes for row in template)])
