"""Parts of generated pages: tables, blocks of text, links between pages of the catalogue."""

import re
from collections.abc import Iterable, Sequence
from os.path import relpath

from schemas.metrics import METRICS
from tasks.text.tables import escape

REFERENCE = {"metric": "metrics", "question type": "question-types", "setting": "settings", "rubric": "rubrics"}
"""Pages of the reference that have a heading for each name of a kind."""


def link(label: str, target: str, page: str) -> str:
    """Return a link from a page to another; both are places in the tree."""
    path, hash_sign, anchor = target.partition("#")
    return f"[{label}]({relpath(path, page.rpartition('/')[0])}{hash_sign}{anchor})"


def dataset_page(name: str) -> str:
    """Return the place of a dataset's page."""
    return f"benchmarks/datasets/{name}.md"


def task_page(name: str) -> str:
    """Return the place of a task's page."""
    return f"benchmarks/tasks/{name}.md"


def benchmark_page(name: str) -> str:
    """Return the place of a benchmark's page."""
    return f"benchmarks/{name}.md"


def reference_link(kind: str, name: str, page: str) -> str:
    """Return a link to what the reference says of a metric, question type, setting or rubric."""
    return link(f"`{name}`", f"reference/{REFERENCE[kind]}.md#{name}", page)


def metric_words(name: str) -> str:
    """Return what a metric is, as reports say it."""
    return escape(METRICS[name].words)


def rows_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose cells are Markdown; heads that begin with `>` are of numbers, null is a dash."""
    rules = ["---:" if head.startswith(">") else "---" for head in heads]
    lines = [[head.removeprefix(">") for head in heads], rules, *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(value: object) -> str:
    """Return a cell: Markdown as it is, numbers with two decimals."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)


def block(text: str, language: str = "text") -> str:
    """Return a fenced block, its fence longer than any in the text."""
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def folded(summary: str, body: str) -> str:
    """Return a part of a page that is folded until a reader opens it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list."""
    return "\n".join(f"* {line}" for line in lines)


def toctree(pages: Iterable[str]) -> str:
    """Return the directive that puts pages below this one into the sidebar, and nothing on the page itself."""
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])


def join(*parts: str | None) -> str:
    """Return a page of parts, those that are empty left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
