"""A model that answers only if the needle's chunk was retrieved: its accuracy is the recall of retrieval, in every setting."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.retrieval.chunking import split
from tasks.solvers.chunk_rows import holds_needle
from tests.flows.command import ended
from tests.flows.scripted_roles import READING, Reply, helpers, layer
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

RETRIEVING = ("rag", "coem", "self_rag", "search_o1", "retrieve_only")
TOP_K = 2
CRITIC = "[Relevant] It speaks of that person. [Fully supported]"
WRONG = '```json\n{"Emotion": "none of them"}\n```'


def text_of(messages: list[dict[str, str]]) -> str:
    return "\n".join(message["content"] for message in messages)


def needle_chunk(context: str, start: int, end: int) -> str:
    chunks = split(context, 128, 50)
    return chunks[holds_needle(chunks, start, end).index(True)].text


def reader_of_passages(lake: Path, dataset: str) -> Reply:
    """Answers rightly if the needle's chunk stands in the prompt apart from the context itself."""
    known = layer(lake, "items").filter(pl.col("dataset") == dataset).join(layer(lake, "contexts"), on=["dataset", "item_id"])
    items = known.to_dicts()
    chunks = {item["item_id"]: needle_chunk(item["context"], item["needle_start"], item["needle_end"]) for item in items}

    def reply(messages: list[dict[str, str]]) -> str:
        said = text_of(messages)
        item = find(items, said, chunks)
        if "begin_search_query" in said and len(messages) <= 2:
            return f"I look it up. <|begin_search_query|>{item['query']}<|end_search_query|>"
        shown = chunks[item["item_id"]] in said.replace(item["context"], "")
        label = item["options"][item["gold_indices"][0]]
        return f"```json\n{json.dumps({'Emotion': label})}\n```" if shown else WRONG

    return reply


def find(items: list[dict[str, Any]], said: str, chunks: Mapping[str, str]) -> dict[str, Any]:
    """The item a prompt is about: its question and choices stand there, and, where several ask the same, its text."""
    asked = [item for item in items if item["question"] in said and ", ".join(item["options"]) in said]
    return next((item for item in asked if item["context"] in said or chunks[item["item_id"]] in said), asked[0])


def run_settings(lake: Path, reply: Reply, *more: str | Path) -> dict[str, Any]:
    with (
        ModelServer(reply) as core,
        ModelServer(lambda _messages: READING) as sage,
        ModelServer(lambda _messages: CRITIC) as critic,
    ):
        models, config = ("--model", "core", "--base-url", core.base_url), lake / "roles.json"
        config.write_text(helpers(sage=sage, critic=critic), encoding="utf-8")
        done = ended("run", *more, *models, "--config", config, "--lake", lake, "--set", "bootstrap=0", "--json")
    return done.document


def accuracy(document: dict[str, Any], setting: str) -> float:
    (value,) = [row["value"] for row in document["raw_scores"] if row["setting"] == setting and row["metric"] == "accuracy"]
    return float(value)


def recall(lake: Path, setting: str, stage: str, k: int, items: int) -> float:
    """Share of items whose needle's chunk is among the first k of a stage."""
    rows = layer(lake, "retrievals").filter(setting=setting, stage=stage, query_number=0)
    found = rows.filter(pl.col("holds_needle") & (pl.col("rank") < k))
    return found["item_id"].n_unique() / items


@pytest.mark.long
@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_accuracy_is_recall_in_every_setting(tmp_path: Path) -> None:
    items, dataset = 8, "longemotion_ec_emobench"
    asked = ("longemotion", "--datasets", dataset, "--mirror", MIRROR, "--sample", str(items), "--set", "contexts.lengths=1500")
    built = ended("build", *asked, "--model", "core", "--base-url", "http://127.0.0.1:9", "--lake", tmp_path, "--json")
    assert built.status == 0, built.err
    reply = reader_of_passages(tmp_path, dataset)
    settings = ",".join(("base", *RETRIEVING)).replace("retrieve_only", "retrieve-only")
    document = run_settings(tmp_path, reply, *asked, "--settings", settings, "--set", f"retrieval.top_k={TOP_K}")
    stages = {"coem": "reranked", "search_o1": "search"}
    recalls = {one: recall(tmp_path, one, stages.get(one, "initial"), TOP_K, items) for one in RETRIEVING}
    assert {one: accuracy(document, one) for one in RETRIEVING} == pytest.approx(recalls)
    assert accuracy(document, "base") == 0
    # Neither nothing nor everything is found, or the test would show little.
    assert 0.3 < recalls["rag"] < 1
