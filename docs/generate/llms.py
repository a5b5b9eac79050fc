"""llms.txt (https://llmstxt.org): every page of the site with one line about it, for programs that read documentation."""

import re
from pathlib import Path

from docs.generate.tree import FENCE

HEAD = """# MoodFlow

> MoodFlow evaluates language models as emotional companions: it asks a model the questions of published benchmarks, reads and
> judges its replies, and adds them up to one score with an interval. This file lists every page of its documentation as Markdown.
"""

TITLE = re.compile(r"^# +(.+?) *$", flags=re.MULTILINE)
ITEM = re.compile(r"^\* \[[^\]]+\]\((?P<page>[^)#]+)\): (?P<text>.+)$", flags=re.MULTILINE)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
NO_PROSE = ("#", "|", "!", "* ", "-", ":", "<", ">", "(")


def write_llms(tree: Path, parts: dict[str, list[str]], to: Path) -> None:
    """Write llms.txt for the pages of a tree: a section per part of the sidebar, each page followed by its chapters."""
    index = (tree / "index.md").read_text(encoding="utf-8")
    said = {item["page"]: item["text"] for item in ITEM.finditer(index)}
    sections = [HEAD, page_line(tree, "index.md", "where to find what")]
    for part, pages in parts.items():
        lines = [page_line(tree, page, said.get(page)) for entry in pages for page in chapters(tree, entry)]
        sections.append("\n".join([f"## {part}", "", *lines]))
    to.write_text("\n\n".join([sections[0].rstrip(), *sections[1:]]) + "\n", encoding="utf-8")


def chapters(tree: Path, page: str) -> list[str]:
    """Return a page; the first page of a folder with all others in it, each folder's first page before its chapters."""
    if not page.endswith("/index.md"):
        return [page]
    pages = (chapter.relative_to(tree).as_posix() for chapter in (tree / page).parent.rglob("*.md"))
    return sorted(pages, key=lambda chapter: chapter.removesuffix("index.md"))


def page_line(tree: Path, page: str, said: str | None) -> str:
    """Return the line about a page: its title, its place, and what is said of it, by default its first sentence."""
    text = (tree / page).read_text(encoding="utf-8")
    title = plain(found[1]) if (found := TITLE.search(text)) else page
    about = said or first_sentence(text)
    return f"* [{title}]({page}): {about}" if about else f"* [{title}]({page})"


def first_sentence(text: str) -> str:
    """Return the first sentence of prose on a page, as plain text; empty if a page has none."""
    paragraphs = (paragraph.strip() for paragraph in FENCE.sub("", text).split("\n\n"))
    prose = next((paragraph for paragraph in paragraphs if paragraph and not paragraph.startswith(NO_PROSE)), "")
    return re.split(r"(?<=[.?!])\s|(?<=[。？！])", plain(prose).removeprefix("**Problem.** "), maxsplit=1)[0]


def plain(text: str) -> str:
    """Return text on one line, links as their labels."""
    return " ".join(re.sub(r"\\([^\w\s])", r"\1", LINK.sub(r"\1", text)).split())
