"""Whose failures left values missing."""

import polars as pl

from schemas.tables.responses import Answers
from tasks.runs.failures import find_failures, find_lost, name_role
from tests.tasks.rows import Row, answer
from tests.tasks.rows import answers as answered
from tests.tasks.runs.test_comparable_runs import manifest
from tests.tasks.scoring.samples import items


def answers(*failed: tuple[str, str, str | None]) -> pl.DataFrame:
    """Item, part and whose call failed, perhaps with the kind of failure behind a slash."""

    def row(item: str, part: str, whose: str | None) -> Row:
        if whose is None:
            return answer(item, "A", part=part, dataset="d")
        role, _, failure = whose.partition("/")
        return answer(item, None, part=part, dataset="d", failed_role=role, failure=failure or "timeout_total")

    return answered(*(row(*one) for one in failed))


def scores(told: dict[tuple[str, str], str]) -> pl.DataFrame:
    """Status by item and part."""
    named, parts = zip(*told, strict=True)
    values = [1.0 if status == "scored" else None for status in told.values()]
    return items("d", values, status=list(told.values()), item_id=list(named), part=list(parts))


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
