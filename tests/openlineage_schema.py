"""The JSON schema of OpenLineage events, as openlineage-python states it: its classes are generated from the published one.

No package of a registry carries the published files themselves. Fields without a default are required, a field's type is its
annotation, and what a facet must look like is looked up by its `_schemaURL`; ours are in data/openlineage.
"""

import json
import types
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import attr
import jsonschema
from openlineage.client import facet_v2
from openlineage.client.event_v2 import RunEvent
from openlineage.client.generated import base
from openlineage.client.generated.base import BaseFacet

OURS = Path(__file__).parents[1] / "data" / "openlineage" / "moodflow-facets-1-0-0.json"
URI = r"^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$"
PATTERNS = {
    "eventTime": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
    "runId": r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    **dict.fromkeys(("producer", "schemaURL", "_producer", "_schemaURL", "url", "uri"), URI),
}
"""Formats of the published schema: date-time, uuid and uri."""

SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


def check_event(event: dict[str, Any]) -> list[str]:
    """Validate one event and every facet in it.

    Returns: the names of the facets, sorted.

    Raises:
        jsonschema.ValidationError: it breaks a rule.
        KeyError: a facet has a schema nobody knows.
    """
    validator(RunEvent._get_schema()).validate(event)
    assert event["schemaURL"] == RunEvent._get_schema()
    names = []
    for name, facet in facets_in(event):
        validator(facet["_schemaURL"]).validate(facet)
        names.append(name)
    return sorted(names)


def facets_in(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything in it that has a schema of its own, with its name."""
    if isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, dict) and "_schemaURL" in one:
                yield name, one
            yield from facets_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from facets_in(one)


@cache
def validator(url: str) -> jsonschema.Draft202012Validator:
    """What validates by the schema of this address."""
    schema = schema_of(RunEvent) if url == RunEvent._get_schema() else facet_schema(url)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def facet_schema(url: str) -> dict[str, Any]:
    """The schema of this address."""
    ours = json.loads(OURS.read_text(encoding="utf-8"))
    if url.startswith(ours["$id"]):
        name = url.rpartition("/")[2]
        if name not in ours["$defs"]:
            raise KeyError(url)
        return {**ours, "$ref": f"#/$defs/{name}"}
    return schema_of(published()[url])


@cache
def published() -> dict[str, type]:
    """Every facet class of the package by the address of its schema."""
    modules = [base, *(one for one in vars(facet_v2).values() if isinstance(one, types.ModuleType))]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type) and issubclass(one, BaseFacet)]
    return {one._get_schema(): one for one in classes}


def schema_of(kind: type) -> dict[str, Any]:
    """An attrs class, and all it refers to, as a JSON schema; further fields are allowed, as in the published one."""
    definitions: dict[str, Any] = {}
    return {**type_schema(kind, definitions), "$defs": definitions}


def class_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """An attrs class as an object."""
    hints, fields = get_type_hints(kind), attr.fields(kind)
    told = {"_producer", "_schemaURL", "producer", "schemaURL"}  # their classes fill them in, the schema demands them
    return {
        "type": "object",
        "properties": {field.name: {**type_schema(hints[field.name], definitions), **pattern_of(field.name)} for field in fields},
        "required": [field.name for field in fields if field.default is attr.NOTHING or field.name in told],
    }


def pattern_of(name: str) -> dict[str, str]:
    """What a field of this name must look like."""
    return {"pattern": PATTERNS[name]} if name in PATTERNS else {}


def type_schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """A type annotation as a JSON schema; classes are put into `definitions`, since some have fields of their own kind."""
    if get_origin(hint) in {Union, types.UnionType}:
        (only,) = [one for one in get_args(hint) if one is not type(None)]
        return type_schema(only, definitions)
    if get_origin(hint) is list:
        return {"type": "array", "items": type_schema(get_args(hint)[0], definitions)}
    if get_origin(hint) is dict:
        return {"type": "object", "additionalProperties": type_schema(get_args(hint)[1], definitions)}
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if issubclass(hint, Enum):
        return {"enum": [one.value for one in hint]}
    name = f"{hint.__module__}.{hint.__qualname__}"
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = class_schema(hint, definitions)
    return {"$ref": f"#/$defs/{name}"}
