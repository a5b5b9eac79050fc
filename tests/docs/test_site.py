"""The site: it builds without warning and network, its links lead somewhere, it loads nothing from elsewhere, all is listed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

from docs.generate.site import SITE, is_current
from flows.commands.docs import find_page, list_pages, page_places
from tests.docs.pages import ROOT, pages
from tests.docs.test_pages import source

pytestmark = pytest.mark.long

NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
BUILD_LIMIT_S = 600
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "form": "action", "object": "data"}


class Html(NamedTuple):
    """What a page has: anchors, links, and addresses that a browser loads or sends to."""

    anchors: set[str]
    links: set[str]
    loaded: set[str]


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.html = Html({""}, set(), set())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.html.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.html.links.add(values["href"])
        if LOADING.get(tag) in values:
            self.html.loaded.add(values[LOADING[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` left it, or built now if that is of other sources."""
    if is_current(SITE):
        return SITE
    built = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "docs.generate", str(built)]
    environment = {**os.environ, **NO_NETWORK, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
    assert (done.returncode, done.stderr) == (0, "")
    return built


@pytest.fixture(scope="module")
def html(site: Path) -> dict[Path, Html]:
    read = {}
    for file in site.rglob("*.html"):
        reader = Reader()
        reader.feed(file.read_text(encoding="utf-8"))
        read[file] = reader.html
    return read


def of_the_site(file: Path, addresses: set[str]) -> Iterator[tuple[Path, str]]:
    """Yield file and anchor that each address on a page leads to, those of other sites left out."""
    for address in addresses:
        parts = urlsplit(address)
        if not parts.scheme and not parts.netloc:
            to = Path(normpath(file.parent / unquote(parts.path))) if parts.path else file
            yield to, unquote(parts.fragment)


def test_links_lead_to_files_and_anchors(site: Path, html: dict[Path, Html]) -> None:
    dead, files = [], {file for file in site.rglob("*") if file.is_file()}
    for file, page in html.items():
        for to, anchor in of_the_site(file, page.links | page.loaded):
            if to not in files or (to in html and anchor not in html[to].anchors):
                dead.append(f"{file}: {to}#{anchor}")
    assert dead == []
    assert len(html) > 50


def test_nothing_is_loaded_from_elsewhere(site: Path, html: dict[Path, Html]) -> None:
    assert {address for page in html.values() for address in page.loaded if re.match(r"(?!data:)[a-z]+:|//", address)} == set()
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"@import[^;]*|url\(\s*[\"']?(?!data:)(?:[a-z]+:|//)[^)]*", styles) == []


def test_sidebar_opens_the_way_to_page(site: Path) -> None:
    text = (site / "benchmarks" / "datasets" / "copa.html").read_text(encoding="utf-8")
    sidebar = text.partition('<div class="sidebar-tree">')[2].partition("</div>")[0]
    opened = re.findall(r'<li class="toctree-l\d current[^"]*">\s*<a [^>]*href="([^"]+)"', sidebar)
    assert opened == ["../index.html", "../moodbench.html", "../tasks/simple_causal_reasoning.html", "#"]
    assert '<a class="reference internal" href="#" aria-current="page">COPA</a>' in sidebar
    assert "../../how-to/run.html" in sidebar
    assert "../tasks/eq_test.html" in sidebar
    assert "mini_eq_test.html" not in sidebar


def test_llms_lists_every_page_and_twin(site: Path) -> None:
    listed = re.findall(r"^\* \[.+?\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {twin.relative_to(site).as_posix() for twin in site.rglob("*.md")}
    assert set(page_places().values()) <= set(listed)
    assert [page for page in listed if not (site / page).with_suffix(".html").is_file()] == []


def test_first_page_names_pages_by_their_titles(site: Path) -> None:
    links = re.findall(r"^\* \[([^\]]+)\]\(([^)]+)\)", (site / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    titles = {
        page: re.findall(r"^# (.+)$", (site / page).read_text(encoding="utf-8"), flags=re.MULTILINE)[0] for _, page in links
    }
    assert {page: title for title, page in links if title != titles[page]} == {}
    assert {"benchmarks/moodbench.md", "reference/command-line/index.md", "reference/plan.md", "zh/benchmarks.md"} <= set(titles)


def test_twins_have_no_directives(site: Path) -> None:
    assert [
        twin for twin in site.rglob("*.md") if re.search(r"\{(toctree|download)\}|\\&", twin.read_text(encoding="utf-8"))
    ] == []


def test_chinese_pages_say_so(site: Path) -> None:
    for page, language in (("zh/tutorial", "zh-Hans"), ("readme.zh", "zh-Hans"), ("tutorial", "en")):
        assert f' lang="{language}"' in (site / f"{page}.html").read_text(encoding="utf-8").partition("<head>")[0]


def test_no_python_gets_into_the_wheel(site: Path) -> None:
    """An editable install cannot tell modules in a renamed folder from its own."""
    assert list(site.rglob("*.py")) == []


def test_pages_that_messages_name_exist(site: Path) -> None:
    text = source() + "".join(page.read_text(encoding="utf-8") for page in pages())
    names = set(re.findall(r"moodflow docs ([a-z][a-z/-]*[a-z])", text))
    assert {"failures", "own-dataset"} <= names
    assert [name for name in names if not find_page(name, list(list_pages(site)))] == []
