"""Items longer than the model's context: missing, unless the benchmark or the command line says that they are shortened."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import Ended, ended
from tests.flows.commands.test_bad_input import ITEM, blueprint
from tests.probed_server import SmallContext

STORY = " ".join(f"On day {number} she wrote to a friend." for number in range(100))
"""800 words; the server takes 700, and the reply's 512 are counted with them."""

pytestmark = pytest.mark.usefixtures("prefect_server")


def benchmark(folder: Path, too_long: str | None) -> Path:
    items = [{**ITEM, "item_id": name, "context": text, "gold_indices": [1]} for name, text in (("long", STORY), ("short", None))]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return blueprint(folder, too_long=too_long)


def run(server: SmallContext, folder: Path, *options: str, too_long: str | None = None) -> Ended:
    model = ("--model", "scripted", "--base-url", server.base_url)
    return ended("run", benchmark(folder, too_long), *model, "--lake", folder / "lake", *options, "--json")


def responses(folder: Path) -> list[dict[str, Any]]:
    rows = pl.read_parquet(folder / "lake/responses/**/*.parquet", hive_partitioning=False).sort("item_id")
    return rows.select("item_id", "turn", "status", "failure", "left_out_characters", "messages").to_dicts()


def counted(done: Ended) -> tuple[int, int]:
    (score,) = done.document["raw_scores"]
    return score["n_scored"], score["n_total"]


def asked(server: SmallContext) -> int:
    return sum("crying friend" in prompt for prompt in server.prompts)


def test_a_benchmark_has_it_shortened(tmp_path: Path) -> None:
    with SmallContext(700) as server:
        done = run(server, tmp_path, too_long="cut_middle")
        calls = asked(server)
        again = run(server, tmp_path, too_long="cut_middle")
        # A complete partition is not asked again.
        assert asked(server) == calls >= 3
    assert (done.status, again.status) == (0, 0)
    assert counted(done) == counted(again) == (2, 2)
    long, short = responses(tmp_path)
    # One row per item: the refused tries are no turns of it.
    assert [(row["turn"], row["status"]) for row in (long, short)] == [(0, "answered"), (0, "answered")]
    assert 0 < long["left_out_characters"] < len(STORY)
    assert short["left_out_characters"] == 0
    assert "On day 0 she" in long["messages"]
    assert "[Part of the text is left out here.]" in long["messages"]
    assert "On day 99 she" in long["messages"]


def test_the_command_line_wins_over_the_benchmark(tmp_path: Path) -> None:
    with SmallContext(700) as server:
        as_it_is = run(server, tmp_path, too_long="missing")
        assert asked(server) == 2
        done = run(server, tmp_path, "--set", "too_long=cut_start", too_long="missing")
    assert (as_it_is.status, counted(as_it_is)) == (1, (1, 2))
    assert (done.status, counted(done)) == (0, (2, 2))
    (long,) = [row for row in responses(tmp_path) if row["left_out_characters"]]
    assert long["status"] == "answered"
    assert "On day 0 she" not in long["messages"]
    assert "On day 99 she" in long["messages"]
