"""Chinese and English of one task, worked out by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.benchmarks.moodbench.languages import ALL, lay_out_languages, read_languages, subtract_scores
from tasks.runs.run_tables import ReportData
from tasks.text.tables import as_cell, to_csv
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import item
from tests.tasks.rows import items as asked
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, task

IRONY = "mini_irony_detection"
DESIGN = blueprint(
    ability(
        "a",
        task("match", "low", ["lcqmc", "qqp"]),
        task("irony", "high", [IRONY]),
        task("news", "low", ["ag_news"]),
    ),
    ability("b", task("own")),
)
SPOKEN = {
    "lcqmc": [("zh", 1.0), ("zh", 1.0), ("zh", 1.0), ("zh", 0.0)],
    "qqp": [("en", 1.0), ("en", 0.0)],
    IRONY: [("zh", 1.0), ("zh", 0.0), ("en", 1.0), ("en", 1.0), ("en", None)],
    "ag_news": [("en", 1.0), ("en", 1.0)],
    "own": [("zh", 1.0), ("en", 0.0)],  # no dataset of the benchmark
}


def score(value: float | None, n: int) -> dict[str, Any]:
    return {"score": value, "ci_low": None, "ci_high": None, "n": n}


@pytest.fixture
def rows(tmp_path: Path) -> tuple[dict[str, Any], ...]:
    texts = [
        item(f"{name}-{number}", "single_choice", dataset=name, language=language, options=["a", "b"], gold_indices=[0])
        for name, of_dataset in SPOKEN.items()
        for number, (language, _) in enumerate(of_dataset)
    ]
    scores = pl.concat([items(name, [value for _, value in of_dataset]) for name, of_dataset in SPOKEN.items()])
    return read_languages(run_of(tmp_path, DESIGN, {"items": asked(*texts), "item_scores": scores}, {}, bootstrap=0))


def test_languages_of_each_task_and_their_mean(rows: tuple[dict[str, Any], ...]) -> None:
    system, none = {"model": "m", "setting": "base"}, {"ci_low": None, "ci_high": None}
    assert rows == (
        # (75 + 50) / 2 and (50 + 100) / 2; the level of a task counts for nothing.
        {**system, "task": ALL, "zh": score(62.5, 6), "en": score(75, 4), "difference": -12.5, **none, "shared": []},
        {**system, "task": "task_match", "zh": score(75, 4), "en": score(50, 2), "difference": 25, **none, "shared": []},
        {**system, "task": "task_irony", "zh": score(50, 2), "en": score(100, 2), "difference": -50, **none, "shared": [IRONY]},
    )


def test_report_shows_mean_and_tasks(rows: tuple[dict[str, Any], ...]) -> None:
    summary, of_model = lay_out_languages(ReportData(bare_manifest("r"), DESIGN), rows)
    # Two datasets has the first of four tasks alone.
    assert summary.words.endswith("They are 2 tasks of 4; of all, 3 have fewer than the 2 datasets that the paper aims at.")
    assert to_csv(summary.tables[0]).splitlines()[1].startswith("m,62.5")
    assert [as_cell(row[-1]).value for row in of_model.tables[0].rows] == [None, "measured"]


def test_difference_has_the_interval_of_both() -> None:
    chinese = {"score": 60, "ci_low": 57, "ci_high": 65}
    english = {"score": 40, "ci_low": 28, "ci_high": 44}
    # Down 3 and 4, so 5; up 5 and 12, so 13.
    assert subtract_scores(chinese, english) == {"difference": 20, "ci_low": 15, "ci_high": 33}
    unknown: dict[str, Any] = {"difference": 20, "ci_low": None, "ci_high": None}
    assert subtract_scores(chinese, {**english, "ci_low": None}) == unknown
    assert subtract_scores(chinese, {**english, "score": None}) == {**unknown, "difference": None}
