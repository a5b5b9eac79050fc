"""Scores by the groups that items are in, and of those that fulfil a condition, over values worked out by hand."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MetricSpec
from schemas.documents.explanation import ScoreBySide, SideScore
from schemas.errors import UsageError
from schemas.tables.scores import ItemScores
from tasks.benchmarks.attunebench.conversation import ConversationAnnotations
from tasks.explain.groups import ALL, item_columns, score_groups, score_sides, split_items
from tasks.reporting.content.score_tables import lay_out_groups
from tasks.runs.run_tables import ReportData
from tasks.text.tables import as_cell
from tests.rows import each_row
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


def test_intervals_are_of_clusters_and_one_item_has_none() -> None:
    limits = found("ci_low", "ci_high")
    # The old are a (75) and b (25): 50, the error 25, n = 0.25 / 0.0625 = 4; t^2 of 1 degree is 161.447638, t^2 / n = 40.361909:
    # 0.5 -+ sqrt(0.25 x 40.361909 + 20.180955^2) / 41.361909.
    assert limits["age", "old", "judged_rating"] == pytest.approx((0.6082, 99.3918), abs=1e-4)
    # Of the females both are alike: 0.75 x (1 - u) and 1 - 0.25 x (1 - u), u = 161.447638 / 163.447638.
    assert limits["gender", "female", "judged_rating"] == pytest.approx((0.9177, 99.6941), abs=1e-4)
    assert limits["age", "young", "judged_rating"] == limits["gender", "male", "asks"] == (None, None)


def test_report_has_rows_of_values() -> None:
    _, block = lay_out_groups(DATA)
    (table,) = block.tables
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


GROUPS = {
    **{name: in_groups(age="old") for name in "abcde"},
    **{name: in_groups(age="young", diagnoses="ADHD, autism") for name in "fghij"},
    "k": in_groups(age="young"),
}
ITEMS = items(*(item(name, "counselor_reply", groups=groups) for name, groups in GROUPS.items()))
VALUES = dict(zip("abcdefghijk", (0, 0, 1, 1, 0.5, 1, 1, 1, 1, None, 0), strict=True))
SCORES = frame(ItemScores, tuple(scored(name, value) for name, value in VALUES.items()))
RUN = replace(DATA, items=ITEMS, item_scores=SCORES, judgements=judgements())
NO_ANNOTATIONS = ConversationAnnotations.create_empty()


def compared(where: str) -> dict[str, ScoreBySide]:
    (rows,) = score_sides(RUN, split_items(item_columns(ITEMS, NO_ANNOTATIONS), where)).values()
    return {row.measure: row for row in rows}


def sides(where: str, annotations: pl.DataFrame = NO_ANNOTATIONS) -> list[str | None]:
    return split_items(item_columns(ITEMS, annotations), where).sort("item_id")["side"].to_list()


def test_each_side_has_its_own_mean_and_total() -> None:
    found = compared("age = 'old'")
    side = found["judged_rating"].subset
    # 0, 0, 1, 1 and 0.5; the others four times 1, 0, and one without a value
    assert (side.score, side.n) == (50, 5)
    assert (found["judged_rating"].complement.score, found["judged_rating"].complement.n) == (80, 5)
    assert (side.ci_low or 0) < 50 < (side.ci_high or 0)
    assert (found["total"].subset.score, found["total"].complement.score) == (50, 80)


def test_a_small_side_alone_is_suppressed() -> None:
    found = compared("item_id IN ('a', 'b', 'c', 'd')")["judged_rating"]
    assert found.subset == SideScore(n=4, suppressed=True)
    # 0.5, four times 1, and 0
    assert found.complement.score == pytest.approx(450 / 6)
    assert not found.complement.suppressed
    assert compared("age = 'nobody'")["judged_rating"].subset.n == 0


def test_five_scored_items_are_the_fewest_shown() -> None:
    # Of f to j, j has no value: five items and four values.
    for names, n, suppressed in (("fghij", 4, True), ("abcde", 5, False)):
        found = compared(f"item_id IN ({str(list(names))[1:-1]})")
        assert [(row.subset.n, row.subset.suppressed) for row in found.values()] == [(n, suppressed)] * 2


def test_four_items_asked_twice_are_still_four() -> None:
    twice = pl.concat([SCORES, SCORES.with_columns(repetition=pl.lit(1, pl.Int64))])
    sides = split_items(item_columns(ITEMS, NO_ANNOTATIONS), "item_id IN ('a', 'b', 'c', 'd')")
    (rows,) = score_sides(replace(RUN, item_scores=ItemScores.validate(twice)), sides).values()
    found = [(row.measure, row.subset.n, row.subset.suppressed) for row in rows]
    assert found == [("total", 8, True), ("judged_rating", 8, True)]
    assert [row.complement.suppressed for row in rows] == [False, False]


def test_what_cannot_be_told_is_on_neither_side() -> None:
    assert sides("diagnoses LIKE '%ADHD%'") == [None] * 5 + ["subset"] * 5 + [None]
    assert sides("diagnoses IS NULL AND age = 'young'") == ["complement"] * 10 + ["subset"]


def annotated(*groups: dict[str, str]) -> pl.DataFrame:
    """Annotations of the first items."""
    named = pl.Series([in_groups(**group) for group in groups])
    return ITEMS.head(len(groups)).select("dataset", "item_id").with_columns(groups=named)


def test_scores_of_questionnaires_are_numbers_or_text() -> None:
    numbers = annotated({"age": "old", "who_5": "9"}, {"who_5": "10"})
    assert sides("who_5 < 9.5 AND age = 'old'", numbers) == ["subset", "complement", *[None] * 3, *["complement"] * 6]
    texts = annotated({"mbti": "INFJ", "who_5": "9"}, {"mbti": "4", "who_5": "10"})
    assert sides("mbti = 'INFJ' AND who_5 < 10", texts) == ["subset", "complement", *[None] * 9]


@each_row(
    ("where", "same"),
    [
        ("AGE = 'old' or age = 'young' and item_id > 'i'", "age = 'old' OR (age = 'young' AND item_id > 'i')"),
        ("age <> 'old'", "NOT age = 'old'"),
        ("item_id NOT IN ('a', 'b')", "item_id >= 'c'"),
        ("diagnoses NOT LIKE 'ADHD%'", "diagnoses != 'ADHD, autism'"),
        ("diagnoses LIKE 'A_H_, %'", "diagnoses IS NOT NULL OR diagnoses = 'x'"),
        ("\"age\" = 'old'", "age LIKE 'o%d'"),
        ("language = 'fr' OR 2 > 1.5", "1 = 1"),
        ("age = 'it''s' OR NOT (NOT 1 = -1)", "1 = 2"),
    ],
)
def test_conditions_that_mean_the_same(where: str, same: str) -> None:
    assert sides(where.replace("AGE", "age")) == sides(same)


COLUMNS = "dataset, item_id, language, question_type, subset, age, diagnoses"
LANGUAGE = f"AND, IN, IS, LIKE, NOT, NULL, OR, numbers, texts in single quotes, the columns {COLUMNS}"
BOUND = "at most 1,000 characters and 20 brackets"


@each_row(
    ("where", "place", "expected", "got"),
    [
        ("nope = 1", 1, LANGUAGE, "nope"),
        ("read_csv('/etc/passwd') = 1", 1, LANGUAGE, "read_csv"),
        ("upper(age) = 'OLD'", 1, LANGUAGE, "upper"),
        ("age (1) = 'OLD'", 1, LANGUAGE, "age"),
        ("age IN (SELECT 1)", 9, LANGUAGE, "SELECT"),
        ("age = 'old'; DROP", 12, LANGUAGE, ";"),
        ("age = 'old' -- all", 13, LANGUAGE, "-"),
        ("age = 'old", 7, LANGUAGE, "'"),
        ("age = \u2019old\u2019", 7, LANGUAGE, "\u2019"),
        ("1" * 16 + " = 1", 1, LANGUAGE, "1"),
        ("age = NULL", 7, "IS before NULL", "NULL"),
        ("age IN ('old', NULL)", 16, "IS before NULL", "NULL"),
        ("3 > 2 > 1", 7, "AND or OR between comparisons", ">"),
        ("age = 'old' IS NULL", 13, "AND or OR between comparisons", "IS"),
        (f"age = '{'x' * 1000}'", 1, BOUND, f"age = '{'x' * 73}"),
        ("(" * 21, 1, BOUND, "(" * 21),
    ],
)
def test_a_condition_of_another_form_is_told_where(where: str, place: int, expected: str, got: str) -> None:
    with pytest.raises(UsageError, match="the condition cannot be read") as caught:
        sides(where)
    assert (caught.value.where, caught.value.expected, caught.value.got) == (f"--where, character {place}", expected, got)


KINDS, JOINED = "numbers compared with numbers, texts in single quotes with texts", "comparisons joined by AND and OR"
BROKEN = ["", "age =", "(age = 'old'", "age = 'old' age", "age NOT 'old'", "()", "age LIKE 5", "NOT " * 248 + "1 = 1"]


@each_row(
    ("where", "expected"),
    [*((where, KINDS) for where in ("age", "age < 3", "age IN (1)")), *((where, JOINED) for where in BROKEN)],
)
def test_what_is_no_condition_is_refused(where: str, expected: str) -> None:
    with pytest.raises(UsageError, match="the condition cannot be read") as caught:
        sides(where)
    assert caught.value.expected == expected


def test_the_deepest_condition_is_read() -> None:
    assert set(sides("(NOT " * 20 + "1 = 1" + ")" * 20)) == {"subset"}
