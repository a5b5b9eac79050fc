"""Settings of Sphinx: `make docs` builds the site from build/docs-src, which docs/generate/tree.py puts together."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish

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
html_copy_source = False
html_show_sphinx = False
html_use_index = False
exclude_patterns = ["_extra"]


class English(SearchEnglish):
    """English, each word reduced to its stem once: Sphinx does it on every page anew."""

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


def setup(app: Sphinx) -> None:
    """Show as plain text what Pygments has no words for. What draws a diagram is a script from elsewhere."""
    for name in ("csv", "mermaid", "rooms"):
        app.add_lexer(name, TextLexer)
    app.add_search_language(English)
    app.connect("html-page-context", add_pages, priority=400)  # before furo asks for it
