"""The page about the Python module and the notebook do what they say: their code is executed against a scripted model."""

import re
from pathlib import Path

import pytest

from tests.docs.notebooks import execute, read_notebook, scripted_server
from tests.docs.pages import ROOT, blocks
from tests.rows import each_row

PAGE = ROOT / "docs" / "python.md"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MACHINE = re.compile(r"/(?:home|root|tmp|work|Users|var)/")


@pytest.mark.usefixtures("prefect_server", "small_moodbench")
def test_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = [block.body for block in blocks(PAGE) if block.language == "python"]
    cells = [{"cell_type": "code", "source": body} for body in code]
    with scripted_server() as server:
        outputs = list(execute({"cells": cells}, server.base_url))
    texts = ["".join(part for output in cell for part in output.get("text") or output["data"]["text/plain"]) for cell in outputs]
    total, state, past, grouped, picture, error = (text.splitlines()[-1] for text in texts)
    assert 0 < float(total) < 100
    assert state == "'Completed'"
    assert past.endswith(f", {total})")
    assert grouped.startswith("└")
    assert picture.startswith("Picture, ")
    assert error.startswith("did you mean mini_irony_detection or ")
    assert (tmp_path / "abilities.png").stat().st_size > 1000


@each_row("path", NOTEBOOKS)
def test_notebook_opens_in_jupyter(path: Path) -> None:
    """What version 4.5 of the format requires of cells and outputs."""
    notebook = read_notebook(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-zA-Z0-9-_]{1,64}", name) for name in names)
    common = {"cell_type", "id", "metadata", "source"}
    kinds = {"markdown": common, "code": common | {"execution_count", "outputs"}}
    assert all(cell.keys() == kinds[cell["cell_type"]] for cell in notebook["cells"])
    fields = {"stream": {"output_type", "name", "text"}, "display_data": {"output_type", "data", "metadata"}}
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert all(output.keys() == fields[output["output_type"]] for output in outputs)
    assert MACHINE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
@each_row("path", NOTEBOOKS)
def test_stored_outputs_are_those_of_the_cells(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = read_notebook(path)
    with scripted_server() as server:
        outputs = list(execute(notebook, server.base_url))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    for cell, made in zip(code, outputs, strict=True):
        # A picture says when the run ended, and its marks may be drawn otherwise by another version of the library.
        assert [words(output) for output in made] == [words(output) for output in cell["outputs"]]


def words(output: dict[str, object]) -> tuple[object, ...]:
    """What an output says in words, without the name of the run, which has its time and the model's address in it."""
    data = output.get("data", {})
    assert isinstance(data, dict)
    shown = data.get("text/plain", []) if "image/svg+xml" not in data else []
    plain = re.sub(r"^Run \S+", "Run", "".join(shown))
    return output.get("name"), output.get("text"), plain, sorted(data)
