"""A server that reads a part of a prompt and answers: no score, and status 1; once it has room, an answer."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import Ended, ended
from tests.flows.commands.test_bad_input import ITEM, blueprint
from tests.probed_server import CuttingContext, ProbedServer, Side

pytestmark = pytest.mark.usefixtures("prefect_server")

ENLARGE = "enlarge the context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; vLLM: --max-model-len; llama.cpp: -c), then run again"


def story(words: int) -> str:
    return "home " * words


def run(server: ProbedServer, folder: Path, lengths: dict[str, int], *options: str) -> Ended:
    items = [{**ITEM, "item_id": name, "context": story(words) or None, "gold_indices": [1]} for name, words in lengths.items()]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    model = ("--model", "scripted", "--base-url", server.base_url)
    return ended("run", blueprint(folder), *model, "--lake", folder / "lake", *options, "--set", "bootstrap=0", "--json")


def counted(done: Ended) -> tuple[int, int, float]:
    (score,) = done.document["raw_scores"]
    return score["n_scored"], score["n_total"], score["value"]


def failures(folder: Path) -> dict[str, Any]:
    rows = pl.concat([pl.read_parquet(path) for path in folder.glob("lake/responses/**/*.parquet")])
    return {row["item_id"]: row["failure"] for row in rows.iter_rows(named=True)}


@pytest.mark.parametrize(("window", "side"), [(2048, "front"), (4096, "end"), (8192, "middle")])
def test_a_cut_item_is_missing_until_it_is_whole(tmp_path: Path, window: int, side: Side) -> None:
    lengths = {"long": 12_000, "short": 0}
    with CuttingContext(window, side) as server:
        done = run(server, tmp_path, lengths, "--set", "too_long=cut_middle")
        assert (done.status, counted(done)) == (1, (1, 2, 1.0))
        assert failures(tmp_path) == {"long": "prompt_cut", "short": None}
        (row,) = done.document["failures"]
        assert (row["calls"], row["next_step"]) == (1, ENLARGE)
        assert row["what"].startswith("prompt_cut: the server answered a part of the prompt")
        asked = len(server.bodies)
        server.window = 20_000
        again = run(server, tmp_path, lengths, "--set", "too_long=cut_middle")
        assert len(server.bodies) == asked + 1
    assert (again.status, counted(again), again.document["failures"]) == (0, (2, 2, 1.0), [])


def test_where_no_tokens_are_counted_this_is_told(tmp_path: Path) -> None:
    with CuttingContext(4096, usage=False) as server:
        done = run(server, tmp_path, {"long": 12_000, "short": 0})
    assert (done.status, counted(done)) == (0, (2, 2, 1.0))
    assert Path(done.document["report"]).read_text(encoding="utf-8").count("whether the server cut it cannot be seen") == 1
