"""The registry of layers: in order, of one schema each, and the same as the lake's page says."""

import re
from pathlib import Path

from schemas.tables.layers import LAYER_ROWS, LAYERS

PAGE = Path(__file__).resolve().parents[2] / "parquet" / "README.md"


def test_layers_have_schemas_and_keys_of_their_own() -> None:
    assert len(set(LAYERS.values())) == len(LAYERS)
    assert all(schema.primary_key() for schema in LAYERS.values())


def test_lake_page_lists_layers_and_writers() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|.*\| (\w+)[^|]*\|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = [(name, writer) for names, writer in rows for name in re.findall(r"`(\w+)`", names)]
    assert listed == [(name, row.written_by) for name, row in LAYER_ROWS.items()]


def test_a_layer_is_computed_from_layers_before_it() -> None:
    order = list(LAYER_ROWS)
    assert all(order.index(parent) < order.index(name) for name, row in LAYER_ROWS.items() for parent in row.parents)
