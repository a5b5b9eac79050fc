"""Reference page of the module `moodflow`: signatures and docstrings, as the program has them."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import moodflow
from docs.generate.markdown import block, joined, write_page
from docs.generate.reference_text import code, docstring, prose
from flows.commands.python_run import Picture
from schemas import errors

HEAD = """# Python

The module `moodflow` does what the commands do, by the same path. [MoodFlow from Python](../python.md) shows how to use it."""


SHORT = 100
"""Characters of a signature on one line."""


def signature_of(name: str, thing: Any) -> str:
    """Return how something is called, as its source has it; an argument a line where there are many."""
    function = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if not isinstance(function, ast.FunctionDef):
        raise TypeError(f"{name} is no function")
    arguments = [spaced(part) for part in split_arguments(ast.unparse(function.args)) if part != "self"]
    returns = ast.unparse(function.returns) if function.returns else "None"
    one_line = f"{name}({', '.join(arguments)}) -> {returns}"
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return one_line if len(one_line) <= SHORT else f"{name}(\n{lines}) -> {returns}"


def spaced(argument: str) -> str:
    """Return an argument with blanks around the sign before its default."""
    return argument.replace("=", " = ", 1) if ": " in argument else argument


def split_arguments(arguments: str) -> list[str]:
    """Return the arguments of a signature, split at commas that stand in no bracket."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def function_section(name: str, thing: Any, level: int = 2) -> str:
    """Return signature and docstring of a function."""
    return joined(
        f"{'#' * level} {code(name)}", block("python", signature_of(name.removeprefix("Run."), thing)), docstring(thing)
    )


def members(kind: type) -> Iterator[str]:
    """Yield a section for each public member of a class, in the order of its source."""
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        title = f"{kind.__name__}.{name}"
        if isinstance(member, (property, cached_property)):
            function = member.fget if isinstance(member, property) else member.func
            returns = signature_of(name, function).rpartition(" -> ")[2]
            yield joined(f"### {code(title)}", block("python", f"{name}: {returns}"), docstring(function))
        elif inspect.isfunction(member):
            yield function_section(title, member, 3)


def class_section(kind: type) -> str:
    """Return the docstring of a class, and its members."""
    return joined(f"## {code(kind.__name__)}", docstring(kind), *members(kind))


def python_page() -> str:
    """Return the page."""
    functions = (function_section(f"moodflow.{name}", getattr(moodflow, name)) for name in ("evaluate", "run", "runs"))
    return joined(
        HEAD,
        *functions,
        class_section(moodflow.Run),
        class_section(moodflow.Runs),
        class_section(Picture),
        class_section(moodflow.MoodflowError),
        prose("Fields: `what`, `where`, `expected`, `got` and `next_step`; null = not said. Its kinds, in `schemas.errors`:"),
        "\n".join(f"* {code(kind.__name__)}: {prose(str(kind.__doc__))}" for kind in kinds_of_error()),
    )


def kinds_of_error() -> list[type]:
    """Return the kinds of an error that a caller may tell apart."""
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MoodflowError)][1:]


def write(folder: Path) -> None:
    """Write the page."""
    write_page(folder / "python.md", python_page())
