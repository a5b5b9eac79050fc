"""Columns of each layer are those that are recorded for its version: lakes hold them, and a change is said by a bump."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dataframely as dy
import pytest
import yaml

from schemas.benchmark import load_named
from schemas.tables.items import RejectedItems
from schemas.tables.layers import LAYERS
from tasks.lake.partitions import REJECTED

RECORD = Path(__file__).with_name("stored_columns.yaml")
STORED: dict[str, Any] = yaml.safe_load(RECORD.read_text(encoding="utf-8"))

_INFER = "tasks.solvers.infer_job:RESPONSES_VERSION"
BY_PARTITION: Mapping[str, tuple[str, ...]] = {
    "chunks": ("tasks.solvers.chunk_rows:CHUNKS_VERSION", _INFER),
    "retrievals": (_INFER,),
    "responses": (_INFER,),
    "judgements": ("tasks.judging.executor:JUDGEMENTS_VERSION", "tasks.judging.people:PEOPLE_VERSION"),
    "item_scores": (
        "tasks.metrics.item_scores:METRICS_VERSION",
        "tasks.benchmarks.moodbench.reference.scoring:REFERENCE_VERSION",
    ),
}
"""Versions of layers whose version differs by partition."""


def columns_of(schema: type[dy.Schema]) -> dict[str, str]:
    """Columns in order: type, words of a closed list, and whether it may be null."""
    return {name: f"{column.dtype}{' or null' if column.nullable else ''}" for name, column in schema.columns().items()}


def layers_of_now() -> dict[str, Any]:
    """Columns and names of versions by layer."""
    rows = {name: (layer.schema, BY_PARTITION.get(name, (layer.version_name,))) for name, layer in LAYERS.items()}
    rows[f"items{REJECTED}"] = (RejectedItems, rows["items"][1])
    return {name: {"versions": [*versions], "columns": columns_of(schema)} for name, (schema, versions) in rows.items()}


def versions_of_now() -> dict[str, str]:
    """Versions by the name of their constant; one that says it by partition is in the table above."""
    names = {name for layer in layers_of_now().values() for name in layer["versions"]}
    return {name: load_named(name, str, "versions of layers") for name in sorted(names)}


def faults(layers: Mapping[str, Any], versions: Mapping[str, str], record: Mapping[str, Any]) -> list[str]:
    """What has to be done so that the record holds layers and versions."""
    told = [f"{name}: take it out of the record" for name in record["layers"].keys() - layers.keys()]
    for name, layer in layers.items():
        recorded = record["layers"].get(name)
        if recorded is None:
            told.append(f"{name}: record its columns")
        elif layer != recorded:
            now, before = layer["columns"], recorded["columns"]
            changed = [column for column in {**now, **before} if now.get(column) != before.get(column)] or ["order"]
            same = [version for version in layer["versions"] if versions[version] == record["versions"].get(version)]
            step = f"raise {' and '.join(same)}, then record" if same else "record"
            told.append(f"{name}: {', '.join(changed)} changed: {step} the columns")
    bumped = [name for name, version in versions.items() if record["versions"].get(name) != version]
    return told + [f"{name}: record the version" for name in bumped]


def test_columns_are_those_of_the_recorded_version() -> None:
    told = faults(layers_of_now(), versions_of_now(), STORED)
    exception = (
        "Files of before are read as they are where a closed list has more words or a column is marked ADDED: no bump then."
    )
    assert told == [], "\n".join([f"{RECORD} does not hold what lakes are written with now.", *told, exception])


SCORES = {"versions": ["a:A_VERSION"], "columns": {"id": "String", "points": "Int64"}}
RECORDED = {"versions": {"a:A_VERSION": "1"}, "layers": {"scores": SCORES}}


@pytest.mark.parametrize(
    ("columns", "version", "told"),
    [
        ({"id": "String", "points": "Int64"}, "1", []),
        (
            {"id": "String", "points": "Int64 or null"},
            "1",
            ["scores: points changed: raise a:A_VERSION, then record the columns"],
        ),
        ({"id": "String"}, "1", ["scores: points changed: raise a:A_VERSION, then record the columns"]),
        (
            {"id": "String", "points": "Float64", "by": "String"},
            "2",
            ["scores: points, by changed: record the columns", "a:A_VERSION: record the version"],
        ),
        ({"id": "String", "points": "Int64"}, "2", ["a:A_VERSION: record the version"]),
    ],
)
def test_changed_columns_need_a_bump(columns: dict[str, str], version: str, told: list[str]) -> None:
    assert faults({"scores": SCORES | {"columns": columns}}, {"a:A_VERSION": version}, RECORDED) == told


def test_layers_that_come_and_go_are_told() -> None:
    told = faults({"totals": SCORES}, {"a:A_VERSION": "1"}, RECORDED)
    assert told == ["scores: take it out of the record", "totals: record its columns"]


def test_types_name_words_and_null() -> None:
    class Cups(dy.Schema):
        kind = dy.Enum(["tea", "ice"], nullable=True)
        sips = dy.List(dy.Struct({"at": dy.Int64()}))

    expected = {"kind": "Enum(categories=['tea', 'ice']) or null", "sips": "List(Struct({'at': Int64}))"}
    assert columns_of(Cups) == expected
