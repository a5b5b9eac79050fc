"""Read the condition of `--where`: columns compared with values, joined by AND, OR and NOT: SQL without functions."""

import re
from collections.abc import Collection
from typing import NoReturn

import polars as pl

from schemas.errors import UsageError

LONGEST, MOST_BRACKETS = 1000, 20
"""Characters of a condition, and how often a bracket may open in it."""

TOKEN = re.compile(
    r"""(?P<number>(?<![\w.])-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?![\w.]))|'(?:[^']|'')*'|"(?P<quoted>[^"]+)"|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<sign><=|>=|<>|!=|[=<>])|[(),]|(?P<other>\S)"""
)
COMPARING, JOINING = frozenset({"IN", "IS", "LIKE"}), frozenset({"AND", "OR"})
WORDS = COMPARING | JOINING | {"NOT", "NULL"}


def read_condition(text: str, columns: Collection[str]) -> pl.Expr:
    """Return a condition such as `who_5 < 13 AND (language IN ('en', 'zh') OR age IS NOT NULL)`; it is null where a value is.

    Args:
        text: of the condition.
        columns: that it may name.

    Raises:
        UsageError: it is too long, or has a word or sign of another language.
    """
    if len(text) > LONGEST or text.count("(") > MOST_BRACKETS:
        _fail(f"at most {LONGEST:,} characters and {MOST_BRACKETS} brackets", text[:80], 0)
    compared = False
    for token in TOKEN.finditer(text):
        named, word = token["quoted"] or token["word"], (token["word"] or "").upper()
        is_column = named in columns and not re.match(r"\s*\(", text[token.end() :])
        if token["other"] or (named and not is_column and word not in WORDS):
            values = f"numbers, texts in single quotes, the columns {', '.join(columns)}"
            _fail(f"{', '.join(sorted(WORDS))}, {values}", token[0], token.start())
        if not is_column and word == "NULL" and not re.search(r"\bIS(\s+NOT)?\s+\Z", text[: token.start()], re.IGNORECASE):
            _fail("IS before NULL", token[0], token.start())
        compares = bool(token["sign"]) or (word in COMPARING and not is_column)
        if compares and compared:
            _fail("AND or OR between comparisons", token[0], token.start())
        compared = compares or (compared and word not in JOINING)
    try:
        return pl.sql_expr(f"({text})")  # in brackets, a word behind it is not taken for its new name
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _fail("comparisons joined by AND and OR", str(error).splitlines()[0], 0)


def _fail(expected: str, got: str, start: int) -> NoReturn:
    raise UsageError(
        "the condition cannot be read",
        where=f"--where, character {start + 1}",
        expected=expected,
        got=got,
        next_step="for example --where \"language = 'en' AND NOT subset IS NULL\"",
    )
