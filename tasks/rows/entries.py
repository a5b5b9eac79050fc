"""Show rows of a run as a list has them: with the beginnings of their texts, which are read for these rows alone."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from schemas.documents.rows import RowEntry
from schemas.lineage import PartitionRef
from schemas.tables.layers import LAYERS
from tasks.rows.index import PLACE, ROW, scan_layer
from tasks.runs.evidence import redact, restricted_notices
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import SAID
from tasks.text.number_format import shorten

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and those they are taken from."""

CHECKED = 2_000
"""Rows of partitions up to which all of them are read, so that they can be checked by their hashes."""


def show_rows(run: PastRun, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index, with their names, as entries of a list. LakeError: a partition is gone or damaged."""
    data = _read_texts(run, rows)
    restricted = {notice.id: notice.licence for notice in restricted_notices(data)} if run.manifest.redacted else {}
    data = redact(data) if restricted else data
    texts = rows.select(ROW)
    scores = data.item_scores.join(data.items, on=["dataset", "item_id"]).sort("part", "method", "metric")
    firsts = {"read_as": pl.col("parsed_answer"), "gold": RIGHT, "question": pl.col("question")}
    said = data.answers.sort("part").group_by(ROW).agg(reply=SAID.str.join("\n", ignore_nulls=True), n=SAID.count())
    for frame in (
        scores.group_by(ROW, maintain_order=True).agg(text.drop_nulls().first().alias(name) for name, text in firsts.items()),
        said.select(*ROW, reply=pl.when(pl.col("n") > 0).then("reply")),
    ):
        texts = texts.join(frame, on=ROW, how="left", maintain_order="left")
    beginnings = texts.with_columns(pl.col(*firsts, "reply").str.slice(0, BEGINNING + 1))
    gate = gate_datasets(run)
    return tuple(
        from_row(
            RowEntry,
            row,
            **{name: _shorten(text[name]) for name in (*firsts, "reply")},
            gate=row["dataset"] in gate,
            withheld=restricted.get(row["dataset"]),
        )
        for row, text in zip(rows.to_dicts(), beginnings.to_dicts(), strict=True)
    )


def gate_datasets(run: PastRun) -> frozenset[str]:
    """Return the datasets of the ability that can veto."""
    gate = run.blueprint.gate
    nodes = (node for _, node in run.blueprint.nodes() if gate and node.id == gate.ability)
    return frozenset(name for node in nodes for name in node.dataset_ids)


def _read_texts(run: PastRun, rows: pl.DataFrame) -> ReportData:
    """Read what the entries are made of; of a dataset whose texts are withheld all items, since its options are numbered."""
    places, items = set(rows.select(PLACE).rows()), rows["item_id"].unique().implode()
    datasets = {dataset for dataset, *_ in places}
    refs: dict[str, list[PartitionRef]] = {"items": [], "answers": [], "item_scores": []}
    for ref in run.manifest.partitions:
        if ref.layer in refs and (place := dict(ref.place))["dataset"] in datasets:
            is_read = ref.layer == "items" or tuple(place[name] for name in PLACE) in places
            refs[ref.layer] += [ref] if is_read else []
    whole = {notice.id for notice in run.manifest.datasets if run.manifest.redacted and not notice.redistributable}
    frames: dict[str, Any] = {}
    for layer, of_layer in refs.items():
        frame = _read(run, layer, of_layer)
        is_wanted = pl.col("item_id").is_in(items)
        frames[layer] = frame.filter(is_wanted | pl.col("dataset").is_in(whole) if layer == "items" else is_wanted).collect()
    return ReportData(run.manifest, run.blueprint, **frames)


def _read(run: PastRun, layer: str, refs: Sequence[PartitionRef]) -> pl.LazyFrame:
    """Read partitions, the small ones whole and checked, of large ones what is needed; never a context, which may be long."""
    schema = LAYERS[layer].schema
    if sum(ref.rows for ref in refs) <= CHECKED:
        return run.lake.read_all(refs, schema).lazy()
    columns = [name for name in schema.column_names() if name != "context"]
    frame = scan_layer(run, layer, refs, columns)
    return frame.with_columns(context=pl.lit(None, pl.String)) if layer == "items" else frame


def _shorten(text: str | None) -> str | None:
    if text is None or len(text) <= BEGINNING:
        return text and shorten(text, LONGEST)
    return shorten(f"{text.rstrip()}…", LONGEST)
