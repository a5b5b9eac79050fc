"""Make conversations in the form of AttuneBench, and records that break one rule each; the same by seed."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import reduce
from itertools import combinations
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any, cast

from tasks.benchmarks.attunebench.datasets.codebook import load_codebook

Fields = dict[str, Any]
BOOK = load_codebook()
LABELS = ("original", "alternate", "human")
ASKED = ("B1", "B4", "B6", "B13")
QUESTIONS, SIDES = 14, ("observedBehavior", "preferredBehavior")


def _panas(draw: Random) -> Fields:
    items = {name.capitalize(): draw.randint(1, 7) for name in BOOK.adjectives}
    totals = [sum(items[name.capitalize()] for name in names) for names in (BOOK.positive, BOOK.negative)]
    return {"totalPositiveAffect": totals[0], "totalNegativeAffect": totals[1], "responses": items}


def _turn(number: int, draw: Random) -> Fields:
    moods = draw.sample(list(BOOK.adjectives), draw.randint(0, 3))
    sides = [draw.choice(("yes", "no", "na")) for _ in range(2 * len(ASKED))]
    pairs = [(question, *pair) for question in ("general", "PW1", "PW4", "PW9") for pair in combinations(LABELS, 2)]
    return {
        "turnNumber": number,
        "userMessage": f"Message {number}.",
        "llmResponse": f"Reply {number}.",
        "moodShiftTags": [{"emotion": name.capitalize(), "intensity": draw.choice((None, 1, 4, 7))} for name in moods],
        "annotations": {
            "binaryJudgements": [
                {"questionId": name, "observedBehavior": sides[2 * index], "preferredBehavior": sides[2 * index + 1]}
                for index, name in enumerate(ASKED)
            ],
            "alternateResponses": {"llmImproved": f"Better reply {number}.", "humanEdited": f"Edited reply {number}."},
            "pairwiseComparisons": [
                {"questionId": question, "responseA": one, "responseB": other, "winner": draw.choice("AB")}
                for question, one, other in pairs
            ],
            "selectedPairwiseQuestions": ["PW1", "PW4", "PW9"],
        },
    }


def conversation(number: int = 1, turns: int = 2, seed: int = 0) -> Fields:
    """Return a valid conversation; every third has the same questionnaire before and after."""
    draw = Random(f"{seed}-{number}")
    before = _panas(draw)
    options = [list(options) for options in (BOOK.q1_options, BOOK.q2_options, BOOK.q3_options)]
    fit = draw.choice(options[2])
    return {
        "conversationId": f"00000000-0000-4000-8000-{number:012d}",
        "metadata": {"model": f"model-{number % 2}", "category": "Work", "subtopic": "Deadline", "text": "Work: Deadline"},
        "participant_profile": {
            "schema_version": "2.0",
            "participant_id": f"P{number:05d}",
            "profile_type": "shortened",
            "demographics": {"country": "Chile", "age_range": "25-34", "diagnoses": [("None", "ADHD")[number % 2]]},
            "computed_scores": {"who_5": draw.randint(0, 25), "promis_anxiety": 9, "promis_anxiety_t": 55.6},
            "conversation_topic_attitude": "Excited/Optimistic",
        },
        "prePanas": before,
        "postPanas": deepcopy(before) if number % 3 == 0 else _panas(draw),
        "conversationWideQuestions": {
            "fourBranchScores": {name: draw.randint(1, 7) for name in BOOK.branches},
            "q1_lookingFor": draw.sample(options[0], 2),
            "q2_emotionClarity": draw.choice(options[1]),
            "q3_modelFit": fit,
            "q3_followUp_whatFeltOff": [] if fit in options[2][:2] else ["felt rushed"],
        },
        "turns": [_turn(turn, draw) for turn in range(1, turns + 1)],
    }


def varied(number: int, seed: int = 0) -> Fields:
    """Return a valid conversation of three to eight turns whose messages are those of no other; every second one is in Chinese.

    In each turn one judgement at least is yes or no on both sides, and twelve replies are compared: no call is left out.
    """
    draw = Random(f"{seed}-{number}-varied")
    record = conversation(number, draw.randint(3, 8), seed)
    record["language"] = ("en", "zh")[number % 2]
    people = record["participant_profile"]["demographics"]
    people["diagnoses"] = draw.sample(("ADHD", "Anxiety", "Depression"), draw.randint(1, 3)) if draw.random() < 0.5 else ["None"]
    text = ("Conversation {}, message {}.", "第{}段对话，第{}句话。")[number % 2]
    for turn in record["turns"]:
        turn["userMessage"] = text.format(number, turn["turnNumber"])
        turn["annotations"]["binaryJudgements"] = [
            {"questionId": name, **{side: draw.choice(("yes", "no", *["na"][:index])) for side in SIDES}}
            for index, name in enumerate(draw.sample(list(BOOK.questions), QUESTIONS))
        ]
    return record


def write_folder(folder: Path, records: Mapping[str, Fields | bytes]) -> Path:
    """Write a file per record, `conversation_NAME.json`; bytes unchanged."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, record in records.items():
        content = record if isinstance(record, bytes) else json.dumps(record, ensure_ascii=False).encode()
        (folder / f"conversation_{name}.json").write_bytes(content)
    return folder


