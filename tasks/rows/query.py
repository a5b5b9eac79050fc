"""Find the rows of a run that fulfil a filter, a page at a time."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from pydantic import ValidationError

from schemas.documents.rows import FacetCount, RowFilter, RowsPage
from schemas.errors import UsageError, unknown_name
from tasks.rows.index import FACETS, PLACE, ROW, RowIndex, open_rows
from tasks.rows.texts import gate_datasets, search_texts, show_rows, withheld_datasets
from tasks.runs.past_run import PastRun, reopen

APART = 25
"""Points of 100 between two ratings of a dimension from which on judges disagree."""

ORDERED_BY = {"place": "row", "score": "score", "length": "reply_characters", "rating": "rating"}
AFTER = re.compile(r"(?P<value>[0-9]{1,10}(?:\.[0-9]{1,20})?(?:e-[0-9]{1,3})?)?_(?P<row>[0-9]{1,9})")
WHERE = "filter of rows"


def read_filter(params: Iterable[tuple[str, str]]) -> RowFilter:
    """Return the filter that a form or an address states; a field left empty narrows nothing. UsageError: it cannot be read."""
    stated = {name: value for name, value in params if value}
    try:
        return RowFilter.model_validate(stated)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        raise _refusal(name, "cannot be read", fault["msg"].removeprefix("Input should be "), stated[name]) from error


def _refusal(name: str, what: str, expected: str, got: str) -> UsageError:
    return UsageError(f"{name} {what}", where=WHERE, expected=expected, got=got[:80], next_step="correct it, or leave it out")


def find_rows(run: PastRun, index: RowIndex, wanted: RowFilter, limit: int = 50) -> RowsPage:
    """Return a page of rows; UsageError: a name is none of the run's, or a value cannot be read."""
    conditions, of_rows = _conditions(run, index, wanted), _row_conditions(wanted)
    rows = _changed_rows(run, index, wanted.changed_since) if wanted.changed_since else index.rows
    counts, total = index.counts, int(index.counts["rows"].sum())
    if of_rows or wanted.changed_since:
        counts = rows.filter(*of_rows).group_by(FACETS).len("rows").collect(engine="streaming")
    matching = counts.filter(*conditions.values())
    found = _later(rows.filter(*conditions.values(), *of_rows), wanted)
    if wanted.text:
        readable = matching.filter(~pl.col("dataset").is_in([*withheld_datasets(run)]))
        datasets = readable["dataset"].unique().sort(descending=wanted.descending)
        enough = limit + 1 if wanted.order == "place" else total + 1
        found = search_texts(index.files, found, datasets, wanted.text, enough).lazy()
    page = _in_order(found, wanted).head(limit + 1).collect()
    shown = page.head(limit)
    return RowsPage(
        run=run.name,
        benchmark=run.manifest.benchmark,
        filter=wanted,
        rows=show_rows(run, index.files, shown) if shown.height else (),
        matches=None if wanted.text else int(matching["rows"].sum()),
        total=total,
        counts=tuple(_count_facets(counts, conditions)),
        next=_key_of(shown.row(-1, named=True), wanted) if shown.height < page.height and limit else None,
    )


def _conditions(run: PastRun, index: RowIndex, wanted: RowFilter) -> Mapping[str, pl.Expr]:
    """Return what the filter asks of FACETS, by its fields."""
    systems = {name: {value: [value] for value in index.counts[name].unique().sort()} for name in ("model", "setting")}
    choices: dict[str, Mapping[Any, list[str]]] = {
        **systems,
        "dataset": {name: [name] for name in run.blueprint.datasets},
        "ability": {node.id: node.dataset_ids for _, node in run.blueprint.nodes()},
        "task": {task.id: [entry.id for entry in task.datasets] for _, task in run.blueprint.tasks()},
        "gate": {True: gate_datasets(run)},
    }
    conditions = {name: pl.col(name) == value for name in ("status", "language") if (value := getattr(wanted, name))}
    for field, allowed in choices.items():
        value = getattr(wanted, field)
        if value and value not in allowed:
            raise unknown_name(field, value, allowed, WHERE, run.command("explain"))
        if value:
            conditions[field] = pl.col(field if field in PLACE else "dataset").is_in(allowed[value])
    return conditions


def _row_conditions(wanted: RowFilter) -> list[pl.Expr]:
    """Return what the filter asks of single rows."""
    if wanted.group and "=" not in wanted.group:
        raise _refusal("group", "names no value", "NAME=VALUE", wanted.group)
    conditions = {
        "group": pl.col("groups").list.contains(wanted.group),
        "shortest": pl.col("reply_characters") >= (wanted.shortest or 0),
        "longest": pl.col("reply_characters") <= (wanted.longest or 0),
        "judges_disagree": pl.col("judges_apart") >= APART,
    }
    return [conditions[field] for field in wanted.model_dump(exclude_defaults=True) if field in conditions]


def _changed_rows(run: PastRun, index: RowIndex, other: str) -> pl.LazyFrame:
    """Return rows that have another status or score in another run, or are not in it."""
    past = reopen(run.lake.root, other)
    if past.manifest.benchmark != run.manifest.benchmark:
        got = f"{other}, a run of {past.manifest.benchmark}"
        raise _refusal("changed_since", "is of another benchmark", f"a run of {run.manifest.benchmark}", got)
    before = open_rows(past).rows.select(*ROW, was="status", had="score")
    same_score = pl.col("score").round(9).eq_missing(pl.col("had").round(9))  # further digits are rounding
    rows = index.rows.join(before, on=ROW, how="left", maintain_order="left")
    return rows.filter(~(pl.col("status").eq_missing(pl.col("was")) & same_score)).drop("was", "had")


def _count_facets(counts: pl.DataFrame, conditions: Mapping[str, pl.Expr]) -> Iterator[FacetCount]:
    """Yield how many rows have each value of a facet, under the other fields of the filter."""
    for facet in FACETS:
        others = [condition for name, condition in conditions.items() if name != facet]
        sums = counts.filter(*others).group_by(facet).agg(pl.col("rows").sum()).sort(facet)
        yield from (FacetCount(facet=facet, value=value, rows=rows) for value, rows in sums.iter_rows())


def _later(rows: pl.LazyFrame, wanted: RowFilter) -> pl.LazyFrame:
    """Return rows that come after the page before."""
    if wanted.after is None:
        return rows
    if not (key := AFTER.fullmatch(wanted.after)):
        raise _refusal("after", "is no key of a page", "`next` of the page before", wanted.after)
    value, is_later = pl.col(ORDERED_BY[wanted.order]), pl.col("row") > int(key["row"])
    if key["value"] is None:
        return rows.filter(value.is_null(), is_later)
    last = float(key["value"])
    is_further = value < last if wanted.descending else value > last
    return rows.filter(is_further | ((value == last) & is_later) | value.is_null())


def _in_order(rows: pl.LazyFrame, wanted: RowFilter) -> pl.LazyFrame:
    if wanted.order == "place" and not wanted.descending:
        return rows  # as they are
    return rows.sort(ORDERED_BY[wanted.order], "row", descending=[wanted.descending, False], nulls_last=True)


def _key_of(row: Mapping[str, Any], wanted: RowFilter) -> str:
    value = row[ORDERED_BY[wanted.order]]
    return f"{'' if value is None else value}_{row['row']}"
