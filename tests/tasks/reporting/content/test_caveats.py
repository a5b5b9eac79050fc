"""Reasons for care that do not rest on scores alone."""

import polars as pl
import pytest

from schemas.tables.items import Items
from tasks.reporting.content.caveats import find_caveats
from tasks.runs.run_tables import System
from tests.tasks.reporting.example_long import PLAN, long_data
from tests.tasks.reporting.example_run import manifest

SHORT = "Chinese retrieved by an English model"


@pytest.mark.parametrize(
    ("setting", "language", "options", "said"),
    [
        ("rag", "zh", {"ranking": "dense", "embedder": "minilm"}, True),
        ("rag", "zh", {"ranking": "fused", "embedder": "minilm"}, True),
        ("rag", "zh", {"ranking": "bm25", "embedder": "minilm"}, False),
        ("rag", "zh", {"ranking": "dense", "embedder": "BAAI/bge-m3"}, False),
        ("rag", "en", {"ranking": "dense", "embedder": "minilm"}, False),
        ("base", "zh", {"ranking": "dense", "embedder": "minilm"}, False),
    ],
)
def test_chinese_ranked_by_an_english_embedder_is_told(setting: str, language: str, options: dict[str, str], said: bool) -> None:
    data = long_data()
    items = Items.cast(data.items.with_columns(language=pl.lit(language)))
    data = long_data(items=items, manifest=manifest(plan={**PLAN, "retrieval": options}, benchmark="longemotion"))
    system = System("alpha", setting)
    caveats = {caveat.short: caveat.text for caveat in find_caveats(data, system, system.of(data.totals).row(0, named=True))}
    assert (SHORT in caveats) == said
    if said:
        text = caveats[SHORT]
        assert text.startswith(f"{items.height} items in Chinese: most Chinese characters are unknown to minilm")
        assert "--set retrieval.ranking=bm25" in text
