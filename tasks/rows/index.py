"""Index the rows of a run: what filters and orders need of each, without its texts.

The index is a file in the machine's local state of the lake, and no artefact of the run: it can be made again at any time, and is
if it is damaged, of another version or of other partitions. Its rows stand in the order of dataset, model, setting, item and
repetition: the number of a row says where it stands.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from itertools import accumulate, groupby
from typing import Any, NamedTuple, get_args
from zlib import crc32

import polars as pl
import pyarrow.parquet as pq
from pydantic_core import from_json, to_json

from schemas.documents.rows import RowStatus
from schemas.metrics import METRICS
from schemas.vocabulary import LANGUAGES
from tasks.lake.files import replace_file
from tasks.lake.local_state import state_folder
from tasks.rows.partitions import PLACE, ROW, Partitions, Place, Take
from tasks.runs.past_run import PastRun
from tasks.scoring.label_scores import STATUS
from tasks.scoring.reduction import COUNTED, IS_MISSING, average_parts, scale
from tasks.scoring.tree import raw_bounds
from tasks.solvers.answers import SAID

VERSION = "1"
"""Bumped when rows of the index come out differently."""

FOLDER = "row-index"
BATCH, GROUP = 50_000, 20_000
"""Rows of item scores that are read at a time, and rows of a group of the file."""

MANY = 20_000
"""Rows of a run whose index is made when it ends. Of fewer it is made faster than a page is read, when it is first asked for."""

MOST = 100
FACETS = (*PLACE, "status", "language")
COLUMNS = pl.Schema(
    {**dict.fromkeys((*PLACE, "item_id"), pl.String()), "repetition": pl.Int64(), "status": pl.Enum(get_args(RowStatus))}
    | {"language": pl.Enum(LANGUAGES), "groups": pl.List(pl.String()), "reply_characters": pl.Int64()}
    | dict.fromkeys(("score", "rating", "judges_apart"), pl.Float64())
)
"""Those of RowEntry that are no texts, and `groups`, each as NAME=VALUE."""


class RowIndex(NamedTuple):
    """The rows of a run: COLUMNS and `row`, the number of a row; and `counts`, how many `rows` have the same FACETS."""

    rows: pl.LazyFrame
    counts: pl.DataFrame


_KEPT: dict[str, RowIndex] = {}
"""Those that this process opened last, by what they are made of."""


def open_rows(run: PastRun) -> RowIndex:
    """Open the index of a run's rows; make it if it is not there. LakeError: a partition is gone or damaged."""
    partitions = Partitions(run)
    key = sha256(to_json([VERSION, partitions.names])).hexdigest()
    if kept := _KEPT.get(key):
        return kept
    path = state_folder(run.lake.root) / FOLDER / run.name
    index = None
    with suppress(OSError, ValueError, KeyError, TypeError):  # not there, or damaged: what Arrow raises is one of these too
        checksum, encoded = (content := path.read_bytes())[:4], content[4:]
        index = _decode(encoded, key) if int.from_bytes(checksum) == crc32(encoded) else None
    if index is None:
        encoded = _encode(partitions, key)
        with suppress(OSError):  # a full disk, another user's folder: this process keeps it
            replace_file(path, crc32(encoded).to_bytes(4) + encoded)
        index = _decode(encoded, key)
    _KEPT[key] = index
    for earlier in list(_KEPT)[:-4]:
        _KEPT.pop(earlier, None)
    return index


def prepare_rows(run: PastRun) -> None:
    """Make the index of a run that is so large that its first page would have to wait for it."""
    if sum(ref.rows for ref in run.partitions("item_scores")) > MANY:
        open_rows(run)


def _decode(encoded: bytes, key: str) -> RowIndex:
    """Read an index; ValueError: it is that of other rows."""
    head = from_json(pq.read_metadata(BytesIO(encoded)).metadata[b"moodflow"])
    if head["key"] != key:
        raise ValueError("an index of other rows")
    counts = pl.DataFrame(head["counts"], {**dict.fromkeys(FACETS, pl.String), "rows": pl.Int64}, orient="row")
    return RowIndex(pl.scan_parquet(BytesIO(encoded), row_index_name="row"), counts)


