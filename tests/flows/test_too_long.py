"""Items longer than the model's context: refused, shortened as benchmark or command line say, or cut by the server unasked."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import Ended, ask_all, ended
from tests.flows.commands.test_bad_input import ITEM, blueprint
from tests.flows.scripted_roles import layer
from tests.probed_server import CuttingContext, ProbedServer, Side, SmallContext

STORY = " ".join(f"On day {number} she wrote to a friend." for number in range(100))
"""800 words; the server takes 700, and the reply's 512 are counted with them."""

HOME = "home " * 12_000
ENLARGE = "enlarge the context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; vLLM: --max-model-len; llama.cpp: -c), then run again"


def options(server: ProbedServer, folder: Path, text: str, *more: str, too_long: str | None = None) -> tuple[str | Path, ...]:
    """Of a run that asks about two items, one with this text and one with none."""
    items = [{**ITEM, "item_id": name, "context": of, "gold_indices": [1]} for name, of in (("long", text), ("short", None))]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    model = ("--model", "scripted", "--base-url", server.base_url, "--set", "bootstrap=0")
    return (blueprint(folder, too_long=too_long), *model, "--lake", folder / "lake", *more, "--json")


def responses(folder: Path) -> list[dict[str, Any]]:
    return layer(folder / "lake", "responses").sort("item_id").to_dicts()


def counted(done: Ended) -> tuple[int, int, int, float]:
    (score,) = done.document["raw_scores"]
    return done.status, score["n_scored"], score["n_total"], score["value"]


def asked(server: SmallContext) -> int:
    return sum("crying friend" in prompt for prompt in server.prompts)


def test_a_benchmark_has_it_shortened(tmp_path: Path) -> None:
    with SmallContext(700) as server:
        shortening = options(server, tmp_path, STORY, too_long="cut_middle")
        done = ended("run", *shortening)
        calls = asked(server)
        again = ended("infer", *shortening)
        # A complete partition is not asked again.
        assert asked(server) == calls >= 3
    assert (counted(done), again.status) == ((0, 2, 2, 1.0), 0)
    long, short = responses(tmp_path)
    # One row per item: the refused tries are no turns of it.
    assert [(row["turn"], row["status"]) for row in (long, short)] == [(0, "answered"), (0, "answered")]
    assert 0 == short["left_out_characters"] < long["left_out_characters"] < len(STORY)
    assert all(words in long["messages"] for words in ("On day 0 she", "[Part of the text is left out here.]", "On day 99 she"))


def test_the_command_line_wins_over_the_benchmark(tmp_path: Path) -> None:
    with SmallContext(700) as server:
        as_it_is = ask_all(*options(server, tmp_path, STORY, too_long="missing"))
        assert (as_it_is.status, asked(server)) == (1, 2)
        assert [row["failure"] for row in responses(tmp_path)] == ["context_too_long", None]
        done = ask_all(*options(server, tmp_path, STORY, "--set", "too_long=cut_start", too_long="missing"))
    assert done.status == 0
    (long,) = [row for row in responses(tmp_path) if row["left_out_characters"]]
    assert (long["status"], "On day 0 she" in long["messages"], "On day 99 she" in long["messages"]) == ("answered", False, True)


@pytest.mark.parametrize(
    ("window", "side"),
    [(4096, "end"), *(pytest.param(*each, marks=pytest.mark.long) for each in ((2048, "front"), (8192, "middle")))],
)
def test_a_cut_item_is_missing_until_whole(tmp_path: Path, window: int, side: Side) -> None:
    with CuttingContext(window, side) as server:
        cutting = options(server, tmp_path, HOME, too_long="cut_middle")
        done = ended("run", *cutting)
        assert [row["failure"] for row in responses(tmp_path)] == ["prompt_cut", None]
        asked = len(server.bodies)
        server.window = 20_000
        again = ended("infer", *cutting)
        assert (again.status, len(server.bodies)) == (0, asked + 1)
    assert counted(done) == (1, 1, 2, 1.0)
    (row,) = done.document["failures"]
    assert (row["calls"], row["next_step"]) == (1, ENLARGE)
    assert row["what"].startswith("prompt_cut: the server read only part of the prompt")


def test_where_no_tokens_are_counted_this_is_told(tmp_path: Path) -> None:
    with CuttingContext(4096, usage=False) as server:
        done = ended("run", *options(server, tmp_path, HOME))
    assert counted(done) == (0, 2, 2, 1.0)
    assert Path(done.document["report"]).read_text(encoding="utf-8").count("so it may have been cut; moodflow models check") == 1
