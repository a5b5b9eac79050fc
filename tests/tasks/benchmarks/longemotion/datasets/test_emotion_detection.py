"""Emotion Detection: contrast sets that can be solved by emotion alone, on a corpus of our own and on the real one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from scipy.stats import binom, chisquare

from schemas.context import Context, ContextOptions, LazySample
from schemas.item import Item, Record
from tasks.benchmarks.longemotion.datasets.emotion_detection import (
    PUBLISHED,
    build_contrast_sets,
    draw_sets,
    plan_pairs,
    read_contrast_sets,
)

COUNTS = {"Anxiety": 120, "Relaxation": 90, "Sadness": 60, "Fear": 40, "Disgust": 17}
REAL = {"Anxiety": 1381, "Sadness": 357, "Relaxation": 333, "Fear": 230, "Anger": 107} | {
    "Happiness": 39,
    "Desire": 27,
    "Disgust": 17,
}
"""Texts by emotion in rwwd_full.csv."""

BALANCED = ContextOptions(emotion_pairs="balanced")


def corpus(counts: dict[str, int] = COUNTS, *, longer: int = 20) -> list[Record]:
    """Texts of 20 to 69 words; those of Relaxation are longer, so that length tells them unless it is matched."""
    records: list[Record] = []
    for emotion, count in counts.items():
        for number in range(count):
            length = 20 + (longer if emotion == "Relaxation" else 0) + 37 * number % 50
            fields = {"chosen_emotion": emotion, "text_long": f" {emotion[:2]}{number} " + "word " * length}
            records.append(Record(fields=fields, file="f", row=len(records)))
    return records


def built(records: Sequence[Record], options: ContextOptions, seed: int = 0) -> list[tuple[Item, Context]]:
    return [sample.build() for sample in build_contrast_sets(records, options, seed)]


def emotions(records: Sequence[Record]) -> dict[str, str]:
    return {record.fields["text_long"].strip(): record.fields["chosen_emotion"] for record in records}


def golds(items: Sequence[tuple[Item, Context]]) -> Iterator[tuple[tuple[str, ...], int]]:
    for item, _ in items:
        assert item.options is not None
        assert item.gold_indices is not None
        (gold,) = item.gold_indices
        yield item.options, gold


@pytest.mark.parametrize("options", [ContextOptions(), BALANCED], ids=["published", "balanced"])
def test_each_set_has_one_text_of_another_emotion(options: ContextOptions) -> None:
    records = corpus()
    emotion_of, items = emotions(records), built(records, options)
    assert len(items) == 136
    for (item, context), (texts, gold) in zip(items, golds(items), strict=True):
        found = [emotion_of[text] for text in texts]
        others = found[:gold] + found[gold + 1 :]
        assert len(set(others)) == 1
        assert found[gold] != others[0]
        assert 25 <= len(others) <= 35
        assert len(set(texts)) == len(texts)
        assert item.subset == f"{found[gold]} among {others[0]}"
        assert (context.needle, context.needle_start, context.task) == (texts[gold], None, "ed")
        assert (item.context, item.question_type, item.fixed_order) == (None, "odd_one_out", True)
        # "w7 word word": the tokenizer splits names of texts; words are one token each.
        assert context.tokens >= sum(len(text.split()) for text in texts)


def test_drafts_rest_on_record_of_odd_text() -> None:
    for sample in build_contrast_sets(corpus(), BALANCED, 0)[:20]:
        _, context = sample.build()
        assert sample.record.fields["text_long"].strip() == context.needle
        assert context.needle_id == f"row {sample.record.row}"


def test_same_seed_gives_same_sets() -> None:
    def ids(samples: Sequence[LazySample]) -> list[str]:
        return [sample.item_id for sample in samples]

    records = corpus()
    first, second = (build_contrast_sets(records, ContextOptions(), 3) for _ in range(2))
    backwards = [sample.build() for sample in reversed(second)][::-1]
    assert [sample.build() for sample in first] == backwards
    assert ids(first) == ids(second)
    assert len(set(ids(first))) == 136
    assert not set(ids(first)) & set(ids(build_contrast_sets(records, ContextOptions(), 4)))


@pytest.mark.parametrize("options", [ContextOptions(), BALANCED], ids=["published", "balanced"])
def test_neither_length_nor_place_tells_the_odd_one(options: ContextOptions) -> None:
    records = corpus(dict.fromkeys(COUNTS, 200))
    sets = [found for seed in range(4) for found in draw_sets(records, options, seed)]
    found = [
        (len(one.texts) - 1, sum(len(text.text) < len(one.texts[one.odd].text) for text in one.texts), one.odd) for one in sets
    ]
    chance, n = sum(1 / (most + 1) for most, *_ in found) / len(found), len(found)
    for end in ([rank == 0 for _, rank, _ in found], [rank == most for most, rank, _ in found]):
        assert binom.cdf(sum(end), n, chance) > 0.001
        assert binom.sf(sum(end) - 1, n, chance) > 0.001
    for values in ([(rank, most) for most, rank, _ in found], [(gold, most) for most, _, gold in found]):
        fifths = Counter(5 * value // (most + 1) for value, most in values)
        expected = Counter(5 * value // (most + 1) for _, most in values for value in range(most + 1))
        share = n / sum(expected.values())
        assert chisquare([fifths[k] for k in range(5)], [expected[k] * share for k in range(5)]).pvalue > 0.001


def test_texts_are_reused_evenly() -> None:
    records = corpus(dict.fromkeys(COUNTS, 200), longer=0)
    uses = Counter(text.text for found in draw_sets(records, BALANCED, 0) for text in found.texts)
    # 136 sets of 31 on average, of 1000 texts: 4.2 times each. What is longest or shortest is left over now and then.
    assert 4 <= uses.total() / 1000 <= 4.5
    assert len(uses) == 1000
    assert max(uses.values()) <= 6


def test_published_pairs_are_those_of_the_released_file() -> None:
    assert sum(PUBLISHED.values()) == 136
    planned = Counter(plan_pairs(REAL, "published"))
    # Disgust has 17 texts: its one set goes to the most frequent pair.
    assert planned == {pair: count for pair, count in PUBLISHED.items() if pair[0] != "Disgust"} | {("Anxiety", "Relaxation"): 66}
    plenty = Counter(plan_pairs(dict.fromkeys(REAL, 100), "published"))
    assert plenty == dict(PUBLISHED)


def test_balanced_pairs_are_in_balance() -> None:
    planned = plan_pairs(REAL, "balanced")
    majorities, odd_ones, pairs = (Counter(values) for values in (*zip(*planned, strict=True), planned))
    # 136 / 8 = 17 times odd; 136 / 7 = 19.4 times the majority; 7 x 8 - 7 = 49 pairs, 136 / 49 = 2.8.
    assert odd_ones == dict.fromkeys(REAL, 17)
    assert set(majorities) == set(REAL) - {"Disgust"}
    assert set(majorities.values()) == {19, 20}
    assert (len(pairs), set(pairs.values())) == (49, {2, 3})


def test_sole_majority_emotion_is_never_odd() -> None:
    assert Counter(plan_pairs({"Fear": 30, "Anger": 3, "Desire": 3}, "balanced")) == {
        ("Fear", "Anger"): 68,
        ("Fear", "Desire"): 68,
    }


def released(**changes: Any) -> Record:
    fields = {
        "text": [{"index": number, "context": f" text {number} "} for number in range(4)],
        "label": ["Fear", "Fear", "Anger", "Fear"],
        "length": 12,
        "ground_truth": 2,
    }
    return Record(fields=fields | changes, file="f", row=0)


def test_released_sets_are_read_as_they_are() -> None:
    (sample,) = read_contrast_sets([released()], BALANCED, 5)
    item, context = sample.build()
    assert (item.options, item.gold_indices) == (("text 0", "text 1", "text 2", "text 3"), (2,))
    assert (item.subset, context.needle, context.needle_id) == ("Anger among Fear", "text 2", None)
    # Two tokens per segment.
    assert context.tokens == 8
    assert sample.item_id == f"ed-{released().sha256[:12]}"
