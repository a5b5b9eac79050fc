"""Two runs of a lake side by side: which systems are paired, which items are common, what each run has stored."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.documents.comparison import ItemCounts, SystemComparison
from schemas.errors import UsageError
from schemas.tables.layers import AGGREGATED
from schemas.tables.scores import DimensionScores
from tasks.compare.runs import compare_runs
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.rows import each_row
from tests.tasks.rows import frame, item
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.runs import keep_run
from tests.tasks.scoring.samples import ability, blueprint, items, task

DESIGN = blueprint(ability("a", task("d")))
RATED: dict[str, Any] = {"dataset": "d", "rubric": "r", "dimension": "warmth", "judge": "j", "scale_min": 1}
RATED |= dict.fromkeys(("n_answers", "n_total", "n_clusters"), 2)


def leave(
    folder: Path, run: str, *settings: str, values: tuple[float, ...] = (1, 0), asked: tuple[str, ...] = (), **fields: Any
) -> None:
    """Leave a run of dataset d: the question of each item, and the mean of its warmth on a scale up to `best`."""
    model, mean, best = (fields.get(name) for name in ("model", "mean", "best"))
    scores = [items("d", values, model or "m", setting=setting) for setting in settings]
    questions = asked or ("What fits?",) * len(values)
    rows = [item(f"d-{n}", "counselor_reply", dataset="d", question=question) for n, question in enumerate(questions)]
    layers: dict[str, Any] = {"items": asked_items(*rows)}
    scored = score_benchmark(pl.concat(scores).lazy(), DESIGN, ScoreSettings())
    layers |= {name: scored.layer(name) for name in AGGREGATED}
    if mean:
        spec = {"model": model or "m", "setting": settings[0], "mean": mean, "scale_max": best}
        layers["dimension_scores"] = frame(DimensionScores, (RATED | spec,))
    layers["item_scores"] = scores[0]
    place = {"benchmark": "tiny", "dataset": "d", "model": model or "m", "setting": settings[0]}
    plan = {"benchmark": "tiny", "models": [{"name": model or "m", "base_url": "http://x/v1"}], "settings": list(settings)}
    keep_run(folder, run, layers, place, benchmark="tiny", plan=plan, blueprint=DESIGN.model_dump(mode="json"))


def pair(folder: Path) -> SystemComparison:
    (model,) = compare_runs(folder, ("old", "new"), 0).models
    return model


def test_items_of_one_run_alone_are_counted_apart(tmp_path: Path) -> None:
    leave(tmp_path, "old", "base", values=(1, 0, 0))
    leave(tmp_path, "new", "base", values=(1, 1))
    counts = ItemCounts(dataset="d", common=2, only_before=("d-2",), only_after=(), changed=())
    assert pair(tmp_path).items == (counts,)


def test_an_item_with_another_question_is_not_common(tmp_path: Path) -> None:
    leave(tmp_path, "old", "base", values=(1, 0), asked=("What fits?", "Which?"))
    leave(tmp_path, "new", "base", values=(1, 1))
    found = pair(tmp_path)
    assert found.items == (ItemCounts(dataset="d", common=1, only_before=(), only_after=(), changed=("d-1",)),)
    # Of the common item 0 both runs have 1; over all of its own items the first has a half.
    assert [(row.before, row.after) for row in found.common if row.kind == "total"] == [(100, 100)]
    assert [(row.before, row.after, row.difference) for row in found.stored] == [(50, 100, 50), (50, 100, 50)]


@each_row(("best", "difference"), [(5, 0.5), (10, None)])
def test_means_on_other_scales_have_no_difference(tmp_path: Path, best: int, difference: float | None) -> None:
    folder = tmp_path / str(best)
    leave(folder, "old", "base", mean=3.0, best=5)
    leave(folder, "new", "base", mean=3.5, best=best)
    (row,) = pair(folder).dimension_scores
    assert row.before
    assert row.after
    assert (row.before.mean, row.after.mean, row.difference) == (3.0, 3.5, difference)


def test_two_models_pair_if_each_run_has_one(tmp_path: Path) -> None:
    leave(tmp_path, "old", "base")
    leave(tmp_path, "new", "rag", model="other")
    found = pair(tmp_path)
    assert (found.before.model, found.after.model) == ("m", "other")
    leave(tmp_path, "newer", "rag", "coem", model="other")
    with pytest.raises(UsageError, match="the two runs share no model and setting"):
        compare_runs(tmp_path, ("old", "newer"), 0)
