"""What OpenLineage events hold: facets of openlineage-python's classes, and our own, which fit the schema in data/openlineage.

Those classes demand their fields when an event is made; checked is that each facet has a published address and no other fields.
"""

import json
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import attr
import jsonschema
from openlineage.client import facet_v2
from openlineage.client.event_v2 import RunEvent
from openlineage.client.generated import base
from openlineage.client.generated.base import BaseFacet

OURS = json.loads((Path(__file__).parents[1] / "data/openlineage/moodflow-facets-1-0-0.json").read_text(encoding="utf-8"))


def check_event(event: dict[str, Any]) -> list[str]:
    """Validate every facet of an event, and return their names, sorted."""
    assert event["schemaURL"] == RunEvent._get_schema()
    facets = list(facets_in(event))
    for _, facet in facets:
        url = facet["_schemaURL"]
        if url.startswith(OURS["$id"]):
            jsonschema.validate(facet, {**OURS, "$ref": f"#/$defs/{url.rpartition('/')[2]}"})
        else:
            assert facet.keys() <= {field.name for field in attr.fields(published()[url])}
    return sorted(name for name, _ in facets)


def facets_in(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, dict) and "_schemaURL" in one:
                yield name, one
            yield from facets_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from facets_in(one)


@cache
def published() -> dict[str, type]:
    """Every facet class of the package by the address of its schema."""
    modules = [base, *(one for one in vars(facet_v2).values() if isinstance(one, types.ModuleType))]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type) and issubclass(one, BaseFacet)]
    return {one._get_schema(): one for one in classes}
