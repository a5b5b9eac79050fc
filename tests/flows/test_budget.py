"""What a budget is spent on: an item of each dataset before a second of any, with its helpers' and judges' calls."""

import json
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from tasks.models.cost import measure_texts
from tests.flows.command import Ended, ended
from tests.flows.commands.test_bad_input import ITEM, blueprint
from tests.flows.scripted_roles import Messages, by_hash, layer
from tests.model_server import ModelServer

ITEMS = 20
LENGTHS = {"short": 0, "middle": 100, "long": 200, "longest": 300}
"""Characters that an item's text has besides its question."""

DIALECT = {"token_limit": "max_tokens", "unsent": []}
"""Of servers that need no probe, which a budget would pay for."""


class CountingServer(ModelServer):
    """Counts tokens as estimates do, so that what is spent is what was expected."""

    def __init__(self, reply: Any, **more: Any) -> None:
        super().__init__(self._reply, **more)
        self._said, self._prompts = reply, threading.local()

    def _reply(self, messages: list[dict[str, str]]) -> str:
        self._prompts.tokens = round(measure_texts("", [message["content"] for message in messages], judged=False).guessed)
        return str(self._said(messages))

    def choice(self, model: str | None, **more: Any) -> bytes:
        body = json.loads(super().choice(model, **more))
        body["usage"] = {"prompt_tokens": getattr(self._prompts, "tokens", 0), "completion_tokens": 2}
        return json.dumps(body).encode()


def benchmark(folder: Path) -> Path:
    datasets = {}
    for name, length in LENGTHS.items():
        texts = (f"How is {name} {number:02}?{'!' * length}" for number in range(ITEMS))
        item = {**ITEM, "options": ["glad", "sad"], "gold_indices": [1]}
        lines = [json.dumps({**item, "item_id": text[7:20].rstrip("?!"), "question": text}) for text in texts]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        methods = [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]
        datasets[name] = {"title": name, "source": {"path": f"{name}.jsonl"}, "methods": methods}
    tasks = [{"id": name, "title": name, "level": "low", "datasets": [name]} for name in datasets]
    return blueprint(folder, abilities=[{"id": "emotional", "title": "Emotional", "tasks": tasks}], datasets=datasets)


CARDS = {
    "en": "Age: young\nGender: female\nProblem: number {number} of her exams went badly",
    "zh": "年龄：青年\n性别：男\n问题：第 {number} 次考试没有考好",
}


def answer(messages: Messages) -> str:
    """What each of the three says follows from all it was shown: another dialogue before it would give another one after it."""
    seen = sha256(json.dumps(messages).encode()).hexdigest()[:8]
    if messages[0]["role"] == "user":
        return f"I hear you, and I think of {seen}."
    if "<<<TURN" in messages[1]["content"]:
        return by_hash(messages)
    return f"你听我说：{seen}" if "人物卡" in messages[0]["content"] else f"I feel bad about {seen}."