def _encode(partitions: Partitions, key: str) -> bytes:
    file, counts = BytesIO(), list[tuple[Any, ...]]()
    with pq.ParquetWriter(file, COLUMNS.to_frame().to_arrow().schema, compression="zstd") as writer:
        for batch in _batches(partitions):
            rows = _rows(partitions, batch).select(*COLUMNS).sort(ROW).cast(COLUMNS)
            counts += rows.group_by(FACETS, maintain_order=True).len().rows()
            writer.write_table(rows.to_arrow(), row_group_size=GROUP)
        writer.add_key_value_metadata({"moodflow": to_json({"key": key, "counts": counts}).decode()})
    return file.getvalue()


def _batches(partitions: Partitions) -> Iterator[list[Place]]:
    """Yield places in their order, so many at a time as their rows allow."""
    rows = accumulate(sum(ref.rows for ref in partitions.refs("item_scores", [place])) for place in partitions.places)
    for _, batch in groupby(zip(partitions.places, rows, strict=True), key=lambda pair: pair[1] // BATCH):
        yield [place for place, _ in batch]


def _rows(partitions: Partitions, places: list[Place]) -> pl.DataFrame:
    rows, *others = (partitions.read(layer, places, take) for layer, take in TAKEN.items())
    for frame in others:
        rows = rows.join(frame, on=[name for name in ROW if name in frame.columns], how="left")
    return rows


def _scored(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Return status and score of each row, from rows of `item_scores`."""
    normal = {name: row.normalisation for name, row in METRICS.items()}
    kind = pl.col("metric").replace_strict({name: each.type for name, each in normal.items()}, return_dtype=pl.String)
    ends = ({name: raw_bounds(each)[end] for name, each in normal.items()} for end in (0, 1))
    low, high = (pl.col("metric").replace_strict(of_metrics, return_dtype=pl.Float64) for of_metrics in ends)
    share = scale(pl.col("value"), kind, low, high)
    status = pl.coalesce(
        STATUS.filter(IS_MISSING).min().cast(pl.String).str.replace("_", " "),
        pl.when(~STATUS.is_in(COUNTED).any()).then(pl.lit("not counted")),
        pl.when((STATUS == "unparsed").any()).then(pl.lit("unread")),
        pl.when(share.min() >= MOST).then(pl.lit("right")),
        pl.when(share.max() <= 0).then(pl.lit("wrong")),
        pl.lit("partial"),
    )
    return average_parts(scores).group_by(ROW).agg(status=status, score=share.mean())


def _grouped(items: pl.LazyFrame) -> pl.LazyFrame:
    """Return language and groups of items, the subset among these."""
    pair = pl.format("{}={}", pl.element().struct["name"], pl.element().struct["value"])
    pairs = pl.concat_list(pl.format("subset={}", "subset"), pl.col("groups").list.eval(pair).fill_null([]))
    return items.select("dataset", "item_id", "language", groups=pairs.list.drop_nulls())


def _measured(answers: pl.LazyFrame) -> pl.LazyFrame:
    length = SAID.str.len_chars()
    return answers.group_by(ROW).agg(reply_characters=pl.when(length.count() > 0).then(length.sum()))


def _rated(judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Return the mean of a row's ratings, and the widest distance of two of a dimension."""
    rating = pl.col("rating")
    scaled = (rating - pl.col("lowest")) / (pl.col("highest") - pl.col("lowest")) * MOST
    rated = judgements.drop_nulls("rating").with_columns(scaled)
    apart = pl.when(pl.len() > 1).then(rating.max() - rating.min())
    ratings = rated.group_by(*ROW, "part", "rubric", "dimension").agg(judges_apart=apart, total=rating.sum(), n=pl.len())
    return ratings.group_by(ROW).agg(pl.col("judges_apart").max(), rating=pl.col("total").sum() / pl.col("n").sum())


TAKEN: Mapping[str, Take] = {"item_scores": _scored, "items": _grouped, "answers": _measured, "judgements": _rated}
"""What the index takes of each layer that it is made of."""
