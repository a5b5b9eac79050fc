"""Whose failures left values missing."""

import polars as pl

from schemas.tables.responses import Answers
from tasks.runs.failures import find_failures, find_lost

ASKED = {"dataset": "d", "model": "m", "setting": "s", "repetition": 0}


def answers(*failed: tuple[str, str, str | None]) -> pl.DataFrame:
    """Item, part and whose call failed, perhaps with the kind of failure behind a slash."""
    rows = [
        {
            **ASKED,
            "item_id": item,
            "part": part,
            "failed_role": role and role.split("/")[0],
            "failure": role and role.split("/")[-1],
        }
        for item, part, role in failed
    ]
    return pl.DataFrame(rows, schema_overrides={"failed_role": pl.String, "failure": pl.String}).cast({"repetition": pl.Int64})


def scores(*told: tuple[str, str, str, str]) -> pl.DataFrame:
    """Item, part, metric and status."""
    rows = [
        {**ASKED, "item_id": item, "part": part, "cluster": item, "method": "x", "metric": metric, "status": status}
        for item, part, metric, status in told
    ]
    return pl.DataFrame(rows).with_columns(value=pl.when(pl.col("status") == "scored").then(1.0))


def blamed(frame: pl.DataFrame) -> list[tuple[str, str, str]]:
    return sorted(frame.select("item_id", "metric", "failed_role").rows())


def test_a_missing_value_is_charged_to_whose_call_failed() -> None:
    found = find_failures(
        scores(
            ("1", "", "accuracy", "call_failed"),
            ("2", "", "accuracy", "call_failed"),
            ("3", "", "accuracy", "judge_failed"),
            ("4", "", "accuracy", "scored"),
            ("5", "", "accuracy", "not_counted"),
            ("6", "", "accuracy", "call_failed"),
        ),
        answers(
            ("1", "", "seeker"),
            ("2", "", "tested"),
            ("3", "", None),
            ("4", "", None),
            ("5", "", "seeker"),
            ("6", "", "tested/budget"),
        ),
    )
    by_item = {"1": "seeker", "2": "tested", "3": "judge", "6": "budget"}
    assert blamed(found) == [(item, "accuracy", role) for item, role in by_item.items()]


def test_what_is_measured_over_all_parts_rests_on_each_and_a_part_on_its_own() -> None:
    said = answers(("1", "a", "seeker"), ("1", "b", "tested"), ("2", "a", "seeker"), ("2", "b", None))
    whole = find_failures(scores(("1", "", "f", "call_failed"), ("2", "", "f", "call_failed")), said)
    assert blamed(whole) == [("1", "f", "seeker"), ("1", "f", "tested"), ("2", "f", "seeker")]
    assert blamed(find_failures(scores(("1", "a", "f", "call_failed")), said)) == [("1", "f", "seeker")]


def test_a_failure_that_no_answer_names_is_the_tested_models() -> None:
    assert blamed(find_failures(scores(("1", "", "f", "call_failed")), Answers.create_empty())) == [("1", "f", "tested")]


def test_lost_items_are_those_that_lack_a_part() -> None:
    said = answers(
        ("1", "a", "seeker"),  # lost, though its other part is scored
        ("1", "b", None),
        ("2", "a", "seeker"),  # lost through the seeker alone
        ("3", "a", "seeker"),  # through the model under test, too
        ("3", "b", "tested"),
    )
    found = find_lost(
        scores(
            ("1", "a", "f", "call_failed"),
            ("1", "b", "f", "scored"),
            ("2", "a", "f", "call_failed"),
            ("3", "a", "f", "call_failed"),
            ("3", "b", "f", "call_failed"),
        ),
        said,
    )
    assert (found.roles, found.items_of_others) == ({"d": frozenset({"seeker", "tested"})}, 2)
