"""Replies that are shared are scored without a key and without a call, whatever the models want otherwise."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import Ended, ask_mini, ended
from tests.flows.scripted import policy
from tests.model_server import is_probe
from tests.probed_server import Answer, ProbedServer, Script, completed, refused

KEY = "sk-marked-7f3a9c"
DATASETS = ("mini_user_safety", "mini_summarization")
WITH_KEY = ("--api-key-env", "MODEL_KEY", "--set", "judge.api_key_env=MODEL_KEY")
FEW = ("--set", "bootstrap=20")
SCORES = ("models", "raw_scores")


def picky(*refuses: str) -> Script:
    """Knows a key, refuses these parameters, and answers rightly."""
    answer = policy(DATASETS, "gold")

    def script(body: dict[str, Any], authorization: str) -> Answer:
        if authorization != f"Bearer {KEY}":
            return refused("no key", 401)
        if found := [name for name in refuses if name in body]:
            return refused(f"Unsupported parameter: '{found[0]}' is not supported with this model.")
        return completed(body) if is_probe(body) else completed(body, answer(body["messages"]))

    return script


def evaluate(stage: str, base_url: str, lake: Path, *more: str) -> Ended:
    return ask_mini(stage, base_url, lake, DATASETS, *more, "--json")


def stated(plan: dict[str, Any]) -> dict[str, Any]:
    """The entries of a manifest as a configuration: what was found about each model, and no key."""
    names = ("name", "base_url", "dialect")
    model, judge = ({name: entry[name] for name in names} for entry in (*plan["models"], *plan["roles"]["judge"]["default"]))
    return {"models": [model], "roles": {"judge": judge}}


def test_shared_replies_are_scored_with_the_server_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    with ProbedServer(picky("temperature")) as server:
        paid = evaluate("run", server.base_url, tmp_path / "ours", *FEW, *WITH_KEY)
        sent = sum(not is_probe(body) and "temperature" not in body for body in server.bodies)
    monkeypatch.delenv("MODEL_KEY")
    file = tmp_path / "shared.parquet"
    exported = ended("journal", "export", file, "--lake", tmp_path / "ours", "--json")
    assert exported.document["replies"] == sent
    for written in (file.read_bytes(), str(pl.read_parquet(file).to_dicts()).encode()):
        assert not [secret for secret in (KEY.encode(), b"uthorization", b"Bearer") if secret in written]
    taken = ended("journal", "import", file, "--lake", tmp_path / "theirs", "--json")
    assert (taken.status, taken.document["added"]) == (0, sent)
    config = tmp_path / "entries.json"
    config.write_text(json.dumps(stated(json.loads(Path(paid.document["manifest"]).read_text(encoding="utf-8"))["plan"])))
    wanted = ("--datasets", ",".join(DATASETS), "--lake", tmp_path / "theirs")
    free = ended("run", "moodbench-mini", "--config", config, *wanted, *FEW, "--json")
    assert (free.status, paid.status) == (0, 0)
    assert paid.document["calls"] == {"sent": sent, "answered": sent, "from_journal": 0, "failed": 0, "unsent": 0}
    assert free.document["calls"] == {"sent": 0, "answered": 0, "from_journal": sent, "failed": 0, "unsent": 0}
    assert {name: free.document[name] for name in SCORES} == {name: paid.document[name] for name in SCORES}
    assert [row["value"] for row in free.document["raw_scores"]] == [1, 1]
