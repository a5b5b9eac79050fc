"""Parse a blueprint file: YAML with positions; say where it is wrong, what is expected, what it has and what to do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from schemas import blueprint
from schemas.dataset import LocalFile
from schemas.errors import BlueprintError, suggest
from schemas.json_yaml import Location, RepeatedKeyError, parse_yaml, read_text


@dataclass(frozen=True)
class BlueprintFile:
    """A parsed YAML file: its values, and the nodes that know the lines they came from."""

    file: Path
    root: yaml.Node
    values: Any

    def place(self, location: Location) -> str:
        """Return file, line (that of the key) and key path of the deepest part of a location in the file."""
        node, line, path = self.root, 1, list[str | int]()
        for step in location:
            for name, child, its_line in _children(node):
                if name == step:
                    node, line = child, its_line
                    path.append(step)
                    break
        return f"{self.file}, line {line}" + (f", {_path(path)}" if path else "")

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

    BlueprintError: it cannot be read, is not YAML, names a key twice or holds something other than a mapping.
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
            next_step="moodflow docs own-benchmark shows a whole file",
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
        next_step="correct the line; check indentation, colons and quotes",
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


class Rule(NamedTuple):
    """What a broken rule asks for; `sign` is how its message is recognised."""

    sign: str
    expected: str
    next_step: str


RULES = (
    Rule("min must be below max", "min below max", "correct the bounds; they are those of the method, not of observed scores"),
    Rule("k is required", "k with recall_at_k, and with no other metric", "add or remove k"),
    Rule("judged and rubric must", "judged: true together with rubric: NAME, or neither", "add or remove one of the two"),
    Rule("metrics given twice", "each metric of a method once", "remove one, or give the second to a method of its own"),
    Rule("method ids given twice", "each method of a dataset under its own id", "rename one of them"),
    Rule("headlines given twice", "each headline of a dataset once", "rename one of them"),
    Rule("both children and tasks", "either children or tasks", "move the tasks into an ability below it"),
    Rule("neither children nor tasks", "children or tasks", "add some or set evaluated: false"),
    Rule("is not evaluated but", "evaluated: false with nothing to evaluate below", "remove one of the two"),
    Rule("level weights must sum to 1", "weights that sum to 1", "correct the weights of this rule"),
    Rule("ids must be unique", "each ability and task under its own id", "rename one of them"),
    Rule("the ability tree may have", "at most four tiers of abilities", "merge two tiers"),
    Rule("datasets that are not defined", "an id that is a key under datasets", "define it under datasets or correct the id"),
    Rule("orphan datasets", "each dataset used by one task", "add it to a task or remove it"),
    Rule("used by more than one task", "each dataset used by one task", "remove it from all tasks but one"),
    Rule("no weight above 0 in", "at least one weight above 0", "raise one of the weights"),
    Rule("a combination of levels is given twice", "one rule per combination of levels", "remove one of the two rules"),
    Rule("level_rules: no rule for", "a rule for each combination of levels that can be present", "add the rule"),
    Rule("is not an evaluated main ability", "the id of a main ability that is evaluated", "correct gate.ability"),
    Rule("no evaluated main ability besides", "a main ability besides the gate with a weight above 0", "raise a weight"),
)

SECTIONS: dict[str, type[BaseModel]] = {
    "abilities": blueprint.Ability,
    "children": blueprint.Ability,
    "tasks": blueprint.Task,
    "methods": blueprint.MethodSpec,
    "metrics": blueprint.MetricSpec,
    "source": LocalFile,
    "gate": blueprint.Gate,
    "level_rules": blueprint.LevelRule,
}
"""The model under each key of a blueprint whose value has keys of its own; datasets occur in two places and are told apart."""

EXPECTATIONS = {
    "greater_than_equal": "a number of {ge:g} or more",
    "less_than_equal": "a number of {le:g} or less",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "literal_error": "{expected}",
    "string_type": "text",
    "string_pattern_mismatch": "text of the form {pattern}",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "union_tag_invalid": "a type among {expected_tags}",
    "union_tag_not_found": "a mapping with the key type",
    "too_short": "at least {min_length} entry",
}
"""What each kind of wrong value should have been, by pydantic's name of the error."""


