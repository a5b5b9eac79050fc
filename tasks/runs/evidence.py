"""Read the rows behind a dataset's score, without texts that may not be passed on, and write what an answer earned as JSON."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import polars as pl

from schemas.documents.answered_item import AnsweredItem, AnswerRating, AnswerScore, PartAnswer
from schemas.lineage import DatasetNotice, PartitionRef
from schemas.tables.items import Chunks
from schemas.tables.layers import LAYERS
from schemas.usage import TESTED
from tasks.runs.answers import ScoredItem, explain_answer, scored_items, shown_options
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import PROMPT_CHUNKS, ReportData, Row, System, from_row, join_prompt_chunks
from tasks.solvers.answers import SAID

Key = tuple[str, int]
"""Item and repetition."""

OF_ITEMS = ("items", "responses", "answers", "judgements", "item_scores", "contexts")
"""Layers that say what was asked, answered and scored."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tables of a run, reduced to one dataset of one model and setting, and the partitions they come from.

    `withheld` is the licence if texts are left out because the run is redacted.
    """

    data: ReportData
    refs: tuple[PartitionRef, ...]
    withheld: str | None = None

    def about(self, frame: pl.DataFrame, key: Key) -> pl.DataFrame:
        """Return the rows of a frame about one item and repetition."""
        return frame.filter(item_id=key[0], repetition=key[1])

    def item(self, name: str) -> Row:
        """Return the row of an item."""
        return self.data.items.row(by_predicate=pl.col("item_id") == name, named=True)

    def turns(self, key: Key) -> list[Row]:
        """Return calls about one item, in order."""
        return self.about(self.data.responses, key).sort("turn").to_dicts()

    @cached_property
    def answers(self) -> dict[Key, list[ScoredItem]]:
        """Answers by item and repetition, each with its score, under every metric."""
        answers: dict[Key, list[ScoredItem]] = {}
        for answer in scored_items(self.data, self.data.item_scores):
            answers.setdefault((answer.score["item_id"], answer.score["repetition"]), []).append(answer)
        return dict(sorted(answers.items()))

    @cached_property
    def parts(self) -> dict[Key, list[Row]]:
        """Rows of `answers` of items that have several, by item and repetition; `text` is what each says as one text."""
        parts = self.data.answers.filter(pl.col("part") != "").with_columns(text=SAID)
        return parts.rows_by_key(["item_id", "repetition"], named=True, include_key=True)


def read_evidence(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows; texts that may not be passed on are taken out if the run is redacted."""
    return redacted(run, read_unredacted(run, dataset, system))


def redacted(run: PastRun, evidence: Evidence) -> Evidence:
    """Return rows that may be shown."""
    if not run.manifest.redacted:
        return evidence
    licence = next((notice.licence for notice in restricted_notices(evidence.data)), None)
    return Evidence(redact(evidence.data), evidence.refs, licence)


