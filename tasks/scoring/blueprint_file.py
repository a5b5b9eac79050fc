"""Parse a blueprint file: YAML with positions, so that an error can say where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from schemas.errors import BlueprintError
from schemas.json_yaml import Location, RepeatedKeyError, parse_yaml, read_text


@dataclass(frozen=True)
class BlueprintFile:
    """A parsed YAML file: its values, and the nodes that know the lines they came from."""

    file: Path
    root: yaml.Node
    values: Any

    def place(self, location: Location) -> str:
        """Return file, line (that of the key) and key path of the deepest part of a location in the file."""
        node, line, found = self.root, 1, list[str | int]()
        for step in location:
            for name, child, its_line in _children(node):
                if name == step:
                    node, line = child, its_line
                    found.append(step)
                    break
        return f"{self.file}, line {line}" + (f", {_path(found)}" if found else "")

    def find(self, name: str) -> Location | None:
        """Find where a name first occurs, as a key or as a value."""
        for location, node in _walk(self.root, (), set()):
            if isinstance(node, yaml.ScalarNode) and str(node.value) == name:
                return location
            if isinstance(node, yaml.MappingNode) and name in [str(key.value) for key, _ in node.value]:
                return (*location, name)
        return None


def read_blueprint_file(file: Path) -> BlueprintFile:
    """Parse a YAML file that holds one mapping.

    Raises:
        BlueprintError: if it cannot be read, is not YAML, names a key twice or holds something other than a mapping.
    """
    try:
        root, values = parse_yaml(read_text(file))
    except yaml.YAMLError as error:
        raise _syntax_error(file, error) from error
    except RepeatedKeyError as error:
        raise _repeated_key(file, error) from error
    except (OSError, ValueError) as error:
        of_the_file = isinstance(error, OSError | UnicodeDecodeError)
        raise BlueprintError(
            "the blueprint cannot be read",
            where=str(file),
            expected="a readable text file in UTF-8",
            got=getattr(error, "strerror", None) or str(error),
            next_step="check the path and the file's encoding" if of_the_file else "correct the value",
        ) from error
    if root is None or not isinstance(values, dict):
        raise BlueprintError(
            "the blueprint is not a mapping",
            where=str(file),
            expected="keys such as name, title, abilities and datasets",
            got="an empty file" if root is None else f"a {type(values).__name__}",
            next_step="start from one of the files in data/blueprints",
        )
    return BlueprintFile(file, root, values)


def _syntax_error(file: Path, error: yaml.YAMLError) -> BlueprintError:
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return BlueprintError(
        "the blueprint is not valid YAML",
        where=f"{file}{line}",
        expected="YAML with plain values",
        got=getattr(error, "problem", None) or str(error).splitlines()[0],
        next_step="correct the line; indentation, colons and quotes are the usual suspects",
    )


def _repeated_key(file: Path, error: RepeatedKeyError) -> BlueprintError:
    return BlueprintError(
        f"the key {error.location[-1]!r} is given twice",
        where=f"{file}, line {error.second}, {_path(error.location)}",
        expected="each key once",
        got=f"the same key on lines {error.first} and {error.second}",
        next_step="rename or remove one of them",
    )


def _children(node: yaml.Node) -> Iterator[tuple[str | int, yaml.Node, int]]:
    """Yield name, node and line of each value below another; the line is where its key stands, 1-based."""
    if isinstance(node, yaml.MappingNode):
        yield from ((str(key.value), value, key.start_mark.line + 1) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        yield from ((position, value, value.start_mark.line + 1) for position, value in enumerate(node.value))


def _walk(node: yaml.Node, location: Location, visited: set[int]) -> Iterator[tuple[Location, yaml.Node]]:
    if id(node) in visited:  # an alias leads to a node that was seen where its anchor stands
        return
    visited.add(id(node))
    yield location, node
    for name, child, _ in _children(node):
        yield from _walk(child, (*location, name), visited)


def _path(location: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location).removeprefix(".")
