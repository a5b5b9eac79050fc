"""Models over HTTP that know what people noted about conversations, each changed in its way; and a judge of drafts."""

import json
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from schemas.attunebench import ConversationGold, VisibleConversation, part_of
from schemas.folders import DATA_FOLDER
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH, ATTUNEBENCH_MINI
from tasks.benchmarks.attunebench.metrics.conversation import annotated_items
from tasks.datasets.building import build_items
from tasks.datasets.own_items import in_folder
from tasks.sources.locating import BUNDLED
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle

Messages = list[dict[str, str]]
Said = dict[str, Any]
Change = Callable[[str, Said, ConversationGold], Said]
Known = dict[str, tuple[ConversationGold, VisibleConversation]]
CALL = {
    "draft": "Write the reply that you would give",
    "review": "Which moods did the participant note",
    "hp_binary": "questions about this reply once more",
    "pairwise": "compared two of them at a time",
    "post": "The conversation is over.",
}
"""What of a prompt says which call it is."""

RATED = {"overall_score": 5, "emotional_appropriateness": 6, "helpfulness": 4, "tone_match": 5}


@cache
def conversations(folder: Path | None = None) -> Known:
    """Annotations and visible part by the first message of each conversation of a folder, or of the bundled ones."""
    spec = in_folder(ATTUNEBENCH, folder) if folder else ATTUNEBENCH_MINI
    built = build_items(spec, [folder or BUNDLED / "attunebench_mini.jsonl"], None, 0)
    found = annotated_items(built.items, built.annotations).values()
    return {shown.turns[0].user_message: (gold, shown) for gold, shown in found}


def knowing(change: Change, folder: Path | None = None) -> Callable[[Messages], str]:
    """A model that knows the annotations; its answers are changed by call."""
    known = conversations(folder)
    said_by = {gold.conversation_id: oracle(gold) for gold, _ in known.values()}

    def reply(messages: Messages) -> str:
        asked = messages[-1]["content"]
        (gold,) = (gold for text, (gold, _) in known.items() if text in messages[1]["content"])
        (call,) = (name for name, words in CALL.items() if words in asked)
        # An answer is elided after each draft and each review, so turn 2 begins after two of them.
        turn = sum(message["role"] == "assistant" for message in messages) // 2 + (call in ("draft", "review"))
        said = said_by[gold.conversation_id][part_of(call, None if call == "post" else turn)]
        if call == "pairwise":
            compared = enumerate(gold.turns[turn - 1].comparisons)
            said = {"pairwise_selections": {str(n): "A" if one.winner == one.label_a else "B" for n, one in compared}}
        return json.dumps(change(f"{gold.conversation_id} {turn} {call}", said, gold), ensure_ascii=False)

    return reply


def copy_mood(call: str, said: Said, gold: ConversationGold) -> Said:
    return {**said, "post_panas": gold.pre_panas.items} if call.endswith("post") else said


def say_yes(_call: str, said: Said, _gold: ConversationGold) -> Said:
    return {key: dict.fromkeys(value, "yes") if key.startswith("binary") else value for key, value in said.items()}


def toss(call: str, said: Said, _gold: ConversationGold) -> Said:
    """Choose among compared replies by coin, the same one each time."""
    tossed = {name: "AB"[sha256(f"{call} {name}".encode()).digest()[0] % 2] for name in said.get("pairwise_selections", ())}
    return {**said, "pairwise_selections": tossed} if tossed else said


MODELS: dict[str, Change] = {"oracle": lambda _call, said, _gold: said, "copier": copy_mood, "yes": say_yes}


def port_blueprint(name: str, folder: Path) -> Path:
    """A blueprint that ships, scored as the public port does."""
    blueprint = yaml.safe_load((DATA_FOLDER / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8"))
    (dataset,) = blueprint["datasets"].values()
    dataset["methods"][0]["profile"] = "reference"
    path = folder / "port.yaml"
    path.write_text(json.dumps({**blueprint, "name": "port"}))
    return path


def judge(messages: Messages) -> str:
    questions = re.findall(r"^(B\d+):", messages[-1]["content"], re.MULTILINE)
    return json.dumps({**RATED, "draft_binary_assessment": dict.fromkeys(questions, "yes")})
