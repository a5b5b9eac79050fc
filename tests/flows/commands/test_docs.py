"""`moodflow docs`: a page by its name, its path printed; installs without a site say so."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from flows.commands import docs
from schemas.folders import DATA_FOLDER
from tests.flows.command import assert_one_message, ended


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for page in ("index", "failures", "how-to/run", "decisions/index", "reference/commands/run"):
        for suffix in (".md", ".html"):
            (tmp_path / page).with_suffix(suffix).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / page).with_suffix(suffix).touch()
    (tmp_path / "search.html").touch()
    monkeypatch.setattr(docs, "SITES", (tmp_path / "none", tmp_path))
    return tmp_path


def test_docs_prints_paths_of_pages(site: Path) -> None:
    assert ended("docs").out == f"{site}/index.html\n"
    assert ended("docs", "how-to/run").out == f"{site}/how-to/run.html\n"
    document = ended("docs", "decisions", "--json").document
    assert document == {
        "page": "decisions",
        "file": f"{site}/decisions/index.html",
        "pages": ["decisions", "failures", "how-to/run", "index", "reference/commands/run"],
    }


def test_docs_opens_a_page(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert ended("docs", "failures", "--open").status == 0
    assert opened == [f"file://{site}/failures.html"]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("run", "name how-to/run or reference/commands/run"),
        ("failurs", "did you mean failures?"),
        ("../../etc/passwd", "moodflow docs --json lists the pages"),
    ],
)
def test_docs_refuses_a_name(name: str, step: str, site: Path) -> None:
    assert site
    assert_one_message(ended("docs", name), f"there is no page {name}", step)


class Metadata:
    def get_all(self, _name: str, _default: Any) -> list[str]:
        return ["Source, https://example.org/code", "Documentation, https://example.org/docs"]


def test_docs_without_site_names_next_step(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "index.html").unlink()
    monkeypatch.setattr(docs, "ROOT", site)

    def not_installed(_name: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(docs, "metadata", not_installed)
    assert_one_message(ended("docs"), "this install has no documentation", "run make wheel in a checkout")
    monkeypatch.setattr(docs, "metadata", lambda _name: Metadata())
    assert_one_message(ended("docs"), "this install has no documentation", "read https://example.org/docs")


def test_docs_of_checkout_without_site_are_its_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "SITES", (tmp_path / "none",))
    checkout = DATA_FOLDER.parent
    assert ended("docs", "own-dataset").out == f"{checkout}/docs/how-to/own-dataset.md\n"
    assert ended("docs", "items").out == f"{checkout}/data/bundled/README.md\n"
    document = ended("docs", "--json").document
    assert (document["page"], document["file"]) == ("index", f"{checkout}/docs/README.md")
    assert {"decisions", "decisions/0037-certificates", "how-to/run", "readme"} <= set(document["pages"])
    assert_one_message(ended("docs", "reference/plan"), "there is no page reference/plan", "make docs adds those")
