"""Build the items of one dataset: read its files, list its samples, build and validate as many of them as are wanted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.context import ContextOptions, Sample
from schemas.dataset import DatasetSpec
from schemas.errors import RecordError, SourceError
from schemas.item import Adapter, Item, Record
from schemas.tables.items import Contexts, Items
from schemas.tables.layers import LAYERS
from tasks.lake.frames import frame_of_rows
from tasks.sources.reading import read_dataset

ID_HASH_LENGTH = 12
USUAL_CONTEXTS = ContextOptions()

NOT_BUILT = "item_can_be_built"
"""Rule that a sample broke whose record allowed no item."""

BATCH = 64
"""Samples with contexts that are built at once; bounds the memory of rows not yet in a frame."""

NEVER = "is_never_kept"
"""Rule that every row breaks."""

UNUSABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What an adapter, a sample builder or a sample raises over a record that is not as it should be."""


class BuiltItems(NamedTuple):
    """The items of one dataset that were sampled, sorted by name.

    `contexts` has one row for each item whose context was built for it, `annotations` the rows of the entry's further layers.
    `rejected` has the columns of `items`, `broken_rules` and `reason`: why an item could not be built, of which only its source
    is known then; and `rows_in_all`, how many items the dataset would have if no row broke a rule.
    """

    items: dy.DataFrame[Items]
    contexts: dy.DataFrame[Contexts]
    rejected: pl.DataFrame
    annotations: Mapping[str, pl.DataFrame] = {}


def build_items(
    spec: DatasetSpec, paths: Sequence[Path], sample: int | None, seed: int, options: ContextOptions = USUAL_CONTEXTS
) -> BuiltItems:
    """Read the files of a catalogue entry, which are at `paths` in the order of `spec.files`, and build its items.

    As many valid items as `sample` says are kept; all if there are fewer, or it is null. SourceError: a file or a record cannot
    be read, the number of records is not the expected one, or they allow no items; UsageError: no tokenizer is installed.
    """
    return build_of_records(spec, read_dataset(spec, paths), sample, seed, options)


def build_of_records(
    spec: DatasetSpec, records: Sequence[Record], size: int | None, seed: int, options: ContextOptions = USUAL_CONTEXTS
) -> BuiltItems:
    """Do the same with the records of all files, in order.

    Samples are built in the order of the draw. In place of one that yields no valid item, which is rejected, the next is built.
    """
    samples = rank_samples(list_samples(spec, records, options, seed), seed)
    queue = iter(samples)
    batches: list[BuiltItems] = []
    good = 0
    while (wanted := list(islice(queue, _batch_size(spec, size, good)))) or not batches:
        batches.append(_build(spec.id, wanted))
        good += batches[-1].items.height
    items, contexts, rejected = (pl.concat(frames) for frames in zip(*(batch[:3] for batch in batches), strict=True))
    chosen = Items.cast(items[:size].sort("item_id"))
    return BuiltItems(
        items=chosen,
        contexts=Contexts.cast(contexts.sort("item_id")),
        rejected=rejected.sort("item_id", "source_row").with_columns(rows_in_all=pl.lit(len(samples))),
        annotations=annotate_items(spec, samples, chosen["item_id"]),
    )


def annotate_items(spec: DatasetSpec, samples: Iterable[Sample], item_ids: Iterable[str]) -> Mapping[str, pl.DataFrame]:
    """Return the rows of the entry's layers of gold, by layer, about these items of the samples."""
    records = {sample.item_id: sample.record for sample in samples}
    rows: dict[str, list[Mapping[str, Any]]] = {layer: [] for layer in spec.annotation_layers}
    for item_id in item_ids:
        for layer, layer_rows in spec.annotate(records[item_id]).items() if spec.annotate else ():
            rows[layer] += [{"dataset": spec.id, "item_id": item_id, **row} for row in layer_rows]
    return {layer: frame_of_rows(layer_rows, pl.Schema(LAYERS[layer].schema)) for layer, layer_rows in rows.items()}


def _batch_size(spec: DatasetSpec, size: int | None, good: int) -> int | None:
    if spec.adapter is not None:
        # Its items are made already; that two have one name shows only among all of them.
        return None
    return BATCH if size is None else min(BATCH, size - good)


