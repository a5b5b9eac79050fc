"""How long the items of a run are, and those of its paper."""

from collections.abc import Iterator

import polars as pl

from schemas.blueprint import Blueprint
from schemas.documents.run import MeanLength
from schemas.paper import RELEASED
from tasks.runs.past_run import PastRun
from tasks.scoring.published import paper_of


def mean_lengths(items: pl.DataFrame, contexts: pl.DataFrame, blueprint: Blueprint) -> tuple[MeanLength, ...]:
    """Return mean lengths by dataset, in the order of the names; `items`, `contexts`: rows of these layers."""
    characters = pl.col("question").str.len_chars() + pl.col("context").str.len_chars().fill_null(0)
    means = items.group_by("dataset").agg(items=pl.len(), characters=characters.mean())
    tokens = dict(contexts.group_by("dataset").agg(pl.col("tokens").mean()).iter_rows())
    of_paper = paper.lengths if (paper := paper_of(blueprint)) else {}
    return tuple(
        MeanLength(name, number, mean, tokens.get(name), of_paper.get(name.removesuffix(RELEASED)))
        for name, number, mean in means.sort("dataset").iter_rows()
    )


def read_lengths(run: PastRun) -> Iterator[MeanLength]:
    """Yield mean lengths of a run of the lake, one dataset after the other: texts are many. Raise LakeError if one is gone."""
    for ref in run.partitions("items"):
        items, contexts = (run.read(layer, dataset=ref.key("dataset")) for layer in ("items", "contexts"))
        yield from mean_lengths(items, contexts, run.blueprint)
