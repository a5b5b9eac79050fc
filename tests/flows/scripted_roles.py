"""Models for LongEmotion whose behaviour is known: an item is found again by its question or its segments, in every setting."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from tests.flows.command import Ended, ended
from tests.flows.scripted import OFF_TOPIC, Behaviour
from tests.model_server import ModelServer

Messages = list[dict[str, str]]
Reply = Callable[[Messages], str]

LONG_MINI = "longemotion-mini"
SETTINGS = ("base", "rag", "coem", "self_rag", "search_o1", "retrieve_only")
READING = "A short reading of the passage."
"""What the Sage writes."""

VERDICT = "[Relevant] It bears on the question. [Fully supported]"
"""What the critic writes."""

SEARCH, RESULT = "<|begin_search_query|>", "<|begin_search_result|>"
SCALE = re.compile(r"(?:whole number from (\d+) to (\d+)\.|每个值是 (\d+) 到 (\d+) 的整数)")
KEYS = re.compile(r'(?:keys are exactly|键必须正好是) ((?:"\w+"(?:, )?)+)')
TOLD = " ".join(f"On day {number} I felt it in my chest and told nobody." for number in range(12))
"""What every free answer says: enough for two chunks."""


def layer(lake: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(lake / name / "**/*.parquet", hive_partitioning=False)


def rows_of(lake: Path, document: Mapping[str, Any], layer: str) -> list[dict[str, Any]]:
    """Rows of a layer in the partitions that a run's manifest or a stage's document names."""
    paths = [lake / ref["path"] for ref in document["partitions"] if ref["layer"] == layer]
    return [row for path in paths for row in pl.read_parquet(path, hive_partitioning=False).to_dicts()]


def core(lake: Path, behaviour: Behaviour) -> Reply:
    """The model under test; it knows the items of the lake, which are there before it is asked."""

    @cache
    def items() -> list[dict[str, Any]]:
        return layer(lake, "items").to_dicts()

    def reply(messages: Messages) -> str:
        last = messages[-1]["content"]
        if SEARCH in messages[0]["content"] + last and RESULT not in last:
            return f"I look it up. {SEARCH}what was felt, and when<|end_search_query|>"
        item = find(items(), "\n".join(message["content"] for message in messages))
        return short_answer(item, right=behaviour == "gold")

    return reply


def find(items: list[dict[str, Any]], said: str) -> Mapping[str, Any]:
    """The item with a short answer that a prompt is about, else any of those that are answered freely."""
    for item in items:
        if item["question_type"] in {"label_choice", "extractive"} and item["question"] in said:
            return item
    detected = [item for item in items if item["question_type"] == "odd_one_out"]
    shown = {item["item_id"]: sum(json.dumps(text, ensure_ascii=False) in said for text in item["options"]) for item in detected}
    best = max(detected, key=lambda item: shown[item["item_id"]], default=None)
    return best if best and shown[best["item_id"]] else {"question_type": "free"}


def short_answer(item: Mapping[str, Any], *, right: bool) -> str:
    """The gold, or a readable answer that earns nothing; where an item is answered freely, what is always told."""
    match item["question_type"]:
        case "label_choice":
            return in_json("Emotion", item["options"][item["gold_indices"][0] - (not right)])
        case "odd_one_out":
            return in_json("index", (item["gold_indices"][0] + (not right)) % len(item["options"]))
        case "extractive":
            return str(item["references"][0]) if right else OFF_TOPIC
    return TOLD


def in_json(key: str, value: object) -> str:
    return f"```json\n{json.dumps({key: value}, ensure_ascii=False)}\n```"


def scale_of(messages: Messages) -> tuple[int, int]:
    """The lowest and the highest rating a judge may give."""
    (found,) = SCALE.findall(messages[0]["content"])[:1]
    lowest, highest = (int(number) for number in found if number)
    return lowest, highest


def rate_all(messages: Messages, rating: int) -> str:
    """A judge's reply that gives every dimension the same rating."""
    (keys,) = KEYS.findall(messages[0]["content"])[:1]
    return json.dumps(dict.fromkeys(json.loads(f"[{keys}]"), rating))


def best(messages: Messages) -> str:
    return rate_all(messages, scale_of(messages)[1])


def by_hash(messages: Messages) -> str:
    """A judge whose rating follows from what it rates, and not from the order of the dimensions."""
    lowest, highest = scale_of(messages)
    drawn = int(sha256(messages[1]["content"].encode()).hexdigest(), 16)
    return rate_all(messages, lowest + drawn % (highest - lowest + 1))


def opposed(messages: Messages) -> str:
    """A judge that gives a high rating where `by_hash` gives a low one."""
    lowest, highest = scale_of(messages)
    (rating,) = set(json.loads(by_hash(messages)).values())
    return rate_all(messages, lowest + highest - rating)


def helpers(**servers: ModelServer) -> str:
    """A configuration file that names the model of each role as the role."""
    return json.dumps({"roles": {role: {"name": role, "base_url": server.base_url} for role, server in servers.items()}})


@dataclass(frozen=True)
class ScriptedServers:
    """Four servers and the lake their replies go to. Servers are told apart by their address: a lake belongs to its servers."""

    lake: Path
    core: ModelServer
    sage: ModelServer
    critic: ModelServer
    judge: ModelServer

    def run(self, *more: str | Path) -> Ended:
        return self.ask("run", *more)

    def ask(self, stage: str, *more: str | Path) -> Ended:
        """Run a stage of LongEmotion with the four models; settings that have no helper leave it out, and what is added wins."""
        roles = self.lake.parent / "roles.json"
        roles.write_text(helpers(sage=self.sage, critic=self.critic), encoding="utf-8")
        models = ("--model", "core", "--base-url", self.core.base_url, "--config", roles)
        judge = ("--judge", "judge", "--judge-base-url", self.judge.base_url)
        few = ("--set", "retrieval.ranking=bm25", "--set", "bootstrap=0")
        return ended(stage, LONG_MINI, *models, *judge, *few, "--lake", self.lake, "--json", *more)

    @property
    def calls(self) -> dict[str, int]:
        return {role: getattr(self, role).calls for role in ("core", "sage", "critic", "judge")}


@contextmanager
def scripted_servers(lake: Path, judge: Reply = best) -> Iterator[ScriptedServers]:
    """Start the servers; Sage and critic always say the same."""
    with (
        ModelServer(core(lake, "gold")) as tested,
        ModelServer(lambda _messages: READING) as sage,
        ModelServer(lambda _messages: VERDICT) as critic,
        ModelServer(judge) as rating,
    ):
        yield ScriptedServers(lake, tested, sage, critic, rating)
