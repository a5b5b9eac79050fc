"""Index the rows of a run: what filters and orders need of each, without its texts.

The index is a file in the machine's local state of the lake, and no artefact of the run: it can be made again at any time, and is
if it is damaged, of another version or of other partitions. Its rows stand in the order of dataset, model, setting, item and
repetition: the number of a row says where it stands.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from hashlib import sha256
from io import BytesIO
from itertools import accumulate, groupby
from typing import Any, get_args

import polars as pl
import pyarrow.parquet as pq
from pydantic_core import to_json

from schemas.documents.rows import RowStatus
from schemas.lineage import PartitionRef
from schemas.tables.layers import LAYERS
from schemas.vocabulary import LANGUAGES
from tasks.lake.files import parquet_source, replace_file
from tasks.lake.local_state import state_folder
from tasks.runs.past_run import PastRun, no_rows
from tasks.scoring.label_scores import STATUS
from tasks.scoring.reduction import COUNTED, IS_MISSING, average_parts, item_points
from tasks.scoring.tree import Tree, tree_tables
from tasks.solvers.answers import SAID

VERSION = "3"
"""Bumped when rows of the index come out differently."""

FOLDER, SEAL = "row-index", sha256().digest_size
GROUP, CHECKED = 20_000, 2_000
"""Rows of a group of the file, and of item scores that are read at a time; and those that can be checked while somebody waits."""

MOST = 100
PLACE = ("dataset", "model", "setting")
ROW = (*PLACE, "item_id", "repetition")
FACETS = (*PLACE, "status", "language")
COLUMNS = pl.Schema(
    {**dict.fromkeys((*PLACE, "item_id"), pl.String()), "repetition": pl.Int64(), "status": pl.Enum(get_args(RowStatus))}
    | {"language": pl.Enum(LANGUAGES), "groups": pl.List(pl.String())}
    | dict.fromkeys(("reply_characters", "faults"), pl.Int64())
    | dict.fromkeys(("score", "rating", "judges_apart"), pl.Float64())
)
"""Those of RowEntry that are no texts, and `groups`, each as NAME=VALUE."""

Place = tuple[str, ...]
Take = Callable[[pl.LazyFrame], pl.LazyFrame]


class RowIndex:
    """The rows of a run and what they are made of, without reviews of simulated persons, which are no ratings of replies.

    `places`: item scores of each dataset, model and setting, in order. `key`: changes when a partition does.
    """

    def __init__(self, run: PastRun) -> None:
        self._lake, self._refs = run.lake, defaultdict[tuple[str, Place], list[PartitionRef]](list)
        self._path = state_folder(run.lake.root) / FOLDER / run.name
        review = run.manifest.plan.get("simulation_rubric") or ""
        for ref in run.manifest.partitions:
            if ref.layer in INDEXED and dict(ref.place).get("rubric") != review:
                self._refs[ref.layer, tuple(value for name, value in ref.place if name in PLACE)].append(ref)
        scored = {place: of_place for (layer, place), of_place in self._refs.items() if layer == "item_scores"}
        self.places = {place: sum(ref.rows for ref in scored[place]) for place in sorted(scored)}
        self.takes: Mapping[str, Take] = {"item_scores": partial(score_rows, tree=tree_tables(run.blueprint)), **TAKEN}
        made_of = sorted((ref.path, ref.content_sha256) for refs in self._refs.values() for ref in refs)
        self.key = sha256(to_json([VERSION, str(run.lake.root), run.manifest.blueprint_sha256, made_of])).digest()

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """COLUMNS of each row and `row`, its number; from the file, or made and written there. Errors are those of `read`."""
        content = b""
        with suppress(OSError):
            content = self._path.read_bytes()
        if content[:SEAL] != sha256(self.key + content[SEAL:]).digest():
            encoded = self._encode()
            content = sha256(self.key + encoded).digest() + encoded
            with suppress(OSError):  # a full disk, another user's folder: this process keeps it
                replace_file(self._path, content)
        return pl.scan_parquet(BytesIO(content[SEAL:]), row_index_name="row")

    @cached_property
    def counts(self) -> pl.DataFrame:
        """How many `rows` have the same FACETS."""
        return self.rows.group_by(FACETS).len("rows").collect()

    def read(self, layer: str, places: Iterable[Place], take: Take) -> pl.DataFrame:
        """Return what is taken of the rows of a layer; no more of them is read than that needs.

        Partitions of up to CHECKED rows are read as a whole and checked by their hashes. LakeError: one is gone or damaged.
        """
        depth = {"items": 1, "simulation_faults": 0}.get(layer)  # all models have the same items; faults are one partition
        keys = dict.fromkeys(place[:depth] for place in places)
        refs, schema = [ref for key in keys for ref in self._refs.get((layer, key), ())], LAYERS[layer].schema
        if refs and sum(ref.rows for ref in refs) > CHECKED:
            sources: Any = [parquet_source(self._lake.path(ref)) for ref in refs]
            rows = pl.scan_parquet(sources, schema=pl.Schema(schema), hive_partitioning=False, glob=False)
            # They are of an earlier version, with closed lists of names, or one is gone or damaged: they are read one by one.
            with suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
                return take(rows).collect(engine="streaming")
        return take(self._lake.read_all(refs, schema).lazy() if refs else no_rows(layer).lazy()).collect()

    def _encode(self) -> bytes:
        file, ends = BytesIO(), accumulate(self.places.values())
        with pq.ParquetWriter(file, COLUMNS.to_frame().to_arrow().schema, compression="zstd") as writer:
            for _, batch in groupby(zip(self.places, ends, strict=True), key=lambda pair: pair[1] // GROUP):
                places = [place for place, _ in batch]
                rows, *others = (self.read(layer, places, take) for layer, take in self.takes.items())
                for frame in others:
                    rows = rows.join(frame, on=[name for name in ROW if name in frame.columns], how="left")
                writer.write_table(rows.select(*COLUMNS).sort(ROW).cast(COLUMNS).to_arrow(), row_group_size=GROUP)
        return file.getvalue()


KEPT: dict[bytes, RowIndex] = {}
"""Those that this process opened last, by their keys."""


def open_rows(run: PastRun) -> RowIndex:
    """Return the index of a run's rows, the same one as long as it is kept."""
    index = RowIndex(run)
    for earlier in list(KEPT)[:-3]:
        KEPT.pop(earlier, None)
    return KEPT.setdefault(index.key, index)


