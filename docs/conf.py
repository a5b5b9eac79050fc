"""Settings of Sphinx: `make docs` builds the site from build/docs-src, which docs/generate/tree.py puts together."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish
from sphinx.util.logging import getLogger

from schemas.json_yaml import read_text, read_yaml

ROOT = Path(__file__).resolve().parents[1]

project = "MoodFlow"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
version = release
language = "en"
smartquotes = False
"""Quotation marks stay those that one copies, and those of Chinese pages Chinese."""

extensions = ["myst_parser"]

myst_heading_anchors = 6
"""Links name headings as GitHub does."""

templates_path = ["templates"]
html_theme = "furo"
html_theme_options = {"top_of_page_buttons": ["view"]}
html_title = f"MoodFlow {release}"
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_js_files = [("access.js", {"defer": "defer"})]
html_search_scorer = str(ROOT / "docs" / "static" / "scorer.js")
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
exclude_patterns = ["_extra"]


PHRASES: dict[str, list[str]] = dict(read_yaml(read_text(ROOT / "docs" / "search.yaml")))
"""What people search for, by page."""

CHINESE = re.compile(r"(zh/|readme\.zh$)")
"""Pages that are in Chinese, by the beginning of their names."""


class English(SearchEnglish):
    """English, and Chinese by its characters; each word is reduced to its stem once: Sphinx does it on every page anew."""

    WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
    js_splitter_code = (
        r"var splitQuery = (query) => query.match(/[\u4e00-\u9fff]|(?:(?![\u4e00-\u9fff])[\p{L}\p{N}_])+/gu) ?? [];"
    )

    def split(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self.WORD.findall(text)

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(self.stem)  # type: ignore[method-assign]


@cache
def parts_of(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return the parts of the site, as the first page has them: their pages, without chapters."""
    trees = env.get_doctree(env.config.root_doc).findall(addnodes.toctree)
    return {tree["caption"]: tree["includefiles"] for tree in trees}


def add_pages(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Give a page what templates/sidebar/navigation.html shows, in place of what furo makes a sidebar of."""
    del context["toctree"]
    parents = {name: parent for name, (parent, *_) in app.builder.relations.items()}
    open_pages = [page]
    while parent := parents.get(open_pages[-1]):
        open_pages.append(parent)
    env = app.env
    context.update(parts=parts_of(env), chapters=env.toctree_includes, titles=env.titles, open_pages=open_pages)
    if CHINESE.match(page):
        context["language"] = "zh-Hans"


def add_phrases(app: Sphinx, page: nodes.document) -> None:
    """Have the search find a page by what people search for: Sphinx takes entries of an index for it."""
    entries = [("single", phrase, "", "main", None) for phrase in PHRASES.get(app.env.docname, ())]
    page.append(addnodes.index(entries=entries))


def check_phrases(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of phrases for pages that are not there."""
    for name in PHRASES.keys() - env.found_docs:
        getLogger(__name__).warning("docs/search.yaml names %s, and there is no such page", name)


def setup(app: Sphinx) -> None:
    """Show as plain text what Pygments has no words for. What draws a diagram is a script from elsewhere."""
    for name in ("csv", "mermaid", "rooms"):
        app.add_lexer(name, TextLexer)
    app.add_search_language(English)
    app.connect("doctree-read", add_phrases)
    app.connect("env-check-consistency", check_phrases)
    app.connect("html-page-context", add_pages, priority=400)  # before furo asks for it
