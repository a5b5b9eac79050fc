"""Read the rows behind a dataset's score, and write what a model answered to one item, and what that earned, as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

import polars as pl

from schemas.documents.answered_item import AnsweredItem, AnswerRating, AnswerScore, PartAnswer
from schemas.lineage import PartitionRef
from schemas.tables.items import Chunks
from schemas.tables.layers import LAYERS
from schemas.usage import TESTED
from tasks.runs.answers import ScoredItem, explain_answer, scored_items, shown_options
from tasks.runs.past_run import PastRun
from tasks.runs.redaction import redact, restricted_notices
from tasks.runs.run_tables import PROMPT_CHUNKS, ReportData, Row, System, from_row, join_prompt_chunks
from tasks.solvers.answers import SAID

Key = tuple[str, int]
"""Item and repetition."""

SHOWN = {name: name for name in ("items", "responses", "answers", "judgements", "item_scores", "contexts")}
"""Layers of items, by how ReportData names them."""


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
    return read_tables(run, SHOWN, {"dataset": dataset, **system._asdict()})


def read_tables(run: PastRun, layers: Mapping[str, str], asked: Mapping[str, str]) -> Evidence:
    """Read layers of a run as they are stored, and the texts of the chunks that went into prompts.

    Where the contexts of a dataset were cut in several ways, rows of `retrievals` do not say which one they number; the texts of
    such a dataset are left out.

    Args:
        run: what is read.
        layers: name of each in ReportData, by its own; `items`, `responses` and `retrievals` among them.
        asked: dataset, model and setting of what is read; empty = all of the run.
    """
    of_all = {name: value for name, value in asked.items() if name == "dataset"}
    refs: list[PartitionRef] = []

    def read(layer: str) -> pl.DataFrame:
        place = of_all if LAYERS[layer].written_by == "build" else asked
        refs.extend(run.partitions(layer, **place))
        return run.read(layer, **place)

    tables: dict[str, Any] = {"retrievals": read("retrievals")}
    # Chunks of what a model wrote belong to that model.
    written = [ref for ref in run.partitions("chunks", **asked) if "model" in dict(ref.place)]
    cuts = [ref for ref in run.partitions("chunks", **of_all) if "model" not in dict(ref.place)]
    times = Counter(ref.key("dataset") for ref in cuts)
    chunks = written + [ref for ref in cuts if times[ref.key("dataset")] == 1]
    refs += chunks
    texts = [join_prompt_chunks(run.lake.read(ref, Chunks), tables["retrievals"], dict(ref.place)) for ref in chunks]
    tables |= {name: read(layer) for layer, name in layers.items()}
    prompt_chunks = pl.concat([pl.DataFrame(schema=PROMPT_CHUNKS), *texts])
    return Evidence(ReportData(run.manifest, run.blueprint, prompt_chunks=prompt_chunks, **tables), tuple(refs))


NO_VALUE = {
    "call_failed": "The call failed, so the item has no score: it is missing and not 0.",
    "judge_failed": "The judge gave no rating that can be read, so the item has no score: it is missing and not 0.",
    "not_counted": "The metric does not count this item.",
}


def answered_item(run: PastRun, evidence: Evidence, key: Key, options: Sequence[str]) -> AnsweredItem:
    """Return one item as it was asked once; `options` name its system in commands."""
    answers = evidence.answers[key]
    item, answer, call = answers[0].item, answers[0].answer or {}, answers[0].call or {}
    values = [scored.score["value"] for scored in answers if scored.score["value"] is not None]
    turns = next((each.answer["turns"] for each in answers if each.answer and each.answer.get("turns")), None)
    return from_row(
        AnsweredItem,
        item,
        **_given(answer, answers) | {"turns": turns},
        **{name: call.get(name) for name in ("error", "http_status", "left_out_characters")},
        repetition=key[1],
        value=fmean(values) if values else None,
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
        "scores": tuple(from_row(AnswerScore, scored.score, why=_why(scored)) for scored in answers),
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
