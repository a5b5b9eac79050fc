"""The partitions that rows are made of and shown from, and what is read of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from schemas.lineage import PartitionRef
from schemas.tables.layers import LAYERS
from tasks.lake.files import parquet_source
from tasks.lake.frames import unreadable
from tasks.runs.past_run import PastRun, no_rows

PLACE = ("dataset", "model", "setting")
ROW = (*PLACE, "item_id", "repetition")
READ = frozenset({"items", "answers", "judgements", "item_scores"})
CHECKED = 2_000
"""Rows up to which partitions can be read as a whole, and so be checked by their hashes, while somebody waits."""

Place = tuple[str, ...]
Take = Callable[[pl.LazyFrame], pl.LazyFrame]


class Partitions:
    """Those of a run, without reviews of simulated persons, which are no ratings of replies.

    `places`: datasets, models and settings that have rows, in order. `names`: what changes when a partition does.
    """

    def __init__(self, run: PastRun) -> None:
        self._run = run
        self._refs: dict[tuple[str, Place], list[PartitionRef]] = defaultdict(list)
        review = run.manifest.plan.get("simulation_rubric") or ""
        for ref in run.manifest.partitions:
            if ref.layer in READ and dict(ref.place).get("rubric") != review:
                self._refs[ref.layer, tuple(value for name, value in ref.place if name in PLACE)].append(ref)
        self.places = sorted(place for layer, place in self._refs if layer == "item_scores")
        self.names = sorted((ref.path, ref.content_sha256) for refs in self._refs.values() for ref in refs)

    def refs(self, layer: str, places: Iterable[Place]) -> list[PartitionRef]:
        """Return the partitions of a layer; items are the same for all models."""
        keys = dict.fromkeys(place[:1] if layer == "items" else place for place in places)
        return [ref for key in keys for ref in self._refs.get((layer, key), ())]

    def read(self, layer: str, places: Iterable[Place], take: Take, checked: int = 0) -> pl.DataFrame:
        """Return what is taken of the rows of a layer, of which no more is read than that needs.

        Partitions of up to `checked` rows are checked by their hashes. LakeError: one is gone or damaged.
        """
        refs, schema = self.refs(layer, places), LAYERS[layer].schema
        if not refs:
            return take(no_rows(layer).lazy()).collect()
        if sum(ref.rows for ref in refs) <= checked:
            return take(self._run.lake.read_all(refs, schema).lazy()).collect()
        sources: Any = [parquet_source(self._run.lake.path(ref)) for ref in refs]
        with unreadable(self._run.lake.path(refs[0])):
            try:
                rows = pl.scan_parquet(sources, schema=pl.Schema(schema), hive_partitioning=False, glob=False)
                return take(rows).collect(engine="streaming")
            except pl.exceptions.SchemaError:  # of an earlier version, with a closed list of names
                return take(self._run.lake.read_all(refs, schema).lazy()).collect()
