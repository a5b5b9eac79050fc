"""AttuneBench's result files: write replies to one conversation in the form that the official scorer reads, and read them back.

Null in a field = the call failed, or was not made; `{}` = its reply lacks the part. The twenty items of delta runs are those
after the changes were added, which stand next to them.

Source: AttuneBench 1.0 for the names of the files; the public port of its runner for their fields.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas import json_yaml
from schemas.errors import RecordError
from tasks.benchmarks.attunebench.conversation import POST, ConversationGold, ReplyLabel, TurnGold, part_of
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook, panas_items, read_number, read_scale
from tasks.benchmarks.attunebench.datasets.records import TOTALS
from tasks.benchmarks.attunebench.metrics.conversation import Replies
from tasks.benchmarks.attunebench.metrics.replies import (
    CHANGES,
    ITEMS,
    RATINGS,
    Reply,
    read_items,
    read_phrases,
    read_selections,
    read_tags,
    read_text,
    read_words,
)

FIELDS: Mapping[str, Mapping[str, str]] = {
    "draft": {"drafted_response": "em_drafted_response", "response_reasoning": "response_reasoning"},
    "review": {
        "emotion_reasoning": "emotion_reasoning",
        "emotion_tags": "em_emotion_tags",
        "binary_om_assessment": "em_binary_om_assessment",
        "binary_human_prediction": "em_binary_human_prediction",
    },
    "hp_binary": {
        "binary_om_assessment": "em_binary_om_assessment_hp",
        "binary_human_prediction": "em_binary_human_prediction_hp",
    },
    "pairwise": {"pairwise_selections": "em_pairwise_selections"},
    "judge": {"scores": "em_draft_judge_scores", "draft_binary_assessment": "em_draft_binary_assessment"},
}
"""Field of a turn in the file, by call and key of its reply. A judge's ratings are together in one field."""

NEEDED = ("draft", "review", POST)
"""Calls without which the official runner skips a conversation."""


def file_name(stem: str) -> str:
    """Return the name of a JSON file, a hyphen in place of the characters that no name of a file holds."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', stem)}.json"


@dataclass(frozen=True)
class ResultFile:
    """Replies of a model to one conversation, by part."""

    conversation_id: str
    model: str
    mode: str
    strategy: str
    replies: Replies
    provider: str = "unknown"
    source_file: str | None = None
    run_timestamp: str | None = None
    judge: str | None = None

    names: Mapping[int, Mapping[ReplyLabel, str]] = field(default_factory=dict)
    """What compared replies were called, by turn."""

    @property
    def name(self) -> str:
        """Name of the file."""
        return file_name(f"{self.conversation_id}_{self.provider}_{self.model}_{self.mode}")

    @property
    def failed(self) -> list[str]:
        """Parts that failed, of those that the official runner needs."""
        return [part for part, reply in self.replies.items() if reply is None and part.rpartition(" ")[2] in NEEDED]


def read_result(path: Path) -> ResultFile:
    """Read a result file; RecordError: it is none."""
    try:
        return parse_result(json_yaml.read_json(json_yaml.read_text(path)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            "a result file cannot be read",
            where=str(path),
            expected="conversationId, em_model, mode, turns with their turnNumber, post_conversation",
            got=repr(error),
            next_step="export the file again, or remove it from the folder",
        ) from error


def parse_result(fields: Mapping[str, Any]) -> ResultFile:
    """Return the replies of a result file's object; KeyError or TypeError: it is none."""
    replies: dict[str, Reply | None] = {}
    for turn in fields["turns"]:
        for call, names in FIELDS.items():
            values = {key: turn.get(field) for key, field in names.items()}
            reply = {key: value for key, value in values.items() if value not in (None, {})}
            reply |= reply.pop("scores", {})
            failed = all(value is None for value in values.values())
            replies[part_of(call, turn["turnNumber"])] = None if failed else reply
    post, strategy = fields["post_conversation"], "absolute"
    if post is not None:
        strategy = post.get("panas_strategy") or strategy
        items, wide = panas_items(post.get("predicted_post_panas")), post.get("predicted_conversation_wide")
        # Before there was a field for them, the items of blind_delta were the changes.
        changes = post.get("predicted_panas_delta", items if strategy == "blind_delta" else None)
        reply = {**({CHANGES: changes} if changes else {ITEMS: items}), "conversation_wide": wide}
        post = {key: value for key, value in reply.items() if value}
    replies[part_of(POST)] = post
    return ResultFile(fields["conversationId"], fields["em_model"], fields["mode"], strategy, replies)


