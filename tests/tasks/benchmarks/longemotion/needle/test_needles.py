"""A needle in a haystack, for 1,000 generated haystacks, needles, lengths and depths."""

import random
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.context import ContextOptions, NeedleStyle
from schemas.errors import UsageError
from schemas.item import Record
from tasks.benchmarks.longemotion.needle.haystacks import Haystack, lay_out
from tasks.benchmarks.longemotion.needle.needles import InsertionPoint, Needle, build_item, list_grid, match_layout
from tasks.text.tokens import token_offsets
from tests.tasks.benchmarks.longemotion.needle.removal import haystack_of, remove_needle

WORDS = (
    *("river", "lamp", "winter", "old", "quietly", "went", "garden", "unbelievable", "sang", "and", "bread", "half-open"),
    "door",
)
STYLES: tuple[NeedleStyle, ...] = ("matched", "as_is")
RECORD = Record(fields={}, file="f", row=0)


def sentence(draw: random.Random) -> str:
    words = " ".join(draw.choice(WORDS) for _ in range(draw.randint(2, 14))).capitalize()
    return draw.choice((f"{words}.", f"{words}!", f"{words}?", f'"{words}," he said.', f'"{words}. {words}!" Anna cried.'))


def paragraph(draw: random.Random) -> str:
    text = " ".join(sentence(draw) for _ in range(draw.randint(1, 6)))
    return draw.choice((text, text, text, text, text.upper(), f'"{text}'))


@lru_cache(maxsize=64)
def book(seed: int) -> tuple[str, ...]:
    draw = random.Random(seed)
    return (sentence(draw), *(paragraph(draw) for _ in range(draw.randint(4, 20))))


@lru_cache(maxsize=128)
def hay(seed: int, style: NeedleStyle) -> Haystack:
    return lay_out(book(seed), f"book {seed}", style)


def needle(text: str, name: str = "n", subject: str = "Mira", clashing: tuple[str, ...] = ()) -> Needle:
    return Needle(
        name=name,
        task="ec_emobench",
        record=RECORD,
        needle_id=name,
        text=text,
        subject=subject,
        choices=("Joy", "Fear"),
        label="Fear",
        ask=lambda subject, _: f"What does {subject} feel?",
        clashing=clashing,
    )


def longest(haystack: Haystack) -> int:
    ends = [*haystack.token_starts[1:], haystack.tokens]
    return max(end - start for start, end in zip(haystack.token_starts, ends, strict=True))


@settings(max_examples=100, deadline=None)
@given(
    book_seed=st.integers(0, 40),
    style=st.sampled_from(STYLES),
    words=st.lists(
        st.sampled_from(("Mira", "waited", "at", "platform", "nine", "3.50", "Yes.", '"No!"', "it’s", "—")), min_size=3
    ),
    target=st.integers(150, 2500),
    depth=st.floats(0, 100),
    seed=st.integers(0, 10**6),
)
def test_properties(book_seed: int, style: NeedleStyle, words: list[str], target: int, depth: float, seed: int) -> None:
    haystack = hay(book_seed, style)
    hidden = needle(" ".join(["Mira", *words[:25], "wept."]))
    item, context = build_item(hidden, haystack, style, InsertionPoint(target, depth, seed), "i")
    text, start, end = item.context or "", context.needle_start or 0, context.needle_end or 0

    # The span is the needle's, whole and once.
    assert text[start:end] == context.needle
    assert text.count(context.needle or "?") == 1
    assert context.needle == (match_layout(hidden.text) if style == "matched" else hidden.text)

    # Without it, the haystack is as it was.
    assert remove_needle(text, context) == haystack_of(haystack, context)

    # Tokens are counted as by tokenising the text itself.
    tokens = [at for at, _ in token_offsets(text)]
    ahead, ended = bisect_left(tokens, start), bisect_left(tokens, end)
    assert (context.tokens, context.needle_token_start, context.needle_token_end) == (len(tokens), ahead, ended)

    # Length and depth hold within one sentence.
    around = len(tokens) - (ended - ahead)
    assert abs(context.tokens - target) <= longest(haystack)
    assert abs(ahead - around * depth / 100) <= longest(haystack)
    assert context.depth_percent == pytest.approx(100 * ahead / around)
    assert (context.target_tokens, context.target_depth_percent) == (target, depth)

    # Lines end at the needle only where a paragraph (as_is: every sentence) does.
    gaps = {"matched": {" ", "\n\n"}, "as_is": {"\n"}}[style]
    before, after = text[:start], text[end:]
    assert not before or before[len(before.rstrip()) :] in gaps
    assert not after or after[: len(after) - len(after.lstrip())] in gaps
    assert "\n" not in (context.needle or "")


