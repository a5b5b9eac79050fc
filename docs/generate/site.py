"""Build the site: the source tree, Sphinx, then the Markdown twins of the pages and llms.txt."""

import shutil
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

from docs.generate.tree import ROOT, write_tree

SITE = ROOT / "build" / "site"


def build_site(site: Path) -> int:
    """Build the site anew, its sources beside it in `docs-src`, and return the exit status of Sphinx."""
    tree, doctrees = site.parent / "docs-src", site.parent / "doctrees"
    for folder in (site, doctrees):
        shutil.rmtree(folder, ignore_errors=True)
    write_tree(tree)
    options = ["-W", "--keep-going", "-q", "-j", "auto", "-c", str(ROOT / "docs"), "-d", str(doctrees)]
    return sphinx_build([*options, "-D", f"html_extra_path={tree / '_extra'}", str(tree), str(site)])