def family(folder: Path, server: ModelServer) -> tuple[str, ...]:
    """Write a benchmark of ten cards in each of two languages and its models; the command that runs it."""
    datasets = {}
    for language, card in CARDS.items():
        shared = {"language": language, "question_type": "role_play", "question": "?"}
        items = [{"item_id": f"{language}-{n}", "context": card.format(number=n), **shared} for n in range(10)]
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
        (folder / f"{language}.jsonl").write_text(lines, encoding="utf-8")
        rated = {"id": "judge", "judged": True, "rubric": "mc_stage1", "metrics": [{"metric": "judged_rating"}]}
        datasets[f"cards_{language}"] = {"title": language, "source": {"path": f"{language}.jsonl"}, "methods": [rated]}
    tasks = [{"id": name, "title": name, "level": "low", "datasets": [name]} for name in datasets]
    talks = blueprint(folder, datasets=datasets, abilities=[{"id": "talking", "title": "Talking", "tasks": tasks}])
    served = {"base_url": server.base_url, "concurrency": 8, "dialect": DIALECT, "sampling": {"max_tokens": 40}}
    entries = {name: {"name": name, **served} for name in ("model", "seeker", "judge")}
    config = {"models": [entries.pop("model")], "roles": entries}
    (folder / "models.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return (str(talks), "--config", str(folder / "models.yaml"), "--set", "bootstrap=0", "--json")


def answered(lake: Path) -> dict[tuple[str, str], int]:
    rows = layer(lake, "answers").group_by("dataset", "model")
    return {(name, model): of.filter(status="answered").height for (name, model), of in rows}


def test_a_tenth_of_the_calls_reaches_every_dataset(tmp_path: Path) -> None:
    own, config, lake = benchmark(tmp_path), tmp_path / "models.yaml", tmp_path / "lake"
    with CountingServer(lambda _: "B") as fast, CountingServer(lambda _: "B", latency_s=0.05) as slow:
        sampling = {"max_tokens": 8}
        models = [
            {"name": name, "base_url": server.base_url, "dialect": DIALECT, "sampling": sampling, "concurrency": 4}
            for name, server in (("fast", fast), ("slow", slow))
        ]
        config.write_text(json.dumps({"models": models}), encoding="utf-8")

        def ask(stage: str, *more: str) -> Ended:
            return ended(stage, own, "--config", config, "--lake", lake, "--set", "bootstrap=0", *more)

        whole = ask("run", "--json", "--dry-run").document
        tokens = sum(row["prompt_tokens"] + row["completion_tokens"] for row in whole["models"])
        told = ask("run", "--budget-tokens", str(tokens // 10))
        part, first = answered(lake), ended("runs", "show", "latest", "--lake", lake, "--json").document
        # The next command finds what the first one paid for, and its own budget is not enough for one call.
        poor = ask("infer", "--json", "--budget-tokens", "1")
        last = ask("run", "--json", "--budget-tokens", str(tokens))
        assert (fast.calls, slow.calls, fast.repeated, slow.repeated) == (80, 80, 0, 0)
    with CountingServer(lambda _: "B") as moved:
        config.write_text(json.dumps({"models": [{**model, "base_url": moved.base_url} for model in models]}), encoding="utf-8")
        anew = ask("run", "--json", "--budget-tokens", str(tokens // 10)).document
    assert part == {(name, model): 2 for name in LENGTHS for model in ("fast", "slow")}
    assert first["calls"] == {"sent": 16, "answered": 16, "from_journal": 0, "failed": 0, "unsent": 144}
    assert (first["state"], first["failures"], first["cost"]["total"]["failed"]) == ("BudgetSpent", [], 0)
    page = Path(first["report"]).read_text(encoding="utf-8")
    assert "<dt>Not sent, the budget was spent</dt><dd>144</dd>" in page
    assert "Failed calls by kind" not in page
    assert "(72 calls not sent)" in page
    line = "144 of 160 calls not sent: the budget was spent. The same command with a larger budget continues."
    assert line in page
    assert (told.status, line in told.out) == (1, True)
    assert "Calls: 16 sent, 16 answered, 0 from the journal, 0 failed, 144 not sent" in told.out
    assert "BudgetSpent: the budget was spent before all calls were sent" in told.out
    assert "Failed calls" not in told.out
    found = {"sent": 0, "answered": 0, "from_journal": 16, "failed": 0, "unsent": 144}
    assert (poor.status, poor.document["calls"]) == (1, found)
    assert (last.status, last.document["state"], last.document["calls"]["unsent"]) == (0, "Completed", 0)
    assert [row["n_scored"] for row in last.document["raw_scores"]] == [ITEMS] * 8
    # Beside that run, at another address, 2 of 20 items are scored: what the budget took away is no regression.
    assert (anew["state"], anew["previous"], anew["regressions"]) == ("BudgetSpent", last.document["run"], [])


def test_helper_and_judge_calls_belong_to_items(tmp_path: Path) -> None:
    with CountingServer(answer) as server:
        command = family(tmp_path, server)
        more = ("--settings", "role-play", "--set", "solvers.role_play.turns=2")
        few = (*command, *more, "--set", "sample=2", "--lake", str(tmp_path / "whole"))
        _, whole = (ended(stage, *few).document for stage in ("build", "infer"))
        tokens = sum(row["paid_prompt_tokens"] + row["paid_completion_tokens"] for row in whole["usage"])
        # A little more than a tenth of 20 dialogues: each has two lines of both and a judge's call.
        done = ended("run", *command, *more, "--lake", tmp_path / "lake", "--budget-tokens", str(int(0.55 * tokens)))
    used = {(row["dataset"], row["role"]): row["sent"] for row in done.document["usage"]}
    scored = {row["dataset"]: (row["n_scored"], row["n_total"]) for row in done.document["raw_scores"]}
    assert (done.status, done.document["state"]) == (1, "BudgetSpent")
    assert scored == {"cards_en": (1, 10), "cards_zh": (1, 10)}
    assert [used[f"cards_{language}", "judge"] for language in ("en", "zh")] == [1, 1]
