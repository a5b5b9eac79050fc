"""Find the rows of a run that fulfil a filter, a page at a time."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
from pydantic import ValidationError

from schemas.documents.rows import FacetCount, RowFilter, RowsPage
from schemas.errors import UsageError, unknown_name
from tasks.rows.entries import gate_datasets, show_rows
from tasks.rows.index import FACETS, PLACE, RowIndex, open_rows
from tasks.rows.search import TextSearch, batches_of
from tasks.runs.past_run import PastRun, reopen

APART = 25
"""Points of 100 between two ratings of a dimension from which on judges disagree."""

ROUNDING = 1e-9
ORDERED_BY = {"score": "score", "length": "reply_characters", "rating": "rating"}
_AFTER = re.compile(r"(?P<value>[0-9]{1,10}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,3})?)?_(?P<row>[0-9]{1,9})")

Conditions = Mapping[str, pl.Expr]


def read_filter(params: Iterable[tuple[str, str]]) -> RowFilter:
    """Return the filter that a form or an address states; a field left empty narrows nothing. UsageError: it cannot be read."""
    stated = {name: value for name, value in params if value}
    try:
        if unknown := sorted(stated.keys() - RowFilter.model_fields.keys()):
            raise unknown_name("field", unknown[0], RowFilter.model_fields, "filter of rows", "leave it out")
        return RowFilter.model_validate(stated)
    except ValidationError as error:
        fault = error.errors()[0]
        raise UsageError(
            "the filter of rows cannot be read",
            where=".".join(map(str, fault["loc"])),
            expected=fault["msg"].removeprefix("Input should be "),
            got=str(fault["input"])[:200],
            next_step="correct the field, or leave it out",
        ) from error


def find_rows(run: PastRun, index: RowIndex, wanted: RowFilter, limit: int = 50) -> RowsPage:
    """Return a page of the rows that fulfil a filter.

    Texts are not searched in datasets whose texts are withheld: their rows do not match.

    Raises:
        UsageError: a name of the filter is none of the run, or a value cannot be read.
        LakeError: a partition is gone or damaged.
    """
    conditions, deep = _conditions(run, index, wanted), list(_deep_conditions(index, wanted))
    rows = _changed_rows(run, index, wanted.changed_since) if wanted.changed_since else index.rows
    is_deep = bool(deep or wanted.changed_since)
    counted = rows.filter(deep).group_by("place", *FACETS).len("rows").collect() if is_deep else index.counts
    cube = counted.join(index.places, on="place")
    matching = cube.filter(*conditions.values())
    found = rows.filter(
        pl.col("place").is_in(matching["place"].unique().implode()),
        *(conditions[name] for name in FACETS if name in conditions),
        *deep,
        *_after(wanted, index),
    )
    if wanted.text:
        page = _search(run, index, found, wanted, limit + 1)
    else:
        page = _in_order(found, wanted).head(limit + 1).collect().join(index.places, on="place", maintain_order="left")
    more = page.height > limit
    page = page.head(limit)
    return RowsPage(
        run=run.name,
        benchmark=run.manifest.benchmark,
        filter=wanted,
        rows=show_rows(run, page) if page.height else (),
        matches=None if wanted.text else int(matching["rows"].sum()),
        total=index.total,
        counts=tuple(_count_facets(cube, conditions)),
        next=_key_of(page.row(-1, named=True), wanted) if more else None,
    )


def _conditions(run: PastRun, index: RowIndex, wanted: RowFilter) -> Conditions:
    """Return what the filter asks of dataset, model, setting, status and language, by its fields."""
    datasets = {
        "ability": {node.id: node.dataset_ids for _, node in run.blueprint.nodes()},
        "task": {task.id: [entry.id for entry in task.datasets] for _, task in run.blueprint.tasks()},
    }
    choices: dict[str, Iterable[str]] = {"dataset": run.blueprint.datasets, **datasets}
    choices |= {name: index.places[name].unique().sort().to_list() for name in ("model", "setting")}
    conditions = {}
    for name, allowed in choices.items():
        if (value := getattr(wanted, name)) is None:
            continue
        if value not in allowed:
            raise unknown_name(name, value, allowed, f"filter of rows, {name}", run.command("explain"))
        conditions[name] = pl.col("dataset").is_in(datasets[name][value]) if name in datasets else pl.col(name) == value
    conditions |= {name: pl.col(name) == value for name in FACETS if (value := getattr(wanted, name)) is not None}
    return conditions | ({"gate": pl.col("dataset").is_in(gate_datasets(run))} if wanted.gate else {})


def _deep_conditions(index: RowIndex, wanted: RowFilter) -> Iterable[pl.Expr]:
    """Yield what the filter asks of single rows."""
    if wanted.group is not None:
        if "=" not in wanted.group:
            raise UsageError(
                "the group is not named with its value",
                where="filter of rows, group",
                expected="NAME=VALUE",
                got=wanted.group,
                next_step="for example subset=NAME",
            )
        yield pl.col("group").is_in([number for number, group in enumerate(index.groups) if wanted.group in group])
    if wanted.shortest is not None:
        yield pl.col("reply_characters") >= wanted.shortest
    if wanted.longest is not None:
        yield pl.col("reply_characters") <= wanted.longest
    if wanted.judges_disagree:
        yield pl.col("judges_apart") >= APART


def _changed_rows(run: PastRun, index: RowIndex, other: str) -> pl.LazyFrame:
    """Return rows that have another status or score in another run, or are not in it."""
    past = reopen(run.lake.root, other)
    if past.manifest.benchmark != run.manifest.benchmark:
        raise UsageError(
            "the other run is of another benchmark",
            where="filter of rows, changed_since",
            expected=f"a run of {run.manifest.benchmark}",
            got=f"{other}, a run of {past.manifest.benchmark}",
            next_step=f"moodflow runs list --benchmark {run.manifest.benchmark}",
        )
    others = open_rows(past)
    numbers = others.places.join(index.places, on=PLACE).select("place", of_this="place_right")
    before = others.rows.join(numbers.lazy(), on="place").select(
        "item_id", "repetition", place="of_this", was=pl.col("status"), had="score"
    )
    same_score = ((pl.col("score") - pl.col("had")).abs() < ROUNDING) | (pl.col("score").is_null() & pl.col("had").is_null())
    joined = index.rows.join(before, on=["place", "item_id", "repetition"], how="left", maintain_order="left")
    return joined.filter(~((pl.col("status") == pl.col("was")) & same_score).fill_null(value=False)).drop("was", "had")


def _count_facets(cube: pl.DataFrame, conditions: Conditions) -> Iterable[FacetCount]:
    """Yield how many rows have each value of a facet, under the other fields of the filter."""
    for facet in (*PLACE, *FACETS):
        others = [condition for name, condition in conditions.items() if name != facet]
        counts = cube.filter(*others).group_by(facet).agg(pl.col("rows").sum()).sort(facet)
        yield from (FacetCount(facet=facet, value=value, rows=rows) for value, rows in counts.iter_rows())


def _after(wanted: RowFilter, index: RowIndex) -> Iterable[pl.Expr]:
    """Yield what rows fulfil that come after the last one of the page before."""
    if wanted.after is None:
        return
    if not (key := _AFTER.fullmatch(wanted.after)) or int(key["row"]) >= index.total:
        raise UsageError(
            "the page to go on from cannot be read",
            where="filter of rows, after",
            expected="`next` of the page before",
            got=wanted.after[:80],
            next_step="leave it out to begin with the first page",
        )
    row = int(key["row"])
    later = pl.col("row") > row
    if wanted.order == "place":
        place = index.places.filter(pl.col("start") <= row)["place"][-1]
        yield pl.col("row") < row if wanted.descending else later
        yield pl.col("place") <= place if wanted.descending else pl.col("place") >= place
    else:
        value = pl.col(ORDERED_BY[wanted.order])
        if key["value"] is None:
            yield value.is_null() & later
        else:
            last = float(key["value"])
            further = value < last if wanted.descending else value > last
            yield further | ((value == last) & later) | value.is_null()


def _key_of(row: Mapping[str, Any], wanted: RowFilter) -> str:
    value = row.get(ORDERED_BY.get(wanted.order, ""))
    return f"{'' if value is None else value}_{row['row']}"


def _in_order(rows: pl.LazyFrame, wanted: RowFilter) -> pl.LazyFrame:
    if wanted.order != "place":
        by = [ORDERED_BY[wanted.order], "row"]
        return rows.sort(by, descending=[wanted.descending, False], nulls_last=True)
    return rows.sort("row", descending=True) if wanted.descending else rows


def _search(run: PastRun, index: RowIndex, found: pl.LazyFrame, wanted: RowFilter, limit: int) -> pl.DataFrame:
    """Return the first of the rows that hold a text. In the order of place it is searched until there are enough."""
    search = TextSearch(run, wanted.text or "")
    hidden = [notice.id for notice in run.manifest.datasets if run.manifest.redacted and not notice.redistributable]
    places = index.places.filter(~pl.col("dataset").is_in(hidden))
    sizes = dict(found.group_by("place").len().collect().iter_rows())
    by_place = wanted.order == "place"
    order = sorted(sizes.keys() & set(places["place"]), reverse=by_place and wanted.descending)
    page = found.head(0).collect().join(places, on="place")
    for batch in batches_of(sizes, order):
        rows = found.filter(pl.col("place").is_in(batch)).collect().join(places, on="place", maintain_order="left")
        page = _in_order(pl.concat([page, search.keep_matching(rows)]).lazy(), wanted).head(limit).collect()
        if by_place and page.height == limit:
            break
    return page
