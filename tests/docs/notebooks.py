"""Execute notebooks as Jupyter would, without it; `python -m tests.docs.notebooks FILE` stores what comes of it in the file.

Models are scripted: of each a share of the replies is right, drawn by the prompt.
"""

import ast
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from zlib import crc32

from tasks.scoring.blueprints import load_blueprint
from tests.docs.printed import SERVED
from tests.flows.scripted import policy
from tests.model_server import ModelServer

Output = dict[str, Any]

RIGHT = 0.8
"""Share of right replies of the model."""


@contextmanager
def scripted_server() -> Iterator[ModelServer]:
    """Serve a model that knows the gold of `moodbench-mini`, and gives it in RIGHT of its replies."""
    datasets = tuple(load_blueprint("moodbench-mini").datasets)
    gold, wrong = policy(datasets, "gold"), policy(datasets, "wrong")

    def reply(messages: list[dict[str, str]]) -> str:
        is_right = messages[0]["role"] == "system" or crc32(json.dumps(messages).encode()) % 1000 < 1000 * RIGHT
        return (gold if is_right else wrong)(messages)

    with ModelServer(reply) as server:
        yield server


def read_notebook(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def execute(notebook: dict[str, Any], base_url: str) -> Iterator[list[Output]]:
    """Execute the code cells in order, in one namespace; yield what each one prints and what its last expression shows."""
    names: dict[str, Any] = {}
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        statements = ast.parse("".join(cell["source"]).replace(SERVED, base_url)).body
        last = ast.unparse(statements.pop()) if isinstance(statements[-1], ast.Expr) else "None"
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            exec(ast.unparse(ast.Module(statements, [])), names)  # noqa: S102  what a page of the project says
            shown = show(eval(last, names))  # noqa: S307
        streams = {"stdout": out.getvalue(), "stderr": err.getvalue()}
        yield [
            *({"output_type": "stream", "name": name, "text": lines(text)} for name, text in streams.items() if text),
            *([{"output_type": "display_data", "data": shown, "metadata": {}}] if shown else []),
        ]


def show(value: Any) -> dict[str, list[str]]:
    """Return what Jupyter shows of a value, by MIME type."""
    if value is None:
        return {}
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        return {kind: lines(text) for kind, text in (bundle[0] if isinstance(bundle, tuple) else bundle).items()}
    rich = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
    forms = {kind: getattr(value, method)() for kind, method in rich.items() if hasattr(value, method)}
    return {kind: lines(text) for kind, text in {**forms, "text/plain": repr(value)}.items()}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def store_outputs(path: Path) -> None:
    """Execute a notebook in the working folder and keep its outputs."""
    notebook = read_notebook(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with scripted_server() as server:
        for number, (cell, outputs) in enumerate(zip(cells, execute(notebook, server.base_url), strict=True), 1):
            cell |= {"execution_count": number, "outputs": outputs}
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store_outputs(Path(sys.argv[1]))