def result_fields(result: ResultFile, gold: ConversationGold) -> Mapping[str, object]:
    """Return the object of a result file, its values in the words of the official scorer."""
    post, turns = result.replies.get(part_of(POST)), []
    for turn in gold.turns:
        fields: dict[str, object] = {"turnNumber": turn.number, "em_four_branch_scores": None}
        fields["pairwise_assignment"] = {name: label for label, name in result.names.get(turn.number, {}).items()} or None
        for call, names in FIELDS.items():
            reply = result.replies.get(part_of(call, turn.number))
            fields |= {field: None if reply is None else _written(key, reply, turn) for key, field in names.items()}
        for name in FIELDS["judge"].values():
            judged = fields[name]
            fields[f"{name}_by_model"] = None if result.judge is None or judged is None else {result.judge: judged}
        turns.append(fields)
    return {
        "conversationId": result.conversation_id,
        "em_model": result.model,
        "mode": result.mode,
        "source_file": result.source_file,
        "run_timestamp": result.run_timestamp,
        "turns": turns,
        "post_conversation": None if post is None else _written_post(result.strategy, post, gold),
        "api_cost": None,
        "duration_seconds": None,
    }


def _written(key: str, reply: Reply, turn: TurnGold) -> Any:
    value = reply.get(key)
    if key.endswith("_reasoning"):
        return value if isinstance(value, str) else None
    if key == "drafted_response":
        return value if isinstance(value, str) else {}
    if key == "emotion_tags":
        tags = read_tags(value)
        return {} if tags is None else [{"emotion": name.capitalize(), "intensity": intensity} for name, intensity in tags]
    if key == "scores":
        return _numbers({name: reply.get(name) for name in RATINGS})
    return read_selections(value, turn.comparisons) if key == "pairwise_selections" else read_words(value)


def _numbers(values: Mapping[str, object]) -> dict[str, float]:
    numbers = {name: number for name, value in values.items() if (number := read_number(value)) is not None}
    return {name: int(number) if number.is_integer() else number for name, number in numbers.items()}


def _written_post(strategy: str, reply: Reply, gold: ConversationGold) -> dict[str, object]:
    items, book = read_items(reply, gold.pre_panas.items), load_codebook()
    totals = {name: total for sign, name in TOTALS.items() if (total := book.total(sign, items)) is not None}
    changes = _numbers(panas_items(reply.get(CHANGES)))
    predicted, delta = ({name.capitalize(): value for name, value in part.items()} for part in (items, changes))
    return {
        "panas_strategy": strategy,
        "pre_panas_shown": strategy != "blind_delta",
        "predicted_post_panas": {"items": predicted, **totals} if items else {},
        "predicted_panas_delta": delta or None,
        "predicted_conversation_wide": _written_wide(reply.get("conversation_wide")),
    }


def _written_wide(value: object) -> dict[str, object]:
    """Return what can be read of the answers about the whole, in the words by which they are compared."""
    answers = value if isinstance(value, dict) else {}
    ratings = answers["fourBranchScores"] if isinstance(answers.get("fourBranchScores"), dict) else {}
    scales = {name: read_scale(ratings.get(name)) for name in load_codebook().branches}
    read = {
        **{name: read_phrases(answers.get(name)) for name in ("q1_lookingFor", "q3_followUp_whatFeltOff")},
        **{name: read_text(answers.get(name)) for name in ("q2_emotionClarity", "q3_modelFit")},
        "fourBranchScores": {name: rating for name, rating in scales.items() if rating is not None},
    }
    return {name: answer for name, answer in read.items() if answer is not None}
