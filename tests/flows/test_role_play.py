"""Role plays as a user runs them: own cards, a scripted seeker, model and judge over HTTP; and a run that is killed ten times."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
import yaml
from prefect.settings import PREFECT_API_AUTH_STRING

from tests.crashes.commands import ROOT, kept_replies, kill, partitions, wait_until
from tests.flows.command import assert_one_message, ended
from tests.flows.scripted_roles import by_hash
from tests.model_server import Fault, ModelServer

pytestmark = pytest.mark.usefixtures("prefect_server")

Messages = list[dict[str, str]]
CARDS = {
    "en": "Age: young\nGender: female\nProblem: number {number} of her exams went badly",
    "zh": "年龄：青年\n性别：男\n问题：第 {number} 次考试没有考好",
}
IN_FLIGHT = 2


def answer(messages: Messages) -> str:
    """What each of the three says follows from all it was shown: another dialogue before it would give another one after it."""
    seen = sha256(json.dumps(messages).encode()).hexdigest()[:8]
    if messages[0]["role"] == "user":
        return f"I hear you, and I think of {seen}."
    if "<<<TURN" in messages[1]["content"]:
        return by_hash(messages)
    return f"你听我说：{seen}" if "人物卡" in messages[0]["content"] else f"I feel bad about {seen}."


def family(folder: Path, server: ModelServer, cards: int) -> tuple[str, ...]:
    """Write a benchmark of own cards in two languages and its models; the command that runs it."""
    datasets = {}
    for language, card in CARDS.items():
        shared = {"language": language, "question_type": "role_play", "question": "?"}
        items = [{"item_id": f"{language}-{n}", "context": card.format(number=n), **shared} for n in range(cards)]
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
        (folder / f"{language}.jsonl").write_text(lines, encoding="utf-8")
        rated = {"id": "judge", "judged": True, "rubric": "mc_stage1", "metrics": [{"metric": "judged_rating"}]}
        datasets[f"cards_{language}"] = {"title": language, "source": {"path": f"{language}.jsonl"}, "methods": [rated]}
    tasks = [{"id": name, "title": name, "level": "high", "datasets": [name]} for name in datasets]
    blueprint = {
        "name": "talks",
        "title": "Talks",
        "version": "1",
        "source": "this test",
        "datasets": datasets,
        "level_rules": [{"weights": {"high": 1}}],
        "abilities": [{"id": "talking", "title": "Talking", "tasks": tasks}],
    }
    (folder / "talks.yaml").write_text(yaml.safe_dump(blueprint, allow_unicode=True), encoding="utf-8")
    served = {"base_url": server.base_url, "concurrency": IN_FLIGHT}
    entries = {name: {"name": name, **served} for name in ("model", "seeker", "judge")}
    config = {"models": [entries.pop("model")], "roles": entries}
    (folder / "models.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return ("run", str(folder / "talks.yaml"), "--config", str(folder / "models.yaml"), "--set", "bootstrap=0", "--json")


def layer(lake: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(sorted((lake / name).rglob("*.parquet")), hive_partitioning=False)


def test_cards_are_played_judged_reported_and_explained(tmp_path: Path) -> None:
    lake = ("--lake", str(tmp_path / "lake"))
    with ModelServer(answer) as server:
        command = (*family(tmp_path, server, 2), *lake)
        unasked = ended(*command)
        assert server.calls == 0
        forecast = ended(*command, "--settings", "role-play", "--dry-run")
        done = ended(*command, "--settings", "role-play")
        shorter = ended(*command, "--settings", "role-play", "--set", "solvers.role_play.turns=2")
        sent = server.calls
    assert_one_message(unasked, "setting base does not ask the items of dataset cards_en", "one of role_play\n")
    assert (done.status, shorter.status) == (0, 0), done.err + shorter.err
    # Two cards in each language, five turns of each, one call of the judge for each dialogue.
    calls = {("model", "tested"): 20, ("seeker", "seeker"): 20, ("judge", "judge"): 4}
    used = Counter[tuple[str, str]]()
    for row in done.document["usage"]:
        used[row["model"], row["role"]] += row["calls"]
    assert used == calls
    english = [row for row in forecast.document["datasets"] if row["dataset"] == "cards_en"]
    expected = {(row["model"], row["role"]): row["calls"] for row in english}
    assert expected == {key: count // 2 for key, count in calls.items()}
    # The instruction says how many turns there are: all of 4 x 2 x 2 lines are new, and as many ratings as dialogues.
    assert sent == 44 + 16 + 4
    answers = layer(tmp_path / "lake", "answers")
    assert sorted(answers["turns"].list.len()) == [4] * 4 + [10] * 4
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert "plays the person of a role card" in page
    assert '<b lang="en">seeker:</b> 你听我说：' in page
    told = ended("explain", done.document["run"], "--dataset", "cards_en", *lake)
    assert told.out.count("\n  seeker: I feel bad about") == 10


def test_a_seeker_that_fails_is_no_regression_of_the_model_it_talks_to(tmp_path: Path) -> None:
    """Of two turns the seeker's second line fails: no dialogue is whole, though the model under test answered every call."""
    lake, failing = tmp_path / "lake", False

    def fault(number: int) -> Fault | None:
        body = server.bodies[number]
        return "401" if failing and body["model"] == "seeker" and len(body["messages"]) > 2 else None

    with ModelServer(answer, fault=fault) as server:
        few = ("--settings", "role-play", "--set", "solvers.role_play.turns=2", "--datasets", "cards_en")
        command = (*family(tmp_path, server, 1), *few, "--lake", str(lake), "--fail-on-regression")
        before = ended(*command)
        for name in ("responses", "journal"):
            shutil.rmtree(lake / name)
        failing = True
        after = ended(*command)
    # One of the two datasets was asked: half of them had a score.
    assert [row["n_scored"] for row in (*before.document["raw_scores"], *after.document["raw_scores"])] == [1, 0]
    assert (after.document["state"], after.document["regressions"]) == ("Completed", [])
    page = Path(after.document["report"]).read_text(encoding="utf-8")
    through = "through failures that are not the model's, but of seeker (seeker)"
    dropped = f"coverage dropped from 50.0 % to 0.0 % of the datasets {through}: no score of cards_en"
    assert dropped in page.replace("&#39;", "'")
    assert dropped in after.err
    assert "nothing scored: 1 failed call of the seeker (seeker)" in page


