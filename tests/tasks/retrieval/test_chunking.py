import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from schemas.context import Chunk
from tasks.retrieval import chunking
from tasks.retrieval.chunking import split, tokens_before
from tasks.text.tokens import count_tokens, token_offsets
from tests.rows import each_row
from tests.tasks.retrieval.texts import CLAUSES, ZH_CLAUSES, drawn, prose

TEXTS = {
    "prose": prose(600),
    "dialogue": drawn(CLAUSES, ("; ", ".\nClient: ", ".\nCounselor: "), 300),
    "chinese": drawn(ZH_CLAUSES, ("，", "。", "。\n"), 900),
}
ODD_TEXTS = st.text(st.sampled_from("aZ7 \n\t,.—é́난难過\u200b\u3000[😢"), max_size=300) | st.lists(
    st.sampled_from(["grief", "unmendable", "，", " ", "\n", "\n\n", "\n\n\n", "  ", "心", "2024"]), max_size=150
).map("".join)


def peer(text: str, size: int, overlap: int, extra: int) -> list[str]:
    """LangChain's chunks, by the length of each piece on its own."""
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=lambda piece: count_tokens(piece) + extra
    )
    # It leaves white space at the ends of pieces that it cannot cut.
    return [chunk for chunk in (chunk.strip() for chunk in splitter.split_text(text)) if chunk]


@each_row("legacy_bos", [False, True])
@each_row(("size", "overlap"), [(128, 50), (512, 50), (64, 0)])
@each_row("name", TEXTS)
def test_chunks_are_those_of_langchain(name: str, size: int, overlap: int, legacy_bos: bool) -> None:
    text = TEXTS[name]
    chunks = [chunk.text for chunk in split(text, size, overlap, legacy_bos=legacy_bos)]
    assert chunks == peer(text, size, overlap, int(legacy_bos))
    assert len(chunks) > 2


@settings(max_examples=50)
@given(text=ODD_TEXTS, overlap=st.integers(0, 15))
def test_extra_token_cuts_as_langchain_does(text: str, overlap: int) -> None:
    assert [chunk.text for chunk in split(text, 16, overlap, legacy_bos=True)] == peer(text, 16, overlap, 1)


@settings(max_examples=50)
@given(text=ODD_TEXTS, size=st.integers(16, 24), overlap=st.integers(0, 15), legacy_bos=st.booleans())
def test_chunks_of_any_text(text: str, size: int, overlap: int, legacy_bos: bool) -> None:
    chunks = split(text, size, overlap, legacy_bos=legacy_bos)
    covered = [False] * len(text)
    if not legacy_bos:  # no chunk begins or ends inside a token
        inside = {index for start, end in token_offsets(text) for index in range(start + 1, end)}
        assert not inside & {index for chunk in chunks for index in (chunk.start, chunk.end)}
    for number, chunk in enumerate(chunks):
        assert (chunk.number, chunk.text) == (number, text[chunk.start : chunk.end])
        assert chunk.text == chunk.text.strip() != ""
        assert chunk.token_end - chunk.token_start <= size
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    assert all(held or character.isspace() for held, character in zip(covered, text, strict=True))
    for before, after in itertools.pairwise(chunks):
        assert (before.start, before.end) <= (after.start, after.end)
        # One in which no token begins has the last token of the one before.
        assert before.token_end - after.token_start <= max(overlap, 1)


def test_spans_worked_out_by_hand() -> None:
    # One token per word. 16 is the limit: the first line has 10, the second 8, so each is a chunk; nothing of the first is
    # shared, since it is one piece of more than 4 tokens.
    text = " ".join(["sun"] * 10) + "\n" + " ".join(["moon"] * 8)
    assert split(text, 16, 4) == (
        Chunk(0, " ".join(["sun"] * 10), 0, 39, 0, 10),
        Chunk(1, " ".join(["moon"] * 8), 40, 79, 10, 18),
    )
    # One line of 20: 16 fit; of these the last 4 begin the second chunk.
    assert [(chunk.token_start, chunk.token_end) for chunk in split(" ".join(["sun"] * 20), 16, 4)] == [(0, 16), (12, 20)]


def test_long_unspaced_text_is_cut_between_tokens() -> None:
    # 20 numbers of one token each with commas: 39 tokens and no space. Of the chunks, the second begins with an overlap of 4.
    text = ",".join(["seven"] * 20)
    assert [(chunk.token_start, chunk.token_end) for chunk in split(text, 16, 4)] == [(0, 16), (12, 28), (24, 39)]
    # The released code counts every letter as a token, and the extra one, and one for the join.
    assert split(text, 16, 4, legacy_bos=True)[0].text == "seven"


@pytest.mark.parametrize("name", TEXTS)
def test_tokens_are_same_however_text_is_parted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS[name]
    starts = np.array([start for start, _ in token_offsets(text)])
    sums = tokens_before(text)
    assert sums.dtype == np.int32
    assert sums[::97].tolist() == [int((starts < index).sum()) for index in range(0, len(text) + 1, 97)]
    assert sums[-1] == count_tokens(text)
    monkeypatch.setattr(chunking, "PART_CHARACTERS", 7)
    assert np.array_equal(tokens_before(text), sums)


@each_row("text", ["a" * 500, "\ufffd" * 50, "\u200b", f"grief {'b' * 300} joy"])
@each_row("legacy_bos", [False, True])
def test_chunk_without_token_start_has_token(text: str, *, legacy_bos: bool) -> None:
    # A word of more than 100 letters is one unknown token; characters that cannot be read are none.
    chunks = split(text, 32, 8, legacy_bos=legacy_bos)
    assert chunks
    assert all(0 <= chunk.token_start < chunk.token_end <= max(count_tokens(text), 1) for chunk in chunks)
