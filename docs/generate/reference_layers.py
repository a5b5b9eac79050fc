"""Reference pages of the lake: every layer with its columns, the tables beside them, and the files of a run."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import dataframely as dy
import polars as pl
from pydantic import TypeAdapter

from docs.generate.markdown import joined, table, write_page
from docs.generate.reference_schema import describe_schema
from docs.generate.reference_text import code, codes, docstring, facts, link, prose, row_name, sentence
from schemas.lineage import Footer, RunManifest
from schemas.tables.items import RejectedItems
from schemas.tables.layers import GOLD, LAYERS, Layer, Stage, gold_layers
from schemas.tables.results import BlueprintParts, Partitions, Results
from schemas.tables.role_cards import RoleCards

TYPES = {
    "String": "text",
    "Enum": "text",
    "Int32": "integer",
    "Int64": "integer",
    "Float64": "number",
    "Bool": "true or false",
    "Struct": "record",
}
RULE = type(dy.rule()(lambda _cls: pl.lit(value=True)))
KEY = re.compile(r"\s*;? ?[Kk]ey: [^.]*\.")
WRITER = re.compile(r"\s*(Written by|By) [^.]*\.")

LAYERS_HEAD = """# Layers

Every layer of a lake with its columns, as its schema and the `description` of its Parquet field say it.
[The lake](../the-lake.md) says how files are named, [Read the lake](../read-the-lake.md) how to query them, and
[Methodology](../methodology.md) how numbers are made. Rows are sorted by their key. A type that ends in `?` may be null."""

FILES_HEAD = """# Files of a run

The folder `runs/<run>` of a lake has the files of a run. [The lake](../the-lake.md) lists all of them."""


def type_of(column: dy.Column) -> str:
    """Return the type of a column in words; `?` = it may be null."""
    if isinstance(column, dy.List):
        inner = type_of(column.inner).rstrip("?").replace("list of", "lists of")
        kind = f"list of {inner.removesuffix('s')}s"
    else:
        kind = TYPES[type(column).__name__]
    return f"{kind}?" if column.nullable else kind


def parts_of(column: dy.Column) -> str:
    """Return the fields of the records that a column holds; nothing if it holds none."""
    inner = column.inner if isinstance(column, dy.List) else column
    if isinstance(inner, dy.List):
        return parts_of(inner)
    return f" Fields: {codes(inner.inner)}." if isinstance(inner, dy.Struct) else ""


def words_of(column: dy.Column) -> str:
    """Return what is said of a column, with the words that it may hold."""
    words = f" One of {codes(column.categories)}." if isinstance(column, dy.Enum) else ""
    return f"{prose(column.description or '')}{'.' if words or parts_of(column) else ''}{words}{parts_of(column)}"


def columns_table(name: str, schema: type[dy.Schema]) -> str:
    """Return the columns of a table; the anchor of each begins with the table's name."""
    rows = [(row_name(column, name), type_of(of), words_of(of)) for column, of in schema.columns().items()]
    return table(("Column", "Type", "What it says"), rows)


def about(schema: type[dy.Schema]) -> str:
    """Return what the docstring of a schema says, without key and writer, which are told apart."""
    text = inspect.getdoc(schema) or ""
    first, *others = WRITER.sub("", KEY.sub(".", text)).split("\n\n")
    return joined(*map(sentence, (first.strip(" ."), *others)))


def in_order() -> list[Layer]:
    """Return the layers in the order in which they are computed."""
    return sorted(LAYERS.values(), key=lambda layer: get_args(Stage).index(layer.written_by))


def parents_of(layer: Layer) -> str:
    """Return links to the layers that one is computed from."""
    names = [name for parent in layer.parents for name in (gold_layers() if parent == GOLD else (parent,))]
    return ", ".join(map(link, names)) or "source files" if names or layer.written_by == "build" else ""


def version_of(layer: Layer) -> str:
    """Return the version of the code that writes a layer."""
    return code(layer.version) if isinstance(layer.version, str) else "by partition, of the code that wrote it"


def layer_section(layer: Layer) -> str:
    """Return what is to be known of a layer."""
    schema, marks = layer.schema, []
    if layer.is_gold:
        marks.append("gold, which no setting reads")
    if layer.is_from_outside:
        marks.append("from outside: below it the hash of its rows replaces its fingerprint")
    return joined(
        f"## {code(layer.name)}",
        about(schema),
        facts(
            ("Key", codes(schema.primary_key())),
            ("Written by", code(layer.written_by)),
            ("Computed from", parents_of(layer)),
            ("Version", version_of(layer)),
            ("Content", "; ".join(marks)),
            ("Verified", "computed again by `moodflow verify`" if layer.step_name else ""),
            ("Rules", codes(rules_of(schema))),
        ),
        columns_table(layer.name, schema),
    )


def rules_of(schema: type[dy.Schema]) -> Iterator[str]:
    """Yield the names of the rules that rows of a table keep, which say what they are."""
    for kind in reversed(schema.__mro__):
        yield from (name for name, value in vars(kind).items() if isinstance(value, RULE))


def other_section(name: str, schema: type[dy.Schema], says: str) -> str:
    """Return what is to be known of a table that is no layer of a run."""
    return joined(f"## {code(name)}", says, columns_table(name, schema))


def layers_page() -> str:
    """Return the page of all layers."""
    rejected = f"Rows that break a rule of {link('items')}, beside it: all its columns, and these."
    own = RejectedItems.columns().keys() - LAYERS["items"].schema.columns().keys()
    rows = [
        (row_name(name, "items_rejected"), type_of(of), words_of(of))
        for name, of in RejectedItems.columns().items()
        if name in own
    ]
    cards = "What each step of building role cards makes of a card. Written by `moodflow cards`; no manifest lists it."
    return joined(
        LAYERS_HEAD,
        *map(layer_section, in_order()),
        "## `items_rejected`",
        rejected,
        table(("Column", "Type", "What it says"), rows),
        other_section("role_cards", RoleCards, cards),
    )


def files_page() -> str:
    """Return the page of the files of a run, and of the table of `moodflow export`."""
    manifest = TypeAdapter(RunManifest).json_schema(mode="serialization")
    footer = TypeAdapter(Footer).json_schema(mode="serialization")
    return joined(
        FILES_HEAD,
        "## `partitions.parquet`",
        f"{prose(str(Partitions.__doc__))} Not sealed, because it follows from the manifest.",
        columns_table("partitions", Partitions),
        "## `blueprint.parquet`",
        f"{prose(str(BlueprintParts.__doc__))} Not sealed, because it follows from the manifest.",
        columns_table("blueprint", BlueprintParts),
        "## Results",
        f"{prose(str(Results.__doc__))} [`moodflow export`](command-line/look.md#moodflow-export) writes it.",
        columns_table("results", Results),
        "## Footer of a layer's file",
        "Key `moodflow` of the metadata of each Parquet file, as JSON.",
        describe_schema({**footer, "$defs": {}}, "footer"),
        "## `manifest.json`",
        docstring(RunManifest),
        describe_schema(manifest, "manifest", level=3),
    )


def write(folder: Path) -> None:
    """Write both pages."""
    write_page(folder / "layers.md", layers_page())
    write_page(folder / "run-files.md", files_page())
