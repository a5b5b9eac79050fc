"""Layers of a run as they are read from a lake."""

from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from schemas.lineage import CodeVersion, PartitionKey, PartitionRef
from schemas.tables.comparisons import NeedleScores
from schemas.tables.contexts import Chunks, Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Judgements
from schemas.tables.scores import ItemScores
from tasks.lake.lake import Lake
from tasks.reporting.steps import load_report_data
from tasks.runs.past_run import PastRun
from tasks.scoring.needles import needle_grid
from tests.tasks.reporting import example_long
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import manifest

DATASET = "longemotion_ec_emobench"
OF_MODEL = (("dataset", DATASET), ("model", "alpha"), ("setting", "coem"))


def write(
    lake: Lake, layer: str, place: tuple[tuple[str, str], ...], frame: pl.DataFrame, schema: type[dy.Schema]
) -> PartitionRef:
    mark = f"{len(list(lake.root.glob('**/*.parquet'))):064x}"
    return lake.write(PartitionKey(layer=layer, place=place, fingerprint=mark), frame, schema)


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


def test_layers_that_are_not_there_are_empty(tmp_path: Path) -> None:
    data = load(Lake(tmp_path, CodeVersion("0", None)))
    layers = (data.judgements, data.contexts, data.retrievals, data.gains, data.agreements, data.needles, data.prompt_chunks)
    assert [frame.height for frame in layers] == [0] * 7
    assert data.paper.settings == ("base", "rag", "coem")  # of the paper that has its abilities


def test_layers_of_long_runs_are_read(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("0", None))
    own = pl.col("dataset") == DATASET
    ranked = example_long.retrievals().filter(own, pl.col("model") == "alpha", pl.col("setting") == "coem")
    refs = [
        write(lake, "items", (("dataset", DATASET),), example_long.items().filter(own), Items),
        write(lake, "contexts", (("dataset", DATASET),), example_long.contexts().filter(own), Contexts),
        write(lake, "retrievals", OF_MODEL, ranked, Retrievals),
        write(lake, "judgements", OF_MODEL, example_long.judgements().head(4), Judgements),
        write(lake, "chunks", (("dataset", DATASET), ("chunking", "128-50")), chunks("piece"), Chunks),
    ]
    data = load(lake, *refs)
    assert (data.contexts.height, data.retrievals.height, data.judgements.height) == (2, 32, 4)
    # What the last stage kept: the first four of the second ranking, of two items.
    assert sorted(data.prompt_chunks["text"]) == sorted(["piece 0", "piece 1", "piece 2", "piece 3"] * 2)
    assert data.prompt_chunks.filter("holds_needle")["rank"].to_list() == [0, 0]


def test_chunks_are_left_out_where_it_is_open_which_cut_was_ranked(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("0", None))
    ranked = example_long.retrievals().filter(pl.col("dataset") == DATASET)
    refs = [
        write(lake, "retrievals", (("dataset", DATASET),), ranked, Retrievals),
        write(lake, "chunks", (("dataset", DATASET), ("chunking", "128-50")), chunks("small"), Chunks),
        write(lake, "chunks", (("dataset", DATASET), ("chunking", "512-50")), chunks("large"), Chunks),
    ]
    assert load(lake, *refs).prompt_chunks.is_empty()
    # Chunks of what a model wrote itself are told by the model.
    written = write(lake, "chunks", OF_MODEL, chunks("written"), Chunks)
    assert set(load(lake, refs[0], written).prompt_chunks["model"]) == {"alpha"}
    assert set(load(lake, refs[0], written).prompt_chunks["setting"]) == {"coem"}


def test_the_grid_of_needles_is_that_of_the_layer(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("0", None))
    own = pl.col("dataset") == DATASET
    refs = [
        write(lake, "contexts", (("dataset", DATASET),), example_long.contexts().filter(own), Contexts),
        write(lake, "item_scores", (("dataset", DATASET),), example_long.item_scores().filter(own), ItemScores),
    ]
    grid = needle_grid(example_long.item_scores().filter(own).lazy(), Contexts.validate(example_long.contexts().filter(own)))
    data = load(lake, *refs, write(lake, "needle_scores", (("benchmark", "b"),), grid, NeedleScores))
    # One item of two scores 1; 30,000 tokens at a depth of 69 percent.
    found = data.needles.filter(pl.col("metric") == "accuracy", pl.col("model") == "alpha", pl.col("setting") == "base")
    assert found.select("length_tokens", "depth_percent", "value", "n").rows() == [(16_000, 60.0, 0.5, 2)]
    assert load(lake, *refs).needles.is_empty()
