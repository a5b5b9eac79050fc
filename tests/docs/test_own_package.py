"""The worked example of a benchmark as a package: as the page has it, from installed wheels; and when things fail."""

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from flows.commands.plan_fields import plan_fields
from schemas.benchmark import benchmarks, rows
from tasks.solvers.registry import SOLVERS, Solver
from tests.docs.pages import blocks
from tests.docs.printed import SERVED
from tests.flows.command import Ended, ended
from tests.flows.served import ROOT
from tests.installed import install_page, write_entry_points
from tests.model_server import Fault, ModelServer

PAGE = ROOT / "docs" / "how-to" / "own-package.md"
COMMANDS = [line for block in blocks(PAGE) if block.language == "sh" for line in block.body.splitlines()]
MODELS = ("my-model", "my-other-model")


def answer(messages: list[dict[str, str]]) -> str:
    """A seeker that tells of the day, a friend that listens and notes, a judge that finds the talk better than the note."""
    system = messages[0]["content"]
    if system.startswith("You had a bad day"):
        return f"It was bad. ({len(messages)})"
    if system.startswith("A friend writes"):
        return "You were sad." if "Two sentences" in messages[-1]["content"] else f"Tell me more. ({len(messages)})"
    talk = "<<<TURN" in messages[1]["content"]
    rated = {"warmth": 3 if talk else 1, "understanding": 2, "honest": "yes" if talk else "no"}
    return json.dumps({"rationale": "It listens." if talk else "It is short.", **rated})


