"""The page that lists every column of every table of a lake, made of the schemas: python -m tests.docs.columns writes it."""

from collections.abc import Iterator

import dataframely as dy

from schemas.tables.items import RejectedItems
from schemas.tables.layers import LAYERS, in_order
from schemas.tables.results import Results
from schemas.tables.role_cards import RoleCards
from schemas.tables.runs import BlueprintParts, Partitions
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "columns.md"
HEAD = """# Columns

Every column of every table, as its schema and the `description` of its Parquet field say it. What a row of a layer is, and who
writes it, says [the lake's own page](../parquet/README.md); how to query these tables, [Read the lake](read-the-lake.md).
A type that ends in `?` may be null. This page is made of the schemas: `python -m tests.docs.columns`.
"""
TYPES = {
    "String": "text",
    "Enum": "text",
    "Int32": "integer",
    "Int64": "integer",
    "Float64": "number",
    "Bool": "true or false",
    "Struct": "record",
}


def type_of(column: dy.Column) -> str:
    if isinstance(column, dy.List):
        inner = type_of(column.inner).rstrip("?").replace("list of", "lists of")
        kind = f"list of {inner.removesuffix('s')}s"
    else:
        kind = TYPES[type(column).__name__]
    return f"{kind}?" if column.nullable else kind


def section(title: str, schema: type[dy.Schema]) -> Iterator[str]:
    yield from (f"\n## {title}\n", "| Column | Type | What it says |", "| --- | --- | --- |")
    yield from (f"| `{name}` | {type_of(column)} | {column.description} |" for name, column in schema.columns().items())


def page() -> str:
    tables = {name: LAYERS[name].schema for name in in_order()}
    tables |= {"items_rejected": RejectedItems}
    tables |= {"role_cards": RoleCards, "runs: partitions.parquet": Partitions, "runs: blueprint.parquet": BlueprintParts}
    tables |= {"The table of moodflow export": Results}
    return "\n".join([HEAD.rstrip("\n"), *(line for title, schema in tables.items() for line in section(title, schema))]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
