"""The registry of layers: in order, of one schema each, and the same as the lake's page says."""

import re
from pathlib import Path

import pytest

from schemas.tables.layers import AGGREGATED, LAYERS

PAGE = Path(__file__).resolve().parents[2] / "parquet" / "README.md"


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_rests_on_layers_before_it_and_has_a_key(name: str) -> None:
    before = list(LAYERS)[: list(LAYERS).index(name)]
    assert set(LAYERS[name].rests_on) <= set(before)
    assert LAYERS[name].schema.primary_key() != []


def test_layers_have_schemas_of_their_own() -> None:
    assert len({layer.schema for layer in LAYERS.values()}) == len(LAYERS)


def test_a_run_has_one_partition_of_each_layer_from_raw_scores_to_totals() -> None:
    assert (
        *("raw_scores", "normalized_scores", "dataset_scores", "task_scores"),
        *("level_scores", "sub_ability_scores", "ability_scores", "totals"),
    ) == AGGREGATED


def test_the_page_of_the_lake_lists_these_layers_in_this_order() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert listed == list(LAYERS)
