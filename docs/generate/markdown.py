"""Markdown that generators of pages have in common: parts of a page, tables, blocks, lists."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_page(file: Path, text: str) -> None:
    """Write a page, and the folder it is in if there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text.rstrip()}\n", encoding="utf-8")


def joined(*parts: str | None) -> str:
    """Return the parts of a page with a blank line between them; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose cells are Markdown; heads that begin with `>` are of numbers, null is a dash.

    Columns without any content are left out, and nothing remains of a table without rows.
    """
    cells = [[cell(value) for value in row] for row in rows]
    filled = [place for place in range(len(heads)) if any(row[place] for row in cells)]
    rules = ["---:" if head.startswith(">") else "---" for head in heads]
    lines = [[line[place] for place in filled] for line in ([head.removeprefix(">") for head in heads], rules, *cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else ""


def cell(value: object) -> str:
    """Return a cell: Markdown with its bars escaped, numbers with two decimals."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else re.sub(r"(?<!\\)\|", r"\|", str(value))


def block(language: str, text: str) -> str:
    """Return a block of code, fenced by more backticks than it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def bullets(lines: Iterable[str]) -> str:
    """Return a list."""
    return "\n".join(f"* {line}" for line in lines)


def folded(summary: str, body: str) -> str:
    """Return a part of a page that is folded until a reader opens it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def toctree(pages: Iterable[str], caption: str = "") -> str:
    """Return the directive that puts pages into the sidebar below this one, and nothing on the page itself."""
    return block("{toctree}", "\n".join([":hidden:", *([f":caption: {caption}"] if caption else []), "", *pages]))
