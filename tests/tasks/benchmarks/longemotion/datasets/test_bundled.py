"""How bundled long items are built of their records."""

from collections.abc import Mapping
from typing import Any

import pytest

from schemas.context import Context, ContextOptions, SampleBuilder
from schemas.errors import UsageError
from schemas.item import Item, Record, text_id
from tasks.benchmarks.longemotion.datasets.bundled import (
    EMOTION,
    TONE,
    find_place,
    hidden_in_text,
)

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
def test_needle_precedes_sentence_nearest_its_depth(text: str, depth: float, before: str) -> None:
    assert text[: find_place(text, depth)] == before


def test_needle_is_where_its_span_says() -> None:
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


def test_depths_that_are_asked_for_replace_needles_own() -> None:
    built = build(hidden_in_text("ec_emobench", EMOTION), haystack(), depths=(0.0, 100.0))
    assert {name: context.needle_token_start for name, (_, context) in built.items()} == {"ec-1-depth0": 0, "ec-1-depth100": 9}
    assert {context.target_depth_percent for _, context in built.values()} == {0.0, 100.0}
    assert {context.needle_id for _, context in built.values()} == {"ec-1"}


def test_a_depth_that_is_given_twice() -> None:
    with pytest.raises(UsageError, match="depths of contexts") as caught:
        build(hidden_in_text("ec_emobench", EMOTION), haystack(), depths=(10.0, 10.0))
    assert caught.value.got == "10.0, 10.0"


def test_lengths_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match=r"contexts\.lengths cannot be used") as caught:
        build(hidden_in_text("ec_emobench", EMOTION), haystack(), lengths=(2000,))
    assert caught.value.got == "2000"
