"""Find the rows of a run that fulfil a filter, a page at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from pydantic import ValidationError

from schemas.documents.rows import FacetCount, RowEntry, RowFilter, RowsPage
from schemas.errors import UsageError, unknown_name
from tasks.rows.index import FACETS, PLACE, ROW, RowIndex, Take, open_rows
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import ITEM, SAID
from tasks.text.number_format import shorten

APART = 25
"""Points of 100 between two ratings of a dimension from which on judges disagree."""

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and of those that they are taken from."""

ORDERED_BY = {"place": "row", "score": "score", "length": "reply_characters", "rating": "rating"}
WHERE = "filter of rows"


def read_filter(params: Iterable[tuple[str, str]]) -> RowFilter:
    """Return the filter that a form or an address states; a field left empty narrows nothing. UsageError: it cannot be read."""
    stated = {name: value for name, value in params if value}
    try:
        return RowFilter.model_validate(stated)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        expected = "a whole number" if fault["type"].startswith("int_") else fault["msg"].removeprefix("Input should be ")
        raise _refusal(name, "cannot be read", expected, stated[name]) from error


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
    rows = rows.filter(*conditions.values(), *of_rows)
    if wanted.after:
        if int(wanted.after) >= total:
            raise _refusal("after", "is no row of the run", "what the link to the next page states", wanted.after)
        rows = _later(index, rows, wanted, wanted.after)
    if wanted.text:
        readable = matching.filter(~pl.col("dataset").is_in([*run.manifest.withheld]))
        datasets = readable["dataset"].unique().sort(descending=wanted.descending)
        rows = _search_texts(index, rows, datasets, wanted.text, limit + 1 if wanted.order == "place" else total + 1).lazy()
    if wanted.order != "place" or wanted.descending:
        rows = rows.sort(ORDERED_BY[wanted.order], "row", descending=[wanted.descending, False], nulls_last=True)
    page = rows.head(limit + 1).collect()
    shown = page.head(limit)
    return RowsPage(
        rows=_show_rows(run, index, shown) if shown.height else (),
        matches=None if wanted.text else int(matching["rows"].sum()),
        total=total,
        counts=tuple(_count_facets(counts, conditions)),
        next=str(shown["row"].last()) if shown.height < page.height and limit else None,
    )


