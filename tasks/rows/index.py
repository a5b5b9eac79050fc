"""Index the rows of a run: what filters and orders need of each, without its texts.

The index is a Parquet file in the machine's local state of the lake. It can be made again at any time and is no artefact of the
run: one that is damaged, or of another version, or of other partitions than the manifest lists, is replaced. Where the folder
cannot be written, it is kept in memory.

Its rows stand in the order of dataset, model, setting, item and repetition: the number of a row says where it stands.
"""

import mmap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, get_args
from zlib import crc32

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import from_json, to_json

from schemas.documents.rows import RowStatus
from schemas.lineage import PartitionRef
from schemas.metrics import METRICS
from schemas.tables.layers import LAYERS
from schemas.vocabulary import LANGUAGES
from tasks.lake.files import parquet_source, replace_file
from tasks.lake.frames import unreadable
from tasks.lake.local_state import state_folder
from tasks.runs.past_run import PastRun, no_rows
from tasks.scoring.label_scores import STATUS
from tasks.scoring.reduction import COUNTED, IS_MISSING, average_parts, scale
from tasks.scoring.tree import raw_bounds
from tasks.solvers.answers import SAID

VERSION = "1"
"""Bumped when rows of the index come out differently."""

FOLDER = "row-index"
MOST = 100
BATCH, GROUP = 50_000, 20_000
"""Rows of item scores that are read at a time, and rows of a group of the file."""

PLACE = ("dataset", "model", "setting")
ROW = (*PLACE, "item_id", "repetition")
FACETS = ("status", "language")
COLUMNS = pl.Schema(
    {
        "place": pl.UInt32(),
        "item_id": pl.String(),
        "repetition": pl.Int64(),
        "status": pl.Enum(get_args(RowStatus)),
        "language": pl.Enum(LANGUAGES),
        "group": pl.UInt32(),
        "score": pl.Float64(),
        "rating": pl.Float64(),
        "judges_apart": pl.Float64(),
        "reply_characters": pl.Int64(),
    }
)
"""`place`, `group`: their numbers in `places` and `groups`. The others are as in RowEntry."""


@dataclass(frozen=True, eq=False)
class RowIndex:
    """The rows of a run.

    Attributes:
        rows: in order, in columns COLUMNS; `row`, its number, comes first.
        places: `place`, PLACE and `start`, the number of its first row.
        counts: `place`, FACETS and `rows`, how many have them.
        groups: what an item belongs to, each as NAME=VALUE, by number.
    """

    rows: pl.LazyFrame
    places: pl.DataFrame
    counts: pl.DataFrame
    groups: tuple[tuple[str, ...], ...]

    @property
    def total(self) -> int:
        """Rows of the run."""
        return int(self.counts["rows"].sum())

    @property
    def named_rows(self) -> pl.LazyFrame:
        """The rows with dataset, model and setting by name."""
        return self.rows.join(self.places.lazy(), on="place", maintain_order="left")


def open_rows(run: PastRun) -> RowIndex:
    """Open the index of a run's rows; it is made if it is not there. LakeError: a partition is gone or damaged."""
    key = _key(run)
    folder = state_folder(run.lake.root) / FOLDER / run.name
    for path in folder.glob(f"{key}.*.parquet"):
        with suppress(OSError, ValueError, KeyError, TypeError, pa.ArrowException, pl.exceptions.PolarsError):
            stat = path.stat()
            return _read_index(path, stat.st_mtime_ns, stat.st_size)
    return _keep(run, folder, key) if (kept := _IN_MEMORY.get(key)) is None else kept


_IN_MEMORY: dict[str, RowIndex] = {}
"""Those that could not be written."""


def _keep(run: PastRun, folder: Path, key: str) -> RowIndex:
    """Make an index and write it in place of an earlier one of the run."""
    encoded = _encode(run)
    path = folder / f"{key}.{crc32(encoded):08x}.parquet"
    try:
        replace_file(path, encoded)
    except OSError:  # another user's folder, a full disk
        return _IN_MEMORY.setdefault(key, _open(BytesIO(encoded)))
    with suppress(OSError):
        for earlier in {*folder.glob("*.parquet")} - {path}:
            earlier.unlink()
    return _open(path)


