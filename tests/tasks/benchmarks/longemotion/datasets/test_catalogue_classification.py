"""Emotion classification built of the real files: what the catalogue entries promise holds for every item."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean, median

import pytest

from schemas.context import Context, ContextOptions, NeedleStyle
from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.benchmarks.longemotion.catalogue import LONGEMOTION
from tasks.benchmarks.longemotion.datasets.emotion_classification import read_prose
from tasks.benchmarks.longemotion.needle.haystacks import Haystack, lay_out
from tasks.sources.reading import read_dataset
from tasks.text.tokens import count_tokens
from tests.tasks.benchmarks.longemotion.needle.removal import haystack_of, remove_needle
from tests.tasks.datasets.real_datasets import paths

EMOBENCH, FINENTITY = LONGEMOTION[:2]
SENTENCE = 91
"""Tokens of the novel's longest sentence."""


def records(spec: DatasetSpec, mirror: Path) -> list[Record]:
    return read_dataset(spec, paths(spec, mirror))


def build(spec: DatasetSpec, mirror: Path, options: ContextOptions, seed: int = 1) -> list[tuple[Item, Context]]:
    assert spec.sample_builder is not None
    return [sample.build() for sample in spec.sample_builder(records(spec, mirror), options, seed)]


def novel(mirror: Path, style: NeedleStyle) -> Haystack:
    lines = [record.fields["line"] for record in records(EMOBENCH, mirror) if "line" in record.fields]
    return lay_out(read_prose(lines), "15122.txt", style)


def test_the_prose_of_the_novel(mirror: Path) -> None:
    haystack = novel(mirror, "matched")
    assert haystack.tokens == 63_233
    assert haystack.text.startswith("CHAPTER I.\n\n")
    # Pins what is read of the file: a change here changes every item, so evaluation_version has to be raised.
    assert sha256(haystack.text.encode()).hexdigest() == "0a2ab351543fd482172d0f62a9909c47756e2fe1e8ca8f55fa52bf7171ed31c3"
    assert not re.search(r"Gutenberg|_|\*|\n(?!\n)(?<!\n\n)| {2}", haystack.text)
    ends = [*haystack.token_starts[1:], haystack.tokens]
    assert max(end - start for start, end in zip(haystack.token_starts, ends, strict=True)) == SENTENCE


@pytest.mark.parametrize(
    ("spec", "style"),
    [
        *((EMOBENCH, "matched"), (EMOBENCH, "as_is"), (FINENTITY, "matched")),
        pytest.param(FINENTITY, "as_is", marks=pytest.mark.long),
    ],
)
def test_every_item_holds_its_needle_at_its_place(spec: DatasetSpec, style: NeedleStyle, mirror: Path) -> None:
    haystack = novel(mirror, style)
    built = build(spec, mirror, ContextOptions(needle_style=style))
    low, high = (10_000, 30_000) if spec is EMOBENCH else (20_000, 67_000)
    assert len({item.item_id for item, _ in built}) == 200
    # The means of released files; of 200 lengths between 20,000 and 67,000 two standard errors are 13,568 * 2 / 14.14 = 1,919.
    released = 19_345 if spec is EMOBENCH else 43_588
    assert fmean(context.tokens for _, context in built) == pytest.approx(released, abs=1_400 if spec is EMOBENCH else 1_919)
    for item, context in built[:: 1 if spec is EMOBENCH else 3]:
        text, needle, target = item.context or "", context.needle or "", context.target_tokens or 0
        assert text[context.needle_start : context.needle_end] == needle
        assert text.count(needle) == 1
        assert remove_needle(text, context) == haystack_of(haystack, context)
        assert low <= target <= high
        assert abs(context.tokens - target) <= min(SENTENCE, 0.02 * target)
        assert (context.depth_percent or 0) == pytest.approx(context.target_depth_percent or 0, abs=100 * SENTENCE / target)
        assert item.gold_indices
        assert "—" not in needle
    for item, context in built[::40]:
        assert context.tokens == count_tokens(item.context or "")
        assert context.needle_token_start == count_tokens((item.context or "")[: context.needle_start])


def test_every_english_question_of_emobench_is_asked_once(mirror: Path) -> None:
    built = build(EMOBENCH, mirror, ContextOptions(lengths=(1000,), needle_style="as_is"))
    assert len({context.needle_id for _, context in built}) == 200
    assert len({context.needle for _, context in built}) == 140
    # As many labels as the released set has.
    assert len({(item.options or ())[(item.gold_indices or (0,))[0]] for item, _ in built}) == 84


def line_of(text: str, context: Context) -> tuple[int, int]:
    start = text.rfind("\n\n", 0, context.needle_start)
    end = text.find("\n\n", context.needle_end)
    return (0 if start < 0 else start + 2), (len(text) if end < 0 else end)


def shares(texts: Sequence[str], kind: str) -> float:
    return sum(len(re.findall(kind, text)) for text in texts) / sum(map(len, texts))


def test_layout_and_case_do_not_show_matched_needle(mirror: Path) -> None:
    built = build(EMOBENCH, mirror, ContextOptions())
    needles = [context.needle or "" for _, context in built]
    prose = novel(mirror, "matched").text
    # Marks: none that the novel's prose lacks, but for digits' ones.
    assert {mark for needle in needles for mark in needle if not mark.isalnum()} <= set(prose)
    # Case: capitals are about as many.
    assert shares(needles, "[A-Z]") == pytest.approx(shares([prose], "[A-Z]"), rel=0.25)
    alone, places = 0, []
    for item, context in built:
        text = item.context or ""
        start, end = line_of(text, context)
        lengths = [len(line) for line in text.split("\n\n")]
        # Lines: one per paragraph, needle or not; a needle ends with its line only where it is a paragraph.
        assert "\n" not in text[start:end]
        alone += (start, end) == (context.needle_start, context.needle_end)
        places.append(sum(length < end - start for length in lengths) / len(lengths))
    # It is a paragraph in about half of the contexts, is hardly ever in the longest one, and never the only one of its length.
    assert 60 <= alone <= 140
    assert sum(place > 0.995 for place in places) <= 20
    assert 0.5 <= median(places) <= 0.9
