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
    fields = BLUEPRINT.model_dump(mode="json")
    fields["datasets"] |= {f"mood{n}": fields["datasets"]["mood"] | {"title": f"Mood {n}"} for n in range(DATASETS)}
    fields["abilities"][1]["children"][0]["tasks"] += [
        {"id": f"more{n}", "title": f"Task {n}", "level": "low", "weight": 1.0, "datasets": [{"id": f"mood{n}"}]}
        for n in range(DATASETS)
    ]
    blueprint = BLUEPRINT.model_validate(fields)
    scores = _repeated(ItemScores, example_items.item_scores())
    return example_data(
        blueprint=blueprint,
        items=_repeated(Items, example_items.items(), context=CHINESE, question=ENGLISH),
        item_scores=scores,
        responses=_repeated(Responses, example_items.responses(), reply=ENGLISH + CHINESE),
        **score_layers(scores, blueprint),
    )


def crowded_data(models: int) -> ReportData:
    """The example run with so many models that all answer as alpha does, besides its own three, which were not asked."""

    def of_all(schema: type[dy.Schema], frame: pl.DataFrame) -> dy.DataFrame[Any]:
        rows = [row for row in frame.to_dicts() if row["model"] == "alpha"]
        return make_table(schema, [row | {"model": f"model-{n}"} for n in range(models) for row in rows])

    scores = of_all(ItemScores, example_items.item_scores())
    responses = of_all(Responses, example_items.responses())
    return example_data(item_scores=scores, responses=responses, **score_layers(scores, BLUEPRINT))


def _repeated(schema: type[dy.Schema], frame: pl.DataFrame, **texts: str) -> dy.DataFrame[Any]:
    """The frame, and alpha's rows about one dataset again for each of the others and each model, with other texts."""
    rows = frame.to_dicts()
    template = [row for row in rows if row["dataset"] == "mood" and row.get("model", "alpha") == "alpha"]
    owners = MODELS if "model" in frame.columns else (None,)
    more = [
        row | {"dataset": f"mood{n}"} | texts | ({"model": owner} if owner else {})
        for n in range(DATASETS)
        for owner in owners
        for row in template
    ]
    return make_table(schema, [*rows, *more])