def blueprint_error(error: ValidationError, document: BlueprintFile) -> BlueprintError:
    """Turn a failed validation into one message: the first fault in full, the others by place."""
    # Of thousands of faults the first few say enough, and each is compared with all.
    problems = error.errors(include_url=False)[:50]
    # Where an entry of a list fails, pydantic also calls the list too short.
    locations: list[Location] = [problem["loc"] for problem in problems]
    inner = [
        problem for problem in problems if not any(other[: len(problem["loc"])] == problem["loc"] != other for other in locations)
    ]
    faults = [_fault(problem, document) for problem in inner]
    # One line that aliases repeat is one fault.
    places = [str(fault.where) for fault in faults]
    lines = dict.fromkeys(where.rpartition(", ")[0] or where for where in places)
    if others := list(lines)[1:4]:
        faults[0].next_step = f"{faults[0].next_step}; then see also {'; '.join(others)}"
    return faults[0]


def _fault(problem: ErrorDetails, document: BlueprintFile) -> BlueprintError:
    location: Location = problem["loc"]
    if problem["type"] == "value_error":
        return _broken_rule(str(problem["ctx"]["error"]), location, document)
    where = document.place(location)
    name = str(next((step for step in reversed(location) if step != "[key]"), "the blueprint"))
    if problem["type"] == "extra_forbidden":
        keys = sorted(_model_at(location).model_fields)
        step = suggest(name, keys, "remove it", cutoff=0.6)
        return BlueprintError(
            f"unknown key {name!r}", where=where, expected=f"one of {', '.join(keys)}", got=name, next_step=step
        )
    if problem["type"] == "missing":
        what = f"the key {name!r} is missing"
        return BlueprintError(what, where=where, expected=f"{name}: ...", got="no such key", next_step=f"add {name}")
    expected, next_step = _expectation(problem)
    what, got = f"the value of {name!r} cannot be used", _shown(problem["input"])
    return BlueprintError(what, where=where, expected=expected, got=got, next_step=next_step)


def _broken_rule(message: str, location: Location, document: BlueprintFile) -> BlueprintError:
    rule = next((rule for rule in RULES if rule.sign in message), Rule("", "a blueprint that keeps the rule", "correct it"))
    what, _, got = message.partition(", got ")
    section, _, tail = what.rpartition(": ")
    names = re.findall(r"[a-z0-9_]+", tail)
    if not location:
        candidates = [section, *names] if section == "level_rules" else [*names, section]
        places = (document.find(name) for name in candidates)
        location = next((candidate for candidate in places if candidate is not None), ("abilities",))
    next_step = rule.next_step
    if rule.sign == "datasets that are not defined":
        suggestion = suggest(names[0], document.values["datasets"], cutoff=0.6)
        next_step = f"{next_step}; {suggestion}" if suggestion else next_step
    got, where = got or tail.partition(";")[0], document.place(location)
    return BlueprintError(what, where=where, expected=rule.expected, got=got, next_step=next_step)


def _expectation(problem: ErrorDetails) -> tuple[str, str]:
    if problem["type"] == "string_type" and isinstance(problem["input"], int | float | bool):
        return "text", "put the value in quotes"
    text = EXPECTATIONS.get(problem["type"])
    if text is not None:
        return text.format(**problem.get("ctx", {})), "correct the value"
    return str(problem["msg"]).removeprefix("Input should be ").removeprefix("a valid "), "correct the value"


def _model_at(location: Location) -> type[BaseModel]:
    parents = [step for step in location[:-1] if isinstance(step, str)]
    if location[0] == "datasets" and len(parents) <= 2:  # noqa: PLR2004  datasets.<id>.<key>
        return blueprint.BlueprintDataset
    for step in reversed(parents):
        if step == "datasets":
            return blueprint.WeightedDataset
        if step in SECTIONS:
            return SECTIONS[step]
    return blueprint.Blueprint


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple | dict):
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004  one line of a terminal
