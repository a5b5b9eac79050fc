"""Build the items of one dataset: adapt its records, validate the items, sample them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from schemas.dataset import DatasetSpec
from schemas.errors import RecordError, SourceError
from schemas.item import Item, Record, RecordJoin
from schemas.tables.items import Items
from tasks.sources.reading import read_dataset

ID_HASH_LENGTH = 12


@dataclass(frozen=True)
class BuiltItems:
    """The items of one dataset that were sampled; `rejected` has the columns of `items` and `broken_rules`, their names."""

    items: dy.DataFrame[Items]
    rejected: pl.DataFrame


def build_items(spec: DatasetSpec, paths: Sequence[Path], sample: int | None, seed: int) -> BuiltItems:
    """Read the files of a catalogue entry and make its items.

    Args:
        spec: the entry.
        paths: where its files are, in the order of `spec.files`.
        sample: how many valid items to keep; all if there are fewer, or if it is null.
        seed: of the draw.

    Raises:
        SourceError: a file or a record cannot be read, or the number of records is not the expected one.
    """
    return select_items(make_items(spec, read_dataset(spec, paths)), sample, seed)


def make_items(spec: DatasetSpec, records: Sequence[Record]) -> pl.DataFrame:
    """Return every item of a dataset, from the records of all its files in order; nothing is validated yet.

    Raises:
        SourceError: the files do not fit together, or the adapter cannot make an item of a record.
    """
    return adapt_records(spec, records if spec.join_records is None else _join(spec, spec.join_records, records))


def adapt_records(spec: DatasetSpec, records: Sequence[Record]) -> pl.DataFrame:
    """Return one row per item of each record, in order, with the columns of `Items`; nothing is validated yet.

    Raises:
        RecordError: the adapter cannot make an item of a record.
    """
    rows: list[dict[str, Any]] = []
    row_ids = number_repeats(f"{spec.id}-{record.sha256[:ID_HASH_LENGTH]}" for record in records)
    for record, row_id in zip(records, row_ids, strict=True):
        items = _adapt(spec, record)
        for item, item_id in zip(items, _name_items(items, row_id), strict=True):
            rows.append(item_row(spec.id, record, item, item_id))
    return pl.DataFrame(rows, schema=pl.Schema(Items))


def select_items(candidates: pl.DataFrame, sample: int | None, seed: int) -> BuiltItems:
    """Part the good rows from the rejected ones, then sample the good ones."""
    good, rejected = split_by_rules(candidates)
    if good.height + rejected.height != candidates.height:
        raise AssertionError(f"{good.height} good and {rejected.height} rejected rows are not the {candidates.height} read")
    return BuiltItems(Items.validate(sample_items(good, sample, seed)), rejected)


def split_by_rules(candidates: pl.DataFrame, schema: type[dy.Schema] | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that break no rule of a schema, and the others with the names of those they break in `broken_rules`.

    A rule that cannot be decided for a row counts as broken. The schema is `Items` unless another is given.
    """
    # dataframely lists its rules nowhere else, and its own filter() lets undecided rules pass.
    rules = (schema or Items)._validation_rules(with_cast=False)  # noqa: SLF001
    broken = [
        # Rules named column|check are dataframely's own: undecided means that a column which may be null is null.
        pl.when(~rule.expr.fill_null(value="|" in name)).then(pl.lit(name))
        for name, rule in rules.items()
    ]
    judged = candidates.with_columns(pl.concat_list(broken).list.drop_nulls().alias("broken_rules"))
    is_good = pl.col("broken_rules").list.len() == 0
    return judged.filter(is_good).drop("broken_rules"), judged.filter(~is_good)


def number_repeats(names: Iterable[str]) -> Iterator[str]:
    """Yield each name; the second time it comes with the suffix `-2`, and so on."""
    times: Counter[str] = Counter()
    for name in names:
        times[name] += 1
        yield name if times[name] == 1 else f"{name}-{times[name]}"


def _join(spec: DatasetSpec, join: RecordJoin, records: Sequence[Record]) -> Sequence[Record]:
    try:
        return join(records)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"the files of {spec.id} do not fit together",
            where=", ".join(dict.fromkeys(record.file for record in records)),
            expected="files as the catalogue entry pins them",
            got=f"{type(error).__name__}: {error}",
            next_step="correct `join_records` of the dataset: the files are the pinned ones",
        ) from error


def _adapt(spec: DatasetSpec, record: Record) -> Sequence[Item]:
    if spec.adapter is None:
        raise AssertionError(f"{spec.id} has no adapter: its items are built by its sample builder")
    try:
        made = spec.adapter(record)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _unusable(spec, record, f"{type(error).__name__}: {error}") from error
    items = [made] if isinstance(made, Item) else made
    if not items:
        raise _unusable(spec, record, "no item")
    return items


def _unusable(spec: DatasetSpec, record: Record, got: str) -> RecordError:
    return RecordError(
        f"no item of {spec.id} can be made of this record",
        where=f"{record.file}, row {record.row} (0-based)",
        expected=f"a record as the adapter of {spec.id} reads it, with {', '.join(spec.required)}",
        got=got,
        next_step="correct the file, or the adapter of the dataset",
    )


def _name_items(items: Sequence[Item], row_id: str) -> Iterator[str]:
    for number, item in enumerate(items, start=1):
        yield item.item_id or (row_id if len(items) == 1 else f"{row_id}.{number}")


def item_row(dataset: str, record: Record, item: Item | None, item_id: str) -> dict[str, Any]:
    """Return an item as a row of `Items`; of an item that could not be made only where it comes from."""
    return {
        **(item.model_dump() if item else {}),
        "dataset": dataset,
        "item_id": item_id,
        "source_file": record.file,
        "source_row": record.row,
        "source_row_sha256": record.sha256,
    }


def rank_row(seed: int, row_sha256: str) -> str:
    """Return the place of a row in the draw, as a hash; it depends on nothing but the seed and the row's content."""
    return sha256(f"{seed}:{row_sha256}".encode()).hexdigest()


def sample_items(items: pl.DataFrame, size: int | None, seed: int) -> pl.DataFrame:
    """Keep the `size` rows that rank first; all of them if there are fewer, or if `size` is null.

    Since the rank of a row does not depend on the other rows, one that is added later displaces at most one member. Rows of equal
    content rank equal and are told apart by item_id.

    Args:
        items: columns `item_id` (unique) and `source_row_sha256` at least.
        size: number of rows to keep.
        seed: another seed, another draw.

    Returns: the rows kept, sorted by item_id.
    """
    if size is None or items.height <= size:
        return items.sort("item_id")
    ranks = [rank_row(seed, row) for row in items["source_row_sha256"]]
    ranked = items.with_columns(pl.Series("rank", ranks, dtype=pl.String)).sort("rank", "item_id")
    return ranked.head(size).drop("rank").sort("item_id")