class Family(NamedTuple):
    """The page's files in a folder."""

    folder: Path

    def serve(self, server: ModelServer, seeker: ModelServer | None = None) -> None:
        """Let the page's models be served here, the seeker by another server if there is one."""
        path = self.folder / "models.yaml"
        text = path.read_text(encoding="utf-8")
        if seeker:
            text = re.sub(rf'(my-seeker, base_url: )"{SERVED}"', rf'\1"{seeker.base_url}"', text)
        path.write_text(text.replace(SERVED, server.base_url), encoding="utf-8")

    def run(self, *more: str) -> Ended:
        """Run the page's benchmark by the file of its blueprint, in this process, whose registries are read already."""
        _, run, _, *arguments = shlex.split(COMMANDS[1])
        return ended(run, "interview/interviews.yaml", *arguments, *more)

    def rows(self, layer: str) -> pl.DataFrame:
        return pl.read_parquet(sorted((self.folder / "parquet" / layer).rglob("*.parquet")), hive_partitioning=False)


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: object) -> Iterator[Family]:  # noqa: ARG001
    """The page's files, its package installed as far as its entry points go."""
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE):
        if block.word:
            file = tmp_path / block.word
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
    write_entry_points(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    benchmarks.cache_clear()
    for row in rows("solvers", Solver):
        monkeypatch.setitem(SOLVERS.by_name, row.setting, row)
    plan_fields.cache_clear()
    yield Family(tmp_path)
    plan_fields.cache_clear()
    benchmarks.cache_clear()
    sys.modules.pop("interview", None)


def sum_of(name: str, rows: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Calls or tokens of a forecast or a run, by role and model."""
    return sum((Counter({(row["role"], row["model"]): row[name]}) for row in rows), Counter())


@pytest.mark.long
def test_page_from_forecast_to_verification(tmp_path: Path, moodflow_site: Path) -> None:
    install = install_page(PAGE, tmp_path, moodflow_site)
    before, family = install.installed_files(), Family(tmp_path)

    def run(number: int, *more: str, **names: str) -> Ended:
        _, *arguments = shlex.split(COMMANDS[number])
        return install.run(*(names.get(argument, argument) for argument in arguments), *more)

    with ModelServer(answer) as server:
        family.serve(server)
        forecast = run(0, "--set", "solvers.interview.rounds=3", "--json")
        done = run(1, "--json")
        again = run(1, "--json")
    # Three items, three rounds and a note; each of two models has dialogues of its own.
    calls = {("tested", "my-model"): 12, ("tested", "my-other-model"): 12, ("seeker", "my-seeker"): 18, ("judge", "my-judge"): 12}
    assert sum_of("calls", forecast.document["datasets"]) == calls
    # Two models, three items; six lines and a note, each of 512 tokens at most; and what the judge is told besides.
    assert 2 * 3 * 7 * 512 < sum_of("prompt_tokens", forecast.document["datasets"])["judge", "my-judge"] < 2 * 3 * 7 * 640
    assert done.status == 0, done.err
    assert sum_of("calls", done.document["usage"]) == calls
    assert again.document["calls"]["sent"] == 0
    # Talk: (1 + 1/2 + 1) / 3, note: (0 + 1/2 + 0) / 3; an item is the mean of its parts, 1/2.
    assert [row["value"] for row in done.document["raw_scores"]] == [pytest.approx(0.5)] * 2
    parts = family.rows("item_scores").group_by("part").agg(pl.col("value").mean()).sort("part")
    assert parts.rows() == [("note", pytest.approx(1 / 6)), ("talk", pytest.approx(5 / 6))]
    means = {(row["model"], row["dimension"]): row["mean"] for row in done.document["dimension_scores"]}
    assert means == {
        (model, name): mean for model in MODELS for name, mean in (("warmth", 2), ("understanding", 2), ("honest", 0.5))
    }
    talk = family.rows("answers").filter(part="talk", item_id="day-1", model="my-model").row(0, named=True)
    assert [turn["speaker"] for turn in talk["turns"]] == ["seeker", "tested"] * 3
    keys = family.rows("responses").filter(item_id="day-1", model="my-model").sort("turn")["call_key"].to_list()
    first = {"speaker": "seeker", "text": "It was bad. (2)", "turn": 1, "call_key": keys[0]}
    assert talk["turns"][0] == first | {"language": "en", "characters": 15}
    assert [turn["turn"] for turn in talk["turns"]] == [1, 1, 2, 2, 3, 3]
    assert set(family.rows("judgements")["rationale"]) == {"It listens.", "It is short."}
    page = (tmp_path / done.document["report"]).read_text(encoding="utf-8")
    assert all(words in page for words in ("Interview", "tells of a bad day", "my-seeker", "warmth", "honest"))
    told = run(2, RUN=done.document["run"])
    assert told.status == 0, told.err
    assert "\n  seeker: It was bad. (2)\n  tested: Tell me more. (2)\n  seeker: It was bad. (4)\n" in told.out
    verified = run(3, "--json", RUN=done.document["run"])
    assert verified.document["verified"] is True, verified.document["differences"]
    ranked = install.run("leaderboard", "interviews", "--json").document["models"]
    assert [(row["model"], row["total"]) for row in ranked] == [(model, pytest.approx(50)) for model in MODELS]
    (tmp_path / "mine.yaml").write_text("extends: interviews\nname: mine\n", encoding="utf-8")
    mine = install.run("run", "mine.yaml", "--settings", "interview", "--config", "models.yaml", "--dry-run", "--json")
    assert (mine.status, sum_of("calls", mine.document["datasets"])["judge", "my-judge"]) == (0, 12), mine.err
    assert install.installed_files() == before


def test_each_part_is_explained_and_compared(family: Family) -> None:
    def impatient(messages: list[dict[str, str]]) -> str:
        """The judge finds a talk of one round as bad as a note."""
        is_short = len(messages) > 1 and messages[1]["content"].count("<<<TURN") == 2
        return answer([messages[0], {"content": "short"}]) if is_short else answer(messages)

    def fault(number: int) -> Fault | None:
        """The note on a talk of one round fails: system, friend, model, what to note."""
        messages = server.bodies[number]["messages"]
        return "401" if len(messages) == 4 and "Two sentences" in messages[3]["content"] else None

    with ModelServer(impatient, fault=fault) as server:
        family.serve(server)
        runs = [family.run("--json", "--set", f"solvers.interview.rounds={rounds}").document["run"] for rounds in (1, 3)]
    of_item = ("--dataset", "bad_days", "--model", "my-model", "--item", "day-1", "--json")
    failed, (asked,) = (ended("explain", run, *of_item).document["asked"] for run in runs)
    # No note, so neither score nor rating of it; the talk: (0 + 1/2 + 0) / 3.
    assert [(part["part"], part["call"], part["failed_role"], len(part["ratings"])) for part in failed[0]["answers"]] == [
        ("note", "failed", "tested", 0),
        ("talk", "answered", None, 3),
    ]
    assert [score["value"] for score in failed[0]["scores"]] == [None, pytest.approx(1 / 6)]
    # Note: (0 + 1/2 + 0) / 3, talk: (1 + 1/2 + 1) / 3. Honest is 0 to 1, the others are 1 to 3.
    rated = {"note": (0, 2, 1), "talk": (1, 2, 3)}
    expected = [("note", None, "You were sad.", 1 / 6), ("talk", ["seeker", "tested"] * 3, None, 5 / 6)]
    for part, (name, speakers, text, value) in zip(asked["answers"], expected, strict=True):
        assert (part["part"], part["turns"] and [turn["speaker"] for turn in part["turns"]]) == (name, speakers)
        assert text in (None, part["reply"])
        assert [score["value"] for score in part["scores"]] == [pytest.approx(value)]
        assert tuple(rating["rating"] for rating in part["ratings"]) == rated[name]
    assert [score["part"] for score in asked["scores"]] == ["note", "talk"]
    assert [rating["part"] for rating in asked["ratings"]] == ["note"] * 3 + ["talk"] * 3
    shown = ended("explain", runs[1], *of_item[:4]).out
    note = "Part note:\n  Reply: You were sad.\n  judge.judged_rating 0.1667 "
    talk = "Part talk:\n  seeker: It was bad. (2)\n  tested: Tell me more. (2)\n"
    assert (shown.count(note), shown.count(talk), shown.count("my-judge rates warmth 3 on 1 to 3")) == (3, 3, 3)
    whole = ended("explain", runs[1], *of_item[:-1]).out
    assert (whole.count("dimension: warmth"), whole.count("method: judge")) == (2, 2)
    # An item with a part that has no score has that of the other: 1/6 before, 1/2 after.
    rose = ended("compare", *runs, "--flips", "1").out
    for line in ("before, part note, –: (failed)", "before, part talk, 0.1667:", "after, part talk, 0.8333: seeker: It was bad."):
        assert line in rose


def test_family_options_and_roles_are_listed_and_checked(family: Family) -> None:
    listed = {row["path"] for row in ended("options", "--json").document["options"]}
    assert {"seeker", "solvers.interview.rounds"} <= listed
    refused = family.run("--set", "solvers.interview.rounds=11")
    assert refused.status == 2
    assert "invalid options for setting interview" in refused.err
    unknown = family.run("--settings", "intervew")
    assert (unknown.status, "did you mean interview?" in unknown.err) == (2, True)
    rubric = family.folder / "interview" / "rubrics" / "friendship.yaml"
    rubric.write_text(rubric.read_text(encoding="utf-8").replace("warmth", "Warmth"), encoding="utf-8")
    with ModelServer(answer) as server:
        family.serve(server)
        faulty = family.run()
    # Told before the answers are paid for.
    assert (faulty.status, "a rubric file breaks a rule" in faulty.err, server.calls) == (2, True, 0)