def list_samples(spec: DatasetSpec, records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[Sample]:
    """Return every item that there could be: those an adapter makes, in order, or those of a sample builder.

    RecordError: the adapter cannot make an item of a record; SourceError: the files do not fit together, or a sample builder has
    two items of one name.
    """
    try:
        joined = records if spec.join_records is None else spec.join_records(records)
        samples = () if spec.sample_builder is None else spec.sample_builder(joined, options, seed)
    except UNUSABLE as error:
        raise _unfit(spec, records, f"{type(error).__name__}: {error}") from error
    if spec.adapter is not None:
        return list(_adapted(spec, spec.adapter, joined))
    repeated = [name for name, times in Counter(sample.item_id for sample in samples).items() if times > 1]
    if repeated:
        raise _unfit(spec, records, f"several items named {', '.join(repeated[:3])}")
    return samples


def rank_samples(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Return the samples in the order of the draw: one of each cluster, then a second of those that have one, and so on.

    The rank of a sample rests on the seed, the content of its record and its unit, and on no other sample, so that one that is
    added later displaces at most one from those drawn. Of a cluster's samples with one rank, such as the eleven questions about a
    tweet, the first is drawn; samples of equal records that share no cluster come by their names.
    """
    turns, drawn = Counter[str](), []
    ranked = []
    for sample in samples:
        unit = sample.item_id if sample.unit is None else sample.unit
        content = f"{sample.record.sha256}:{unit}" if unit else sample.record.sha256
        ranked.append((rank(seed, content), rank(seed, sample.item_id), sample))
    for at, _, sample in sorted(ranked, key=lambda entry: entry[:-1]):
        cluster = sample.cluster or sample.item_id
        drawn.append((turns[cluster], at, sample.item_id, sample))
        turns[cluster] += 1
    return [sample for *_, sample in sorted(drawn, key=lambda entry: entry[:-1])]


def rank(seed: int, content: str) -> str:
    """Return the rank of a content in the draw, as a hash; it depends on nothing but the two."""
    return sha256(f"{seed}:{content}".encode()).hexdigest()


def number_repeats(names: Iterable[str]) -> Iterator[str]:
    """Yield each name; the second time it comes with the suffix `-2`, and so on."""
    times: Counter[str] = Counter()
    for name in names:
        times[name] += 1
        yield name if times[name] == 1 else f"{name}-{times[name]}"


def _adapted(spec: DatasetSpec, adapter: Adapter, records: Sequence[Record]) -> Iterator[Sample]:
    row_ids = number_repeats(f"{spec.id}-{record.sha256[:ID_HASH_LENGTH]}" for record in records)
    for record, row_id in zip(records, row_ids, strict=True):
        if record.faults:
            yield Sample(row_id, record, partial(_refuse, record))
            continue
        items = _adapt(spec, adapter, record)
        for number, item in enumerate(items, start=1):
            item_id = item.item_id or (row_id if len(items) == 1 else f"{row_id}.{number}")
            yield Sample(item_id, record, partial(_without_context, item), item.cluster, unit="")


def _refuse(record: Record) -> tuple[Item, None]:
    raise ValueError("; ".join(record.faults.values()))


def _without_context(item: Item) -> tuple[Item, None]:
    return item, None


def _adapt(spec: DatasetSpec, adapter: Adapter, record: Record) -> Sequence[Item]:
    try:
        made = adapter(record)
    except UNUSABLE as error:
        raise _unusable(spec, record, f"{type(error).__name__}: {error}") from error
    items = [made] if isinstance(made, Item) else made
    if not items:
        raise _unusable(spec, record, "no item")
    return items


def _build(dataset: str, samples: Sequence[Sample]) -> BuiltItems:
    items, contexts, refused = [], [], []
    for sample in samples:
        try:
            item, context = sample.build()
        except UNUSABLE as error:
            reason, rules = f"{type(error).__name__}: {error}", list(sample.record.faults) or [NOT_BUILT]
            refused.append({**item_row(dataset, sample, None), "broken_rules": rules, "reason": reason})
            continue
        items.append(item_row(dataset, sample, item))
        if context is not None:
            row, renamed = context.model_dump(), [list(pair) for pair in context.renamed]
            contexts.append({**row, "renamed": renamed, "dataset": dataset, "item_id": sample.item_id})
    made = frame_of_rows(items, pl.Schema(Items))
    made = made.with_columns(broken_rules(Items, made))
    of_contexts = frame_of_rows(contexts, pl.Schema(Contexts))
    if contexts:
        made = made.with_columns(pl.concat_list("broken_rules", broken_rules(Contexts, of_contexts)))
    is_good = made["broken_rules"].list.len() == 0
    rejected = made.filter(~is_good).with_columns(reason=pl.lit(None, dtype=pl.String))
    return BuiltItems(
        items=Items.cast(made.filter(is_good).drop("broken_rules")),
        contexts=Contexts.cast(of_contexts.filter(is_good) if contexts else of_contexts),
        rejected=pl.concat([rejected, frame_of_rows(refused, rejected.schema)]),
    )


def item_row(dataset: str, sample: Sample, item: Item | None) -> dict[str, object]:
    """Return the item of a sample as a row of `Items`; of one that could not be made only where it comes from."""
    return {
        **(item.model_dump() if item else dict.fromkeys(Item.model_fields)),
        "groups": item and item.groups and [{"name": name, "value": value} for name, value in item.groups.items()],
        "dataset": dataset,
        "item_id": sample.item_id,
        "cluster": sample.cluster or (item and item.cluster) or sample.item_id,
        "source_file": sample.record.file,
        "source_row": sample.record.row,
        "source_row_sha256": sample.record.sha256,
    }


@cache
def _listing(schema: type[dy.Schema]) -> type[dy.Schema]:
    """Return the schema with a rule that every row breaks: only of rows that break one does dataframely tell all results."""
    return type(schema.__name__, (schema,), {NEVER: dy.rule()(lambda _: pl.lit(value=False))})


def broken_rules(schema: type[dy.Schema], rows: pl.DataFrame) -> pl.Series:
    """Return the column `broken_rules`: names of the rules of a schema that a row breaks. None of ours is ever undecided."""
    results = _listing(schema).filter(rows).failure.details().drop(NEVER, *rows.columns)
    broken = [pl.when(pl.col(name) == "invalid").then(pl.lit(name)) for name in results.columns]
    return results.select(pl.concat_list(broken).list.drop_nulls().alias("broken_rules")).to_series()


def _unfit(spec: DatasetSpec, records: Sequence[Record], got: str) -> SourceError:
    return SourceError(
        f"no items of {spec.id} can be built from these files",
        where=", ".join(dict.fromkeys(record.file for record in records)),
        expected="files as the catalogue entry pins them",
        got=got,
        next_step="use the pinned files; if they are, correct the catalogue entry",
    )


def _unusable(spec: DatasetSpec, record: Record, got: str) -> RecordError:
    return RecordError(
        f"no item of {spec.id} can be built from this record",
        where=f"{record.file}, row {record.row} (0-based)",
        expected=f"a record as the adapter of {spec.id} reads it",
        got=got,
        next_step="correct the file, or the adapter of the dataset",
    )
