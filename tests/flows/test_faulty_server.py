"""A whole run against a server that fails in every way that is over at once; see tests/faults for the others."""

from dataclasses import replace
from pathlib import Path

import pytest

from tasks.models.http import client as limits
from tasks.models.http.failures import RETRIES
from tests.faults.faulty import KINDS, derived, one_in
from tests.flows.command import Ended, ended
from tests.flows.scripted import Policy, policy
from tests.flows.scripted_roles import layer
from tests.model_server import Fault, ModelServer

DATASETS = ("mini_user_safety", "mini_text_matching")
MOST_RUNS = 12
FIRST_CALLS = 16


def half_right() -> Policy:
    """A model whose score is neither 0 nor 1, so that a reply that goes astray shows."""
    gold, wrong = policy(DATASETS, "gold"), policy(DATASETS, "wrong")

    def reply(messages: list[dict[str, str]]) -> str:
        return (gold if int(derived(messages[-1]["content"]), 16) % 2 else wrong)(messages)

    return reply


def evaluate(server: ModelServer, lake: Path) -> Ended:
    model = ("--model", "scripted", "--base-url", server.base_url)
    what = ("moodbench-mini", "--datasets", ",".join(DATASETS), "--set", "bootstrap=0")
    return ended("run", *what, *model, "--lake", lake, "--json")


def failures(lake: Path) -> list[str]:
    return layer(lake, "responses")["failure"].drop_nulls().to_list()


@pytest.mark.usefixtures("prefect_server")
def test_scores_are_those_of_the_run_without_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = {failure: replace(retry, first_delay_s=0.0, longest_delay_s=0.0) for failure, retry in RETRIES.items()}
    monkeypatch.setattr(limits, "RETRIES", at_once)
    quick = [fault for fault in KINDS if fault not in {"slow", "drip", "wrong_model"}]
    model = half_right()
    with ModelServer(model) as server:
        faultless = evaluate(server, tmp_path / "faultless")
    assert (faultless.status, failures(tmp_path / "faultless")) == (0, [])

    def fault(number: int) -> Fault | None:
        # Every second call of the first run, since there are few items.
        return one_in(2 if number < FIRST_CALLS else 10, quick, number)

    with ModelServer(model, fault=fault) as server:
        for number in range(MOST_RUNS):
            done = evaluate(server, tmp_path / "faulty")
            assert number > 0 or (done.status == 1 and failures(tmp_path / "faulty"))
            if done.status == 0:
                break
    assert done.status == 0
    scores = done.document["raw_scores"]
    assert scores == faultless.document["raw_scores"]
    assert 0 < sum(row["value"] for row in scores) < len(scores)