def score_rows(scores: pl.LazyFrame, tree: Tree) -> pl.LazyFrame:
    """Return status and score of each row, from rows of `item_scores`."""
    points = pl.col("points")
    status = pl.coalesce(
        STATUS.filter(IS_MISSING).min().cast(pl.String).str.replace("_", " "),
        pl.when(~STATUS.is_in(COUNTED).any()).then(pl.lit("not counted")),
        pl.when((STATUS == "unparsed").any()).then(pl.lit("unread")),
        pl.when(points.min().round(9) >= MOST).then(pl.lit("right")),
        pl.when(points.max().round(9) <= 0).then(pl.lit("wrong")),
        pl.lit("partial"),
    )
    return item_points(average_parts(scores), tree).group_by(ROW).agg(status=status, score=points.mean())


def _grouped(items: pl.LazyFrame) -> pl.LazyFrame:
    """Return language and groups of items, the subset among these."""
    pair = pl.format("{}={}", pl.element().struct["name"], pl.element().struct["value"])
    pairs = pl.concat_list(pl.format("subset={}", "subset"), pl.col("groups").list.eval(pair).fill_null([]))
    return items.select("dataset", "item_id", "language", groups=pairs.list.drop_nulls())


def _rated(judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Return the mean of a row's ratings, and the widest distance of two of a dimension."""
    rating = pl.col("rating")
    scaled = (rating - pl.col("lowest")) / (pl.col("highest") - pl.col("lowest")) * MOST
    rated = judgements.drop_nulls("rating").with_columns(scaled)
    apart = pl.when(pl.len() > 1).then(rating.max() - rating.min())
    ratings = rated.group_by(*ROW, "part", "rubric", "dimension").agg(judges_apart=apart, total=rating.sum(), n=pl.len())
    return ratings.group_by(ROW).agg(pl.col("judges_apart").max(), rating=pl.col("total").sum() / pl.col("n").sum())


_LENGTH = SAID.str.len_chars()
TAKEN: Mapping[str, Take] = {
    "items": _grouped,
    "answers": lambda answers: answers.group_by(ROW).agg(reply_characters=pl.when(_LENGTH.count() > 0).then(_LENGTH.sum())),
    "judgements": _rated,
    "simulation_faults": lambda faults: faults.filter(pl.col("refused").is_null()).group_by(ROW).agg(faults=pl.len()),
}
"""What the index takes of each layer that it is made of, besides the scores."""

INDEXED = ("item_scores", *TAKEN)
