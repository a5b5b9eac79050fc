"""Put the source tree of the site together: pages of the repository, and pages that generators write.

A generator is a module beside this one with `write(folder: Path) -> None`, which gets a process of its own. `folder` is the root
of the tree: `reference.write` makes `folder / "reference" / "index.md"` and its neighbours, `catalogue.write` the same below
`folder / "benchmarks"`.

* Each folder of pages has an `index.md` (in the repository: `README.md`), which is in the sidebar. The pages beside it and the
  `index.md` one level below it follow as its chapters, by name. A page that has a toctree of its own keeps it.
* `docs/README.md` is the first page. Its headings are the parts of the sidebar, and the links below a heading are the pages of
  that part. `index.md` of a generator stands first in the part that `GENERATED` names; its other pages are below it only.
* A page from outside docs/ has the title that the first page gives it, since its own is that of a folder.
* A generated page links to other pages by their place in the tree (`../methodology.md`), and to files of the repository by
  `link_to_file`.
* What lies in `folder / "_extra"` is copied to the root of the site as it is, such as finished HTML. A page links to it by
  `<a href="...">`.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from itertools import repeat
from os.path import relpath
from pathlib import Path

from docs.generate.markdown import joined, toctree, write_page
from flows.commands.docs import OUTSIDE, page_places

ROOT = Path(__file__).resolve().parents[2]

REPOSITORY = os.environ.get("SITE_REPOSITORY", "").rstrip("/")
"""Where the repository can be read, such as `https://github.com/owner/name/blob/main`; without it, its files are only named."""

GENERATORS = ("demo", "catalogue", "reference")
"""What takes longest begins first."""

GENERATED = {"Reference": "reference", "Benchmarks": "benchmarks"}
"""Headings of docs/README.md, and the folder of generated pages that stands below each in the sidebar."""

FENCE = re.compile(r"^```.*?^```$", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?P<image>!?)\[(?P<label>[^\]]*)\]\((?P<target>[^)\s]+)\)")
GENERATED_PAGE = re.compile(
    r"(?:(?P<title>(?<=\* )[^()\n]+) \()?(?P<command>`moodflow docs (?P<page>(?:reference|benchmarks|zh)[a-z/-]*)`)(?(title)\))"
)
"""How a page of the repository, where nothing generated is, names a page that is; in a list, after its title."""

FIRST_PAGES = ("benchmarks", "reference", "reference/command-line", "reference/documents", "reference/files")
"""Folders of generated pages, which are named in place of their first pages."""

TITLE = re.compile(r"^# .+$", flags=re.MULTILINE)

HEADING = re.compile(r"^## +(.+?) *$", flags=re.MULTILINE)


def hash_sources(places: Iterable[str]) -> str:
    """Return a hash of files and folders of the repository, by names and contents."""
    digest = hashlib.sha256()
    for path in (ROOT / place for place in places):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def write_tree(folder: Path) -> dict[str, list[str]]:
    """Write the tree anew, `folder` being emptied first, and return the parts of the sidebar: their pages, without chapters."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "_extra").mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "images", folder / "images", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    places = page_places()
    for page, place in places.items():
        write_page(folder / place, site_text(page, places))
    with ProcessPoolExecutor() as pool:
        list(pool.map(write_generated, GENERATORS, repeat(folder)))
    parts = add_parts(folder)
    for index in folder.rglob("*/index.md"):
        add_chapters(index)
    return parts


def write_generated(generator: str, folder: Path) -> None:
    """Have a generator write its pages into the tree."""
    import_module(f"docs.generate.{generator}").write(folder)


def site_text(page: str, places: dict[str, str]) -> str:
    """Return the text of a page of the repository, its links as they must be on the site."""
    text = (ROOT / page).read_text(encoding="utf-8")

    def relink(found: re.Match[str]) -> str:
        return site_link(found, page, places)

    def link_generated(found: re.Match[str]) -> str:
        name = f"{found['page']}/index" if found["page"] in FIRST_PAGES else found["page"]
        return f"[{found['title'] or found['command']}]({relpath(name, Path(places[page]).parent)}.md)"

    if page in OUTSIDE:
        text = TITLE.sub(f"# {titles_on_first_page()[page]}", text, count=1)
    parts = [GENERATED_PAGE.sub(link_generated, LINK.sub(relink, part)) for part in FENCE.split(text)]
    fences = [*FENCE.findall(text), ""]
    return "".join(part + fence for part, fence in zip(parts, fences, strict=True))


@cache
def titles_on_first_page() -> dict[str, str]:
    """Return the titles that the first page gives to pages of the repository."""
    links = LINK.finditer((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    return {relpath(ROOT / "docs" / found["target"], ROOT): found["label"] for found in links}


def site_link(found: re.Match[str], page: str, places: dict[str, str]) -> str:
    """Return a link of a page in the repository as a link on the site."""
    path, hash_sign, anchor = found["target"].partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return found[0]
    target = relpath((ROOT / page).parent / path, ROOT)
    place = places.get(target) or places.get(f"{target}/README.md")
    if found["image"]:
        place = relpath(target, "docs")
    if place is None:
        return link_to_file(found["label"], target)
    return f"{found['image']}[{found['label']}]({relpath(place, Path(places[page]).parent)}{hash_sign}{anchor})"


def link_to_file(label: str, path: str) -> str:
    """Return Markdown that leads to a file or folder of the repository, or names it if the repository has no known address."""
    if REPOSITORY:
        return f"[{label}]({REPOSITORY}/{path})"
    return f"`{path}`" if label.strip("`") == path else f"{label} (`{path}`)"


def add_parts(folder: Path) -> dict[str, list[str]]:
    """Append to the first page one toctree per heading, and return the pages of each.

    They are the pages that the links below the heading lead to, and what is generated for it.
    """
    index = folder / "index.md"
    text, trees = index.read_text(encoding="utf-8"), []
    headings, bodies = HEADING.findall(text), HEADING.split(text)[2::2]
    parts: dict[str, list[str]] = {}
    for heading, body in zip(headings, bodies, strict=True):
        linked = (found["target"].partition("#")[0] for found in LINK.finditer(body))
        links = [page for page in linked if page.partition("/")[0] not in GENERATED.values()]
        own = [f"{GENERATED[heading]}/index.md"] if heading in GENERATED else []
        listed = {page for pages in parts.values() for page in pages}
        parts[heading] = [page for page in dict.fromkeys([*own, *links]) if page not in listed]
        trees.append(toctree([page.removesuffix(".md") for page in parts[heading]], heading))
    write_page(index, joined(text, *trees))
    return parts


def add_chapters(index: Path) -> None:
    """Append to the first page of a folder a toctree of the others, unless it has one."""
    text = index.read_text(encoding="utf-8")
    pages = [page for page in (*index.parent.glob("*.md"), *index.parent.glob("*/index.md")) if page != index]
    if pages and "{toctree}" not in text:
        names = sorted(page.relative_to(index.parent).as_posix().removesuffix(".md") for page in pages)
        write_page(index, joined(text, toctree(names)))