def _conditions(run: PastRun, index: RowIndex, wanted: RowFilter) -> Mapping[str, pl.Expr]:
    """Return what the filter asks of FACETS, by its fields."""
    abilities, gate = {node.id: node.dataset_ids for _, node in run.blueprint.nodes()}, run.blueprint.gate
    choices: dict[str, Mapping[Any, list[str]]] = {
        **{name: {value: [value] for value in index.counts[name].unique().sort()} for name in ("model", "setting")},
        "dataset": {name: [name] for name in run.blueprint.datasets},
        "ability": abilities,
        "task": {task.id: [entry.id for entry in task.datasets] for _, task in run.blueprint.tasks()},
        "gate": {True: abilities[gate.ability] if gate else []},
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
    if wanted.group and "=" not in wanted.group:
        raise _refusal("group", "names no value", "NAME=VALUE", wanted.group)
    conditions = {
        "group": pl.col("groups").list.contains(wanted.group),
        "shortest": pl.col("reply_characters") >= (wanted.shortest or 0),
        "longest": pl.col("reply_characters") <= (wanted.longest or 0),
        "judges_disagree": pl.col("judges_apart") >= APART,
        "tainted": pl.col("faults") > 0,
    }
    return [conditions[field] for field in wanted.model_dump(exclude_defaults=True) if field in conditions]


def _changed_rows(run: PastRun, index: RowIndex, other: str) -> pl.LazyFrame:
    """Return rows that have another status or score in another run, or are not in it."""
    past = reopen(run.lake.root, other)
    if past.manifest.benchmark != run.manifest.benchmark:
        got = f"{other}, a run of {past.manifest.benchmark}"
        raise _refusal("changed_since", "is of another benchmark", f"a run of {run.manifest.benchmark}", got)
    same: list[str | pl.Expr] = [*ROW, "status", pl.col("score").round(9)]  # further digits are rounding
    return index.rows.join(open_rows(past).rows, on=same, how="anti", nulls_equal=True, maintain_order="left")


def _count_facets(counts: pl.DataFrame, conditions: Mapping[str, pl.Expr]) -> Iterator[FacetCount]:
    """Yield how many rows have each value of a facet, under the other fields of the filter."""
    for facet in FACETS:
        others = [condition for name, condition in conditions.items() if name != facet]
        sums = counts.filter(*others).group_by(facet).agg(pl.col("rows").sum()).sort(facet)
        yield from (FacetCount(facet=facet, value=value, rows=rows) for value, rows in sums.iter_rows())


def _later(index: RowIndex, rows: pl.LazyFrame, wanted: RowFilter, after: str) -> pl.LazyFrame:
    """Return rows that come after the last one of the page before."""
    name = ORDERED_BY[wanted.order]
    last = index.rows.slice(int(after), 1).select(name).collect()
    value, edge, is_later = pl.col(name), last.to_series().first(), pl.col("row") > int(after)
    if edge is None:
        return rows.filter(value.is_null(), is_later)
    is_further = value < edge if wanted.descending else value > edge
    return rows.filter(is_further | ((value == edge) & is_later) | value.is_null())


def _search_texts(index: RowIndex, rows: pl.LazyFrame, datasets: Iterable[str], text: str, enough: int) -> pl.DataFrame:
    """Return those rows of datasets whose item or answer holds a text, in any case; of no further dataset once there are enough.

    Items are searched once for all models.
    """
    # What the folding of single characters leaves out: ss is a capital ß, too, and the small letter of İ is i with a dot.
    literal = pl.escape_regex(text.lower().replace("ß", "ss").replace("i̇", "i"))
    pattern = "(?i)" + literal.replace("ss", "(?:ss|ß)").replace("i", "(?:i\u0307?|İ)")
    options = pl.col("options").list.join("\n")
    in_item = pl.any_horizontal(pl.col("question", "context").str.contains(pattern), options.str.contains(pattern))
    matches = rows.head(0).collect()
    for dataset in datasets:
        own = rows.filter(pl.col("dataset") == dataset).collect()
        places = own.select(PLACE).unique().rows()
        asked = index.read("items", places, lambda items: items.filter(in_item).select(ITEM))
        answered = index.read("answers", places, lambda answers: answers.filter(SAID.str.contains(pattern)).select(ROW))
        numbers = pl.concat(own.join(keys, on=keys.columns, how="semi")["row"] for keys in (asked, answered))
        matches = pl.concat([matches, own.filter(pl.col("row").is_in(numbers.implode()))])
        if matches.height >= enough:
            break
    return matches


def _show_rows(run: PastRun, index: RowIndex, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index as entries of a list, with texts that are read for them alone."""
    data = _read_texts(run, index, rows)
    scores = data.item_scores.join(data.items, on=ITEM).sort("part", "method", "metric")
    texts = {"read_as": pl.col("parsed_answer"), "gold": RIGHT, "question": pl.col("question")}
    first = scores.group_by(ROW, maintain_order=True).agg(text.drop_nulls().first().alias(name) for name, text in texts.items())
    said = data.answers.sort("part").group_by(ROW).agg(reply=pl.when(SAID.count() > 0).then(SAID.drop_nulls().str.join("\n")))
    shown = rows.join(first, on=ROW, how="left").join(said, on=ROW, how="left", maintain_order="left")
    beginning = pl.col(*texts, "reply").str.head(BEGINNING).map_elements(lambda text: shorten(text, LONGEST), pl.String)
    return tuple(
        from_row(RowEntry, row, withheld=run.manifest.withheld.get(row["dataset"]))
        for row in shown.with_columns(beginning).iter_rows(named=True)
    )


def _read_texts(run: PastRun, index: RowIndex, rows: pl.DataFrame) -> ReportData:
    """Read what entries are made of; where texts are withheld all items of a dataset, since its options are numbered."""
    ids = rows["item_id"].unique()
    # Between two ids groups of a file are left out; a list of ids does not do that.
    is_shown = pl.col("item_id").is_between(pl.lit(ids.min()), pl.lit(ids.max())) & pl.col("item_id").is_in(ids.implode())
    is_read = is_shown | pl.col("dataset").is_in([*run.manifest.withheld])
    takes: dict[str, Take] = dict.fromkeys(("answers", "item_scores"), lambda asked: asked.filter(is_shown))
    takes["items"] = lambda items: items.with_columns(context=pl.lit(None, pl.String)).filter(is_read)  # it may be long
    frames: dict[str, Any] = {layer: index.read(layer, rows.select(PLACE).unique().rows(), take) for layer, take in takes.items()}
    data = ReportData(run.manifest, run.blueprint, **frames)
    return redact(data) if run.manifest.redacted else data
