"""Lengths in tokens: the WordPiece tokenizer of all-MiniLM-L6-v2.

A stated tokenizer that every machine has, not that of the model under test. It never joins characters across white space, so that
the tokens of a text cut at white space are those of its parts.

Source: the vocabulary is that of BERT, uncased (Devlin et al. 2019), which all-MiniLM-L6-v2 uses.
"""

from functools import cache

from tokenizers import BertWordPieceTokenizer

from schemas.folders import DATA_FOLDER

VOCABULARY = DATA_FOLDER / "tokenizer" / "vocab.txt"


@cache
def load_tokenizer() -> BertWordPieceTokenizer:
    """Return the tokenizer, loaded once. It neither truncates nor pads."""
    return BertWordPieceTokenizer(str(VOCABULARY))


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Return character spans of the tokens of a text, in order, end exclusive; special tokens are not among them."""
    offsets: list[tuple[int, int]] = load_tokenizer().encode(text, add_special_tokens=False).offsets
    return offsets


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text, without special tokens."""
    return len(load_tokenizer().encode(text, add_special_tokens=False))
