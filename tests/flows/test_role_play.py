"""Role plays as a user runs them: own cards, a scripted seeker, model and judge over HTTP; and a run that is killed ten times."""

import json
import subprocess
from collections import Counter
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.crashes.commands import ROOT, kill, wait_until
from tests.flows.command import assert_one_message, ended
from tests.flows.scripted_roles import by_hash
from tests.model_server import ModelServer

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


def killed(command: list[str], server: ModelServer, goal: int, environment: dict[str, str]) -> None:
    """Start the run, and kill it when the server has got so many calls."""
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: server.calls >= goal, process)
    kill(process)
