"""Markdown of generated pages: prose without accidental markup, tables, headings, and the anchors of what they are about."""

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from docs.generate.markdown import joined

ROW = tuple[str, ...]

CODE_SPAN = re.compile(r"(`[^`]+`)")
OPTION = re.compile(r"(?<![\w`/-])(--[a-z][a-z-]*)")
MARKUP = re.compile(r"([\\*<>\[\]$~#])")


def anchor(name: str) -> str:
    """Return the HTML anchor of what a page says of a name, as Sphinx makes it of a heading: `too_long` becomes too-long."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def slug(name: str) -> str:
    """Return what a Markdown link has behind `#` to lead to the heading of a name, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def prose(text: str) -> str:
    """Return a text on one line whose characters are shown as they are; what stands in backticks and options are code."""
    parts = CODE_SPAN.split(" ".join(text.split()))
    return "".join(part if CODE_SPAN.fullmatch(part) else OPTION.sub(r"`\1`", MARKUP.sub(r"\\\1", part)) for part in parts)


def sentence(text: str) -> str:
    """Return a description as prose that begins with a capital and ends with a full stop."""
    shown = prose(text)
    return f"{shown[:1].upper()}{shown[1:].rstrip('.')}." if shown else ""


def code(value: object) -> str:
    """Return a value as code; nothing for an empty one."""
    text = str(value)
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else ""


def codes(values: Iterable[object]) -> str:
    """Return values as code, separated by commas."""
    return ", ".join(map(code, values))


def link(name: str, page: str = "", title: str | None = None) -> str:
    """Return a link to the heading of a name, on another page or on the same one."""
    return f"[{title or code(name)}]({page}#{slug(name)})"


def row_name(name: str, *inside: str, shown: str = "") -> str:
    """Return the first cell of a row with an anchor of its own, which begins with what the row is inside of.

    `shown`: in place of the name.
    """
    return f'<span id="{anchor(" ".join((*inside, name)))}"></span>{code(shown or name)}'


def facts(*pairs: tuple[str, str]) -> str:
    """Return what is known of something as a list; what is empty is left out."""
    return "\n".join(f"* *{name}*: {value}" for name, value in pairs if value)


def doc_of(thing: Any) -> str:
    """Return the first paragraph of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n", maxsplit=1)[0]


def docstring(thing: Any) -> str:
    """Return a docstring as paragraphs of prose, its parts `Args:` and the like as lists."""
    return joined(*map(_paragraph, (inspect.getdoc(thing) or "").split("\n\n")))


@cache
def texts_below(file: str) -> Mapping[str, tuple[object, str]]:
    """Return the constants of a Python file that a text stands below: value, if it is a literal one, and text."""
    said: dict[str, tuple[object, str]] = {}
    for line, below in pairwise(ast.parse(Path(file).read_text(encoding="utf-8")).body):
        targets = line.targets if isinstance(line, ast.Assign) else []
        text = getattr(getattr(below, "value", None), "value", None) if isinstance(below, ast.Expr) else None
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(text, str):
                said[target.id] = (getattr(getattr(line, "value", None), "value", None), inspect.cleandoc(text))
    return said


def text_below(module: ModuleType, name: str) -> str:
    """Return the text below a constant of a module, as paragraphs of prose."""
    paragraphs = texts_below(str(module.__file__))[name][1].split("\n\n")
    return joined(*map(prose, paragraphs))


def _paragraph(text: str) -> str:
    head, _, rest = text.partition("\n")
    if text.startswith("* "):
        return "\n".join(f"* {prose(entry)}" for entry in re.split(r"(?:^|\n)\* ", text)[1:])
    if not re.fullmatch(r"(Args|Attributes|Raises|Returns):", head):
        return prose(text)
    entries = re.split(r"\n(?=\S)", inspect.cleandoc(f"\n{rest}"))
    pairs = (entry.partition(": ") if head != "Returns:" else ("", "", entry) for entry in entries)
    return f"*{head.rstrip(':')}*\n\n" + "\n".join(
        f"* {f'{code(name)}: ' if name else ''}{prose(says)}" for name, _, says in pairs
    )
