"""Parse JSON and YAML from outside. Refuse, with the reason, what is too large, too deep or unclear.

The parsers themselves do not refuse it: libyaml ends the process on a list of ten thousand levels, and a few lines of YAML that
name each other stand for gigabytes.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

LARGEST_BYTES = 16 * 2**20
"""Of a server's answer, packed and unpacked, and of a file of settings."""

DEEPEST = 64
"""Levels of lists and mappings in each other."""

MOST_VALUES = 200_000
"""Of one YAML document, counting what an alias stands for each time."""

MOST_OBJECTS = 500_000
"""Lists and objects of a server's answer; log probabilities of ten thousand tokens with twenty alternatives have fewer."""

LARGEST_INTEGER = 2**63
"""No column holds more."""

LONGEST_INTEGER = len(str(-LARGEST_INTEGER))

TOO_DEEP = f"lists and mappings nested more than {DEEPEST} levels deep"
TOO_MANY = f"more than {MOST_VALUES:,} values, aliases written out"
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, ten times as fast."""

Location = tuple[str | int, ...]
"""Keys and list positions from the root of a document to one of its values."""


class RepeatedKeyError(ValueError):
    """A mapping names a key twice: where that is, and on which lines (1-based)."""

    def __init__(self, location: Location, first: int, second: int) -> None:
        super().__init__(f"the key {location[-1]!r} is given twice, on lines {first} and {second}")
        self.location, self.first, self.second = location, first, second


class _Extent(NamedTuple):
    values: int
    levels: int


def read_text(path: Path) -> str:
    """Return the text of a file; ValueError: it is too large, or no UTF-8."""
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ValueError(f"larger than {LARGEST_BYTES // 2**20} MiB")
    return content.decode("utf-8-sig")


def require_short(line: str | bytes) -> None:
    """Raise ValueError if a line of JSON is longer than LARGEST_BYTES."""
    if len(line) > LARGEST_BYTES:
        raise ValueError(f"{len(line):,} characters, more than {LARGEST_BYTES // 2**20} MiB")


def read_yaml(text: str) -> Any:
    """Return the values of a YAML document; ValueError: it is no YAML, or what `parse_yaml` refuses."""
    try:
        return parse_yaml(text)[1]
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def parse_yaml(text: str) -> tuple[yaml.Node | None, Any]:
    """Return the root node of a YAML document and its values; null if it is empty; YAMLError: it is no YAML.

    ValueError: a key is given twice, values are nested too deep or within themselves, are too many, stand for a date that no
    calendar has, for a number of too many digits, or for characters that no file can hold.
    """
    try:
        return _parse(text, _Loader)
    except yaml.YAMLError:
        # libyaml says less of what is wrong, and sometimes another place.
        return _parse(text, yaml.SafeLoader)


def read_json(text: str | bytes, *, lenient: bool = False) -> Any:
    """Return the values of a JSON document; ValueError: no JSON, a key is given twice, or values are nested too deep.

    `lenient` lets NaN and halves of characters pass, for a caller that looks at every value which it takes: of a server's answer,
    which holds no more lists and objects than are read in a second.
    """
    opened = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if lenient and opened > MOST_OBJECTS:
        raise ValueError(f"more than {MOST_OBJECTS:,} lists and objects")
    try:
        constant, integer = (None, None) if lenient else (refuse_constant, whole_number)
        values = json.loads(text, object_pairs_hook=distinct_keys, parse_constant=constant, parse_int=integer)
        is_deep = opened > DEEPEST and _is_deeper(values)
    except RecursionError:
        is_deep = True
    if is_deep:
        raise ValueError(TOO_DEEP)
    if not lenient:
        # 1e999 becomes infinity, \ud800 is no character.
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    return values


def distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these pairs. Raise ValueError if a key is given twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        given = Counter(name for name, _ in pairs)
        raise ValueError(f"key {min(name for name, times in given.items() if times > 1)} twice")
    return mapping


def refuse_constant(name: str) -> NoReturn:
    """Raise ValueError: NaN and Infinity, which Python reads, are no JSON."""
    # A judge is told this when it is asked again: in other words it would be another call.
    raise ValueError(f"{name} is no number of JSON")


def whole_number(digits: str) -> int:
    """Return a whole number. Raise ValueError if no column holds it."""
    if len(digits) > LONGEST_INTEGER or abs(number := int(digits)) >= LARGEST_INTEGER:
        raise ValueError(f"a whole number of {len(digits):,} characters, more than a column holds")
    return number


def _is_deeper(value: Any) -> bool:
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        members = (inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer))
        level = [inner for inner in members if isinstance(inner, dict | list)]
    return bool(level)


def _parse(text: str, kind: type[yaml.SafeLoader]) -> tuple[yaml.Node | None, Any]:
    depth = 0
    for number, event in enumerate(yaml.parse(text, kind)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(TOO_DEEP)
        if number > MOST_VALUES:
            raise ValueError(TOO_MANY)
    loader = kind(text)
    root = loader.get_single_node()
    if root is None:
        return None, None
    _measure(root, (), {})
    return root, loader.construct_document(root)


def _measure(node: yaml.Node, location: Location, extents: dict[int, _Extent | None]) -> _Extent:
    """Return how much a node stands for, aliases written out. Raise ValueError where that is too much, without end or unclear."""
    if id(node) in extents:
        if (extent := extents[id(node)]) is None:
            raise ValueError("a YAML alias refers to itself")
        return extent
    extents[id(node)] = None
    if isinstance(node, yaml.ScalarNode):
        node.value.encode()  # halves of characters cannot
        if node.tag.endswith(":int") and len(node.value) > LONGEST_INTEGER:
            raise ValueError(f"a whole number of {len(node.value):,} characters, more than a column holds")
        inner = []
    else:
        inner = [_measure(child, (*location, name), extents) for name, child in _named(node, location)]
    extent = _Extent(1 + sum(part.values for part in inner), 1 + max((part.levels for part in inner), default=0))
    if extent.values > MOST_VALUES:
        raise ValueError(TOO_MANY)
    if extent.levels > DEEPEST + 1:
        raise ValueError(TOO_DEEP)
    extents[id(node)] = extent
    return extent


def _named(node: Any, location: Location) -> Iterator[tuple[str | int, yaml.Node]]:
    """Yield what a list or a mapping holds, by place or key, and before each value its key, which may be a list itself."""
    if isinstance(node, yaml.SequenceNode):
        yield from enumerate(node.value)
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            raise RepeatedKeyError((*location, name), lines[name], line)
        lines[name] = line
        yield name, key
        yield name, value
