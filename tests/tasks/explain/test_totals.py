"""Which part of a score is looked at next: the one that takes most from it, by weight."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from schemas.lineage import Missing
from tasks.explain.selection import Selection, find_place
from tasks.explain.totals import place_document
from tasks.runs.run_tables import Row
from tests.rows import each_row
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

DESIGN = blueprint(
    ability("able", task("d"), weight=0.3),
    ability("kind", task("e", datasets=("e", "f"), f=3.0), weight=0.7),
)


def explained(folder: Path, hits: dict[str, int], missing: tuple[Missing, ...] = (), **wanted: Any) -> Row:
    """The document of a run with so many of 5 items right by dataset."""
    scores = pl.concat([items(dataset, share(right, 5)) for dataset, right in hits.items()])
    run = run_of(folder, DESIGN, {"item_scores": scores}, {})
    run = replace(run, manifest=run.manifest.model_copy(update={"missing": missing}))
    selection = Selection(**wanted)
    return place_document(run, run.systems, selection, find_place(DESIGN, selection))


@each_row(
    ("hits", "wanted", "expected"),
    [
        # able 20, kind 60: 0.3 x 80 = 24 and 0.7 x 40 = 28 are lost, though able is lower.
        ({"d": 1, "e": 3, "f": 3}, {}, "--ability kind"),
        # 0.3 x 100 = 30 and 28.
        ({"d": 0, "e": 3, "f": 3}, {}, "--ability able"),
        # What has no score has no share to lose.
        ({"e": 4, "f": 4}, {}, "--ability kind"),
        ({"d": 1, "e": 0, "f": 4}, {"ability": "kind"}, "--task task_e"),
        # e 0, f 80, weighed 1 to 3: 0.25 x 100 = 25 and 0.75 x 20 = 15.
        ({"d": 1, "e": 0, "f": 4}, {"task": "task_e"}, "--dataset e"),
        # e 20, f 60: 0.25 x 80 = 20 and 0.75 x 40 = 30.
        ({"d": 1, "e": 1, "f": 3}, {"task": "task_e", "model": "m"}, "--dataset f --model=m"),
        # Nothing is below a dataset but its rows.
        ({"d": 1, "e": 0, "f": 4}, {"dataset": "e"}, None),
    ],
)
def test_what_takes_most_is_next(hits: dict[str, int], wanted: dict[str, Any], expected: str | None, tmp_path: Path) -> None:
    step = explained(tmp_path / str(len(list(tmp_path.iterdir()))), hits, **wanted)["next"]
    assert (step and step[step.index("--") : step.index(" --lake")]) == expected


def test_the_way_from_the_total_is_told(tmp_path: Path) -> None:
    document = explained(tmp_path, {"d": 1, "e": 3, "f": 3}, dataset="f")
    above = [(step["kind"], step["id"]) for step in document["above"]]
    assert above == [("total", "tiny"), ("ability", "kind"), ("task", "task_e")]
    assert [document[name] for name in ("kind", "id", "level", "adds_up")] == ["dataset", "f", "dataset", True]
    assert document["models"][0]["part"]["score"] == 60


def test_missing_is_what_the_systems_lack_below(tmp_path: Path) -> None:
    gaps = [("d", None, None), ("d", "m", "base"), ("d", "m", "rag"), ("d", "other", "base"), ("e", "m", "base")]
    missing = tuple(
        Missing(dataset=dataset, model=model, setting=setting, reason="gone", next_step="-") for dataset, model, setting in gaps
    )
    document = explained(tmp_path, {"d": 1, "e": 3, "f": 3}, missing, ability="able")
    assert [(gap["dataset"], gap["model"], gap["setting"]) for gap in document["missing"]] == gaps[:2]
