"""Layers of a run as they are read from a lake."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.lineage import CodeVersion, PartitionKey, PartitionRef
from schemas.tables.items import Chunks, Contexts
from schemas.tables.layers import LAYERS
from tasks.lake.lake import Lake
from tasks.reporting.run_files import load_report_data
from tasks.runs.past_run import PastRun
from tasks.scoring.breakdowns import needle_grid
from tests.tasks.reporting import example_long
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import manifest

DATASET = "longemotion_ec_emobench"
OF_MODEL = (("dataset", DATASET), ("model", "alpha"), ("setting", "coem"))


OF_DATASET = (("dataset", DATASET),)
OWN = pl.col("dataset") == DATASET


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path, CodeVersion("0", None))


def write(lake: Lake, layer: str, frame: pl.DataFrame, place: tuple[tuple[str, str], ...] = OF_DATASET) -> PartitionRef:
    mark = f"{len(list(lake.root.glob('**/*.parquet'))):064x}"
    return lake.write(PartitionKey(layer=layer, place=place, fingerprint=mark), frame, LAYERS[layer].schema)


def chunks(text: str) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"dataset": DATASET, "item_id": f"ec_emobench-{number}", "corpus": "context", "chunk": chunk, "text": f"{text} {chunk}"}
        | {"start": chunk, "end": chunk + 1, "token_start": chunk, "token_end": chunk + 1, "holds_needle": chunk == 0}
        for number in range(2)
        for chunk in range(8)
    ]
    return make_table(Chunks, rows)


def load(lake: Lake, *refs: PartitionRef) -> Any:
    described = manifest(partitions=refs, plan=example_long.PLAN)
    return load_report_data(PastRun(described, example_long.BLUEPRINT, lake))


def test_layers_that_are_not_there_are_empty(lake: Lake) -> None:
    data = load(lake)
    layers = (
        data.judgements,
        data.contexts,
        data.retrievals,
        data.setting_gains,
        data.agreements,
        data.needle_scores,
        data.prompt_chunks,
    )
    assert [frame.height for frame in layers] == [0] * 7
    assert data.paper.settings == ("base", "rag", "coem")  # of the paper that has its abilities


def test_layers_of_long_runs_are_read(lake: Lake) -> None:
    ranked = example_long.retrievals().filter(OWN, pl.col("model") == "alpha", pl.col("setting") == "coem")
    data = load(
        lake,
        write(lake, "items", example_long.items().filter(OWN)),
        write(lake, "contexts", example_long.contexts().filter(OWN)),
        write(lake, "retrievals", ranked, OF_MODEL),
        write(lake, "judgements", example_long.judgements().head(4), OF_MODEL),
        write(lake, "chunks", chunks("piece"), (*OF_DATASET, ("chunking", "128-50"))),
    )
    assert (data.contexts.height, data.retrievals.height, data.judgements.height) == (2, 32, 4)
    # What the last stage kept: the first four of the second ranking, of two items.
    assert sorted(data.prompt_chunks["text"]) == sorted(["piece 0", "piece 1", "piece 2", "piece 3"] * 2)
    assert data.prompt_chunks.filter("holds_needle")["rank"].to_list() == [0, 0]


def test_chunks_of_an_unknown_cut_are_left_out(lake: Lake) -> None:
    ranked = write(lake, "retrievals", example_long.retrievals().filter(OWN))
    cuts = [write(lake, "chunks", chunks(cut), (*OF_DATASET, ("chunking", cut))) for cut in ("128-50", "512-50")]
    assert load(lake, ranked, *cuts).prompt_chunks.is_empty()
    # Chunks of what a model wrote itself are told by the model.
    written = load(lake, ranked, write(lake, "chunks", chunks("written"), OF_MODEL)).prompt_chunks
    assert (set(written["model"]), set(written["setting"])) == ({"alpha"}, {"coem"})


def test_the_needle_grid_is_the_layers(lake: Lake) -> None:
    scores, contexts = example_long.item_scores().filter(OWN), Contexts.validate(example_long.contexts().filter(OWN))
    refs = [write(lake, "contexts", contexts), write(lake, "item_scores", scores)]
    assert load(lake, *refs).needle_scores.is_empty()
    grid = needle_grid(scores.lazy(), contexts)
    data = load(lake, *refs, write(lake, "needle_scores", grid, (("benchmark", "b"),)))
    # One item of two scores 1; 30,000 tokens at a depth of 69 percent.
    found = data.needle_scores.filter(pl.col("metric") == "accuracy", pl.col("model") == "alpha", pl.col("setting") == "base")
    assert found.select("length_tokens", "depth_percent", "value", "n").rows() == [(16_000, 60.0, 0.5, 2)]
