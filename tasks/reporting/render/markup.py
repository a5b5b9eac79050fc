"""Markdown in which texts of models and datasets are inert."""

import re
from collections.abc import Iterable


def cell(text: str) -> str:
    """Text for a line or a table cell: one line, nothing in it acts as markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#~&!])", r"\\\1", " ".join(text.split()))


def fence(text: str) -> str:
    """Text as a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{text}\n{marks}"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells must be escaped already."""
    columns = list(heads)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