@settings(max_examples=50, deadline=None)
@given(book_seed=st.integers(0, 40), style=st.sampled_from(STYLES), seed=st.integers(0, 10**6), order=st.randoms())
def test_seed_alone_decides_bytes(book_seed: int, style: NeedleStyle, seed: int, order: random.Random) -> None:
    haystack = hay(book_seed, style)
    needles = [needle(f"Mira met Tom{number} at noon.", f"n{number}", clashing=("Tom1",)) for number in range(4)]

    def built(seed: int, *, shuffled: bool) -> dict[str, tuple[object, object]]:
        samples = list(list_grid(needles, haystack, ContextOptions(needle_style=style), (150, 900), seed))
        if shuffled:
            order.shuffle(samples)
            samples = samples[1:]
        return {sample.item_id: sample.build() for sample in samples}

    whole = built(seed, shuffled=False)
    assert all(whole[name] == pair for name, pair in built(seed, shuffled=True).items())
    assert whole != built(seed + 1, shuffled=False)


@pytest.mark.parametrize(("depth", "expected"), [(0.0, 0.0), (100.0, 100.0)])
@pytest.mark.parametrize("style", STYLES)
def test_ends_of_scale_are_ends_of_text(depth: float, expected: float, style: NeedleStyle) -> None:
    for seed in range(20):
        item, context = build_item(needle("Mira left."), hay(seed, style), style, InsertionPoint(300, depth, seed), "i")
        assert context.depth_percent == expected
        assert context.needle_start == 0 if depth == 0 else context.needle_end == len(item.context or "")


def test_sentences_repeat_only_in_short_books() -> None:
    haystack = lay_out(tuple(f"Number {number} is here. It stays." for number in range(100)), "b", "matched")
    for target in range(100, haystack.tokens, 37):
        item, context = build_item(needle("Mira left."), haystack, "matched", InsertionPoint(target, 30.0, target), "i")
        assert ";" not in (context.haystack or "")
        assert max((item.context or "").count(f"Number {number} ") for number in range(100)) == 1
    item, context = build_item(needle("Mira left."), haystack, "matched", InsertionPoint(10 * haystack.tokens, 30.0, 1), "i")
    assert (context.haystack or "").count(";") in {9, 10}
    assert (item.context or "").count("Mira") == 1


def test_names_change_in_needle_subject_and_record() -> None:
    hidden = needle("Tom saw Ada's cat. Tom wept.", subject="Tom's sister", clashing=("Ada", "Tom"))
    item, context = build_item(hidden, hay(1, "matched"), "matched", InsertionPoint(200, 50, 1), "i")
    ada, tom = (new for _, new in context.renamed)
    assert [old for old, _ in context.renamed] == ["Ada", "Tom"]
    assert context.needle == f"{tom} saw {ada}'s cat. {tom} wept."
    assert context.query == f"{tom}'s sister"
    assert item.question == f"What does {tom}'s sister feel?"
    assert item.gold_indices == (1,)
    assert hidden.text not in (item.context or "")


def test_label_that_is_no_choice_gives_no_gold() -> None:
    hidden = replace(needle("Mira left."), choices=("Joy",))
    item, _ = build_item(hidden, hay(1, "matched"), "matched", InsertionPoint(200, 50, 1), "i")
    assert item.gold_indices is None


