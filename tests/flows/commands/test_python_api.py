"""The module `moodflow`: what commands do, from Python."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml

import moodflow
from flows.commands import python_api
from flows.commands.plan_options import PlanOptions, read_plan
from schemas.documents.explanation import RowsExplanation
from schemas.errors import UsageError
from schemas.plan import Plan
from tests.flows.commands.past_runs import DATASETS, PastRuns
from tests.model_server import ModelServer

GOLD = {"listening": "BBBA", "irony": "BAAA"}
"""Letters of the right options: a model that says B earns 75 and 25 on 0-100, together 50."""


def write_moods(folder: Path) -> Path:
    """A benchmark of two datasets with four items each, of the same weight."""
    for name, gold in GOLD.items():
        items = [
            {
                "item_id": f"{name}-{number}",
                "language": "en",
                "question_type": "single_choice",
                "context": None,
                "question": f"Question {number} about {name}?",
                "options": ["this", "that"],
                "gold_indices": ["AB".index(letter)],
                "references": None,
                "option_points": None,
            }
            for number, letter in enumerate(gold)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    methods = [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]
    blueprint = {
        "name": "moods",
        "title": "Moods & more",
        "version": "1.0",
        "source": "tests",
        "level_rules": [{"weights": {"low": 1}}],
        "abilities": [
            {
                "id": f"{name}_well",
                "title": f"<{name}> well",
                "weight": 0.5,
                "tasks": [{"id": f"{name}_task", "title": name, "level": "low", "datasets": [name]}],
            }
            for name in GOLD
        ],
        "datasets": {name: {"title": name, "source": {"path": f"{name}.jsonl"}, "methods": methods} for name in GOLD},
    }
    file = folder / "moods.yaml"
    file.write_text(yaml.safe_dump(blueprint), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def says_b() -> Iterator[ModelServer]:
    with ModelServer(lambda _messages: "B") as server:
        yield server


@pytest.fixture(scope="module")
def moods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_moods(tmp_path_factory.mktemp("moods"))


async def evaluate(moods: Path, server: ModelServer) -> moodflow.Run:
    """Evaluate where an event loop is running, as in a notebook."""
    return moodflow.evaluate(moods, model="m", base_url=server.base_url, lake=moods.parent / "lake", bootstrap=20)


@pytest.fixture(scope="module")
def evaluated(moods: Path, says_b: ModelServer, prefect_server: str) -> moodflow.Run:  # noqa: ARG001
    """The only run of its lake, which made eight calls and printed nothing."""
    before, out = says_b.calls, StringIO()
    with redirect_stdout(out):
        run = asyncio.run(evaluate(moods, says_b))
    assert (says_b.calls - before, out.getvalue()) == (8, "")
    return run


def test_evaluate_returns_the_scored_run(moods: Path, evaluated: moodflow.Run, says_b: ModelServer, tmp_path: Path) -> None:
    run = evaluated
    assert run.total == pytest.approx(50.0)
    scores = run.scores()
    rows = [(row["kind"], row["id"], row["score"]) for row in scores.filter(kind="ability").iter_rows(named=True)]
    assert rows == [("ability", "listening_well", 75.0), ("ability", "irony_well", 25.0)]
    assert scores.filter(dataset="irony", kind="metric")["raw"].to_list() == [0.25]
    assert dict(scores.group_by("kind").len().iter_rows()) == {
        **dict.fromkeys(("total", "total_before_veto"), 1),
        **dict.fromkeys(("ability", "level", "task", "dataset", "metric"), 2),
    }
    items = run.items().filter(dataset="irony")
    places = {(run.name, "irony_well", "irony_task", "irony", "m", "base")}
    assert set(items.select("run", "ability", "task", "dataset", "model", "setting").iter_rows()) == places
    assert items.select("item_id", "question", "value").row(0) == ("irony-0", "Question 0 about irony?", 1.0)
    assert run.answers()["text"].to_list() == ["B"] * 8
    assert run.ratings().is_empty()
    assert run.tidy()["value"].sum() == 4.0
    assert moodflow.run(lake=moods.parent / "lake").name == run.name
    calls, lake = says_b.calls, copytree(moods.parent / "lake", tmp_path / "lake")
    again = moodflow.evaluate(moods, model="m", base_url=says_b.base_url, lake=lake, bootstrap=20)
    assert (says_b.calls, again.total) == (calls, run.total)


def test_notebook_shows_a_run_and_the_list(moods: Path, evaluated: moodflow.Run, tmp_path: Path) -> None:
    run = evaluated
    shown = run._repr_html_()
    assert run.document.models[0].headline in repr(run)
    assert "<p>m scores 50.0 of 100 " in shown
    assert "&lt;listening&gt; well" in shown
    assert "75.0" in shown
    listed = moodflow.runs(moods.parent / "lake")
    assert [each.name for each in listed] == [run.name]
    assert "moods" in listed._repr_html_()
    assert Path(str(run.report())).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run.figure() in shown
    assert run.figure("abilities", to=tmp_path / "abilities.png")._repr_svg_().startswith("<svg ")
    assert (tmp_path / "abilities.png").read_bytes().startswith(b"\x89PNG")
    written = run.report(tmp_path / "elsewhere")
    assert written == tmp_path / "elsewhere" / "report.html"
    assert "Moods &amp; more" in Path(str(written)).read_text(encoding="utf-8")


def test_runs_are_compared_and_explained(runs: PastRuns) -> None:
    before, after = moodflow.run(runs.before, runs.lake), moodflow.run("latest", runs.lake)
    compared = after.compare(before)
    assert (compared.before, compared.after) == (runs.before, runs.after)
    assert after.compare("latest~1") == compared
    explained = after.explain(dataset="mini_irony_detection", worst=2)
    assert isinstance(explained, RowsExplanation)
    assert (explained.id, len(explained.rows)) == ("mini_irony_detection", 2)
    assert set(before.ratings()["rating"]) == {5}
    assert set(before.items()["dataset"]) == set(DATASETS)


def test_several_totals_are_refused(moods: Path, says_b: ModelServer, tmp_path: Path) -> None:
    run = moodflow.evaluate(moods, model=["m", "n"], base_url=says_b.base_url, lake=tmp_path / "lake", bootstrap=0)
    with pytest.raises(moodflow.MoodflowError) as error:
        _ = run.total
    assert (error.value.what, error.value.got) == ("the run has 2 totals", "m, n")


OPTIONS = PlanOptions(
    model=["m"],
    base_url="http://localhost:1/v1",
    judge=["j"],
    judge_base_url="http://localhost:2/v1",
    datasets="mini_eq_test,mini_text_matching",
    sample=3,
    temperature=0.5,
    set=["retrieval.top_k=8", "judge.api_key_env=KEY", "profile=reference"],
)
ARGUMENTS = {
    "model": "m",
    "base_url": "http://localhost:1/v1",
    "judge": "j",
    "judge_base_url": "http://localhost:2/v1",
    "datasets": ["mini_eq_test", "mini_text_matching"],
    "sample": 3,
    "temperature": 0.5,
    "retrieval": {"top_k": 8},
    "judge.api_key_env": "KEY",
    "profile": "reference",
}


def test_arguments_are_those_of_the_command() -> None:
    plan = read_plan("moodbench-mini", OPTIONS)
    assert python_api.read_arguments("moodbench-mini", ARGUMENTS) == plan
    assert python_api.read_arguments(plan, {}) == plan
    assert python_api.read_arguments(plan.model_dump(mode="json"), {"sample": 4}) == plan.model_copy(update={"sample": 4})
    roles = {"judge": "j@http://localhost:2/v1", "panel": [{"name": "k", "base_url": "http://localhost:3/v1"}]}
    stated: Plan = python_api.read_arguments("moodbench-mini", {"model": "smollm2", "roles": roles})
    assert [entry.name for entry in stated.named("judge", "panel")] == ["j", "k"]


@pytest.mark.parametrize(
    ("arguments", "what", "where"),
    [
        ({"model": "smollm2", "sampel": 3}, "unknown field sampel", "the arguments"),
        ({"model": "smollm2", "sample": "many"}, "invalid option: Input should be a valid integer", "sample"),
        ({}, "no model given", "--model"),
        ({"model": "smollm2", "datasets": "mini_eq_tset"}, "benchmark moodbench-mini has no dataset mini_eq_tset", "--datasets"),
    ],
)
def test_wrong_arguments_are_told_by_field(arguments: dict[str, Any], what: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        moodflow.evaluate("moodbench-mini", lake=tmp_path, **arguments)
    assert error.value.what.startswith(what)
    assert (error.value.where, bool(error.value.next_step)) == (where, True)
