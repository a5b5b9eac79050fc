"""Withhold texts that may not be passed on: which datasets they belong to, and a run without them.

They are taken out of the tables, before anything is computed from these, so no later part of the report can show them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from schemas.lineage import DatasetNotice
from schemas.tables.contexts import Contexts, Retrievals
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.tables.scores import ItemScores
from tasks.analysis.run_tables import ReportData

SchemaT = TypeVar("SchemaT", bound=dy.Schema)
Changes = Mapping[str, Callable[[Any], Any]]
"""Column -> its new value from the old one."""

NO_MESSAGES = "[]"
_LETTERS = re.compile(r"[A-Z]{1,2}(\s*,\s*[A-Z]{1,2})*")
"""A reading that names options by their letters quotes nothing."""


def withheld(licence: str) -> str:
    """Return what stands in place of a text."""
    return f"text withheld: licence {licence}"


def restricted_notices(data: ReportData) -> tuple[DatasetNotice, ...]:
    """Return the datasets asked in this run whose texts may not be passed on."""
    asked = set(data.items["dataset"].unique())
    return tuple(notice for notice in data.manifest.datasets if not notice.redistributable and notice.id in asked)


def redact(data: ReportData) -> ReportData:
    """Return the run without the texts of restricted datasets and without the replies to them, which may quote.

    Ids, places, scores, counts and letters stay. An option becomes a number, the same one wherever its text stands in its
    dataset, so that labels can still be told apart.
    """
    marks = {notice.id: withheld(notice.licence) for notice in restricted_notices(data)}
    if not marks:
        return data
    names = {dataset: _option_names(data.items, dataset) for dataset in marks}
    return replace(
        data,
        items=_change(Items, data.items, {name: _of_items(mark, names[name]) for name, mark in marks.items()}),
        responses=_change(Responses, data.responses, {name: _of_responses(mark) for name, mark in marks.items()}),
        item_scores=_change(
            ItemScores, data.item_scores, {name: _of_item_scores(mark, names[name]) for name, mark in marks.items()}
        ),
        judgements=_change(Judgements, data.judgements, {name: _of_judgements(mark) for name, mark in marks.items()}),
        contexts=_change(Contexts, data.contexts, {name: _of_contexts(mark) for name, mark in marks.items()}),
        retrievals=_change(Retrievals, data.retrievals, {name: _of_retrievals(mark) for name, mark in marks.items()}),
        prompt_chunks=_replace(data.prompt_chunks, {name: {"text": _mark(mark)} for name, mark in marks.items()}),
    )


def _option_names(items: pl.DataFrame, dataset: str) -> dict[str, str]:
    numbers = count(1)
    texts = [text for options in items.filter(pl.col("dataset") == dataset)["options"].to_list() for text in options or ()]
    return {text: f"option text {next(numbers)}, withheld" for text in dict.fromkeys(texts)}


def _of_items(mark: str, names: Mapping[str, str]) -> Changes:
    return {
        "question": lambda _: mark,
        "context": lambda _: None,
        "options": lambda texts: None if texts is None else [names[text] for text in texts],
        "references": lambda texts: None if texts is None else [mark],
        "wrong_references": lambda _: None,
    }


def _of_responses(mark: str) -> Changes:
    return {
        "messages": lambda _: NO_MESSAGES,
        "reply": lambda text: mark if text and text.strip() else text,  # that a reply is empty is a result, not a text
        "reasoning": lambda _: None,
        "token_logprobs": lambda _: None,
        "error": lambda text: None if text is None else mark,
    }


def _of_item_scores(mark: str, names: Mapping[str, str]) -> Changes:
    def labels(texts: list[str] | None) -> list[str] | None:
        return None if texts is None else list(dict.fromkeys(names.get(text, mark) for text in texts))

    def reading(text: str | None) -> str | None:
        return text if text is None or _LETTERS.fullmatch(text) else names.get(text, mark)

    return {"predicted": labels, "gold": labels, "parsed_answer": reading}


def _mark(mark: str) -> Callable[[str | None], str | None]:
    """Return a function that puts the mark in place of a text; where there is none, none is made up."""
    return lambda text: None if text is None else mark


def _of_judgements(mark: str) -> Changes:
    return {"raw_reply": _mark(mark), "error": _mark(mark)}


def _of_contexts(mark: str) -> Changes:
    # `haystack` names a source and a span; the names that were changed are words of the text.
    return {"query": _mark(mark), "needle": _mark(mark), "renamed": lambda _: []}


def _of_retrievals(mark: str) -> Changes:
    return {"query": _mark(mark), "enriched": _mark(mark)}


def _change(schema: type[SchemaT], frame: dy.DataFrame[SchemaT], changes: Mapping[str, Changes]) -> dy.DataFrame[SchemaT]:
    """Return the frame with the columns of these datasets changed."""
    return schema.validate(_replace(frame, changes))


def _replace(frame: pl.DataFrame, changes: Mapping[str, Changes]) -> pl.DataFrame:
    datasets = frame["dataset"].to_list()
    columns = dict.fromkeys(column for change in changes.values() for column in change)
    new = [
        pl.Series(
            column,
            [
                changes[dataset][column](value) if dataset in changes else value
                for dataset, value in zip(datasets, frame[column].to_list(), strict=True)
            ],
            dtype=frame.schema[column],
        )
        for column in columns
    ]
    return frame.with_columns(new)