def read_unredacted(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows as they are stored: to compute from, not to show."""
    return read_tables(run, OF_ITEMS, {"dataset": dataset, **system._asdict()})


def read_tables(run: PastRun, layers: Iterable[str], keys: Mapping[str, str]) -> Evidence:
    """Read layers of a run as they are stored, and the texts of the chunks that went into prompts.

    Where the contexts of a dataset were cut in several ways, rows of `retrievals` do not say which one they number; the texts of
    such a dataset are left out. `layers`: besides `retrievals`; `items` and `responses` among them. `keys`: dataset, model and
    setting of what is read; empty = all of the run.
    """
    of_all = {name: value for name, value in keys.items() if name == "dataset"}
    refs: list[PartitionRef] = []

    def read(layer: str) -> pl.DataFrame:
        chosen = of_all if LAYERS[layer].written_by == "build" else keys
        refs.extend(run.partitions(layer, **chosen))
        return run.read(layer, **chosen)

    tables: dict[str, Any] = {"retrievals": read("retrievals")}
    # Chunks of what a model wrote belong to that model.
    written = [ref for ref in run.partitions("chunks", **keys) if "model" in dict(ref.place)]
    cuts = [ref for ref in run.partitions("chunks", **of_all) if "model" not in dict(ref.place)]
    times = Counter(ref.key("dataset") for ref in cuts)
    chunks = written + [ref for ref in cuts if times[ref.key("dataset")] == 1]
    refs += chunks
    texts = [join_prompt_chunks(run.lake.read(ref, Chunks), tables["retrievals"], dict(ref.place)) for ref in chunks]
    tables |= {layer: read(layer) for layer in layers if layer not in tables}
    prompt_chunks = pl.concat([pl.DataFrame(schema=PROMPT_CHUNKS), *texts])
    return Evidence(ReportData(run.manifest, run.blueprint, prompt_chunks=prompt_chunks, **tables), tuple(refs))


SHORT_CONTEXT = 2_000
"""Characters of a context that a row has; longer ones would be most of the document."""

NO_VALUE = {
    "call_failed": "The call failed, so the item has no score: it is missing and not 0.",
    "judge_failed": "No rating came that can be read, so the item has no score: it is missing and not 0.",
    "not_counted": "The metric does not count this item.",
}


def answered_item(run: PastRun, evidence: Evidence, key: Key, options: Sequence[str]) -> AnsweredItem:
    """Return one item as it was asked once; `options` name its system in commands."""
    answers = evidence.answers[key]
    item, answer, call = answers[0].item, answers[0].answer or {}, answers[0].call or {}
    values = [scored.score["value"] for scored in answers if scored.score["value"] is not None]
    points = [scored.points for scored in answers if scored.points is not None]
    turns = next((each.answer["turns"] for each in answers if each.answer and each.answer.get("turns")), None)
    return from_row(
        AnsweredItem,
        item,
        **_given(answer, answers) | {"turns": turns},
        **{name: call.get(name) for name in ("error", "http_status", "left_out_characters")},
        repetition=key[1],
        value=fmean(values) if values else None,
        points=fmean(points) if points else None,
        context=item["context"] if len(item["context"] or "") <= SHORT_CONTEXT else None,
        context_characters=len(item["context"] or ""),
        options=tuple(shown_options(answers[0])) or None,
        answers=tuple(
            PartAnswer(part=part["part"], **_given(part, [scored for scored in answers if scored.score["part"] == part["part"]]))
            for part in evidence.parts.get(key, ())
        ),
        next=run.command("explain", "--dataset", str(item["dataset"]), "--item", key[0], *options),
    )


def _given(answer: Row, answers: Sequence[ScoredItem]) -> Row:
    """Return the fields of a GivenAnswer."""
    ratings = {scored.score["part"]: scored.ratings for scored in answers}
    return {
        "call": answer.get("status"),
        "reply": answer.get("text"),
        **{name: answer.get(name) for name in ("turns", "finish_reason", "remark", "failure", "failed_role")},
        "scores": tuple(from_row(AnswerScore, scored.score, points=scored.points, why=_why(scored)) for scored in answers),
        "ratings": tuple(from_row(AnswerRating, rating) for of_part in ratings.values() for rating in of_part),
    }


def _why(scored: ScoredItem) -> str:
    """Return why the item earned what it did, in a sentence."""
    status = str(scored.score["status"])
    if status not in NO_VALUE:
        return explain_answer(scored)
    answer = scored.answer or {}
    failure, role = answer.get("failure"), answer.get("failed_role")
    whose = f", of the {role}" if role and role != TESTED else ""
    return f"{NO_VALUE[status]} What went wrong: {failure}{whose}." if failure else NO_VALUE[status]


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
    datasets = set(data.items["dataset"].unique())
    return tuple(notice for notice in data.manifest.datasets if not notice.redistributable and notice.id in datasets)


def redact(data: ReportData) -> ReportData:
    """Return the run without the texts of restricted datasets and without the replies to them, which may quote.

    They are taken out before anything is computed from the tables, so no part of a report can show them.

    Ids, places, scores, counts and letters stay. An option becomes a number, the same one wherever its text stands in its
    dataset, so that labels can still be told apart.
    """
    changes = dict[str, dict[str, Changes]]()
    for notice in restricted_notices(data):
        options = data.items.filter(dataset=notice.id)["options"].explode().drop_nulls().unique(maintain_order=True)
        names = {text: f"option text {number}, withheld" for number, text in enumerate(options, start=1)}
        changes[notice.id] = _changes(withheld(notice.licence), names)
    if not changes:
        return data
    changed: dict[str, Any] = {}
    for layer in next(iter(changes.values())):
        frame = _replace(getattr(data, layer), {dataset: layers[layer] for dataset, layers in changes.items()})
        changed[layer] = LAYERS[layer].schema.validate(frame) if layer in LAYERS else frame
    return replace(data, **changed)


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
