"""The registry of layers: in order, of one schema each, and the same as the lake's page says."""

import re
from dataclasses import replace
from pathlib import Path

import dataframely as dy
import pytest

from schemas.errors import UsageError
from schemas.tables.layers import AGGREGATED, FROM_OUTSIDE, GOLD, LAYERS, Layer, gold_layer, gold_layers, in_order
from schemas.tables.ratings import HumanRatings
from schemas.tables.results import BlueprintParts, Partitions, Results
from schemas.tables.role_cards import RoleCards
from tasks.datasets.catalogue import CATALOGUE

PAGE = Path(__file__).resolve().parents[2] / "parquet" / "README.md"


def test_each_layer_has_what_its_row_names() -> None:
    assert len({layer.schema for layer in LAYERS.values()}) == len(LAYERS)
    for layer in LAYERS.values():
        assert issubclass(layer.schema, dy.Schema)
        assert layer.schema.primary_key()
        assert layer.version
        # What is built, asked and retrieved cannot be computed again from a run.
        of_no_run = {"certificate_ratings", "certificates"}
        assert (layer.step is None) == (layer.name in {"items", "contexts", "chunks", "retrievals", "responses"} | of_no_run)


def test_every_column_of_a_table_is_described() -> None:
    schemas: list[type[dy.Schema]] = [
        *(layer.schema for layer in LAYERS.values()),
        RoleCards,
        HumanRatings,
        Results,
        Partitions,
        BlueprintParts,
    ]
    bare = [
        f"{schema.__name__}.{name}" for schema in schemas for name, column in schema.columns().items() if not column.description
    ]
    assert bare == []


def test_layers_are_told_apart_by_their_rows() -> None:
    assert {"responses", "judgements", "certificate_ratings"} == FROM_OUTSIDE
    assert gold_layers() == ("turn_annotations", "conversation_annotations")
    assert (AGGREGATED[0], AGGREGATED[-1], len(AGGREGATED)) == ("raw_scores", "totals", 8)


def test_lake_page_lists_layers_and_writers() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|.*\| (\w+)[^|]*\|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = [(name, writer) for names, writer in rows for name in re.findall(r"`(\w+)`", names)]
    assert listed == [(name, LAYERS[name].written_by) for name in in_order()]


def test_a_layer_is_computed_from_layers_before_it() -> None:
    order = in_order()
    for name, layer in LAYERS.items():
        parents = {parent for named in layer.parents for parent in (gold_layers() if named == GOLD else (named,))}
        assert parents <= set(order[: order.index(name)])


def test_layers_that_nothing_could_write_are_refused() -> None:
    assert LAYERS.check
    LAYERS.check(gold_layer("moods", "diary:Moods"))
    names = ("runs", "Moods", "moods/of_days", "moods_rejected")
    for layer in (*(gold_layer(name, "diary:Moods") for name in names), Layer("moods", "diary:Moods", "infer", "diary:VERSION")):
        with pytest.raises(UsageError, match=f"a benchmark cannot add the layer {layer.name}"):
            LAYERS.check(layer)


def test_an_entry_without_its_layer_is_refused() -> None:
    assert CATALOGUE.check
    with pytest.raises(UsageError, match="there is no layer of gold moods"):
        CATALOGUE.check(replace(next(iter(CATALOGUE.values())), annotation_layers=("moods",)))
