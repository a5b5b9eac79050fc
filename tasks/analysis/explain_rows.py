"""The rows behind a dataset's score as JSON: how each metric follows from its items, and each item with reply and gold."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import polars as pl

from schemas.letters import option_letters
from tasks.analysis.answers import ScoredItem
from tasks.analysis.breakdown import break_down
from tasks.analysis.evidence import Evidence, Key
from tasks.analysis.explain_score import chosen_letters, explain
from tasks.analysis.past_run import PastRun

ITEM = ("language", "question_type", "subset", "question", "references", "wrong_references", "option_points", "fixed_order")
SCORE = ("method", "metric", "value", "status", "parsed_answer", "predicted", "gold", "chosen_place", "gold_place")
CALL = ("status", "reply", "finish_reason", "remark", "failure", "error", "http_status", "left_out_characters")
RATING = ("judge", "judge_repetition", "rubric", "dimension", "rating", "lowest", "highest", "parse_status", "raw_reply")

NO_VALUE = {
    "call_failed": "The call failed, so the item has no score: it is missing and not 0.",
    "judge_failed": "The judge gave no rating that can be read, so the item has no score: it is missing and not 0.",
    "not_counted": "The metric does not count this item.",
}

Row = dict[str, Any]


def metrics_document(evidence: Evidence) -> list[Row]:
    """How each raw score follows from its items; `n_total` rows, an item asked several times being several."""
    by_metric = evidence.item_scores.partition_by("method", "metric", maintain_order=True)
    return [{"method": rows["method"][0], "metric": rows["metric"][0], **asdict(break_down(rows))} for rows in by_metric]


def rows_document(run: PastRun, evidence: Evidence, named: Sequence[str], worst: int | None) -> list[Row]:
    """Every item and repetition, by id; with `worst` so many of those that earn least, the lowest first.

    Rows without a value are no worst ones: what is missing is not 0. They come after all others.
    """
    keys: dict[Key, None] = dict.fromkeys(evidence.item_scores.select("item_id", "repetition").sort(pl.all()).iter_rows())
    rows = [row_document(run, evidence, key, named) for key in keys]
    if worst is None:
        return rows
    return sorted(rows, key=lambda row: (row["value"] is None, row["value"], row["item_id"], row["repetition"]))[:worst]


def row_document(run: PastRun, evidence: Evidence, key: Key, named: Sequence[str]) -> Row:
    """One item as it was asked once. `value`: the mean of its values over the metrics; null if it has none."""
    scores = evidence.about(evidence.item_scores, key)
    answers = [evidence.answer(score) for score in scores]
    item, response = answers[0].item, answers[0].response or {}
    values = [score["value"] for score in scores if score["value"] is not None]
    dataset = str(item["dataset"])
    return {
        "item_id": key[0],
        "repetition": key[1],
        "value": fmean(values) if values else None,
        **{name: item[name] for name in ITEM},
        "context_characters": len(item["context"] or ""),
        "options": options_document(answers[0]),
        **{name if name != "status" else "call": response.get(name) for name in CALL},
        "scores": [
            {**{name: score[name] for name in SCORE}, "why": why(answer)} for score, answer in zip(scores, answers, strict=True)
        ],
        "ratings": [{name: rating.get(name) for name in RATING} for rating in answers[0].ratings],
        "next": run.command("explain", "--dataset", dataset, "--item", key[0], *named),
    }


def options_document(answer: ScoredItem) -> list[Row] | None:
    """The options in the order in which they were shown, each with its letter there; null where an item has none."""
    texts: Sequence[str] | None = answer.item["options"]
    if not texts:
        return None
    gold, points = answer.item["gold_indices"] or (), answer.item["option_points"]
    chosen = chosen_letters(answer)
    return [
        {
            "letter": letter,
            "index": index,
            "text": texts[index],
            "gold": index in gold,
            "chosen": letter in chosen,
            **({"points": points[index]} if points else {}),
        }
        for letter, index in zip(option_letters(len(texts)), answer.order, strict=True)
    ]


def why(answer: ScoredItem) -> str:
    """Why the item earned what it did, in a sentence."""
    status = str(answer.score["status"])
    if status in NO_VALUE:
        failure = (answer.response or {}).get("failure")
        return f"{NO_VALUE[status]} What went wrong: {failure}." if failure else NO_VALUE[status]
    return explain(answer)


def statuses(metrics: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Rows by status, over all metrics of a dataset: of the metric that has most rows of each."""
    found: dict[str, int] = {}
    for metric in metrics:
        for status, count in metric["statuses"].items():
            found[status] = max(count, found.get(status, 0))
    return found
