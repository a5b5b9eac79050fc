"""Models in roles, from the command line to keys, calls, cost and report: another one for a dataset, and an invented role."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.commands.plan_fields import plan_fields
from tasks.benchmarks.longemotion.solvers.asking import say
from tasks.solvers.registry import SOLVERS, Solver
from tasks.solvers.state import AskedItem, PlainOptions, SolverCode, SolverOutput, SolverResources, state_answer
from tests.flows.command import Ended, ask_all, assert_one_message, ended
from tests.flows.scripted_roles import LONG_MINI, READING, core
from tests.model_server import ModelServer

QA, EC = "long_mini_qa", "long_mini_ec_finentity"
SAFETY = "mini_user_safety"
PRICES = """
currency: EUR
prices:
  - {model: "m", input_per_million: 2.5, output_per_million: 10, as_of: 2026-01-31, source: a test}
  - {model: "helper*", input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}
"""


def settings_of(lake: Path, dataset: str) -> dict[str, Any]:
    (path,) = lake.glob(f"responses/dataset={dataset}/**/*.parquet")
    settings: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)["moodflow"])["settings"]
    return settings


def used(done: Ended, role: str) -> dict[tuple[str, str], int]:
    rows = done.document["datasets"] if "dry_run" in done.document else done.document["usage"]
    return {(row["dataset"], row["model"]): row["calls"] for row in rows if row["role"] == role}


def test_a_dataset_with_a_sage_of_its_own(tmp_path: Path) -> None:
    lake, config = tmp_path / "lake", tmp_path / "plan.yaml"
    with (
        ModelServer(core(lake, "gold")) as tested,
        ModelServer(lambda _messages: READING) as usual,
        ModelServer(lambda _messages: READING) as other,
    ):
        default = {"name": "usual", "base_url": usual.base_url}
        differing = {EC: {"name": "other", "base_url": other.base_url}}
        config.write_text(json.dumps({"roles": {"sage": {"default": default, "datasets": differing}}}), encoding="utf-8")
        where = ("--datasets", f"{QA},{EC}", "--settings", "coem", "--set", "retrieval.ranking=bm25", "--lake", lake)
        command = (LONG_MINI, "--model", "core", "--base-url", tested.base_url, "--config", config, *where, "--json")
        expected = ended("run", *command, "--dry-run")
        done = ended("run", *command, "--set", "bootstrap=0")
        assert (done.status, min(usual.calls, other.calls) > 0) == (0, True)
        calls = {(EC, "other"): other.calls, (QA, "usual"): usual.calls}
        assert used(done, "sage") == used(expected, "sage") == calls
        assert {body["model"] for body in usual.bodies} == {"usual"}
        assert {name: settings_of(lake, name)["sage"]["model"] for name in (QA, EC)} == {QA: "usual", EC: "other"}
        again = ended("infer", *command, "--set", "sage.sampling.max_tokens=99")
        # Set for each model of the role: all is asked anew, and no answer is longer than that.
        assert used(again, "sage") == calls
        assert {body["max_tokens"] for body in (*usual.bodies[usual.calls // 2 :], *other.bodies[other.calls // 2 :])} == {99}
    stored = json.loads(Path(done.document["manifest"]).read_text(encoding="utf-8"))["plan"]["roles"]["sage"]
    assert [entry["name"] for entry in (*stored["default"], *stored["datasets"][EC])] == ["usual", "other"]
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert f"usual; {EC}: other" in page


async def ask_helper_first(asked: AskedItem, options: PlainOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Have the narrator tell of the item, then the model under test answer that."""
    assert options.setting == "rag"
    told = await resources.ask("narrator", "tell", say("Tell of it.", asked.item.question), 64)
    messages = say("Answer.", asked.item.question, told.reply.text or "")
    calls = (told, await resources.ask("tested", "answer", messages, 64, repetition))
    return SolverOutput(calls, state_answer(calls))


