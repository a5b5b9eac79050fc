"""What a run would take, said without a call to a model."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer

DATASETS = ("mini_user_safety", "mini_summarization")
PRICES = """
currency: EUR
prices:
  - {model: "scripted", input_per_million: 2.5, output_per_million: 10, as_of: 2026-01-31, source: a test}
  - {model: "rater", input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}
  - {model: "unused", input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}
"""


def ask(stage: str, url: str, folder: Path, *more: str, priced: bool = True) -> Ended:
    model = ("--model", "scripted", "--base-url", url, "--judge", "rater", "--judge-base-url", url)
    names = ("--datasets", ",".join(DATASETS), "--set", "bootstrap=0")
    table = folder / "prices.yaml"
    table.write_text(PRICES, encoding="utf-8")
    prices = ("--set", f"prices={table}") if priced else ()
    return ended(stage, "moodbench-mini", *names, *model, "--lake", folder / "lake", *prices, *more)


COUNTS = ("dataset", "model", "role", "calls", "in_journal", "stored", "upper_bound")
TESTED, JUDGED, SAFETY = (
    ("mini_summarization", "scripted", "tested"),
    ("mini_summarization", "rater", "judge"),
    ("mini_user_safety", "scripted", "tested"),
)


def counts(document: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {tuple(row[name] for name in COUNTS) for row in document["datasets"]}


def test_before_between_and_after(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with ModelServer(policy(DATASETS, "gold")) as server:
        before = ask("run", server.base_url, tmp_path, "--dry-run", "--json")
        assert server.calls == 0
        assert not (lake / "runs").exists()
        ask("infer", server.base_url, tmp_path)
        asked = server.calls
        after = ask("infer", server.base_url, tmp_path, "--dry-run", "--json")
        shutil.rmtree(lake / "responses" / "dataset=mini_user_safety")
        shutil.rmtree(lake / "judgements")
        between = ask("run", server.base_url, tmp_path, "--dry-run", "--json")
        more = ask("run", server.base_url, tmp_path, "--dry-run", "--repeat", "2", "--json").document
        assert server.calls == asked
    assert [done.status for done in (before, after, between)] == [0, 0, 0]
    assert counts(before.document) == {(*TESTED, 8, 0, 0, False), (*JUDGED, 8, 0, 0, True), (*SAFETY, 8, 0, 0, False)}
    assert counts(after.document) == {(*TESTED, 0, 0, 8, False), (*JUDGED, 0, 0, 8, False), (*SAFETY, 0, 0, 8, False)}
    # Answers that are stored are judged by calls that are known, so these are found in the journal too.
    assert counts(between.document) == {(*TESTED, 0, 0, 8, False), (*JUDGED, 0, 8, 0, False), (*SAFETY, 0, 8, 0, False)}
    assert (after.document["total"]["cost"], between.document["total"]["cost"]) == (0, 0)
    # The second time is asked by calls of their own; the first is paid for.
    assert counts(more) == {(*TESTED, 8, 8, 0, False), (*JUDGED, 16, 0, 0, True), (*SAFETY, 8, 8, 0, False)}
    assert_estimates(before.document, more)


def assert_estimates(before: dict[str, Any], more: dict[str, Any]) -> None:
    """Guesses at first, then means of stored replies: 2 tokens each."""
    models = {(row["model"], row["role"]): row for row in before["models"]}
    # 16 replies of 512 / 4 tokens; 8 of the judge.
    assert [models[key]["completion_tokens"] for key in (("scripted", "tested"), ("rater", "judge"))] == [2048, 1024]
    tested = models["scripted", "tested"]
    assert tested["basis"].startswith("guessed: 4 characters per token")
    assert tested["cost"] == pytest.approx((tested["prompt_tokens"] * 2.5 + 2048 * 10) / 1e6)
    later = {(row["model"], row["role"]): row for row in more["models"]}
    # The replies of one of the two datasets are still in the lake.
    assert later["scripted", "tested"]["basis"] == "mean of 8 stored replies of the model"
    assert later["scripted", "tested"]["completion_tokens"] == 16 * 2
    # The stored prompts have 11 tokens each, so those of the same texts are expected to have 8 x 11.
    (again,) = [row for row in more["datasets"] if (row["dataset"], row["role"]) == ("mini_summarization", "tested")]
    assert again["prompt_tokens"] == pytest.approx(88, abs=1)


def test_a_terminal_shows_the_basis_of_a_forecast(tmp_path: Path) -> None:
    done = ask("run", "http://127.0.0.1:9/v1", tmp_path, "--dry-run", "--budget-tokens", "100")
    assert done.status == 0
    assert "≤ 8" in done.out
    assert "Calls of the judge are an upper bound" in done.out
    assert "more than the budget of 100 tokens" in done.out
    assert "scripted (tested): guessed: 4 characters per token" in done.out


def test_plan_by_batch_is_forecast_at_its_price(tmp_path: Path) -> None:
    def forecast(*more: str) -> dict[str, Any]:
        table = tmp_path / "batches.yaml"
        table.write_text(
            PRICES.replace("output_per_million: 10,", "output_per_million: 10, batch_factor: 0.5,"), encoding="utf-8"
        )
        done = ask("run", server.base_url, tmp_path, "--dry-run", "--json", "--set", f"prices={table}", *more, priced=False)
        return {row["role"]: row["cost"] for row in done.document["models"]}

    with ModelServer(policy(DATASETS, "gold")) as server:
        live, batch = forecast(), forecast("--set", "batch=true")
    assert live["tested"] > 0
    assert batch["tested"] == pytest.approx(live["tested"] / 2)
    # The judge's entry has no price of batches.
    assert (live["judge"] > 0, batch["judge"]) == (True, None)
