"""AttuneBench's result files: replies to one conversation in the form that the official scorer reads, and replies out of them.

Null in a field = the call failed; `{}` = its reply lacks the part. The twenty items of delta runs are those after the changes
were added, of blind_delta the changes.

Source: AttuneBench 1.0 for the names of the files; the public port of its runner for their fields.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.attunebench import POST, ConversationGold, TurnGold, part_of
from schemas.documents import read_json, read_text
from schemas.errors import RecordError
from tasks.metrics.attunebench.conversation import Replies
from tasks.metrics.attunebench.replies import (
    CHANGES,
    ITEMS,
    RATINGS,
    Reply,
    read_items,
    read_selections,
    read_tags,
    read_words,
)

FIELDS: Mapping[str, Mapping[str, str]] = {
    "draft": {"drafted_response": "em_drafted_response"},
    "review": {
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
"""Of a turn: by call and key of its reply the field of the file. A judge's ratings are together in one field."""


@dataclass(frozen=True)
class ResultFile:
    """Replies of a model to one conversation, by part."""

    conversation_id: str
    model: str
    mode: str
    strategy: str
    replies: Replies

    def name(self, provider: str) -> str:
        """Return the name of its file; of what no name of a file holds a hyphen is left."""
        named = f"{self.conversation_id}_{provider}_{self.model}_{self.mode}"
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', named)}.json"


def read_result(path: Path) -> ResultFile:
    """Read a result file.

    Raises:
        RecordError: if it is none.
    """
    try:
        return parse_result(read_json(read_text(path)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            "a result file cannot be read",
            where=str(path),
            expected="conversationId, em_model, mode, turns with their turnNumber, post_conversation",
            got=repr(error),
            next_step="write the file again, or take it out of the folder",
        ) from error


def parse_result(fields: Mapping[str, Any]) -> ResultFile:
    """Return the replies of a result file's object. Raise KeyError or TypeError where it is none."""
    replies: dict[str, Reply | None] = {}
    for turn in fields["turns"]:
        for call, names in FIELDS.items():
            found = {key: turn.get(field) for key, field in names.items()}
            said = {key: value for key, value in found.items() if value not in (None, {})}
            said |= said.pop("scores", {})
            came = any(value is not None for value in found.values())
            replies[part_of(call, turn["turnNumber"])] = said if came else None
    post, strategy = fields["post_conversation"], "absolute"
    if post is not None:
        strategy = post.get("panas_strategy") or strategy
        items, wide = (post.get("predicted_post_panas") or {}).get("items"), post.get("predicted_conversation_wide")
        said = {CHANGES if strategy == "blind_delta" else ITEMS: items, "conversation_wide": wide}
        post = {key: value for key, value in said.items() if value}
    replies[part_of(POST)] = post
    return ResultFile(fields["conversationId"], fields["em_model"], fields["mode"], strategy, replies)


def result_fields(result: ResultFile, gold: ConversationGold) -> dict[str, Any]:
    """Return the object of a result file, its values in the words of the official scorer.

    Args:
        result: the replies.
        gold: of the conversation: its turns, the labels compared, and the mood before, to which changes are added.
    """
    post, turns = result.replies.get(part_of(POST)), []
    for turn in gold.turns:
        fields: dict[str, Any] = {"turnNumber": turn.number}
        for call, names in FIELDS.items():
            reply = result.replies.get(part_of(call, turn.number))
            fields |= {field: None if reply is None else _written(key, reply, turn) for key, field in names.items()}
        turns.append(fields)
    return {
        "conversationId": result.conversation_id,
        "em_model": result.model,
        "mode": result.mode,
        "turns": turns,
        "post_conversation": None if post is None else _written_post(result.strategy, post, gold),
    }


def _written(key: str, reply: Reply, turn: TurnGold) -> Any:
    value = reply.get(key)
    if key == "drafted_response":
        return value if isinstance(value, str) else {}
    if key == "emotion_tags":
        tags = read_tags(value)
        return {} if tags is None else [{"emotion": name.capitalize(), "intensity": one} for name, one in tags]
    if key == "scores":
        return {name: reply[name] for name in RATINGS if name in reply}
    return read_selections(value, turn.comparisons) if key == "pairwise_selections" else read_words(value)


def _written_post(strategy: str, reply: Reply, gold: ConversationGold) -> dict[str, Any]:
    items = reply.get(CHANGES, {}) if strategy == "blind_delta" else read_items(reply, gold.pre_panas.items)
    wide = reply.get("conversation_wide", {})
    return {"panas_strategy": strategy, "predicted_post_panas": {"items": items}, "predicted_conversation_wide": wide}
