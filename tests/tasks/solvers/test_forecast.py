"""What a partition would ask: looked up in the journal, estimated from the lake, and nothing sent."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from schemas.chat import ChatReply, ModelEntry
from schemas.errors import LakeError
from schemas.lineage import CodeVersion, PartitionRef
from schemas.provider import Rate
from schemas.tables.items import Items
from tasks.benchmarks.attunebench.annotate import AnnotateOptions
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.models.cost import Estimator
from tasks.models.journal.journal import Journal
from tasks.models.journal.table import JOURNAL
from tasks.solvers.forecast import (
    choose_unsent,
    expect_calls,
    is_answered,
    learn_from_lake,
    place_replies,
    plan_requests,
    plan_wave,
)
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import Epochs
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import PlainOptions, SolverOptions
from tasks.sources.locating import Locator
from tests.tasks.models.making_calls import request
from tests.tasks.rows import item, items

ENTRY = ModelEntry(name="org/m", base_url="http://localhost/v1")
ITEM = item("i-1", "single_choice", question="How is she?", options=["glad", "sad"], gold_indices=[1])


def stored(lake: Lake, dataset: str, frame: pl.DataFrame) -> PartitionRef:
    return lake.write(partition_key("items", {"dataset": dataset}, {}, parents=[], version="1"), frame, Items)


async def test_requests_are_those_of_the_solver(tmp_path: Path) -> None:
    lake, options = Lake(tmp_path, CodeVersion("test", None)), PlainOptions("base")
    built = stored(lake, "d", items(ITEM))
    plan = SOLVERS["base"].plan(options, None, ENTRY)
    job = InferJob({"tested": ENTRY}, options, plan, built, epochs=Epochs(repeat=2))
    calls = (await plan_requests(job, lake))[0]["tested"]
    assert [(call.model, call.repetition, call.sampling.max_tokens) for call in calls] == [("org/m", 0, 512), ("org/m", 1, 512)]
    assert "A. glad\nB. sad" in calls[0].messages[0].content


async def test_call_waits_for_answers_it_needs(tmp_path: Path) -> None:
    lake, spec = Lake(tmp_path, CodeVersion("test", None)), find_dataset("attunebench_mini")
    found = build_items(spec, [Locator().locate(file) for file in spec.files], 1, 0).items
    built = stored(lake, spec.id, found)
    solver, options, judge = (
        SOLVERS["annotate"],
        SolverOptions("annotate", own=AnnotateOptions()),
        ModelEntry(name="j", base_url="http://localhost/v1"),
    )
    job = InferJob({"tested": ENTRY, "draft_judge": judge}, options, solver.plan(options, None, ENTRY), built)
    # Three turns: 4 x 3 + 1 calls, and the judge waits for its three drafts.
    first = await plan_wave(job, lake)
    assert [call.request.model for call in first] == ["org/m"] * 13
    (item,) = found["item_id"]
    assert {call.item_id for call in first} == {item}
    assert [call.step for call in first[:2]] == ["turn 1 draft", "turn 1 review"]
    said = {(item, "turn 2 draft"): "So it was.", (item, "turn 2 judge"): "{}", (item, "turn 3 judge"): "{}"}
    placed = await place_replies(job, lake, said)
    assert {step: (request.model, text) for (_, step), (request, text) in placed.items()} == {
        "turn 2 draft": ("org/m", "So it was."),
        "turn 2 judge": ("j", "{}"),
    }
    draft, judged = (request for request, _ in placed.values())
    async with Journal(lake.state / JOURNAL) as journal:
        await journal.write(draft, ChatReply(text="So it was."))
    assert not await is_answered(job, lake)
    second = await plan_wave(job, lake)
    assert {call.request.key for call in second} == {judged.key, *(call.request.key for call in first)} - {draft.key}
    async with Journal(lake.state / JOURNAL) as journal:
        for call in second:
            await journal.write(call.request, ChatReply(text="{}"))
        # Two drafts are there now, and their judge was not asked.
        third = await plan_wave(job, lake)
        assert [call.request.model for call in third] == ["j"] * 2
        assert not await is_answered(job, lake)
        for call in third:
            await journal.write(call.request, ChatReply(text="{}"))
    assert await is_answered(job, lake)


async def test_prompts_on_retrieved_texts_are_unknown(tmp_path: Path) -> None:
    lake, options = Lake(tmp_path, CodeVersion("test", None)), PlainOptions("rag")
    built = stored(lake, "d", items(ITEM))
    assert await plan_wave(InferJob({"tested": ENTRY}, options, SOLVERS["base"].plan(options, None, ENTRY), built), lake) == []


async def test_journal_is_asked_by_key_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    calls = [request(f"number {number}") for number in range(3)]
    assert choose_unsent(calls, path) == calls
    assert not path.exists()
    async with Journal(path) as journal:
        await journal.write(calls[1], ChatReply(text="B"))
    # Equal calls are sent once.
    assert choose_unsent([*calls, calls[0]], path) == [calls[0], calls[2]]


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"not a database, however long it may be" * 100)
    with pytest.raises(LakeError) as caught:
        choose_unsent([request("x")], path)
    assert str(path) in str(caught.value)


def store(folder: Path, rows: list[dict[str, object]]) -> None:
    folder.mkdir(parents=True)
    pl.DataFrame(rows).write_parquet(folder / "a.parquet")


def test_stored_replies_of_the_model_are_the_measure(tmp_path: Path) -> None:
    # Messages of 400 characters are guessed to be 104 tokens; 52 were counted, so half.
    messages = '[{"content": "' + "x" * 400 + '", "role": "user"}]'
    row = {"call_key": "a", "asked_model": "org/m", "messages": messages, "prompt_tokens": 52, "completion_tokens": 10}
    folder = tmp_path / "responses" / "dataset=d" / "model=org%2Fm" / "setting=base"
    uncounted = row | {"call_key": "b", "prompt_tokens": None}
    # The same call in two partitions is one reply.
    store(folder, [row, row, uncounted, row | {"call_key": "c", "completion_tokens": 20}])
    judged = tmp_path / "judgements" / "dataset=d" / "model=org%2Fm" / "setting=base" / "judge=j" / "rubric=r"
    store(judged, [{"call_key": "k", "prompt_tokens": 9, "completion_tokens": 40}] * 4)
    known = learn_from_lake(tmp_path, ["org/m"], ["j"])
    assert (known.seen("org/m", judged=False), known.seen("j", judged=True), known.seen("j", judged=False)) == (2, 1, 0)
    assert known.expect(replace(request("y" * 400), model="org/m"))[:2] == (52, 15)
    assert known.expect(replace(request("y"), model="j", json_schema="{}")).completion_tokens == 40


def test_a_lake_without_replies_teaches_nothing(tmp_path: Path) -> None:
    assert learn_from_lake(tmp_path, ["m"], ["j"]).seen("m", judged=False) == 0
    # Nor does a file of a version that has not what is counted.
    store(tmp_path / "responses" / "dataset=d" / "model=m" / "setting=base", [{"call_key": "a", "asked_model": "m"}])
    assert learn_from_lake(tmp_path, ["m"], ["j"]).seen("m", judged=False) == 0


def test_expected_tokens_and_cost_by_hand() -> None:
    # Per call 40 / 4 + 4 = 14 prompt tokens and 16 / 4 = 4 of the reply.
    calls = [request("x" * 40, repetition=number) for number in range(2)]
    expected = expect_calls(calls, Estimator(), Rate(input_per_million=1, output_per_million=10))
    assert (expected.calls, expected.prompt_tokens, expected.completion_tokens) == (2, 28, 8)
    assert expected.cost == pytest.approx(108e-6)
    assert expect_calls(calls, Estimator(), None).cost is None
    # What is not sent costs nothing, whatever its price.
    assert expect_calls([], Estimator(), None).cost == 0
