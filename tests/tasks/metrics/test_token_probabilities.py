"""Rankings by token probabilities, from the model server's answer to the score."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.chat import ModelEntry
from schemas.lineage import CodeVersion
from schemas.metrics import Metric
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.metrics.answer_forms import Question, read_answer
from tasks.metrics.item_scores import score_items
from tasks.models.http.client import HttpChat
from tasks.models.http.worker_pool import WorkerPool
from tasks.models.journal.journal import Journal, JournaledChat
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import plan_epochs
from tasks.solvers.state import SolverCode, SolverOptions, SolverPlan
from tests.model_server import ModelServer
from tests.tasks.metrics.test_item_scores import FEELINGS, RANKING, SINGLE, method
from tests.tasks.replies import answers_of_replies
from tests.tasks.rows import item, items
from tests.tasks.solvers.asking import ask_base

WRITTEN = "C, A, B"
ROLES = ["stereotype", "anti_stereotype", "unrelated"]
STEREOTYPES = item("a", "ranking", options=FEELINGS, gold_indices=[0], option_roles=ROLES, subset="age/child")


class Sent(NamedTuple):
    """What was sent to the server, and what became of its answer."""

    body: dict[str, Any]
    token_logprobs: list[dict[str, Any]] | None
    parsed_answer: str | None
    value: float | None


def likeliest(*tokens: tuple[str, Any]) -> dict[str, Any]:
    """What a server sends for a reply that begins with "C": these at its first place, another letter at its second."""
    first = {"token": "C", "logprob": -0.1, "top_logprobs": [{"token": token, "logprob": value} for token, value in tokens]}
    return {"content": [first, {"token": ",", "logprob": 0.0, "top_logprobs": [{"token": "A", "logprob": -0.01}]}]}


async def score_asked(row: dict[str, Any], sent: Any, metric: Metric, folder: Path, *, probabilities: bool = True) -> Sent:
    """Ask an item of a server that sends these log probabilities; store, read again and score."""
    table, lake = items(row), Lake(folder / "lake", CodeVersion("0.0.test", "c0ffee"))

    with ModelServer(lambda _: WRITTEN, logprobs=lambda _: sent) as server:
        entry = ModelEntry(name="m", base_url=server.base_url, token_probabilities=probabilities)
        async with Journal(folder / "j.sqlite") as journal, HttpChat(entry, server.base_url) as http, WorkerPool(1) as pool:
            chat = JournaledChat(http, journal)
            for _ in range(2):
                # The second time from the journal: it has to hold what the server sent.
                answered = await ask_base(plan_epochs(table), entry, chat, pool)
    assert (server.calls, chat.counts.from_journal) == (1, 1)
    built = lake.write(partition_key("items", {"dataset": "own"}, {}, parents=[], version="1"), table, Items)
    stored = lake.write(
        InferJob({"tested": entry}, SolverOptions("base"), SolverPlan(SolverCode("1")), built).keys.responses, answered, Responses
    )
    read = lake.read(stored, Responses)
    score = score_items(table, answers_of_replies(read, None), None, method(metric)).row(0, named=True)
    return Sent(server.bodies[0], read["token_logprobs"].to_list()[0], score["parsed_answer"], score["value"])


async def test_a_ranking_is_the_letters_by_probability(tmp_path: Path) -> None:
    asked = await score_asked(RANKING, likeliest(("C", -0.1), ("The", -2.5), (" B", -3.0), ("a", -4.5)), "mrr", tmp_path)
    assert (asked.body["logprobs"], asked.body["top_logprobs"]) == (True, 20)
    assert asked.token_logprobs == [
        {"token": "C", "logprob": -0.1},
        {"token": "The", "logprob": -2.5},
        {"token": " B", "logprob": -3.0},
        {"token": "a", "logprob": -4.5},
    ]
    # B is right and in second place; the model writes it last, which would be 1/3.
    assert (asked.parsed_answer, asked.value) == ("C,B,A", 1 / 2)


async def test_the_scores_of_stereoset_follow(tmp_path: Path) -> None:
    # The anti-stereotype B stands above the stereotype A, which the model writes first.
    asked = await score_asked(STEREOTYPES, likeliest(("C", -0.1), ("B", -3.0), ("A", -4.5)), "stereotype_score", tmp_path)
    assert (asked.parsed_answer, asked.value) == ("C,B,A", 0.0)
    (tmp_path / "written").mkdir()
    written = await score_asked(STEREOTYPES, None, "stereotype_score", tmp_path / "written")
    assert (written.parsed_answer, written.value) == ("C,A,B", 1.0)


@pytest.mark.parametrize(
    "sent",
    [
        None,
        {"content": None},
        {"content": [{"token": "C"}]},
        likeliest(("C", -0.1), ("B", "unlikely")),
        likeliest(("C", float("-inf")), ("B", -1.0), ("A", -2.0)),
    ],
    ids=["none sent", "no places", "no likeliest", "no number", "infinite"],
)
async def test_without_usable_ones_the_ranking_is_as_written(sent: Any, tmp_path: Path) -> None:
    asked = await score_asked(RANKING, sent, "mrr", tmp_path)
    assert (asked.token_logprobs, asked.parsed_answer, asked.value) == (None, "C,A,B", 1 / 3)


async def test_one_letter_is_no_ranking(tmp_path: Path) -> None:
    asked = await score_asked(RANKING, likeliest(("C", -0.1), (" c.", -1.0), ("D", -2.0), ("The", -3.0)), "mrr", tmp_path)
    assert asked.token_logprobs is not None
    assert (asked.parsed_answer, asked.value) == ("C,A,B", 1 / 3)


@pytest.mark.parametrize(
    ("row", "probabilities"),
    [(RANKING, False), (SINGLE, True), (item("a", "ranking", options=[f"word {n}" for n in range(21)], gold_indices=[1]), True)],
    ids=["not wanted", "no ranking", "more letters than tokens"],
)
async def test_they_are_asked_for_only_where_they_serve(row: dict[str, Any], probabilities: bool, tmp_path: Path) -> None:
    sent = likeliest(("B", -0.1), ("A", -1.0), ("C", -2.0))
    metric: Metric = "accuracy" if row is SINGLE else "mrr"
    asked = await score_asked(row, sent, metric, tmp_path, probabilities=probabilities)
    assert asked.body.keys().isdisjoint({"logprobs", "top_logprobs"})
    assert asked.token_logprobs is None
    assert asked.parsed_answer != "B,A,C"


def test_letters_are_those_shown() -> None:
    # Shown: A anger, B joy, C sadness.
    question = Question.from_row(items(RANKING).row(0, named=True))
    answer = read_answer(question, WRITTEN, order=(2, 0, 1), token_logprobs=[("B", -0.1), ("C", -1.0), ("A", -2.0)])
    assert answer is not None
    assert (answer.text, answer.indices) == ("A,B,C", (0, 1, 2))
