"""A run that is written out by hand: two choices, one of them asked twice, and a reply that a judge rated."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import MetricSpec
from schemas.lineage import DatasetNotice
from tasks.runs.past_run import PastRun
from tests.tasks.rows import HASH, Row, answer, answers, item, items, judgement, judgements, response, responses
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import items as scored
from tests.tasks.scoring.samples import one_dataset

OF = {"dataset": "d", "model": "org/m"}
TWO = ["Ann", "Ben"]
KEYS = {name: name * 64 for name in "abcdef"}
MODEL = {"name": "org/m", "base_url": "http://localhost/v1", "sampling": {"temperature": 0.5, "seed": 3, "max_tokens": 64}}


def messages(text: str) -> dict[str, str]:
    """The columns of a call that asked this."""
    said = json.dumps([{"content": text, "role": "user"}])
    return {"messages": said, "messages_sha256": sha256(said.encode()).hexdigest()}


def call(item_id: str, reply: str | None, key: str, text: str, **more: Any) -> Row:
    tokens = {"prompt_tokens": 10, "completion_tokens": 2, "finish_reason": "stop", "latency_s": 0.5}
    return response(item_id, reply, call_key=KEYS[key], asked_model="org/m", **{**OF, **messages(text), **tokens, **more})


CALLS = (
    call("a", "I think", "a", "Who sat?", turn=0, prompt_tokens=5, completion_tokens=1, latency_s=0.25),
    call("a", "B", "b", "Who sat? Say a letter.", turn=1, reasoning="Ben did."),
    call("a", "A", "c", "Who sat? Say a letter.", repetition=1, finish_reason="length"),
    call("b", None, "d", "Who ran?", finish_reason=None, completion_tokens=None, prompt_tokens=None),
    call("c", "I hear you.", "e", "I am sad."),
    call("c", "I hear you.", "e", "I am sad.", turn=1),
    call("a", "Sit down.", "f", "Who sat?", turn=2, role="played"),
)


def written_run(folder: Path, **plan: Any) -> PastRun:
    """Accuracy of a, 1 and 0, and of b, missing: 1/2. The reply about c is not scored; it was rated 4 of 5."""
    given = [
        answer("a", "B", call_keys=[KEYS[name] for name in "afb"], option_order=[1, 0], finish_reason="stop", **OF),
        answer("a", "A", call_keys=[KEYS["c"]], repetition=1, finish_reason="length", **OF),
        answer("b", None, call_keys=[KEYS["d"]], **OF),
        answer("c", "I hear you.", call_keys=[KEYS["e"]], **OF),
    ]
    asked = [
        item("a", "single_choice", context="Ben sat.", question="Who sat?", options=TWO, gold_indices=[1], dataset="d"),
        item("b", "single_choice", question="Who ran?", options=TWO, gold_indices=[0], dataset="d"),
        item("c", "counselor_reply", question="I am sad.", references=["I hear it.", "Yes."], dataset="d"),
    ]
    named: dict[str, Any] = {
        "item_id": ["a", "a", "b"],
        "cluster": ["a", "a", "b"],
        "repetition": [0, 1, 0],
        "parsed_answer": ["Ben", "Ann", None],
    }
    rated = [
        judgement("c", "warmth", 4, call_key=HASH, rationale="It is kind.", **OF),
        judgement("c", "depth", 2, call_key=HASH, **OF),
    ]
    layers: dict[str, pl.DataFrame] = {
        "items": items(*asked),
        "answers": answers(*given),
        "responses": responses(*CALLS),
        "judgements": judgements(*rated),
        "item_scores": scored("d", [1.0, 0.0, None], "org/m", **named),
    }
    place = {"dataset": "d", "model": "org/m", "setting": "base"}
    said = {"models": [MODEL], "bootstrap": 50, "seed": 0, "repeat": 2, "sample": None} | plan
    run = run_of(folder, one_dataset(MetricSpec(metric="accuracy")), layers, place, **said)
    hub = ("huggingface.co/owner/d at 0123456",)
    notice = DatasetNotice(id="d", title="D", licence="MIT", evaluation_version="1", redistributable=True, sources=hub)
    return replace(run, manifest=run.manifest.model_copy(update={"datasets": (notice,)}))


def restricted(run: PastRun) -> PastRun:
    """The run with a licence that forbids passing texts on."""
    (notice,) = run.manifest.datasets
    closed = notice.model_copy(update={"redistributable": False, "licence": "on request"})
    return replace(run, manifest=run.manifest.model_copy(update={"datasets": (closed,)}))
