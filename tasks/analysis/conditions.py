"""Read the condition of `--where`: columns compared with values, joined by AND, OR and NOT. It calls no function."""

import operator
import re
from collections.abc import Collection
from functools import reduce
from typing import Any, NoReturn

import polars as pl

from schemas.errors import UsageError

LONGEST, MOST_BRACKETS = 1000, 50
"""Characters of a condition, and how often a bracket may open in it."""

TOKEN = re.compile(
    r"""(?P<number>-?\d{1,15}(?:\.\d{1,15})?(?![\w.]))|'(?P<text>(?:[^']|'')*)'|"(?P<column>[^"]+)"|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<sign><=|>=|<>|!=|\S)|(?P<end>\Z)"""
)
COMPARE: dict[str, Any] = {"=": operator.eq, "!=": operator.ne, "<>": operator.ne}
COMPARE |= {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
WILDCARDS = {"%": ".*", "_": "."}
"""Of LIKE, as a regular expression has them."""


class Condition:
    """A condition such as `who_5 < 13 AND (language IN ('en', 'zh') OR diagnoses LIKE '%ADHD%') AND age IS NOT NULL`."""

    def __init__(self, text: str, columns: Collection[str]) -> None:
        self._text, self._columns = text, columns
        self._tokens = [(str(match.lastgroup), match[match.lastgroup or 0], match.start()) for match in TOKEN.finditer(text)]

    def read(self) -> pl.Expr:
        """Return the condition as an expression, null where a value that it needs is; UsageError: it has another form."""
        if len(self._text) > LONGEST or self._text.count("(") > MOST_BRACKETS:
            self._fail(f"at most {LONGEST:,} characters and {MOST_BRACKETS} brackets")
        condition = self._any()
        if self._tokens[0][0] != "end":
            self._fail("AND, OR or the end")
        return condition

    def _any(self) -> pl.Expr:
        parts = [self._part()]
        while word := self._take("AND", "OR"):
            part = self._part()
            parts[-1:] = [parts[-1] & part] if word == "AND" else [parts[-1], part]  # AND binds closer
        return reduce(operator.or_, parts)

    def _part(self) -> pl.Expr:
        if self._take("NOT"):
            return ~self._part()
        if self._take("("):
            condition = self._any()
            self._require(")")
            return condition
        left = self._value()
        sign = self._require(*COMPARE, "IS", "IN", "NOT", "LIKE")
        if sign in COMPARE:
            condition = COMPARE[sign](left, self._value())
        elif sign == "IS":
            is_not = self._take("NOT")
            self._require("NULL")
            condition = left.is_not_null() if is_not else left.is_null()
        elif sign == "NOT":
            condition = ~self._among(left, self._require("IN", "LIKE"))
        else:
            condition = self._among(left, sign)
        return condition

    def _among(self, left: pl.Expr, sign: str) -> pl.Expr:
        if sign == "LIKE":
            kind, text, _ = self._tokens[0]
            if kind != "text":
                self._fail("a text in single quotes")
            self._tokens.pop(0)
            pattern = "".join(WILDCARDS.get(sign) or re.escape(sign) for sign in text.replace("''", "'"))
            return left.str.contains(f"^(?s:{pattern})$")
        self._require("(")
        conditions = [left == self._value()]
        while self._take(","):
            conditions.append(left == self._value())
        self._require(")")
        return reduce(operator.or_, conditions)

    def _value(self) -> pl.Expr:
        kind, text, _ = self._tokens[0]
        if kind not in ("number", "text") and (kind not in ("word", "column") or text not in self._columns):
            self._fail(f"a number, a text in single quotes, or one of the columns {', '.join(self._columns)}")
        self._tokens.pop(0)
        if kind in ("word", "column"):
            return pl.col(text)
        return pl.lit(float(text) if kind == "number" else text.replace("''", "'"))

    def _take(self, *words: str) -> str | None:
        kind, text, _ = self._tokens[0]
        if kind not in ("word", "sign") or text.upper() not in words:
            return None
        self._tokens.pop(0)
        return text.upper()

    def _require(self, *words: str) -> str:
        return self._take(*words) or self._fail(" or ".join(words))

    def _fail(self, expected: str) -> NoReturn:
        _, text, place = self._tokens[0]
        raise UsageError(
            "the condition cannot be read",
            where=f"--where, character {place + 1}",
            expected=expected,
            got=text[:80] or "its end",
            next_step="for example --where \"language = 'en' AND NOT subset IS NULL\"",
        )
