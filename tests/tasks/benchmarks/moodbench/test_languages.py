"""Chinese and English of one task, worked out by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats

from tasks.benchmarks.moodbench.languages import ALL, lay_out_languages, read_languages
from tasks.runs.run_tables import ReportData
from tasks.text.tables import to_csv
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
Spoken = dict[str, list[tuple[str, float | None]]]
SPOKEN: Spoken = {
    "lcqmc": [("zh", 1.0), ("zh", 1.0), ("zh", 1.0), ("zh", 0.0)],
    "qqp": [("en", 1.0), ("en", 0.0)],
    IRONY: [("zh", 1.0), ("zh", 0.0), ("en", 1.0), ("en", 1.0), ("en", None)],
    "ag_news": [("en", 1.0), ("en", 1.0)],
    "own": [("zh", 1.0), ("en", 0.0)],  # no dataset of the benchmark
}


def read(folder: Path, answers: Spoken) -> tuple[dict[str, Any], ...]:
    texts = [
        item(f"{name}-{number}", "single_choice", dataset=name, language=language, options=["a", "b"], gold_indices=[0])
        for name, of_dataset in answers.items()
        for number, (language, _) in enumerate(of_dataset)
    ]
    scores = pl.concat([items(name, [value for _, value in of_dataset]) for name, of_dataset in answers.items()])
    return read_languages(run_of(folder, DESIGN, {"items": asked(*texts), "item_scores": scores}, {}, bootstrap=0))


@pytest.fixture
def rows(tmp_path: Path) -> tuple[dict[str, Any], ...]:
    return read(tmp_path, SPOKEN)


def test_languages_of_each_task_and_their_mean(rows: tuple[dict[str, Any], ...]) -> None:
    names = ("task", "score_zh", "n_zh", "score_en", "n_en", "difference", "shared", "tasks")
    assert [tuple(row[name] for name in names) for row in rows] == [
        # (75 + 50) / 2 and (50 + 100) / 2; the level of a task counts for nothing.
        (ALL, 62.5, 6, 75, 4, -12.5, [], 2),
        ("task_irony", 50, 2, 100, 2, -50, [IRONY], 1),
        ("task_match", 75, 4, 50, 2, 25, [], 1),
    ]
    assert {(row["model"], row["setting"]) for row in rows} == {("m", "base")}
    # Fewer than five clusters in the tasks.
    assert {(row["ci_low"], row["ci_high"]) for row in rows if row["task"] != ALL} == {(None, None)}


def test_mean_is_of_tasks_scored_in_both(tmp_path: Path) -> None:
    irony: Spoken = {IRONY: [("zh", 1.0), ("en", 1.0)]}
    # Nothing of lcqmc could be scored, so that match, 50 in English, has no Chinese score.
    unscored: Spoken = SPOKEN | {"lcqmc": [("zh", None)] * 4}
    names = ("score_zh", "score_en", "difference", "tasks")
    assert [read(tmp_path / "one", unscored | irony)[0][name] for name in names] == [100, 100, 0, 1]
    none: Spoken = {IRONY: [("zh", 1.0), ("en", None)]}
    assert [read(tmp_path / "none", unscored | none)[0][name] for name in names] == [None, None, None, 0]


def test_report_shows_mean_and_tasks(rows: tuple[dict[str, Any], ...]) -> None:
    means, of_tasks = lay_out_languages(ReportData(bare_manifest("r"), DESIGN), rows)
    # Two datasets has the first of four tasks alone.
    assert means.words.endswith("They are 2 tasks of 4; of all, 3 have fewer than the 2 datasets that the paper aims at.")
    assert to_csv(means.tables[0]).splitlines() == ["Model,Tasks,Chinese,English,Difference", "m,2,62.5,75.0,-12.5"]
    assert to_csv(of_tasks.tables[0]).splitlines()[1:] == ["m,irony,50.0,100.0,-50.0,measured", "m,match,75.0,50.0,25.0,"]


RIGHT, WRONG = 1.0, 0.0


def difference(folder: Path, answers: Spoken) -> tuple[float, float, float]:
    """The difference of the one task, and its limits, as shares."""
    row = next(row for row in read(folder, answers) if row["task"] != ALL)
    return row["difference"] / 100, row["ci_low"] / 100, row["ci_high"] / 100


def test_languages_of_two_datasets_differ_by_welchs_test(tmp_path: Path) -> None:
    chinese, english = [RIGHT] * 13 + [WRONG] * 5, [RIGHT] * 4 + [WRONG] * 10
    found = difference(tmp_path, {"lcqmc": [("zh", value) for value in chinese], "qqp": [("en", value) for value in english]})
    welch = stats.ttest_ind(chinese, english, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx((13 / 18 - 4 / 14, welch.low, welch.high))


def test_an_unscored_language_leaves_no_difference(tmp_path: Path) -> None:
    (mean, row) = read(tmp_path, {"lcqmc": [("zh", RIGHT)] * 8, "qqp": [("en", None)] * 8})
    assert [(each["difference"], each["ci_low"], each["ci_high"]) for each in (mean, row)] == [(None, None, None)] * 2
    assert (row["score_zh"], row["score_en"]) == (100, None)
