"""Write what a model answered to one item, and what that earned, as JSON."""

from collections.abc import Sequence
from statistics import fmean

from schemas.usage import TESTED
from tasks.runs.answers import ScoredItem, explain_answer, shown_options
from tasks.runs.evidence import Evidence, Key
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import Row

ITEM = ("language", "question_type", "subset", "question", "references", "wrong_references", "option_points", "fixed_order")
SCORE = ("part", "method", "metric", "value", "status", "parsed_answer", "predicted", "gold", "chosen_place", "gold_place")
ANSWER = ("finish_reason", "remark", "failure", "failed_role")
CALL = ("error", "http_status", "left_out_characters")
RATING = (
    *("part", "judge", "judge_repetition", "rubric", "dimension", "rating", "lowest", "highest"),
    *("parse_status", "rationale", "raw_reply"),
)

NO_VALUE = {
    "call_failed": "The call failed, so the item has no score: it is missing and not 0.",
    "judge_failed": "The judge gave no rating that can be read, so the item has no score: it is missing and not 0.",
    "not_counted": "The metric does not count this item.",
}


def row_document(run: PastRun, evidence: Evidence, key: Key, named: Sequence[str]) -> Row:
    """Return one item as it was asked once. `value`: the mean of its values over the metrics; null if it has none.

    `answers`: each of several, under the names that an only answer has here; beside them these are of the first. Else none.
    """
    answers = evidence.answers[key]
    item, said, call = answers[0].item, answers[0].answer or {}, answers[0].call or {}
    values = [answer.score["value"] for answer in answers if answer.score["value"] is not None]
    dataset = str(item["dataset"])
    return {
        "item_id": key[0],
        "repetition": key[1],
        "value": fmean(values) if values else None,
        **{name: item[name] for name in ITEM},
        "context_characters": len(item["context"] or ""),
        "options": options_document(answers[0]),
        "call": said.get("status"),
        "reply": said.get("text"),
        "turns": next((each.answer["turns"] for each in answers if each.answer and each.answer.get("turns")), None),
        **{name: said.get(name) for name in ANSWER},
        **{name: call.get(name) for name in CALL},
        **_scored(answers),
        "answers": [_part(part, answers) for part in evidence.parts.get(key, ())],
        "next": run.command("explain", "--dataset", dataset, "--item", key[0], *named),
    }


def _part(said: Row, answers: Sequence[ScoredItem]) -> Row:
    return {
        "part": said["part"],
        "call": said["status"],
        "reply": said["text"],
        **{name: said[name] for name in ("turns", *ANSWER)},
        **_scored([answer for answer in answers if answer.score["part"] == said["part"]]),
    }


def _scored(answers: Sequence[ScoredItem]) -> Row:
    ratings = {answer.score["part"]: answer.ratings for answer in answers}
    return {
        "scores": [{**{name: answer.score[name] for name in SCORE}, "why": why(answer)} for answer in answers],
        "ratings": [{name: rating.get(name) for name in RATING} for of_part in ratings.values() for rating in of_part],
    }


def options_document(answer: ScoredItem) -> list[Row] | None:
    """Return the options in the order in which they were shown, each with its letter there; null where an item has none."""
    fields = ("letter", "index", "text", "gold", "chosen", *(("points",) if answer.item["option_points"] else ()))
    return [{name: getattr(option, name) for name in fields} for option in shown_options(answer)] or None


def why(answer: ScoredItem) -> str:
    """Return why the item earned what it did, in a sentence."""
    status = str(answer.score["status"])
    if status in NO_VALUE:
        said = answer.answer or {}
        failure, role = said.get("failure"), said.get("failed_role")
        whose = f", of the {role}" if role and role != TESTED else ""
        return f"{NO_VALUE[status]} What went wrong: {failure}{whose}." if failure else NO_VALUE[status]
    return explain_answer(answer)
