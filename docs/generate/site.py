"""Build the site: the source tree, Sphinx, then the Markdown twins of the pages and llms.txt."""

import re
import shutil
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

from docs.generate.llms import write_llms
from docs.generate.tree import ROOT, hash_sources, write_tree
from flows.commands.docs import OUTSIDE

SITE = ROOT / "build" / "site"

MADE_FROM = ("docs", "flows", "tasks", "schemas", "data", "pyproject.toml", *OUTSIDE)
"""Files and folders that the site is made from."""


TOCTREE = re.compile(r"^```\{toctree\}.*?^```$\n*", flags=re.DOTALL | re.MULTILINE)


def build_site(site: Path) -> int:
    """Build the site anew, its sources beside it in `docs-src`, and return the exit status of Sphinx."""
    sources = hash_sources(MADE_FROM)
    tree, doctrees = site.parent / "docs-src", site.parent / "doctrees"
    for folder in (site, doctrees):
        shutil.rmtree(folder, ignore_errors=True)
    stamp(site).unlink(missing_ok=True)
    parts = write_tree(tree)
    options = ["-W", "--keep-going", "-q", "-j", "auto", "-c", str(ROOT / "docs"), "-d", str(doctrees)]
    status = sphinx_build([*options, "-D", f"html_extra_path={tree / '_extra'}", str(tree), str(site)])
    for page in tree.rglob("*.md"):
        (site / page.relative_to(tree)).write_text(twin_text(page.read_text(encoding="utf-8")), encoding="utf-8")
    write_llms(tree, parts, site / "llms.txt")
    if status == 0:
        stamp(site).write_text(sources, encoding="utf-8")
    return status


def twin_text(text: str) -> str:
    """Return a page as Markdown that anything can read: without lists for the sidebar, and without a backslash before `&`."""
    return f"{TOCTREE.sub('', text).replace(chr(92) + '&', '&').rstrip()}\n"


def stamp(site: Path) -> Path:
    """Return the file beside a site that says what it was built from."""
    return site.with_suffix(".sha256")


def is_current(site: Path) -> bool:
    """Return whether a site was built, without a warning, from the sources as they are now."""
    return stamp(site).is_file() and stamp(site).read_text(encoding="utf-8") == hash_sources(MADE_FROM)