def at(*path: str | int, value: Any = None, drop: bool = False) -> Callable[[Fields], None]:
    """Return a change of one field: another value, or none at all."""

    def change(record: Fields) -> None:
        *parents, last = path
        section = reduce(getitem, parents, cast("Any", record))
        if drop:
            del section[last]
        else:
            section[last] = value

    return change


TURN: tuple[str | int, ...] = ("turns", 0)
NOTES, FIRST = (*TURN, "annotations"), (*TURN, "annotations", "pairwiseComparisons", 0)
JUDGED = (*NOTES, "binaryJudgements")
WIDE = "conversationWideQuestions"
SCORES = ("participant_profile", "computed_scores")


def _repeat(*path: str | int) -> Callable[[Fields], None]:
    """Return a change that gives the first value of a list a second time."""

    def change(record: Fields) -> None:
        rows = reduce(getitem, path, cast("Any", record))
        rows.append(deepcopy(rows[0]))

    return change


TAG = {"emotion": "Upset", "intensity": 3}
SPOILT: list[tuple[str, Callable[[Fields], None]]] = [
    ("conversationId|text", at("conversationId", drop=True)),
    ("conversationId|text", at("conversationId", value=7)),
    ("language|known", at("language", value="fr")),
    *((f"turns.{name}|text", at(*TURN, name, drop=True)) for name in ("userMessage", "llmResponse")),
    ("turns.userMessage|text", at(*TURN, "userMessage", value="  ")),
    ("turns.llmResponse|text", at(*TURN, "llmResponse", value=["Reply."])),
    ("turns|one_turn", at("turns", value=[])),
    ("turns|one_turn", at("turns", value="none")),
    ("turns|one_turn", at("turns", drop=True)),
    ("turns.turnNumber|each_once", at(*TURN, "turnNumber", value=2)),
    ("turns.moodShiftTags|each_once", at(*TURN, "moodShiftTags", value=[TAG, {"emotion": " upset"}])),
    ("turns.annotations.binaryJudgements|each_once", _repeat(*JUDGED)),
    ("turns.annotations.pairwiseComparisons|twelve_comparisons", at(*NOTES, "pairwiseComparisons", 5, drop=True)),
    ("turns.annotations.pairwiseComparisons|twelve_comparisons", _repeat(*NOTES, "pairwiseComparisons")),
]
"""A rule, and a change to a valid record that breaks it."""

UNREADABLE: Mapping[str, bytes] = {
    "file_is_utf8": b'{"conversationId": "\xff"}',
    "file_is_json": b'{"conversationId": ',
    "file_is_one_object": b"[]",
}


def malformed() -> list[tuple[str, Fields | bytes]]:
    """Return malformed records, each with the rule that it breaks; two have the same id."""
    records: list[tuple[str, Fields | bytes]] = [*UNREADABLE.items()]
    for number, (rule, change) in enumerate(SPOILT, start=100):
        record = conversation(number)
        change(record)
        records.append((rule, record))
    return [*records, *(("primary_key", conversation(99, seed=seed)) for seed in (0, 1))]
