"""What pages become in the site: their places, links and first sentences."""

import pytest

from docs.generate.llms import first_sentence
from docs.generate.tree import link_to_file, site_text
from flows.commands.docs import page_places


def test_links_of_a_page_are_those_of_the_site() -> None:
    places = page_places()
    assert places["docs/how-to/run.md"] == "how-to/run.md"
    assert places["docs/decisions/README.md"] == "decisions/index.md"
    readme = site_text("README.md", places)
    assert "![Five models in a row" in readme
    assert "](images/report.png)" in readme
    assert "[All pages](index.md)" in readme
    assert "test (`tests/schemas/test_chat.py`)" in readme
    assert "[README](../readme.md)" in site_text("docs/how-to/run.md", places)


def test_file_of_repository_is_linked_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert link_to_file("the notebook", "docs/a.ipynb") == "the notebook (`docs/a.ipynb`)"
    assert link_to_file("`tasks/text`", "tasks/text") == "`tasks/text`"
    monkeypatch.setattr("docs.generate.tree.REPOSITORY", "https://example.org/blob/main")
    assert link_to_file("the notebook", "docs/a.ipynb") == "[the notebook](https://example.org/blob/main/docs/a.ipynb)"


def test_first_sentence_is_prose() -> None:
    page = "# Title\n\n| a | b |\n| --- | --- |\n\nRead [the lake](lake.md)\nwith polars. Or not.\n"
    assert first_sentence(page) == "Read the lake with polars."
    assert first_sentence("# Title\n\n* a\n") == ""
