"""Whose failures left values missing."""

import polars as pl

from schemas.tables.responses import Answers
from tasks.runs.failures import find_failures, find_lost, name_role
from tests.tasks.runs.test_comparable_runs import manifest

ASKED = {"dataset": "d", "model": "m", "setting": "s", "repetition": 0}


def answers(*failed: tuple[str, str, str | None]) -> pl.DataFrame:
    """Item, part and whose call failed, perhaps with the kind of failure behind a slash."""
    rows = [{**ASKED, "item_id": item, "part": part, "whose": role} for item, part, role in failed]
    whose = pl.col("whose").str.split("/").list
    frame = pl.DataFrame(rows, schema_overrides={"whose": pl.String, "repetition": pl.Int64})
    return frame.with_columns(failed_role=whose.first(), failure=whose.last()).drop("whose")


def scores(told: dict[tuple[str, str], str]) -> pl.DataFrame:
    """Status by item and part."""
    rows = [
        {**ASKED, "item_id": item, "part": part, "cluster": item, "method": "x", "metric": "f", "status": status}
        for (item, part), status in told.items()
    ]
    return pl.DataFrame(rows).with_columns(value=pl.when(pl.col("status") == "scored").then(1.0))


LOST = "call_failed"


def blamed(frame: pl.DataFrame) -> list[tuple[str, str]]:
    return sorted(frame.select("item_id", "failed_role").rows())


def test_missing_values_are_charged_to_failed_calls() -> None:
    status = [LOST, LOST, "judge_failed", "scored", "not_counted", LOST]
    whose = ["seeker", "tested", None, None, "seeker", "tested/budget"]
    found = find_failures(
        scores({(str(number), ""): each for number, each in enumerate(status)}),
        answers(*((str(number), "", role) for number, role in enumerate(whose))),
    )
    assert blamed(found) == [("0", "seeker"), ("1", "tested"), ("2", "judge"), ("5", "budget")]


def test_a_whole_rests_on_each_part() -> None:
    said = answers(("1", "a", "seeker"), ("1", "b", "tested"), ("2", "a", "seeker"), ("2", "b", None))
    whole = find_failures(scores({("1", ""): LOST, ("2", ""): LOST}), said)
    assert blamed(whole) == [("1", "seeker"), ("1", "tested"), ("2", "seeker")]
    assert blamed(find_failures(scores({("1", "a"): LOST}), said)) == [("1", "seeker")]
    # A failure that no answer names is the tested model's.
    assert blamed(find_failures(scores({("1", ""): LOST}), Answers.create_empty())) == [("1", "tested")]


def test_lost_items_are_those_that_lack_a_part() -> None:
    said = answers(
        ("1", "a", "seeker"),  # lost, though its other part is scored
        ("1", "b", None),
        ("2", "a", "seeker"),  # lost through the seeker alone
        ("3", "a", "seeker"),  # through the model under test, too
        ("3", "b", "tested"),
    )
    lost = dict.fromkeys([("1", "a"), ("2", "a"), ("3", "a"), ("3", "b")], LOST)
    found = find_lost(scores(lost | {("1", "b"): "scored"}), said)
    assert (found.roles, found.items_of_others) == ({"d": frozenset({"seeker", "tested"})}, 2)


def test_a_role_is_named_with_its_models() -> None:
    run = manifest(plan={"roles": {"draft_judge": {"name": "j", "base_url": "http://j/v1"}}})
    names = {role: name_role(run, role, "m") for role in ("draft_judge", "seeker", "tested", "budget")}
    assert names == {"draft_judge": "draft judge (j)", "seeker": "seeker (m)", "tested": "tested", "budget": "budget"}
