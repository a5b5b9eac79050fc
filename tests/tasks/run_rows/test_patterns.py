"""What recurs among rows, found in runs whose replies are written out here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.documents.rows import FlippedChoice
from schemas.documents.run_scores import LetterShare
from schemas.lineage import DatasetNotice
from schemas.tables.responses import Judgements
from tasks.lake.partitions import partition_key
from tasks.rows.patterns import group_failed_calls, group_unread, items_all_fail, one_letter, order_flips
from tests.tasks.rows import judgement, judgements
from tests.tasks.run_rows.asked_runs import asked_run, choice, said

FAILED: dict[str, Any] = {"failure": "http_429", "http_status": 429}


def test_unread_replies_are_grouped_by_shape(tmp_path: Path) -> None:
    rows = [choice(name) for name in "123"] + [choice("1", "s")]
    run = asked_run(
        tmp_path,
        rows,
        {
            "m": [said("1", "A"), said("2", "A or B"), said("3", " "), said("1", "B or C", "s")],
            "n": [said("1", "A"), said("2", "It is B or C"), said("3", "C or A"), said("1", "C", "s")],
        },
    )
    several, empty = group_unread(run)
    assert (several.shape, several.rows) == ("a few words, several letters named", 4)
    counts = [(count.facet, count.value, count.rows) for count in several.counts]
    assert counts == [("dataset", "d", 3), ("dataset", "s", 1), ("model", "m", 2), ("model", "n", 2), ("setting", "base", 4)]
    assert [(row.dataset, row.model, row.item_id, row.reply) for row in several.examples] == [
        ("d", "m", "2", "A or B"),
        ("d", "n", "2", "It is B or C"),
        ("d", "n", "3", "C or A"),
    ]
    assert (empty.shape, empty.rows, empty.examples[0].reply) == ("empty", 1, " ")


def test_a_redacted_run_shows_no_reply(tmp_path: Path) -> None:
    notice = DatasetNotice(id="d", title="D", licence="own", redistributable=False, sources=(), evaluation_version="1")
    replies = {"m": [said("1", '{"Mia wept": ""}')], "n": [said("1", None, error="HTTP 400: in A or B", **FAILED)]}
    run = asked_run(tmp_path, [choice("1")], replies, redacted=True, datasets=(notice,))
    (unread,), (failed,) = group_unread(run), group_failed_calls(run)
    assert (unread.shape, unread.examples[0].reply, failed.message) == ("JSON", None, "withheld: its licence")


def test_failed_calls_are_grouped_by_message(tmp_path: Path) -> None:
    limits = (f"HTTP 429: limit 30000, used {used}, request req_{used}abc" for used in (29890, 30001))
    lost = [said(str(n), None, error=error, **FAILED) for n, error in enumerate((*limits, "HTTP 429: slow down"))]
    (limit, slow) = group_failed_calls(asked_run(tmp_path, [choice(n) for n in "012"], {"m": lost}))
    assert (limit.message, limit.rows) == ("HTTP 429: limit <number>, used <number>, request <id>", 2)
    assert (limit.role, limit.asked_model, limit.failure, limit.http_status) == ("tested", "m", "http_429", 429)
    assert [row.item_id for row in limit.examples] == ["0", "1"]
    assert (slow.message, slow.rows) == ("HTTP 429: slow down", 1)


def test_calls_of_a_judge_without_a_rating_count(tmp_path: Path) -> None:
    run = asked_run(tmp_path, [choice("1"), choice("2")], {"m": [said("1", "A"), said("2", None, **FAILED)]})
    place = {"dataset": "d", "model": "m", "setting": "base", "judge": "j", "rubric": "summary"}
    of_item = {"dataset": "d", "call_key": "1" * 64, "error": "no rating of warmth"}
    rated = (judgement("1", dimension, rating, **of_item) for dimension, rating in (("warmth", None), ("tact", None), ("wit", 3)))
    ref = run.lake.write(partition_key("judgements", place, {}, [], "1"), judgements(*rated), Judgements)
    partitions = (*run.manifest.partitions, ref)
    judged = replace(run, manifest=run.manifest.model_copy(update={"partitions": partitions}))
    groups = {group.message: group for group in group_failed_calls(judged)}
    unrated = groups["no rating of warmth"]
    assert (unrated.rows, unrated.role, unrated.asked_model, unrated.failure) == (1, "judge", "j", None)
    assert (groups["no message"].rows, groups["no message"].role) == (1, "tested")


def test_items_that_all_fail_doubt_their_gold(tmp_path: Path) -> None:
    rows = [choice(name) for name in "12345"]
    replies = {
        # 1: all say B. 2: one is right. 3: wrong in two ways. 4: a call failed, so that two are left, one unread. 5: one is left.
        "m": [said("1", "B"), said("2", "A"), said("3", "B"), said("4", "C"), said("5", "B")],
        "n": [said("1", "B"), said("2", "B"), said("3", "C"), said("4", "A or B"), said("5", None)],
        "o": [said("1", "B"), said("2", "B"), said("3", "A or C"), said("4", None), said("5", None)],
    }
    hard = items_all_fail(asked_run(tmp_path, rows, replies))
    assert [(item.item_id, item.systems, item.unread) for item in hard] == [("1", 3, 0), ("3", 3, 1), ("4", 2, 1)]
    assert [(item.gold, item.wrong, item.wrong_systems) for item in hard] == [("A", "B", 3), ("A", "B", 1), ("A", "C", 1)]
    assert [item.gold_in_doubt for item in hard] == [True, False, False]
    assert (hard[0].dataset, hard[0].model, hard[0].setting, hard[0].repetition) == ("d", "m", "base", 0)


def test_a_wrong_choice_is_named_as_the_item_has_it(tmp_path: Path) -> None:
    # A as m was shown is the option B of the item, which n names by its text.
    replies = {"m": [said("1", "A", option_order=[1, 2, 0])], "n": [said("1", "sadness")]}
    (item,) = items_all_fail(asked_run(tmp_path, [choice("1")], replies))
    assert (item.gold, item.wrong, item.wrong_systems, item.gold_in_doubt) == ("A", "B", 2, True)


def test_one_system_alone_has_no_hard_items(tmp_path: Path) -> None:
    assert items_all_fail(asked_run(tmp_path, [choice("1")], {"m": [said("1", "B")]})) == ()


def test_choices_that_follow_the_order_flip(tmp_path: Path) -> None:
    orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]

    def in_orders(name: str, *letters: str) -> list[dict[str, object]]:
        shown = zip(letters, orders, strict=True)
        return [said(name, text, repetition=n, option_order=order) for n, (text, order) in enumerate(shown)]

    # 1: always the place A. 2: always sadness. 3: sadness, unread, anger. 4: read once.
    replies = [*in_orders("1", "A", "A", "A"), *in_orders("2", "B", "A", "C"), *in_orders("3", "B", "?", "A")]
    run = asked_run(tmp_path, [choice(n) for n in "1234"], {"m": [*replies, *in_orders("4", "B", "?", "?")]}, plan={"permute": 3})
    (flips,) = order_flips(run)
    assert (flips.dataset, flips.model, flips.setting, flips.items) == ("d", "m", "base", 3)
    assert flips.flipped == (
        FlippedChoice(item_id="1", repetitions=(0, 1, 2), letters=("A", "A", "A"), options=(0, 1, 2)),
        FlippedChoice(item_id="3", repetitions=(0, 1, 2), letters=("B", None, "A"), options=(1, None, 2)),
    )
    assert tuple(order_flips(asked_run(tmp_path, [choice("1")], {"m": [said("1", "B")]}, name="once"))) == ()


def letters(chosen: str, gold: str) -> dict[str, Any]:
    """Questions whose right letters are these, and what a model chose, `-` being no letter."""
    rows = [choice(f"{n}", gold="ABC".index(letter)) for n, letter in enumerate(gold)]
    return {"rows": rows, "replies": {"m": [said(f"{n}", "?" if letter == "-" else letter) for n, letter in enumerate(chosen)]}}


def test_a_model_that_answers_one_letter_is_told(tmp_path: Path) -> None:
    # Of 31 A 27 times, where it is right in 8; a reply that cannot be read is none of them.
    (found,) = one_letter(asked_run(tmp_path, **letters("A" * 27 + "BBCC" + "-", "ABCB" * 8)))
    assert found == LetterShare(model="m", setting="base", letter="A", read=31, chosen=27, right=8)


@pytest.mark.parametrize(
    ("chosen", "gold"),
    [
        ("A" * 20, "A" * 20),  # a fair reader of items whose answer is A
        ("A" * 14 + "B" * 6, "ABCB" * 5),  # 70 %
        ("AAAA", "BAAC"),  # four items prove nothing
        ("-" * 12, "ABC" * 4),
    ],
)
def test_others_are_not(tmp_path: Path, chosen: str, gold: str) -> None:
    assert [*one_letter(asked_run(tmp_path, **letters(chosen, gold)))] == []
