"""Rows of installed packages: those that entry points name, and what is said of one that is none."""

from pathlib import Path

import pytest

from schemas.dataset import LocalFile
from schemas.errors import UsageError
from schemas.installed import installed


def install(folder: Path, point: str) -> None:
    """A package of the module `rows` that has one entry point."""
    (folder / "rows.py").write_text('from schemas.dataset import LocalFile\nROW, OTHER = LocalFile(path="own.jsonl"), 1\n')
    metadata = folder / "rows-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: rows\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[moodflow.files]\nown = {point}\n")


def test_a_row_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "rows:ROW")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(installed("files", LocalFile)) == [LocalFile(path=Path("own.jsonl"))]
    assert list(installed("others", LocalFile)) == []


@pytest.mark.parametrize(
    ("point", "message"),
    [("rows:OTHER", "expected: LocalFile"), ("rows:GONE", "has no attribute"), ("gone:ROW", "No module named")],
)
def test_what_is_no_row_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, message: str) -> None:
    install(tmp_path, point)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError) as refused:
        list(installed("files", LocalFile))
    assert message in str(refused.value)
    assert "where: entry point own of group moodflow.files" in str(refused.value)
