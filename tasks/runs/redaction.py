"""Withhold texts that may not be passed on: which datasets they belong to, and a run without them.

They are taken out of the tables, before anything is computed from these, so no later part of the report can show them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import polars as pl

from schemas.lineage import DatasetNotice
from schemas.tables.layers import LAYERS
from tasks.runs.run_tables import ReportData

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
    changes = {
        notice.id: _changes(withheld(notice.licence), _option_names(data.items, notice.id)) for notice in restricted_notices(data)
    }
    if not changes:
        return data
    changed: dict[str, Any] = {}
    for layer in next(iter(changes.values())):
        frame = _replace(getattr(data, layer), {dataset: layers[layer] for dataset, layers in changes.items()})
        changed[layer] = LAYERS[layer].schema.validate(frame) if layer in LAYERS else frame
    return replace(data, **changed)


def _option_names(items: pl.DataFrame, dataset: str) -> dict[str, str]:
    numbers = count(1)
    texts = [text for options in items.filter(pl.col("dataset") == dataset)["options"].to_list() for text in options or ()]
    return {text: f"option text {next(numbers)}, withheld" for text in dict.fromkeys(texts)}


def _changes(mark: str, names: Mapping[str, str]) -> dict[str, Changes]:
    """Return what becomes of the texts of a dataset, by layer; where there is none, none is made up."""

    def hide(text: str | None) -> str | None:
        return None if text is None else mark

    def reply(text: str | None) -> str | None:
        return mark if text and text.strip() else text  # that a reply is empty is a result, not a text

    def labels(texts: list[str] | None) -> list[str] | None:
        return None if texts is None else list(dict.fromkeys(names.get(text, mark) for text in texts))

    def reading(text: str | None) -> str | None:
        return text if text is None or _LETTERS.fullmatch(text) else names.get(text, mark)

    return {
        "items": {
            "question": hide,
            "context": lambda _: None,
            "options": lambda texts: None if texts is None else [names[text] for text in texts],
            "references": lambda texts: None if texts is None else [mark],
            "wrong_references": lambda _: None,
        },
        "responses": {
            "messages": lambda _: NO_MESSAGES,
            "reply": reply,
            "reasoning": lambda _: None,
            "token_logprobs": lambda _: None,
            "error": hide,
        },
        "answers": {
            "text": reply,
            "turns": lambda turns: turns and [{**turn, "text": reply(turn["text"])} for turn in turns],
            "token_logprobs": lambda _: None,
        },
        "item_scores": {"predicted": labels, "gold": labels, "parsed_answer": reading},
        "judgements": {"raw_reply": hide, "rationale": hide, "error": hide},
        # `haystack` names a source and a span; the names that were changed are words of the text.
        "contexts": {"query": hide, "needle": hide, "renamed": lambda _: []},
        "retrievals": {"query": hide, "enriched": hide},
        "prompt_chunks": {"text": hide},
    }


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