@lru_cache(maxsize=32)
def _read_index(path: Path, _changed: int, _size: int) -> RowIndex:
    """Open a file whose bytes have the checksum that its name says; ValueError: they have not."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if f"{crc32(content):08x}" != path.stem.rpartition(".")[2]:
            raise ValueError("the index is damaged")
    return _open(path)


def _open(source: Path | BytesIO) -> RowIndex:
    head = from_json((pq.read_metadata(source).metadata or {})[b"moodflow"])
    counts = pl.DataFrame(
        head["counts"], {**{name: COLUMNS[name] for name in ("place", *FACETS)}, "rows": pl.Int64}, orient="row"
    )
    places = pl.DataFrame(head["places"], dict.fromkeys(PLACE, pl.String), orient="row").with_row_index("place")
    sizes = counts.group_by("place").agg(pl.col("rows").sum())
    starts = places.join(sizes, on="place", maintain_order="left").with_columns(start=pl.col("rows").cum_sum() - pl.col("rows"))
    rows = pl.scan_parquet(source, row_index_name="row", glob=False)
    return RowIndex(rows, starts.drop("rows"), counts, tuple(map(tuple, head["groups"])))


def _key(run: PastRun) -> str:
    """Return what changes with the rows: version, partitions and which ratings are no ratings of replies."""
    refs = sorted((ref.path, ref.content_sha256) for ref in run.manifest.partitions if ref.layer in READ)
    return sha256(to_json([VERSION, run.manifest.plan.get("simulation_rubric"), refs])).hexdigest()[:32]


READ = {
    "item_scores": (*ROW, "part", "cluster", "method", "metric", "value", "status"),
    "items": ("dataset", "item_id", "language", "subset", "groups"),
    "answers": (*ROW, "part", "text", "turns"),
    "judgements": (*ROW, "part", "rubric", "dimension", "lowest", "highest", "rating"),
}
"""Columns that the index is made of, by layer."""


def _encode(run: PastRun) -> bytes:
    """Return the index as a file."""
    places: list[tuple[str, ...]] = []
    groups: dict[tuple[str, ...], int] = {}
    counts = []
    file = BytesIO()
    with pq.ParquetWriter(file, COLUMNS.to_frame().to_arrow().schema, compression="zstd") as writer:
        for batch, frame in _batches(run):
            numbers = pl.DataFrame(batch, dict.fromkeys(PLACE, pl.String), orient="row").with_row_index("place", len(places))
            places += batch
            for names in frame["group"].unique().to_list():
                groups.setdefault(tuple(names), len(groups))
            numbered = pl.DataFrame(
                {"group": [*map(list, groups)], "number": range(len(groups))}, {"group": pl.List(pl.String), "number": pl.UInt32}
            )
            rows = frame.join(numbers, on=PLACE).join(numbered, on="group").drop("group").rename({"number": "group"})
            rows = rows.sort("place", "item_id", "repetition").select(*COLUMNS).cast(COLUMNS)
            counts += rows.group_by("place", *FACETS).len().sort("place", *FACETS).rows()
            writer.write_table(rows.to_arrow(), row_group_size=GROUP)
        head = {"places": places, "groups": [*groups], "counts": counts}
        writer.add_key_value_metadata({"moodflow": to_json(head).decode()})
    return file.getvalue()


def _batches(run: PastRun) -> Iterator[tuple[list[tuple[str, ...]], pl.DataFrame]]:
    """Yield places in their order, so many at a time as their rows allow, with their rows."""
    by_place: dict[tuple[str, tuple[str, ...]], list[PartitionRef]] = defaultdict(list)
    for ref in run.manifest.partitions:
        if ref.layer in READ:
            by_place[ref.layer, tuple(dict(ref.place).get(name, "") for name in PLACE)].append(ref)
    batch: list[tuple[str, ...]] = []
    rows = 0
    places = sorted(place for layer, place in by_place if layer == "item_scores")
    for place in places:
        batch.append(place)
        rows += sum(ref.rows for ref in by_place["item_scores", place])
        if rows >= BATCH or place == places[-1]:
            of_items = dict.fromkeys((dataset, "", "") for dataset, *_ in batch)
            refs = {
                layer: [ref for each in (of_items if layer == "items" else batch) for ref in by_place[layer, each]]
                for layer in READ
            }
            yield batch, _rows(run, refs)
            batch, rows = [], 0


def scan_layer(run: PastRun, layer: str, refs: Sequence[PartitionRef], columns: Iterable[str]) -> pl.LazyFrame:
    """Return columns of partitions, to be read as far as they are needed; what they hold is not checked by its hash."""
    schema = LAYERS[layer].schema
    if not refs:
        return no_rows(layer).lazy().select(columns)
    sources: Any = [parquet_source(run.lake.path(ref)) for ref in refs]
    return pl.scan_parquet(sources, schema=pl.Schema(schema), hive_partitioning=False, glob=False).select(columns)


def _rows(run: PastRun, refs: dict[str, list[PartitionRef]]) -> pl.DataFrame:
    """Return the rows of some places; `group` is the list of what an item belongs to."""
    scores, items, answers, judgements = (scan_layer(run, layer, refs[layer], columns) for layer, columns in READ.items())
    with unreadable(run.lake.path(refs["item_scores"][0])):
        scores = scores.collect().lazy()
        answers = answers.select(*ROW, reply_characters=SAID.str.len_chars())
        replies = answers.group_by(ROW).agg(
            pl.when(pl.col("reply_characters").count() > 0).then(pl.col("reply_characters").sum())
        )
        rows = _scored(scores).join(_grouped(items), on=["dataset", "item_id"]).join(replies, on=ROW, how="left")
        review = run.manifest.plan.get("simulation_rubric") or ""
        return rows.join(_rated(judgements.filter(pl.col("rubric") != review)), on=ROW, how="left").collect()


def _grouped(items: pl.LazyFrame) -> pl.LazyFrame:
    """Return language and groups of items, the subset among these."""
    pair = pl.format("{}={}", pl.element().struct["name"], pl.element().struct["value"])
    subset = pl.concat_list(pl.format("subset={}", "subset")).list.drop_nulls()
    group = pl.concat_list(subset, pl.col("groups").list.eval(pair).fill_null([]))
    return items.select("dataset", "item_id", "language", group=group)


def _scored(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Return status and score of each row of a run, from rows of `item_scores`."""
    kinds = {name: row.normalisation.type for name, row in METRICS.items()}
    bounds = {name: raw_bounds(row.normalisation) for name, row in METRICS.items()}
    metric, share = pl.col("metric"), pl.col("share")
    low, high = (
        metric.replace_strict({name: both[end] for name, both in bounds.items()}, return_dtype=pl.Float64) for end in (0, 1)
    )
    value = scale(pl.col("value"), metric.replace_strict(kinds, return_dtype=pl.String), low, high)
    lost = STATUS.filter(IS_MISSING).min().cast(pl.String).replace({"call_failed": "call failed", "judge_failed": "judge failed"})
    status = (
        pl.when(STATUS.filter(IS_MISSING).len() > 0)
        .then(lost)
        .when(STATUS.is_in(COUNTED).sum() == 0)
        .then(pl.lit("not counted"))
        .when((STATUS == "unparsed").any())
        .then(pl.lit("unread"))
        .when(share.min() >= MOST)
        .then(pl.lit("right"))
        .when(share.max() <= 0)
        .then(pl.lit("wrong"))
        .otherwise(pl.lit("partial"))
    )
    return average_parts(scores).with_columns(share=value).group_by(ROW).agg(status=status, score=share.mean())


def _rated(judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Return the mean of a row's ratings, and the widest distance of two of a dimension."""
    span = pl.col("highest") - pl.col("lowest")
    rating = ((pl.col("rating") - pl.col("lowest")) / span * 100).alias("rating")
    apart = pl.when(pl.len() > 1).then(pl.col("rating").max() - pl.col("rating").min())
    rated = judgements.drop_nulls("rating").with_columns(rating)
    by_dimension = rated.group_by(*ROW, "part", "rubric", "dimension").agg(
        judges_apart=apart, total=pl.col("rating").sum(), n=pl.len()
    )
    return by_dimension.group_by(ROW).agg(pl.col("judges_apart").max(), rating=pl.col("total").sum() / pl.col("n").sum())
