"""`moodflow run --vary`: ordinary runs of a plan's variants, and a comparison of each with the first."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from flows.commands.plan_options import PlanOptions
from flows.commands.vary import read_variants, within_budget
from schemas.plan import Plan
from schemas.usage import Amounts
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.scripted_roles import LONG_MINI, Messages, core
from tests.model_server import ModelServer

QA = "long_mini_qa"
SERVER = ("--model", "core", "--base-url", "http://localhost:9/v1")


@contextmanager
def fickle(lake: Path) -> Iterator[ModelServer]:
    gold, wrong = core(lake, "gold"), core(lake, "wrong")

    def reply(messages: Messages) -> str:
        drawn = int(sha256(messages[-1]["content"].encode()).hexdigest(), 16) % 2
        return (gold if drawn else wrong)(messages)

    with ModelServer(reply) as server:
        yield server


def run(server: ModelServer, lake: Path, *more: str) -> Ended:
    model = ("--model", "core", "--base-url", server.base_url, "--settings", "rag", "--datasets", QA)
    done = ended("run", LONG_MINI, *model, "--set", "retrieval.ranking=bm25", "--set", "bootstrap=20", "--lake", lake, *more)
    assert done.status == 0, done.err
    return done


def score_of(document: dict[str, Any]) -> float:
    (row,) = document["raw_scores"]
    return float(row["value"])


@pytest.mark.long
def test_variants_score_as_single_runs_do(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    grid = [(size, count) for size in ("64", "128") for count in ("1", "2")]
    varied = ("--vary", "retrieval.chunk_tokens=64,128", "--vary", "retrieval.top_k=1,2")
    with fickle(lake) as server:
        document = run(server, lake, *varied, "--json").document
        made = server.calls
        shown = run(server, lake, *varied).out
        single = [
            score_of(
                run(
                    server, lake, "--set", f"retrieval.chunk_tokens={size}", "--set", f"retrieval.top_k={count}", "--json"
                ).document
            )
            for size, count in grid
        ]
        # Neither the second time nor the single runs ask anything that was not asked.
        assert server.calls == made == 4 * 4
    documents = [document, *document["more"]]
    assert [score_of(one) for one in documents] == single
    assert len(set(single)) > 1
    names = [f"retrieval.chunk_tokens={size}, retrieval.top_k={count}" for size, count in grid]
    assert document["variants"] == dict(zip(names, (one["run"] for one in documents), strict=True))
    pairs = [(one["before"], one["after"]) for one in document["comparisons"]]
    assert pairs == [(document["run"], other["run"]) for other in documents[1:]]
    for comparison, score in zip(document["comparisons"], single[1:], strict=True):
        (change,) = (row for row in comparison["models"][0]["common"] if row["kind"] == "dataset")
        assert change["difference"] == pytest.approx(100 * (score - single[0]))
    assert f"core (RAG): each variant beside {names[0]}" in shown
    # Of each: the mean of what was scored, the ability and the dataset.
    assert [shown.count(name) for name in names[1:]] == [3] * 3
    # The leaderboard ranks each of them in a group of its own: they retrieve differently.
    board = ended("leaderboard", LONG_MINI, "--lake", lake, "--json").document["models"]
    assert [(row["setting"], row["group"]) for row in board] == [("rag", number) for number in range(1, 5)]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--vary", "overlap=1,2"), ("unknown field overlap", "where: --vary")),
        (("--vary", "retrieval.top_k=1,many"), ("where: retrieval.top_k", "got: many")),
        (("--vary", "retrieval.top_k=1"), ("--vary cannot be read", "got: retrieval.top_k=1\n")),
        (("--vary", "retrieval.top_k=all"), ("--vary cannot be read", "got: retrieval.top_k=all\n")),
        (("--vary", "benchmark=moodbench-mini,longemotion-mini"), ("--vary cannot be read", "other than the benchmark")),
        (("--vary", "seed=1,2", "--vary", "seed=3,4"), ("--vary cannot be read", "two different fields")),
        (("--vary", "seed=1,2", "--vary", "sample=3,4", "--vary", "repeat=1,2"), ("--vary cannot be read",)),
        (("--vary", "retrieval.top_k=1,2"), ("varying retrieval.top_k has no effect on this plan", "retrieval.top_k=1 as")),
        (("--vary", "concurrency=1,2"), ("unknown field concurrency",)),
        (("--vary", "models.concurrency=1,2"), ("varying models.concurrency has no effect on this plan",)),
        (("--vary", "seed=1,2", "--dry-run"), ("moodflow run --dry-run yields no scores", "leave --vary out")),
        (
            ("--settings", "rag", "--vary", "retrieval.embedder=minilm,nobody/no-such-model"),
            ("was not found", "nobody/no-such-model"),
        ),
    ],
)
def test_what_cannot_be_varied_is_refused(tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_one_message(ended("run", LONG_MINI, *SERVER, "--datasets", QA, *arguments, "--lake", tmp_path), *parts)
    assert list(tmp_path.iterdir()) == []


def test_commas_in_brackets_are_part_of_a_value(tmp_path: Path) -> None:
    options = PlanOptions(model=["core"], base_url="http://localhost:9/v1", datasets=QA, lake=tmp_path)
    lengths = [4000, 8000]
    variants = read_variants(LONG_MINI, options, [f"contexts.lengths={lengths},[16000]", "seed=1,2"])
    assert [(plan.contexts.lengths, plan.seed) for plan in variants.values()] == [
        *(((4000, 8000), seed) for seed in (1, 2)),
        *(((16000,), seed) for seed in (1, 2)),
    ]
    assert next(iter(variants)) == ("contexts.lengths=[4000, 8000]", "seed=1")


@pytest.mark.parametrize("stage", ["build", "infer", "score", "report"])
def test_one_stage_alone_has_no_variants(tmp_path: Path, stage: str) -> None:
    done = ended(stage, LONG_MINI, *SERVER, "--vary", "seed=1,2", "--lake", tmp_path)
    assert_one_message(done, f"moodflow {stage} yields no scores of variants", "expected: moodflow run")


def test_variants_share_one_budget(tmp_path: Path) -> None:
    entry = "{model: core, input_per_million: 1000, output_per_million: 1000, as_of: 2026-01-31, source: a test}"
    (tmp_path / "prices.yaml").write_text(f"currency: USD\nprices: [{entry}]\n")
    model = {"name": "core", "base_url": "http://localhost:9/v1"}
    plan = Plan.model_validate({"benchmark": LONG_MINI, "models": [model], "lake": tmp_path})
    whole = plan.model_copy(update={"budget": 1, "budget_tokens": 1500, "prices": tmp_path / "prices.yaml"})
    paid = Amounts(paid_prompt_tokens=600, paid_completion_tokens=100, paid_cost=0.7)
    once, spent = within_budget(whole, [paid]), within_budget(whole, [paid] * 3)
    assert (once.budget_tokens, spent.budget_tokens) == (800, 1)
    assert [once.budget, spent.budget] == pytest.approx([0.3, 0], abs=1e-6)
    assert within_budget(plan, [paid]) == plan
