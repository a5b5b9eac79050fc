"""Scores by the groups that items are in, over values worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.blueprint import MetricSpec
from schemas.tables.scores import ItemScores
from tasks.explain.groups import ALL, score_groups
from tasks.reporting.content.score_tables import describe_groups
from tasks.runs.run_tables import ReportData
from tasks.text.tables import as_cell
from tests.tasks.reporting.example_run import manifest
from tests.tasks.rows import SYSTEM, Row, frame, item, items, judgement, judgements
from tests.tasks.scoring.samples import ability, blueprint, measured, task

SCALE = {"rubric": "r", "lowest": 0, "highest": 4}
JUDGED = measured(MetricSpec(metric="judged_rating"), method="judge", judged=True, rubric="r")
BLUEPRINT = blueprint(ability("main", task("own", "high")), datasets={"own": JUDGED})


def in_groups(**groups: str) -> list[Row]:
    return [{"name": name, "value": value} for name, value in groups.items()]


def scored(name: str, value: float | None) -> Row:
    ended = {"value": value, "status": "judge_failed" if value is None else "scored"}
    return {**SYSTEM, "item_id": name, "part": "", "cluster": name, "method": "judge", "metric": "judged_rating", **ended}


# Of a, b and c a judge gave warmth and asks 4 and 2, 1 and 1, 3 and 3, of d nothing that can be read.
GIVEN = {"a": (4, 2), "b": (1, 1), "c": (3, 3), "d": (None, None)}
DATA = ReportData(
    manifest(plan={"seed": 0, "bootstrap": 400, "roles": {"judge": {"name": "j"}}, "models": [{"name": "m"}]}),
    BLUEPRINT,
    items=items(
        item("a", "counselor_reply", groups=in_groups(age="old", gender="female")),
        item("b", "counselor_reply", groups=in_groups(age="old", gender="male")),
        item("c", "counselor_reply", groups=in_groups(age="young", gender="female")),
        item("d", "counselor_reply", groups=in_groups(age="young")),
    ),
    item_scores=frame(
        ItemScores,
        tuple(scored(name, None if one is None or two is None else (one + two) / 8) for name, (one, two) in GIVEN.items()),
    ),
    judgements=judgements(
        *(
            judgement(name, dimension, rating, judge=judge, **SCALE)
            for judge, less in (("j", 0), ("other", 1))
            for name, ratings in GIVEN.items()
            for dimension, rating in zip(("warmth", "asks"), (each and each - less for each in ratings), strict=True)
        )
    ),
)


def found(*columns: str) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    rows = score_groups(DATA)
    return {(row["group"], row["value"], row["measure"]): tuple(row[name] for name in columns) for row in rows}


def test_every_value_of_a_group_has_its_mean() -> None:
    means = found("score", "n", "n_total")
    keys = [(ALL, ALL), ("age", "old"), ("age", "young"), ("gender", "female"), ("gender", "male")]
    counts = [(3, 4), (2, 2), (1, 2), (2, 2), (1, 1)]
    expected = {
        # Of a (4 + 2) / 8 = 0.75, of b 0.25, of c 0.75: together 58.33; of the old 50, of the young c alone, d having no rating.
        "judged_rating": [pytest.approx(175 / 3), 50, 75, 75, 25],
        # 4, 1, 3 of 4, by the judge that counts alone: 8 / 12, (4 + 1) / 8, 3 / 4, (4 + 3) / 8, 1 / 4.
        "warmth": [pytest.approx(200 / 3), 62.5, 75, 87.5, 25],
    }
    for measure, scores in expected.items():
        assert [means[*key, measure] for key in keys] == [(score, *n) for score, n in zip(scores, counts, strict=True)]


def test_intervals_draw_clusters_and_one_item_has_none() -> None:
    limits = found("ci_low", "ci_high")
    # The old are a (75) and b (25): each draw of them lies between, and often is one alone.
    assert limits["age", "old", "judged_rating"] == (25.0, 75.0)
    assert limits["age", "old", "warmth"] == (25.0, 100.0)
    assert limits["gender", "female", "judged_rating"] == (75.0, 75.0)
    assert limits["age", "young", "judged_rating"] == limits["gender", "male", "asks"] == (None, None)


def test_report_has_rows_of_values() -> None:
    (table,) = describe_groups(DATA)
    assert table.title == "measured: m"
    assert [column.title for column in table.columns] == ["Group", "Value", "judged rating", "asks", "warmth"]
    values = [(ALL, ALL), ("age", "old"), ("age", "young"), ("gender", "female"), ("gender", "male")]
    assert [tuple(row[:2]) for row in table.rows] == values
    # Asks 2 and 1 of 4: 37.5.
    assert [as_cell(value).value for value in table.rows[1][2:]] == [50.0, 37.5, 62.5]


def test_items_without_groups_or_ratings_are_left_out() -> None:
    without = items(*(item(name, "counselor_reply") for name in GIVEN))
    assert score_groups(replace(DATA, items=without)) == []
    assert {row["measure"] for row in score_groups(replace(DATA, judgements=judgements()))} == {"judged_rating"}
