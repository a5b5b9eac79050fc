"""`moodflow ablate`: what it finds under each variant is what a run with the same options finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import LONG_MINI, Messages, core, layer
from tests.model_server import ModelServer

QA = "long_mini_qa"
ON_QA = ("--settings", "rag", "--datasets", QA)

pytestmark = pytest.mark.usefixtures("prefect_server")


@contextmanager
def fickle(lake: Path) -> Iterator[ModelServer]:
    """A model whose answer is right or wrong as the prompt's text has it: other prompts, other scores."""
    gold, wrong = core(lake, "gold"), core(lake, "wrong")

    def reply(messages: Messages) -> str:
        drawn = int(sha256(messages[-1]["content"].encode()).hexdigest(), 16) % 2
        return (gold if drawn else wrong)(messages)

    with ModelServer(reply) as server:
        yield server


def options(server: ModelServer, lake: Path, *more: str) -> tuple[str | Path, ...]:
    model = ("--model", "core", "--base-url", server.base_url)
    return (*model, "--set", "retrieval.ranking=bm25", "--lake", lake, "--set", "bootstrap=20", "--json", *more)


def single(server: ModelServer, lake: Path, *more: str, benchmark: str = LONG_MINI) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Scores of an ordinary run, on 0-100, by dataset and metric."""
    run = ended("run", benchmark, *options(server, lake, *more))
    assert run.status == 0, run.err
    return {(row["dataset"], row["metric"]): scaled(row, row["value"], 100) for row in run.document["raw_scores"]}


def scaled(row: dict[str, Any], value: float, factor: float) -> tuple[Any, ...]:
    """A score with its interval, both times `factor`, and its counts; rounded."""
    limits = (None if row[name] is None else round(factor * row[name], 6) for name in ("ci_low", "ci_high"))
    return (round(factor * value, 6), *limits, row["n_scored"], row["n_total"])


def variants(ablation: Ended) -> dict[str, dict[tuple[str, str], tuple[Any, ...]]]:
    found: dict[str, dict[tuple[str, str], tuple[Any, ...]]] = {}
    for row in ablation.document["rows"]:
        found.setdefault(row["variant"], {})[row["dataset"], row["metric"]] = scaled(row, row["value_0_100"], 1)
    return found


@pytest.mark.long
def test_a_grid_finds_what_single_runs_find(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with fickle(lake) as server:
        varied = ("--vary", "chunk_tokens=64,128", "--vary", "top_k=1,2")
        first = ended("ablate", "retrieval", LONG_MINI, *options(server, lake, "--datasets", QA, *varied))
        assert first.status == 0, first.err
        made = server.calls
        again = ended("ablate", "retrieval", LONG_MINI, *options(server, lake, "--datasets", QA, *varied))
        found = {
            f"chunk_tokens {size}, top_k {count}": single(
                server, lake, *ON_QA, "--set", f"retrieval.chunk_tokens={size}", "--set", f"retrieval.top_k={count}"
            )
            for size in ("64", "128")
            for count in ("1", "2")
        }
        # Neither the second time nor the single runs ask anything that was not asked.
        assert server.calls == made == 4 * 4
    assert variants(first) == variants(again) == found
    assert len({values[QA, "qa_f1"][0] for values in found.values()}) > 1
    assert again.document["calls"]["sent"] == 0
    rows = layer(lake, "ablations")
    assert rows.height == 4
    assert set(rows.select("factor", "x", "x_value", "second_factor", "y", "y_value").iter_rows()) == {
        ("chunk_tokens", size, float(size), "top_k", count, float(count)) for size in ("64", "128") for count in ("1", "2")
    }
    assert_shown(lake, first)


def assert_shown(lake: Path, ablation: Ended) -> None:
    """The commands that read cope with a lake that has ablations beside runs."""
    document = ablation.document
    report = Path(document["report"]).read_text(encoding="utf-8")
    assert report.startswith(f"# retrieval: {document['benchmark']}\n")
    # A row per variant, below the head and the line under it.
    lines = [line for line in report.splitlines() if line.startswith("|")]
    assert [line.split("|")[1].strip().replace("\\", "") for line in lines[2:]] == [
        f"chunk_tokens {size}, top_k {count}" for size in ("64", "128") for count in ("1", "2")
    ]
    rewritten = ended("runs", "report", document["run"], "--lake", lake, "--json").document
    assert (rewritten["report"], rewritten["intact"]) == (document["report"], True)
    shown = ended("runs", "show", document["run"], "--lake", lake, "--json").document
    assert (shown["rows"], shown["ablation"]) == (document["rows"], document["ablation"])
    assert ended("runs", "show", document["run"], "--lake", lake).status == 0
    listed = ended("runs", "list", "--lake", lake, "--json").document["runs"]
    assert {row["run"] for row in listed} >= {document["run"]}
    assert len(listed) == 2 + 4
    # The leaderboard ranks runs alone, each of them in a group of its own: they retrieve differently.
    board = ended("leaderboard", LONG_MINI, "--lake", lake, "--json").document["models"]
    assert [(row["setting"], row["group"]) for row in board] == [("rag", number) for number in range(1, 5)]
    assert {row["run"] for row in board} == {row["run"] for row in listed if not row["run"].endswith("-retrieval")}
    one = ended("leaderboard", LONG_MINI, "--lake", lake, "--run", document["run"], "--json")
    assert one.status == 2
    assert one.err.startswith("Error: ")
