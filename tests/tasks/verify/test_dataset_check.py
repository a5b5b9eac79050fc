"""Ceilings and constant letters, through the same parsing and scoring as real replies."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint, BlueprintDataset, MethodSpec, MetricSpec
from schemas.metrics import Metric
from schemas.tables.items import Items
from tasks.verify.dataset_check import (
    constant_reply,
    count_gold,
    count_repeats,
    describe_content,
    letters_of,
    perfect_replies,
    reachable_scores,
)
from tests.tasks.rows import item
from tests.tasks.rows import items as frame_of
from tests.tasks.scoring.samples import ability, blueprint, task


def items(*rows: dict[str, Any]) -> dy.DataFrame[Items]:
    asked: dict[str, Any] = {"dataset": "moods", "question_type": "single_choice", "options": ["ice", "tea"]}
    named = ({"item_id": f"moods-{number}", "question": f"Which fits {number}?"} for number in range(len(rows)))
    return frame_of(*(item(**{**name, **asked, **row}) for name, row in zip(named, rows, strict=True)))


def scored_by(*metrics: Metric, judged: bool = False) -> Blueprint:
    specs = tuple(MetricSpec(metric=metric) for metric in metrics)
    method = MethodSpec(id="any", metrics=specs, judged=judged, rubric="summary" if judged else None)
    return blueprint(ability("able", task("moods")), datasets={"moods": BlueprintDataset(title="Moods", methods=(method,))})


def test_constant_letters_earn_their_share() -> None:
    rows: list[dict[str, Any]] = [{"gold_indices": [1]}, {"gold_indices": [1]}, {"gold_indices": [0]}, {"gold_indices": [1]}]
    found = reachable_scores(items(*rows), scored_by("accuracy"))
    assert found.ceiling == 100
    assert found.constant == {"A": 25, "B": 75}


def test_one_question_with_two_golds_lowers_the_ceiling() -> None:
    same: dict[str, Any] = {"question": "Which is warmer?"}
    rows: list[dict[str, Any]] = [
        {"gold_indices": [1], **same},
        {"gold_indices": [0], **same},
        {"gold_indices": [1]},
        {"gold_indices": [0]},
    ]
    assert reachable_scores(items(*rows), scored_by("accuracy")).ceiling == 75


def test_text_answers_have_a_ceiling_and_no_letters() -> None:
    free: dict[str, Any] = {"question_type": "extractive", "options": None, "references": ["hot tea"]}
    found = reachable_scores(items(free, free), scored_by("token_f1"))
    assert (found.ceiling, found.constant) == (100, {})


def test_labels_and_segments_have_ceilings_and_constants() -> None:
    label: dict[str, Any] = {"question_type": "label_choice", "options": ["Joy", "Relief & Hope"]}
    odd: dict[str, Any] = {"question_type": "odd_one_out", "options": ["x", "y", "z"]}
    labels = [label | {"gold_indices": [gold]} for gold in (1, 1, 0, 1)]
    segments = [odd | {"gold_indices": [gold]} for gold in (2, 0, 0, 1)]
    for metric in ("accuracy", "strict_accuracy"):
        found, places = (reachable_scores(items(*rows), scored_by(metric)) for rows in (labels, segments))
        assert (found.ceiling, found.constant) == (100, {"A": 25, "B": 75})
        assert (places.ceiling, places.constant) == (100, {"A": 50, "B": 25, "C": 25})


def test_judges_and_several_answers_have_no_ceiling() -> None:
    summary: dict[str, Any] = {"question_type": "judged_summary", "options": None, "references": ["hot tea"]}
    talk: dict[str, Any] = {"question_type": "annotation", "options": None, "gold_indices": None}
    judged = reachable_scores(items(summary), scored_by("judged_rating", judged=True))
    for found in (judged, reachable_scores(items(talk), scored_by("composite_score"))):
        assert (found.ceiling, found.constant) == (None, {})


def row(item_id: str, **changed: Any) -> dict[str, Any]:
    asked = {"question": "Which is warmer?", "options": ["ice", "tea"], "gold_indices": [1]}
    empty = dict.fromkeys(("subset", "context", "references", "option_points", "option_roles", "wrong_references"))
    return {**item(item_id, "single_choice", **empty, **asked), **changed}


def test_constant_reply_is_that_of_the_question_type() -> None:
    label = row("a", question_type="label_choice", options=["Joy", "Relief & Hope"])
    odd = row("a", question_type="odd_one_out", options=["x", "y", "z"], gold_indices=[2])
    assert constant_reply(label, "A") == '```json\n{"Emotion": "Joy"}\n```'
    assert constant_reply(odd, "B") == '```json\n{"index": 1}\n```'
    # a letter that this item has no option for, and an item that is answered by letter
    assert (constant_reply(label, "C"), constant_reply(row("a"), "A")) == ("C", "A")


def test_equal_prompts_get_the_more_frequent_gold() -> None:
    rows = [row("a"), row("b", gold_indices=[0]), row("c"), row("d", question="Which is colder?", gold_indices=[0])]
    assert list(perfect_replies(rows)) == ["B", "B", "B", "A"]


def test_letters_reach_to_the_longest_list_of_options() -> None:
    assert letters_of([row("a"), row("b", options=["a", "b", "c"])]) == ("A", "B", "C")
    assert letters_of([row("a", options=None)]) == ()


def asked(item_id: str, gold: list[int], options: list[str] | None = None, **changed: Any) -> dict[str, Any]:
    return row(item_id, gold_indices=gold, options=options or ["ice", "tea"], **changed)


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=Items.create_empty().schema)


def test_gold_is_counted_by_letter() -> None:
    several = asked("d", [0, 2], ["ice", "tea", "milk"], question_type="multiple_answer")
    free = row("e", question_type="open_ended", gold_indices=None, options=None, references=["tea"])
    assert count_gold(frame(asked("a", [1]), asked("b", [1]), asked("c", [0]), several, free)) == {"A": 2, "B": 2, "C": 1}


def test_items_asked_again_are_duplicates_or_contradictions() -> None:
    # Whatever the order of the options; with other gold; in other contexts.
    assert count_repeats(frame(asked("a", [1]), asked("b", [0], ["tea", "ice"]))) == (1, 0)
    assert count_repeats(frame(asked("a", [1]), asked("b", [0]), asked("c", [1]))) == (2, 1)
    assert count_repeats(frame(asked("a", [1], context="In June."), asked("b", [0], context="In May."))) == (0, 0)


def test_rejected_items_are_counted_by_rule() -> None:
    rejected = frame(asked("b", []), asked("c", [5])).with_columns(
        broken_rules=pl.Series(
            [["single_choice_has_one_gold", "gold_indices_point_at_options"], ["gold_indices_point_at_options"]]
        )
    )
    content = describe_content(frame(asked("a", [1])), rejected)
    assert (content.items_read, content.good) == (3, 1)
    # The most frequent first.
    assert list((content.rejected or {}).items()) == [("gold_indices_point_at_options", 2), ("single_choice_has_one_gold", 1)]
    assert content.languages == {"en": 1}
    assert content.question_types == {"single_choice": 1}