@pytest.mark.parametrize(
    ("setting", "dataset", "fitting"),
    [("base", "cards_en", "role_play"), ("role_play", "cards_zh", "base"), ("annotate", "cards_en", "role_play")],
)
def test_a_setting_that_does_not_ask_a_dataset_is_told_before_any_call(
    tmp_path: Path, setting: str, dataset: str, fitting: str
) -> None:
    with ModelServer(answer) as server:
        command = (*family(tmp_path, server, 1), "--lake", str(tmp_path / "lake"), "--settings", setting)
        choice = {"item_id": "c", "language": "zh", "question_type": "single_choice", "question": "?"}
        choices = [{**choice, "item_id": f"c{n}", "options": ["x", "y"], "gold_indices": [0]} for n in range(9)]
        (tmp_path / "zh.jsonl").write_text("".join(json.dumps(item) + "\n" for item in choices), encoding="utf-8")
        for more in (("--dry-run",), ()):
            refused = ended(*command, *more)
            assert_one_message(refused, f"setting {setting} does not ask", f"dataset {dataset}", f"expected: one of {fitting}\n")
        assert server.calls == 0


def killed(command: list[str], server: ModelServer, goal: int, environment: dict[str, str]) -> None:
    """Start the run, and kill it when the server has got so many calls."""
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: server.calls >= goal, process)
    kill(process)


@pytest.mark.long
def test_dialogues_and_scores_after_ten_kills_are_those_of_an_undisturbed_run(tmp_path: Path, prefect_server: str) -> None:
    environment = {
        **os.environ,
        "PREFECT_API_URL": prefect_server,
        "PREFECT_API_AUTH_STRING": PREFECT_API_AUTH_STRING.value(),
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
    }
    lake, lost, kept = tmp_path / "lake", 0, 0
    with ModelServer(answer, latency_s=0.1) as server:
        command = (*family(tmp_path, server, 12), "--settings", "role-play", "--lake")
        # 24 cards of ten lines: 240 calls, and a rating of each dialogue, 24.
        for goal in (7, 30, 55, 80, 110, 140, 170, 200, 225, 245):
            received = server.calls
            killed([sys.executable, "-m", "tests.crashes.limited", "--", *command, str(lake)], server, goal + lost, environment)
            time.sleep(0.3)  # what a killed process has sent has reached the server by then
            now = kept_replies(lake, tmp_path / "copy")
            # A call that was received and whose reply is not there was in flight, of any of the three models.
            in_flight = (server.calls - received) - (now - kept)
            assert 0 <= in_flight <= 3 * IN_FLIGHT
            kept, lost = now, lost + in_flight
        last = ended(*command, str(lake))
        assert (last.status, server.repeated) == (0, server.calls - 264), last.err
        assert server.repeated <= lost
        whole = ended(*command, str(tmp_path / "whole"))
    assert whole.status == 0, whole.err
    assert last.scores == whole.scores
    # The same dialogues and ratings, row by row.
    assert partitions(lake) == partitions(tmp_path / "whole")
    answers = layer(lake, "answers")
    assert (answers.height, set(answers["turns"].list.len())) == (24, {10})
