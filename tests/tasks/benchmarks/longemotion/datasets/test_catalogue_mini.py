"""The long items that ship with MoodFlow: that their gold can be found, is the only one, and is not given away."""

import polars as pl
import pytest

from schemas.dataset import DatasetSpec
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.datasets.bundled import LONG_MINI
from tasks.benchmarks.longemotion.datasets.emotion_conversation import STAGES
from tasks.retrieval.chunking import split
from tests.mirror import MIRROR
from tests.tasks.datasets.real_datasets import build, records_of

IDS = {
    "long_mini_ec_emobench": (4, 1),
    "long_mini_ec_finentity": (4, 1),
    "long_mini_ed": (3, 1),
    "long_mini_qa": (4, 2),
    "long_mini_es": (2, 1),
    **{f"long_mini_{stage}": (6, 3) for stage in STAGES},
    "long_mini_ee": (3, 1),
}
"""Dataset to its number of items, and how many of them are Chinese."""

WHOLE = ("ec_emobench", "ec_finentity", "qa", "es", "mc4")
"""Tasks that search a whole context for chunks."""

EMOTION_WORDS = (
    *("anxi", "worr", "afraid", "fear", "nervous", "reliev", "relief", "calm", "happy", "glad"),
    *("angry", "anger", "furious", "annoy", "sad", "grief", "lonely", "miss "),
    *("感谢", "谢谢", "感激", "感动", "嫉妒", "羡慕", "妒忌", "眼红"),
)


@pytest.mark.parametrize("spec", LONG_MINI, ids=lambda spec: spec.id)
def test_entry_holds_on_its_file(spec: DatasetSpec) -> None:
    built = build(spec.id, MIRROR)
    assert (built.rejected.height, built.items.height) == (0, IDS[spec.id][0])
    assert built.items.filter(pl.col("language").cast(pl.String) == "zh").height == IDS[spec.id][1]
    assert set(built.items["language"]) == set(spec.languages)
    assert set(built.items["question_type"]) == set(spec.question_types)
    assert all(name.startswith(f"{spec.id}-") for name in built.items["item_id"])
    assert set(built.contexts["task"]) == {spec.task} == {spec.id.removeprefix("long_mini_")}


@pytest.mark.parametrize("task", WHOLE)
def test_short_contexts_still_offer_chunks(task: str) -> None:
    built = build(f"long_mini_{task}", MIRROR)
    assert built.contexts["tokens"].is_between(430, 860).all()
    assert all(len(split(text, 128, 50)) > 5 for text in built.items["context"])


def test_gold_places_differ_and_texts_hide_gold() -> None:
    items = build("long_mini_ec_emobench", MIRROR).items
    assert items["gold_indices"].explode().n_unique() == items.height
    for text, options, gold in items.select("context", "options", "gold_indices").iter_rows():
        assert (len(options), len(set(options))) == (6, 6)
        assert options[gold[0]].casefold() not in text.casefold()


@pytest.mark.parametrize("name", ["long_mini_ec_emobench", "long_mini_ec_finentity"])
def test_subjects_stand_in_their_needle_alone(name: str) -> None:
    for record in records_of(name, MIRROR):
        for needle in record.fields["needles"]:
            assert needle["subject"] in needle["needle"]
            assert needle["subject"].casefold() not in record.fields["haystack"].casefold()


def test_nothing_but_its_content_shows_the_odd_segment() -> None:
    for language, segments, gold in build("long_mini_ed", MIRROR).items.select("language", "options", "gold_indices").iter_rows():
        lengths = [len(text.split()) if language == "en" else len(text) for text in segments]
        low, high = (25, 45) if language == "en" else (60, 80)
        assert 8 <= len(segments) <= 10
        assert all(low <= length <= high for length in lengths)
        assert min(lengths) < lengths[gold[0]] < max(lengths)
        assert 0 < gold[0] < len(segments) - 1
        assert not [word for word in EMOTION_WORDS for text in segments if word in text.casefold()]


def test_answers_to_questions_stand_in_their_document_once() -> None:
    for text, references in build("long_mini_qa", MIRROR).items.select("context", "references").iter_rows():
        assert text.count(references[0]) == 1
        assert all(len(reference) < 20 for reference in references)


def test_summaries_have_five_aspects_that_are_not_copied() -> None:
    for text, references in build("long_mini_es", MIRROR).items.select("context", "references").iter_rows():
        assert len(set(references)) == len(ASPECTS)
        assert not [reference for reference in references if reference in text]


def test_speakers_take_turns() -> None:
    for record in records_of("long_mini_mc1", MIRROR):
        roles = [message["role"] for stage in record.fields["stages"] for message in stage["conversations"]]
        # Each stage ends with the client and the next one begins with the counselor.
        assert roles == ["Client", "Counselor"] * (len(roles) // 2) + ["Client"]


def test_situations_do_not_name_their_emotion() -> None:
    items = build("long_mini_ee", MIRROR).items
    assert items["subset"].n_unique() == items.height
    for text, emotion in items.select("context", "subset").iter_rows():
        assert emotion[:5].casefold() not in text.casefold()
