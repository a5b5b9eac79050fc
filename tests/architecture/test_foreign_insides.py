"""Nobody else's inside: other libraries are used as they offer it, nothing of theirs is replaced and nothing private is read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_imports import OURS, ROOT, modules
from tests.rows import each_row

PUBLIC = {"os._exit", "os.environ"}
"""Documented by Python for everybody: a function whose name looks private, and a variable that is there to be changed."""

EXEMPT: frozenset[str] = frozenset()
"""Lines, as `path: expression`, in whose place no setting, order of things or public hook can stand; at most two."""

WRITING = {"clear", "pop", "popitem", "setdefault", "update"}
PRIVATE = re.compile(r"_(?!_.*__$).*")


def breaches(source: str) -> list[str]:
    """Expressions of a module that reach into what it imported from elsewhere, in the order of their lines."""
    tree = ast.parse(source)
    foreign = {name: module for name, module in _imported(tree) if module.split(".")[0] not in OURS}
    found = [(getattr(node, "lineno", 0), text) for node in ast.walk(tree) for text in _reaching(node, foreign)]
    return [text for _, text in sorted(dict.fromkeys(found))]


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Local name and module of what is imported anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _reaching(node: ast.AST, foreign: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        yield from (name for name in names if any(map(PRIVATE.fullmatch, name.split("."))))
    elif isinstance(node, ast.Attribute) and _is_foreign(node, foreign):
        is_inside = PRIVATE.fullmatch(node.attr) or node.attr == "__dict__" or not isinstance(node.ctx, ast.Load)
        yield from [ast.unparse(node)] if is_inside and ast.unparse(node) not in PUBLIC else []
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_foreign(node.value, foreign):
        yield from [ast.unparse(node)] if ast.unparse(node.value) not in PUBLIC else []
    elif isinstance(node, ast.Call):
        called, arguments = ast.unparse(node.func), node.args[:1]
        is_setting = called in {"setattr", "delattr", "vars"} and any(_is_foreign(argument, foreign) for argument in arguments)
        is_loading = called.startswith("sys.modules.") and called.rpartition(".")[2] in WRITING
        yield from [ast.unparse(node)] if is_setting or is_loading else []


def _is_foreign(node: ast.AST, foreign: dict[str, str]) -> bool:
    """Whether an expression is an imported name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in foreign


@each_row("path", modules(*OURS))
def test_a_module_stays_out_of_others(path: Path) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert {f"{path}: {text}" for text in breaches(source)} <= EXEMPT
    assert "SLF001" not in source


@each_row(
    ("source", "expected"),
    [
        ("from prefect.utilities import engine\nengine._prefect_sigterm_handler = 1", ["engine._prefect_sigterm_handler"]),
        ("import aiosqlite\naiosqlite.Connection._execute = f", ["aiosqlite.Connection._execute"]),
        ("import a.b\na.b.C.run = f", ["a.b.C.run"]),
        ("from a import C\nC.run: int = f", ["C.run"]),
        ("from a import C\nC.limit += 1", ["C.limit"]),
        ("from a import C\ndel C.limit", ["C.limit"]),
        ("from a import b\nvars(b)['f'] = g", ["vars(b)"]),
        ("import sys\nvars(sys)['modules'].update(x=None)", ["vars(sys)"]),
        ("from a import b\nb.__dict__['f'] = g", ["b.__dict__", "b.__dict__['f']"]),
        ("from a import b\nb.CACHE['f'] = g", ["b.CACHE['f']"]),
        ("from a import b\nsetattr(b.C, 'f', g)", ["setattr(b.C, 'f', g)"]),
        ("import sys\nsys.modules['x'] = None", ["sys.modules['x']"]),
        ("import sys\ndel sys.modules['x']", ["sys.modules['x']"]),
        ("import sys\nsys.modules.update(x=None)", ["sys.modules.update(x=None)"]),
        ("import threading\nthreading._shutdown()", ["threading._shutdown"]),
        ("def f():\n    import atexit\n    atexit._run_exitfuncs()", ["atexit._run_exitfuncs"]),
        ("from prefect._internal import control_listener", ["prefect._internal"]),
        ("from a import _b", ["_b"]),
        ("import a._b", ["a._b"]),
        # What may be done.
        ("from __future__ import annotations\nfrom tasks import a\na._b = a.c", []),
        ("import os\nos._exit(0)\nos.environ['X'] = '1'\nos.environ.update(Y='2')\nos.environ |= {}", []),
        ("import sys\nprint('prefect' in sys.modules, sys.modules['x'])", []),
        ("from a import b\nb.C.run()\nb.__name__\nself._x = b\nc = b()\nc.limit = 1\nc['x'] = 1", []),
    ],
)
def test_the_gate_itself(source: str, expected: list[str]) -> None:
    assert breaches(source) == expected
