"""Score layers as rows: every expected row is written out."""

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import Missing
from tasks.analysis.baselines import Baselines, ConstantAnswer, MajorityLabel
from tasks.analysis.published_tables import PublishedRange
from tasks.analysis.run_tables import System
from tasks.reporting.content.caveats import find_missing_scores
from tasks.reporting.content.tables import (
    AbilityRow,
    LevelCell,
    LevelRow,
    RawRow,
    TaskRow,
    ability_rows,
    level_rows,
    raw_rows,
    task_rows,
)
from tests.tasks.reporting.example_run import ALPHA, BETA, BLUEPRINT, GAMMA, PLAN, example_data, manifest

LOST = "its data is not published"


def test_abilities_with_their_published_range() -> None:
    data = example_data()
    # Published: values_safety 95, 90, 40; emotional 70, 20, 10. alpha has 100 and 25, so it is above 3 and 2 of them.
    assert ability_rows(data, ALPHA, find_missing_scores(data)) == (
        AbilityRow("values_safety", "Values & Safety", True, 100.0, 1, 1, None, PublishedRange(3, 40.0, 90.0, 95.0, 3)),
        AbilityRow("emotional", "Emotional Ability", False, 25.0, 2, 3, None, PublishedRange(3, 10.0, 20.0, 70.0, 2)),
        AbilityRow("supporting", "Supporting Ability", False, None, 0, 0, "not evaluated in this version", None),
    )


def test_an_ability_without_score_says_why_and_is_above_nobody() -> None:
    data = example_data()
    row = ability_rows(data, GAMMA, find_missing_scores(data))[1]
    assert row.score is None
    assert row.published == PublishedRange(3, 10.0, 20.0, 70.0, None)
    assert row.reason == "nothing scored: 4 failed calls (mood); its data is not published (lost); no replies in this run (tale)"


def test_levels_distinguish_no_tasks_from_no_score() -> None:
    data = example_data()
    assert level_rows(data, BETA, find_missing_scores(data)) == (
        LevelRow(
            "values_safety",
            "Values & Safety",
            "Values & Safety",
            (
                LevelCell(0.0, 1, 1, None),
                LevelCell(None, 0, 0, "no tasks at this level"),
                LevelCell(None, 0, 0, "no tasks at this level"),
            ),
            0.0,
            1,
            1,
        ),
        LevelRow(
            "recognition",
            "Emotional Ability",
            "Emotion Recognition",
            (
                LevelCell(100.0, 1, 2, None),
                LevelCell(None, 0, 1, "nothing scored: 1 judge failure"),
                LevelCell(None, 0, 0, "no tasks at this level"),
            ),
            100.0,
            1,
            3,
        ),
    )


def test_tasks_in_the_order_of_the_blueprint() -> None:
    data = example_data()
    assert task_rows(data, ALPHA, find_missing_scores(data)) == (
        TaskRow("kindness", "Kindness", "Values & Safety", "low", 100.0, 1, 1, 1, 1, None),
        TaskRow("moods", "Moods", "Emotional Ability › Emotion Recognition", "low", 25.0, 1, 2, 4, 4, LOST),
        TaskRow("tales", "Tales", "Emotional Ability › Emotion Recognition", "medium", 25.0, 1, 1, 1, 1, None),
    )


def test_raw_scores_with_the_constant_answer() -> None:
    data = example_data()
    kind, mood, lost, tale = raw_rows(data, ALPHA, find_missing_scores(data))
    # The interval 0.1 to 0.6 of a ratio is 50 points wide.
    assert mood == RawRow(
        dataset="mood",
        title="Mood",
        task="moods",
        task_title="Moods",
        method="choice",
        metric="accuracy",
        metric_label="accuracy",
        value=0.25,
        ci_low=0.1,
        ci_high=0.6,
        spread_0_100=50.0,
        normalized_0_100=25.0,
        n_scored=4,
        n_unparsed=1,
        n_total=4,
        # B is right in 3 of 4 items, always as "angry".
        baselines=Baselines(ConstantAnswer("B", 0.75), MajorityLabel("angry", 0.75)),
        path="Emotional Ability › Emotion Recognition",
        reason=None,
    )
    assert (kind.constant, kind.spread_0_100) == (ConstantAnswer("A", 1.0), None)
    assert (lost.value, lost.normalized_0_100, lost.n_total, lost.reason) == (None, None, 0, LOST)
    assert (tale.method, tale.constant) == ("judge", None)


def test_spread_follows_the_theoretical_bounds() -> None:
    fields = BLUEPRINT.model_dump(mode="json")
    fields["datasets"]["mood"]["methods"][0]["metrics"][0]["normalisation"] = {"type": "numeric", "min": 0, "max": 2}
    fields["datasets"]["tale"]["methods"][0]["metrics"][0]["normalisation"] = {"type": "none"}
    data = example_data(blueprint=Blueprint.model_validate(fields))
    _, mood, _, tale = raw_rows(data, ALPHA, find_missing_scores(data))
    # 100 x (0.6 - 0.1) / (2 - 0) and 0.3 - 0.2.
    assert mood.spread_0_100 == 25.0
    assert tale.spread_0_100 is not None
    assert round(tale.spread_0_100, 9) == 0.1


def test_the_most_specific_reason_wins() -> None:
    missing = (
        Missing(dataset="lost", reason="general", next_step="x"),
        Missing(dataset="lost", reason="of beta", next_step="x", model="beta"),
        Missing(dataset="lost", reason="of beta in base", next_step="x", model="beta", setting="base"),
        Missing(dataset="lost", reason="of beta in rag", next_step="x", model="beta", setting="rag"),
    )
    gaps = find_missing_scores(example_data(manifest=manifest(missing=missing)))
    assert [gaps.reason(system, "lost") for system in (ALPHA, BETA)] == ["general", "of beta in base"]


def test_datasets_left_out_by_the_plan_are_not_called_lost() -> None:
    gaps = find_missing_scores(example_data(manifest=manifest(missing=(), plan=PLAN | {"datasets": ["mood"]})))
    assert gaps.reason(ALPHA, "lost") == "not selected for this run"
    assert gaps.reason(System("nobody", "base"), "mood") == "no replies in this run"


def test_rows_without_a_published_table() -> None:
    data = example_data(published=pl.DataFrame())
    assert [row.published for row in ability_rows(data, ALPHA, find_missing_scores(data))] == [None, None, None]
