"""The seal of a run: what it lists, and that its own change is told from a change of what it lists."""

from hashlib import sha256
from pathlib import Path

import pytest

from tasks.lake.seal import BrokenSeal, SealCheck, check_seal, seal_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "report.md").write_text("# Report")
    (tmp_path / "notes.txt").write_text("not sealed")
    seal_run(tmp_path)
    return tmp_path


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_the_seal_lists_what_is_there(folder: Path) -> None:
    lines = f"{digest('{}')}  manifest.json\n{digest('# Report')}  report.md\n"
    assert (folder / "SHA256SUMS").read_text() == f"# sha256 of the lines below: {digest(lines)}\n{lines}"
    assert check_seal(folder) == SealCheck(3, [])


def test_a_file_that_changed_or_went_is_named(folder: Path) -> None:
    (folder / "report.md").write_text("# Rep0rt")
    (folder / "manifest.json").unlink()
    check = check_seal(folder)
    assert check is not None
    assert check.broken == [
        BrokenSeal("manifest.json", digest("{}"), None),
        BrokenSeal("report.md", digest("# Report"), digest("# Rep0rt")),
    ]


def test_pages_of_models_are_sealed_too(folder: Path) -> None:
    (folder / "report.m2.html").write_text("two")
    seal_run(folder)
    (folder / "report.m2.html").write_text("2")
    assert check_seal(folder) == SealCheck(4, [BrokenSeal("report.m2.html", digest("two"), digest("2"))])


def test_folder_that_was_never_sealed_has_no_check(tmp_path: Path) -> None:
    assert check_seal(tmp_path) is None


def test_changed_seal_is_blamed_itself_wherever_it_changed(folder: Path) -> None:
    path = folder / "SHA256SUMS"
    sealed = path.read_bytes()
    for place in range(len(sealed)):
        path.write_bytes(sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :])
        check = check_seal(folder)
        assert check is not None, place
        assert [broken.name for broken in check.broken] == ["SHA256SUMS"], place