@pytest.mark.parametrize("target", [1, 5, 6])
def test_length_that_does_not_hold_needle_is_refused(target: int) -> None:
    with pytest.raises(ValueError, match=f"^{target} tokens are too few for a needle of 5"):
        build_item(needle("Mira left at noon."), hay(1, "matched"), "matched", InsertionPoint(target, 50, 1), "i")


def test_needle_that_haystack_has_too_is_refused() -> None:
    haystack = lay_out(("Mira left. It rained.",) * 9, "b", "matched")
    with pytest.raises(ValueError, match="already contains the text"):
        build_item(needle("Mira left."), haystack, "matched", InsertionPoint(60, 50, 1), "i")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“It’s late…”  she\nsaid", '"It\'s late..." she said.'),
        ("He left — at once.", "He left--at once."),
        ('She cried "No!"', 'She cried "No!"'),
    ],
)
def test_matched_needle_is_laid_out_as_book(text: str, expected: str) -> None:
    assert match_layout(text) == expected


HAYSTACK = lay_out(tuple(f"Number {number} is here. It stays." for number in range(100)), "b", "matched")
NEEDLES = [
    replace(needle(f"Mira left house {row}."), record=Record(fields={"row": row}, file="f", row=row), needle_id=str(row))
    for row in range(2)
]


def test_grid_has_every_length_and_depth() -> None:
    samples = list_grid(NEEDLES, HAYSTACK, ContextOptions(lengths=(200, 400), depths=(0, 12.5)), (1, 2), seed=3)
    assert [sample.item_id for sample in samples] == [
        f"{name}-len{length}-depth{depth}" for name in ("n", "n-2") for length in (200, 400) for depth in ("0", "12.5")
    ]
    assert [sample.record.row for sample in samples] == [0] * 4 + [1] * 4
    for sample in samples:
        item, context = sample.build()
        assert item.item_id == sample.item_id
        assert f"-len{context.target_tokens}-depth{context.target_depth_percent:g}" in sample.item_id
        assert abs(context.tokens - (context.target_tokens or 0)) <= 5  # a sentence has 5 tokens or fewer


def test_ungiven_values_are_drawn_within_bounds() -> None:
    free = [sample.build()[1] for sample in list_grid(NEEDLES, HAYSTACK, ContextOptions(), (150, 400), seed=3)]
    assert [sample.item_id for sample in list_grid(NEEDLES, HAYSTACK, ContextOptions(), (150, 400), seed=3)] == ["n", "n-2"]
    assert all(150 <= (context.target_tokens or 0) <= 400 for context in free)
    given = list_grid(NEEDLES, HAYSTACK, ContextOptions(lengths=(300,)), (150, 400), seed=3)
    assert [sample.build()[1].target_depth_percent for sample in given] == [context.target_depth_percent for context in free]
    assert len({context.target_depth_percent for context in free}) == 2
    many = [list_grid(NEEDLES[:1], HAYSTACK, ContextOptions(), (150, 152), seed)[0].build()[1] for seed in range(60)]
    assert {context.target_tokens for context in many} == {150, 151, 152}
    assert min(context.target_depth_percent or 0 for context in many) < 15
    assert max(context.target_depth_percent or 0 for context in many) > 85


@pytest.mark.parametrize(
    ("options", "got", "next_step"),
    [
        (ContextOptions(lengths=(200, 200)), "200, 200", "give each of the lengths once"),
        (ContextOptions(depths=(50.0, 50.0000001)), "50.0, 50.0000001", "give each of the depths once"),
    ],
)
def test_impossible_grids_are_refused(options: ContextOptions, got: str, next_step: str) -> None:
    with pytest.raises(UsageError, match="cannot be used") as caught:
        list_grid(NEEDLES, HAYSTACK, options, (1, 2), seed=0)
    assert (caught.value.got, caught.value.next_step) == (got, next_step)
