"""Pages about a run in a folder: complete, deterministic, and text stays text whatever models, servers and items say."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from flows.service.static_view import name_file, write_view
from schemas.errors import UsageError
from tasks.models.http.failures import whole_text
from tasks.reporting.view.addresses import Address
from tasks.runs.past_run import PastRun
from tests.flows.command import ended
from tests.tasks.run_rows.asked_runs import asked_run, choice, said

PROBES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>'",
    "</p></article></main></textarea></title></style><h1>forged</h1>",
    "<!-- <![CDATA[ ]]> --> &lt;b&gt; &#60;i&#62;",
    "{{ run.lake.root }} {% include 'page.css' %} {# x #} ${7*7}",
    "[here](javascript:alert(1)) javascript:alert(1) data:text/html,<script>alert(1)</script>",
    "<a href='http://198.51.100.7/'>more</a> <base href=//x> <meta http-equiv=refresh content=0>",
    "safe \u202egnp.exe\u2066 \u200b\x1b[31mred\x1b[0m \x00 \x07 bidi",
    "ok\nmoodflow: the run is right\r\nHTTP/1.1 200 OK\r\nSet-Cookie: a=b",
    whole_text("half \ud800 of a pair"),
    "\u2028\u2029 end of lines, \U000e0041 tags",
)
HOSTILE, HUGE = "\n".join(PROBES), "<b>bold</b> " * 1000 + "x" * 10_000_000
SEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202e\u2066\u2028\u2029\U000e0041]")
HARMLESS = "A reply of several lines.\nNone of them names an option: what else is there to say?\n" * 9


class Page(HTMLParser):
    """A page's elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    @property
    def forms(self) -> set[tuple[str, str]]:
        """Elements with the names of their attributes."""
        return {(tag, name) for tag, attributes in self.elements for name in ("", *attributes)}

    @property
    def links(self) -> Iterator[str]:
        """Where the page leads, and what it loads."""
        for _, attributes in self.elements:
            yield from (attributes[name] or "" for name in ("href", "src", "action") if name in attributes)


def run_of(folder: Path, text: str, name: str, huge: str) -> PastRun:
    """A run in which all that comes from outside is this text; one reply is huge."""
    fields: dict[str, Any] = {"question": text, "context": text, "options": [f"1 {text}", f"2 {text}", "anger"]}
    rows = [choice(item, **fields) for item in (f"1{name}", "2", "3", "4")]
    lost = said("4", None, error=f"HTTP 400: {text}", failure="http_4xx", http_status=400)
    replies = [said(f"1{name}", "C"), said("2", text), said("3", huge), lost]
    return asked_run(
        folder, rows, {f"m{name}": replies, "n": [said(f"1{name}", "C"), said("2", text), said("3", "D"), said("4", "A")]}
    )


def pages_in(folder: Path) -> dict[str, Page]:
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.html"))}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The pages of a harmless and of a hostile run."""
    folder = tmp_path_factory.mktemp("view")
    for kind, text, name, huge in (("harmless", HARMLESS, "x", HARMLESS * 99), ("hostile", HOSTILE, PROBES[2], HUGE)):
        write_view(run_of(folder / f"{kind}-lake", text, name, huge), folder / kind, 200)
    return folder / "harmless", folder / "hostile"


def test_all_links_lead_to_files_beside(folders: tuple[Path, Path]) -> None:
    for folder in folders:
        assert not any(str(folder.parent) in page.text for page in pages_in(folder).values())
        files = {path.name for path in folder.iterdir()}
        for name, page in pages_in(folder).items():
            assert set(page.links) <= {*files, "#content", "data:,"}, name
            assert not {"form", "script", "style"} & {tag for tag, _ in page.elements}
            if name.startswith("row-"):  # up to the model and to the dataset
                assert sum(link.startswith("score-") for link in page.links) >= 2
        kinds = {name.partition("-")[0] for name in files}
        assert kinds == {"index.html", "view.css", "score", "rows", "row", "map", "unread", "failed", "hard", "flips"}


def test_nothing_from_outside_is_markup(folders: tuple[Path, Path]) -> None:
    harmless, hostile = ({form for page in pages_in(folder).values() for form in page.forms} for folder in folders)
    assert hostile <= harmless
    text = "".join(page.text for page in pages_in(folders[1]).values())
    assert not SEEN.search(text)
    for probe in PROBES[:7]:
        assert probe in text, probe
    assert r"safe \u202egnp.exe\u2066" in text
    assert max(path.stat().st_size for path in folders[1].iterdir()) < 2_000_000


def test_the_folder_says_what_it_lacks(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    run = run_of(tmp_path, HARMLESS, "x", HARMLESS)
    index = write_view(run, folders[0], 2)
    # Of either model three rows are wrong or unread.
    assert "2 of 6 wrong or unread rows are here" in index.read_text(encoding="utf-8")
    assert "Numbers that are links lead to their rows." in index.read_text(encoding="utf-8")
    assert len([*folders[0].glob("row-*.html")]) == 2  # those of before are gone
    before = {path.name: path.read_bytes() for path in folders[0].iterdir()}
    write_view(run, folders[0], 2)
    assert {path.name: path.read_bytes() for path in folders[0].iterdir()} == before


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "lake", HARMLESS, "x", HARMLESS)
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    cases = (
        (tmp_path, "into this folder[^$]*it holds index.html"),
        (tmp_path / "index.html", "into this folder[^$]*a file"),
        (tmp_path / "lake" / "runs" / "site", "into the lake"),
    )
    for folder, told in cases:
        with pytest.raises(UsageError, match=f"the pages cannot go {told}"):
            write_view(run, folder, 200)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "mine"


def test_each_row_is_listed_somewhere(tmp_path: Path) -> None:
    items = [str(item) for item in range(51)]
    run = asked_run(tmp_path / "lake", [choice(item) for item in items], {"m": [said(item, "D") for item in items]})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / ".nojekyll").touch()  # left alone, as is what an interrupted write leaves behind
    write_view(run, tmp_path / "site", 51)
    pages = pages_in(tmp_path / "site")
    linked = {link for page in pages.values() for link in page.links}
    assert len([name for name in pages if name.startswith("row-")]) == 51
    assert pages.keys() - linked == set()
    assert (tmp_path / "site" / ".nojekyll").exists()


def test_the_command_writes_one_run(tmp_path: Path) -> None:
    asked_run(tmp_path / "lake", [choice("1")], {"m": [said("1", "B")]})
    done = ended("view", "r", "--lake", tmp_path / "lake", "--to", tmp_path / "site", "--json")
    index = tmp_path / "site" / "index.html"
    assert done.document == {"address": str(index), "runs": ["r"], "lake": str(tmp_path / "lake")}
    assert index.is_file()
    refused = ended("view", "--lake", tmp_path / "lake", "--to", tmp_path / "site")
    assert (refused.status, "pages are written of one run" in refused.err) == (2, True)


def test_names_do_not_depend_on_the_order_of_parameters() -> None:
    one, other = (Address("rows", "r", params) for params in ((("a", "1"), ("b", "2")), (("b", "2"), ("a", "1"))))
    assert name_file(one) == name_file(other)
    assert re.fullmatch(r"rows-[0-9a-f]{16}\.html", name_file(one))
