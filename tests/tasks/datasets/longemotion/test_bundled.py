"""How bundled long items are built of their records."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from schemas.context import ASPECTS, Context, ContextOptions, SampleBuilder
from schemas.errors import UsageError
from schemas.item import Item, Record, text_id
from tasks.datasets.longemotion.bundled import (
    EMOTION,
    TONE,
    find_place,
    hidden_in_text,
    read_contrast_sets,
    read_questions,
    read_reports,
    read_situations,
)
from tasks.datasets.longemotion.emotion_conversation import checkpoints_of

ENGLISH = "One two. Three four! Five six?\n\nSeven."
"""Sentences of 3, 3, 3 and 2 tokens: 11 in all, since each mark is a token."""

CHINESE = "春天。夏天！秋天？\n\n冬天。"
"""Sentences of 3 tokens each."""


def build(sample_builder: SampleBuilder, fields: Mapping[str, Any], **options: Any) -> dict[str, tuple[Item, Context]]:
    samples = sample_builder([Record(fields=fields, file="long.jsonl", row=0)], ContextOptions(**options), 0)
    return {sample.item_id: sample.build() for sample in samples}


def haystack(**changes: Any) -> dict[str, Any]:
    needle = {
        "item_id": "ec-1",
        "needle": "Ada won. She sang.",
        "subject": "Ada",
        "choices": ["Sad", "Glad"],
        "label": "Glad",
        "depth_percent": 50,
    }
    return {"haystack_id": "seven", "language": "en", "haystack": ENGLISH, "needles": [needle | changes]}


@pytest.mark.parametrize(
    ("text", "depth", "before"),
    [
        (ENGLISH, 0, ""),
        (ENGLISH, 40, "One two. "),  # 4.4 tokens: 3 is nearer than 6
        (ENGLISH, 50, "One two. Three four! "),  # 5.5 tokens: 6 is nearer than 3
        (ENGLISH, 100, "One two. Three four! Five six?\n\n"),  # never after the last sentence
        ("One two. Three four. Five.", 18.75, ""),  # 1.5 of 8 tokens: 0 and 3 are as near
        (CHINESE, 25, "春天。"),
        (CHINESE, 75, "春天。夏天！秋天？\n\n"),
        ("她说：“好！”就走了。天黑了。", 30, ""),  # 11 tokens before the second sentence; none ends amid the first
        ("她说：“好！”就走了。天黑了。", 60, "她说：“好！”就走了。"),
    ],
)
def test_a_needle_is_put_before_the_sentence_nearest_to_its_depth(text: str, depth: float, before: str) -> None:
    assert text[: find_place(text, depth)] == before


def test_a_needle_is_found_where_it_is_said_to_be() -> None:
    (sample,) = hidden_in_text("ec_emobench", EMOTION)([Record(fields=haystack(), file="long.jsonl", row=0)], ContextOptions(), 0)
    assert sample.cluster == text_id("Ada won. She sang.")
    item, context = sample.build()
    assert item == Item(
        language="en",
        question_type="label_choice",
        context="One two. Three four! Ada won. She sang. Five six?\n\nSeven.",
        question="What does Ada end up feeling?",
        options=("Sad", "Glad"),
        gold_indices=(1,),
    )
    assert context == Context(
        task="ec_emobench",
        query="Ada",
        tokens=17,  # 11 and the needle's 6
        needle="Ada won. She sang.",
        needle_id="ec-1",
        needle_start=21,
        needle_end=39,
        needle_token_start=6,
        needle_token_end=12,
        target_depth_percent=50,
        depth_percent=600 / 11,
        haystack="long.jsonl, seven, characters 0-38",
        needle_style="matched",
    )


def test_a_chinese_needle_stands_without_a_space() -> None:
    record = haystack(needle="星港今年赚了钱。", subject="星港", choices=["正面", "负面"], label="正面")
    item, context = build(hidden_in_text("ec_finentity", TONE), record | {"language": "zh", "haystack": CHINESE})["ec-1"]
    assert item.context == "春天。夏天！星港今年赚了钱。秋天？\n\n冬天。"
    assert (item.language, item.question, item.gold_indices) == ("zh", "文中谈到星港时是什么语气？", (0,))
    assert (context.needle_start, context.needle_end, context.needle_token_start, context.needle_token_end) == (6, 14, 6, 14)
    assert (context.tokens, context.depth_percent) == (20, 50.0)


def test_depths_that_are_asked_for_replace_a_needles_own() -> None:
    built = build(hidden_in_text("ec_emobench", EMOTION), haystack(), depths=(0.0, 100.0))
    assert {name: context.needle_token_start for name, (_, context) in built.items()} == {"ec-1-depth0": 0, "ec-1-depth100": 9}
    assert {context.target_depth_percent for _, context in built.values()} == {0.0, 100.0}
    assert {context.needle_id for _, context in built.values()} == {"ec-1"}


def test_a_depth_that_is_given_twice() -> None:
    with pytest.raises(UsageError, match="depths of contexts") as caught:
        build(hidden_in_text("ec_emobench", EMOTION), haystack(), depths=(10.0, 10.0))
    assert caught.value.got == "10.0, 10.0"


def test_lengths_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match="lengths of the bundled texts") as caught:
        build(hidden_in_text("ec_emobench", EMOTION), haystack(), lengths=(2000,))
    assert caught.value.got == "2000"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subject": "Seven", "needle": "Seven won."}, "Seven should be named in the needle and nowhere else"),
        ({"subject": "Bea"}, "Bea should be named in the needle and nowhere else"),
        ({"label": "Proud"}, "not in tuple"),
        ({"needle": " "}, "needle is empty"),
    ],
)
def test_a_needle_that_leaves_its_item_unclear(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(hidden_in_text("ec_emobench", EMOTION), haystack(**changes))


def contrast(labels: Sequence[str], language: str = "zh") -> dict[str, Any]:
    return {"item_id": "ed-1", "language": language, "segments": ["春天。", "夏。", "秋天到。"], "labels": labels}


def test_the_odd_segment_is_the_one_with_a_label_of_its_own() -> None:
    item, context = build(read_contrast_sets, contrast(["Joy", "Joy", "Fear"]))["ed-1"]
    assert (item.question_type, item.gold_indices, item.subset, item.fixed_order) == ("odd_one_out", (2,), "Fear among Joy", True)
    assert item.options == ("春天。", "夏。", "秋天到。")
    assert (context.needle, context.needle_start, context.tokens) == ("秋天到。", None, 9)


@pytest.mark.parametrize("labels", [["Joy", "Joy", "Joy"], ["Joy", "Fear", "Anger"], ["Joy", "Joy", "Fear", "Joy"]])
def test_a_set_without_exactly_one_odd_segment(labels: list[str]) -> None:
    with pytest.raises(ValueError, match=r"another label than all the rest|3 segments have 4 labels"):
        build(read_contrast_sets, contrast(labels))


def test_each_question_has_the_whole_document() -> None:
    asked = [{"item_id": f"qa-{n}", "question": f"Which {n}?", "references": [f"the {n}"]} for n in (1, 2)]
    built = build(read_questions, {"document_id": "d", "language": "en", "document": ENGLISH, "questions": asked})
    assert {name: (item.context, item.question, item.references) for name, (item, _) in built.items()} == {
        "qa-1": (ENGLISH, "Which 1?", ("the 1",)),
        "qa-2": (ENGLISH, "Which 2?", ("the 2",)),
    }
    assert {context.tokens for _, context in built.values()} == {11}


def test_a_report_is_shown_in_sections_and_its_aspects_are_not_shown() -> None:
    sections = {"experience_and_reflection": "三", "case_description": "一", "consultation_process": "二"}
    record = {"item_id": "es-1", "language": "zh"} | sections | {aspect: aspect.upper() for aspect in reversed(ASPECTS)}
    item, _ = build(read_reports, record)["es-1"]
    assert item.context == "个案描述:\n一\n\n咨询过程:\n二\n\n经验与反思:\n三"
    assert item.references == tuple(aspect.upper() for aspect in ASPECTS)


def test_checkpoints_of_a_dialogue_in_its_own_language() -> None:
    turns = [{"role": role, "context": f"{role[:2]}{turn}"} for turn in range(3) for role in ("Client", "Counselor")]
    stages = [{"stage": name, "conversations": turns} for name in ("一", "二", "三", "四")]
    built = build(checkpoints_of("mc2", "long_mini_"), {"id": 7, "language": "zh", "stages": stages})
    # Three messages of the client: the checkpoints are numbers 3 div 4, 3 div 2 and 9 div 4, that is 0, 1 and 2.
    assert {name: item.question.split("\n")[-1] for name, (item, _) in built.items()} == {
        "long_mini_mc2-7-1": "Client: Cl0",
        "long_mini_mc2-7-2": "Client: Cl1",
        "long_mini_mc2-7-3": "Client: Cl2",
    }
    assert {(item.language, item.subset, context.task) for item, context in built.values()} == {("zh", "二", "mc2")}


@pytest.mark.parametrize(("language", "first"), [("en", "Interested"), ("zh", "感兴趣的")])
def test_a_situation_is_rated_by_twenty_adjectives(language: str, first: str) -> None:
    record = {"item_id": "ee-1", "language": language, "emotion": "Guilt", "situation": "春天。"}
    item, context = build(read_situations, record)["ee-1"]
    assert item.options is not None
    assert (item.options[0], len(set(item.options)), item.subset) == (first, 20, "Guilt")
    assert "Guilt" not in f"{item.context} {item.question}"
    assert (context.tokens, item.gold_indices) == (3, None)


def test_a_language_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="one of en, zh, got 'fr'"):
        build(read_situations, {"item_id": "ee-1", "language": "fr", "emotion": "Guilt", "situation": "Un soir."})