@pytest.fixture
def narrator(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A setting with a role that no module of the project knows."""
    monkeypatch.setitem(
        SOLVERS.by_name, "rag", Solver("rag", "RAG", ask_helper_first, (SolverCode("1"),), roles={"narrator": "tells of itself"})
    )
    plan_fields.cache_clear()
    yield
    plan_fields.cache_clear()


@pytest.mark.parametrize(("stated", "got"), [((), "no answer"), (("talk", "note", "talk"), "parts 'talk', 'note', 'talk'")])
def test_an_item_needs_exactly_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: tuple[str, ...], got: str
) -> None:
    async def careless(asked: AskedItem, _o: PlainOptions, resources: SolverResources, repetition: int) -> SolverOutput:
        calls = (await resources.ask("tested", "answer", say("Answer.", asked.item.question), 64, repetition),)
        return SolverOutput(calls, tuple(answer for part in stated for answer in state_answer(calls, part)))

    monkeypatch.setitem(SOLVERS.by_name, "rag", Solver("rag", "RAG", careless, (SolverCode("1"),)))
    with ModelServer(lambda _messages: "B") as tested:
        model = ("--model", "m", "--base-url", tested.base_url, "--settings", "rag", "--datasets", SAFETY)
        done = ask_all("moodbench-mini", *model, "--lake", tmp_path / "lake")
    where = f"setting rag, dataset {SAFETY}, item "
    assert_one_message(done, "a solver returned no answer, or two for one part", where, f"got: {got}", "correct the solver")


@pytest.mark.usefixtures("narrator")
def test_an_invented_role_is_counted_and_priced(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES, encoding="utf-8")

    def evaluate(stage: str, *more: str) -> Ended:
        model = ("--model", "m", "--base-url", tested.base_url, "--settings", "rag", "--datasets", SAFETY, "--json")
        fields = (part for field in (f"prices={prices}", "bootstrap=0") for part in ("--set", field))
        return ended(stage, "moodbench-mini", *model, "--lake", tmp_path / "lake", *fields, *more)

    with ModelServer(lambda _messages: "B") as tested, ModelServer(lambda _messages: "B") as other:
        role = ("--role", f"narrator=helper-1@{other.base_url}", "--set", "narrator.sampling.max_tokens=77")
        forecast, first = evaluate("run", *role, "--dry-run"), evaluate("run", *role)
        assert first.status == 0, first.err
        assert (tested.calls, other.calls, {body["max_tokens"] for body in other.bodies}) == (8, 8, {77})
        others = (role, ("--role", f"narrator=helper-2@{other.base_url}"), ())
        again, second, alone = (evaluate("infer", *more) for more in others)
    assert used(forecast, "narrator") == used(first, "narrator") == {(SAFETY, "helper-1"): 8}
    # The server counts 11 prompt and 2 reply tokens per call: 8 x (11 x 2.5 + 2 x 10) = 380 millionths, and 8 x 13 = 104.
    assert [(row["model"], row["role"], row["cost"]) for row in first.document["cost"]["models"]] == [
        ("m", "tested", pytest.approx(380e-6)),
        ("helper-1", "narrator", pytest.approx(104e-6)),
    ]
    page = Path(first.document["report"]).read_text(encoding="utf-8")
    what = '<td class="why" dir="auto" data-title="What it does">tells of itself</td>'
    assert f'<th scope="row">Narrator</th><td>helper-1</td>{what}' in page
    # All is in the lake; another narrator is another key, and what it says is the same, so that the model's replies are paid for.
    assert used(again, "narrator") == {(SAFETY, "helper-1"): 8}
    assert again.document["calls"]["sent"] == 0
    assert used(second, "narrator") == {(SAFETY, "helper-2"): 8}
    assert [row["from_journal"] for row in second.document["usage"]] == [0, 8]
    # Not named, the model under test has the role.
    assert used(alone, "narrator") == {(SAFETY, "m"): 8}
