"""Models over HTTP that know what people annotated, each changed in its way; and a judge of drafts."""

import json
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from schemas.folders import DATA_FOLDER
from tasks.benchmarks.attunebench.conversation import ConversationGold, part_of
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH, ATTUNEBENCH_MINI
from tasks.benchmarks.attunebench.metrics.conversation import Annotated, annotated_items
from tasks.datasets.building import build_items
from tasks.datasets.own_items import in_folder
from tasks.sources.locating import BUNDLED
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle

Messages = list[dict[str, str]]
Reply = dict[str, Any]
Change = Callable[[str, Reply, ConversationGold], Reply]
CALL = {
    "draft": "Write the reply that you would give",
    "review": "Which moods did the participant note",
    "hp_binary": "questions about this reply once more",
    "pairwise": "compared two of them at a time",
    "post": "The conversation is over.",
}
"""Words of a prompt by which a call is recognised."""

RATED = {"overall_score": 5, "emotional_appropriateness": 6, "helpfulness": 4, "tone_match": 5}


@cache
def conversations(folder: Path | None = None) -> dict[str, Annotated]:
    """Return each conversation of a folder, or of the bundled ones, by its first message."""
    spec = in_folder(ATTUNEBENCH, folder) if folder else ATTUNEBENCH_MINI
    built = build_items(spec, [folder or BUNDLED / "attunebench_mini.jsonl"], None, 0)
    items = annotated_items(built.items, built.annotations).values()
    return {visible.turns[0].user_message: (gold, visible) for gold, visible in items}


def knowing(change: Change, folder: Path | None = None) -> Callable[[Messages], str]:
    """Return a model that knows the annotations; its answers are changed by call."""
    by_message = {message: (gold, oracle(gold)) for message, (gold, _) in conversations(folder).items()}

    def reply(messages: Messages) -> str:
        ((gold, replies),) = (item for text, item in by_message.items() if text in messages[1]["content"])
        (call,) = (name for name, words in CALL.items() if words in messages[-1]["content"])
        # An answer is elided after each draft and each review, so turn 2 begins after two of them.
        turn = sum(message["role"] == "assistant" for message in messages) // 2 + (call in ("draft", "review"))
        answer = replies[part_of(call, None if call == "post" else turn)]
        if call == "pairwise":
            rows = enumerate(gold.turns[turn - 1].comparisons)
            answer = {"pairwise_selections": {str(n): "A" if row.winner == row.label_a else "B" for n, row in rows}}
        return json.dumps(change(f"{gold.conversation_id} {turn} {call}", answer, gold), ensure_ascii=False)

    return reply


def copy_mood(call: str, reply: Reply, gold: ConversationGold) -> Reply:
    return {**reply, "post_panas": gold.pre_panas.items} if call.endswith("post") else reply


def say_yes(_call: str, reply: Reply, _gold: ConversationGold) -> Reply:
    return {key: dict.fromkeys(value, "yes") if key.startswith("binary") else value for key, value in reply.items()}


def toss(call: str, reply: Reply, _gold: ConversationGold) -> Reply:
    """Choose among compared replies by coin, the same one each time."""
    tossed = {name: "AB"[sha256(f"{call} {name}".encode()).digest()[0] % 2] for name in reply.get("pairwise_selections", ())}
    return {**reply, "pairwise_selections": tossed} if tossed else reply


MODELS: dict[str, Change] = {"oracle": lambda _call, reply, _gold: reply, "copier": copy_mood, "yes": say_yes}


def port_blueprint(name: str, folder: Path) -> Path:
    """Write a blueprint that ships, scored as the public port does."""
    blueprint = yaml.safe_load((DATA_FOLDER / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8"))
    (dataset,) = blueprint["datasets"].values()
    dataset["methods"][0]["profile"] = "reference"
    path = folder / "port.yaml"
    path.write_text(json.dumps({**blueprint, "name": "port"}))
    return path


def judge(messages: Messages) -> str:
    questions = re.findall(r"^(B\d+):", messages[-1]["content"], re.MULTILINE)
    return json.dumps({**RATED, "draft_binary_assessment": dict.fromkeys(questions, "yes")})
