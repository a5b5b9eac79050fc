"""Settings of Sphinx: `make docs` builds the site from build/docs-src, which docs/generate/tree.py puts together."""

import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]

project = "MoodFlow"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
version = release
language = "en"
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


def fold_sidebar(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Leave out of a page's sidebar what stands below other pages: hundreds of datasets, on hundreds of pages."""
    whole = context["toctree"]
    context["toctree"] = lambda **options: whole(**options | {"collapse": True})


def setup(app: Sphinx) -> None:
    """Show as plain text what Pygments has no words for. What draws a diagram is a script from elsewhere."""
    for name in ("csv", "mermaid", "rooms"):
        app.add_lexer(name, TextLexer)
    app.connect("html-page-context", fold_sidebar, priority=400)  # before furo asks for it
