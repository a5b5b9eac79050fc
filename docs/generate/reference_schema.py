"""Fields of a JSON schema as tables: those of its document, and those of each type that it uses."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from docs.generate.markdown import joined, table
from docs.generate.reference_text import code, codes, link, prose, row_name, sentence

Schema = Mapping[str, Any]

WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
FORMATS = {"path": "file or folder", "date": "date", "date-time": "time"}
BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "exclusiveMaximum": "below {}",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
SHOWN_WORDS = 12
"""Words of a closed set that a table has room for; a longer one is counted."""


def type_words(schema: Schema, page: str = "") -> str:
    """Return the type of a value in words; types with fields of their own are links, on that page or on the same one."""
    if "$ref" in schema:
        return link(name := schema["$ref"].rpartition("/")[2], page, name)
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        words = dict.fromkeys(type_words(each, page) for each in alternatives if each.get("type") != "null")
        return " or ".join(words)
    if "allOf" in schema:
        return type_words(schema["allOf"][0], page)
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        values = schema["enum"]
        return codes(values) if len(values) <= SHOWN_WORDS else f"one of {len(values)} words"
    return _plain_type(schema, page) + _bounds(schema)


def _plain_type(schema: Schema, page: str) -> str:
    kind = schema.get("type")
    if kind == "array" and "prefixItems" in schema:
        return f"({', '.join(type_words(each, page) for each in schema['prefixItems'])})"
    if kind == "array":
        return f"list of {type_words(schema.get('items', {}), page)}"
    if kind == "object":
        values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
        return f"mapping to {type_words(values, page)}" if isinstance(values, Mapping) and values else "mapping"
    return FORMATS.get(schema.get("format", "")) or WORDS.get(str(kind), "any value")


def _bounds(schema: Schema) -> str:
    words = " ".join(
        words.format(schema[name]) for name, words in BOUNDS.items() if name in schema and "prefixItems" not in schema
    )
    return f", {words}" if words else ""


def is_nullable(schema: Schema) -> bool:
    """Return whether a value may be null."""
    return any(each.get("type") == "null" for each in schema.get("anyOf", ())) or schema.get("type") == "null"


def default_words(name: str, schema: Schema) -> str:
    """Return the default of a field as its file would have it, or that it is required; nothing for an empty one."""
    if name in schema.get("required", ()):
        return "; required"
    value = schema["properties"][name].get("default")
    if value is None or value in ({}, [], ""):
        return ""
    return f"; default {code(value if isinstance(value, str) else json.dumps(value))}"


def field_rows(schema: Schema, *inside: str, written: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield a row per field: name, type with default or null, description. `written`: people write it."""
    types = schema.get("$defs", {})
    for name, field in schema.get("properties", {}).items():
        more = default_words(name, schema) if written else " or null" if is_nullable(field) else ""
        yield row_name(name, *inside), f"{type_words(field)}{more}", prose(field.get("description") or _says(field, types))


def _says(field: Schema, types: Schema) -> str:
    """Return what is said of the type of a field that says nothing itself."""
    if (names := re.findall(r"'#/\$defs/([^']+)'", str(field))) and len(set(names)) == 1:
        return str(types.get(names[0], {}).get("description", "")).split("\n\n", maxsplit=1)[0]
    return ""


def fields_table(schema: Schema, *inside: str, types: Schema | None = None, written: bool = False) -> str:
    """Return the fields of a document or type as a table. `types`: those that fields of a type may refer to."""
    head = ("Field", "Type", "What it says")
    whole = {**schema, "$defs": types if types is not None else schema.get("$defs", {})}
    return table(head, field_rows(whole, *inside, written=written))


def describe_schema(schema: Schema, name: str, *, written: bool = False, level: int = 2) -> str:
    """Return the fields of a document, none of one in several forms, and below a section for each type that it uses.

    Anchors of fields begin with the name of the document, or with that of the type. `written`: people write the document.
    `level`: of the headings of types.
    """
    types = schema.get("$defs", {})
    own = fields_table(schema, name, written=written)
    sections = (f"{'#' * level} {_type_section(kind, types, written=written)}" for kind in types)
    return joined(own, *sections)


def _type_section(name: str, types: Schema, *, written: bool) -> str:
    kind = types[name]
    paragraphs = str(kind.get("description", "")).split("\n\n")
    values = f"One of {codes(kind['enum'])}." if "enum" in kind else ""
    fields = fields_table(kind, name, types=types, written=written)
    return joined(name, *map(sentence, paragraphs), values, fields)
