"""Scores of items that fulfil a condition, over values worked out by hand."""

from dataclasses import replace

import polars as pl
import pytest

from schemas.documents.explanation import ScoreBySide, SideScore
from schemas.errors import UsageError
from schemas.tables.scores import ItemScores
from tasks.benchmarks.attunebench.conversation import ConversationAnnotations
from tasks.explain.subsets import item_columns, score_sides, split_items
from tests.rows import each_row
from tests.tasks.explain.test_groups import DATA, in_groups
from tests.tasks.explain.test_groups import scored as scored_item
from tests.tasks.rows import frame, item, items, judgements

GROUPS = {
    **{name: in_groups(age="old") for name in "abcde"},
    **{name: in_groups(age="young", diagnoses="ADHD, autism") for name in "fghij"},
    "k": in_groups(age="young"),
}
ITEMS = items(*(item(name, "counselor_reply", groups=groups) for name, groups in GROUPS.items()))
VALUES = dict(zip("abcdefghijk", (0, 0, 1, 1, 0.5, 1, 1, 1, 1, None, 0), strict=True))
SCORES = frame(ItemScores, tuple(scored_item(name, value) for name, value in VALUES.items()))
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
