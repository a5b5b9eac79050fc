"""Compiled templates are kept in the user's cache folder, and pages do not depend on what is there."""

from pathlib import Path
from types import CodeType

import pytest
from jinja2 import DictLoader, Environment

from tasks.reporting.render.page import TemplateCache

TEMPLATES = {"sum.html": "{{ 40 + number }}"}


class CountingEnvironment(Environment):
    compiled = 0

    def _compile(self, source: str, filename: str) -> CodeType:
        self.compiled += 1
        return super()._compile(source, filename)


def render() -> tuple[str, int]:
    """Return what a process with an environment of its own renders, and how many templates it compiled."""
    environment = CountingEnvironment(loader=DictLoader(TEMPLATES), bytecode_cache=TemplateCache())
    return environment.get_template("sum.html").render(number=2), environment.compiled


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_template_is_compiled_once_for_all_processes(home: Path) -> None:
    assert [render(), render()] == [("42", 1), ("42", 0)]
    assert len(list((home / ".cache/moodflow/templates").iterdir())) == 1


def test_a_template_that_was_changed_or_whose_cache_is_damaged_is_compiled_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render()
    (kept,) = (home / ".cache/moodflow/templates").iterdir()
    kept.write_bytes(kept.read_bytes()[:-10])
    assert [render(), render()] == [("42", 1), ("42", 0)]
    monkeypatch.setitem(TEMPLATES, "sum.html", "{{ 50 + number }}")
    assert render() == ("52", 1)


def test_without_a_folder_that_can_be_used_nothing_is_kept(home: Path) -> None:
    (home / ".cache").write_text("a file where the folder would be")
    assert [render(), render()] == [("42", 1), ("42", 1)]
