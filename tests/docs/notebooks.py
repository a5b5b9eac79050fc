"""Execute notebooks without Jupyter, each code cell as Jupyter would: `python -m tests.docs.notebooks FILE` stores what comes out."""

import ast
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

Output = dict[str, Any]


def read_notebook(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def execute(notebook: dict[str, Any]) -> Iterator[list[Output]]:
    """Execute the code cells in order, in one namespace; yield what each one prints and what its last expression shows."""
    names: dict[str, Any] = {}
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, source in enumerate(sources, 1):
        statements = ast.parse(source).body
        last = ast.unparse(statements.pop()) if isinstance(statements[-1], ast.Expr) else "None"
        printed = {"stdout": StringIO(), "stderr": StringIO()}
        with redirect_stdout(printed["stdout"]), redirect_stderr(printed["stderr"]):
            exec(ast.unparse(ast.Module(statements, [])), names)  # noqa: S102  what the page of a project says
            shown = show(eval(last, names))  # noqa: S307
        texts = [(name, stream.getvalue()) for name, stream in printed.items()]
        streams = [{"output_type": "stream", "name": name, "text": lines(text)} for name, text in texts if text]
        results = [{"output_type": "execute_result", "data": shown, "metadata": {}, "execution_count": number}] if shown else []
        yield [*streams, *results]


def show(value: Any) -> dict[str, list[str]]:
    """Return what Jupyter shows of a value, by MIME type."""
    if value is None:
        return {}
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        forms = bundle[0] if isinstance(bundle, tuple) else bundle
        return {kind: lines(str(form)) for kind, form in forms.items()}
    rich = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
    forms = {kind: getattr(value, method)() for kind, method in rich.items() if hasattr(value, method)}
    return {kind: lines(text) for kind, text in {**forms, "text/plain": repr(value)}.items()}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def store_outputs(path: Path) -> None:
    notebook = read_notebook(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, execute(notebook), strict=True), 1):
        cell |= {"execution_count": number, "outputs": outputs}  # noqa: PLW2901  the cell of the notebook
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store_outputs(Path(sys.argv[1]).resolve())
