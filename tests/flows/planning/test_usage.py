"""Tokens and cost of a run, in every place that shows them; the server counts 11 prompt and 2 completion tokens per call."""

import asyncio
import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.sorting import ArtifactSort
from rich.progress import Progress

from flows.planning.forecast import EstimateBasis
from flows.planning.usage import UsageCounter, usage_of
from flows.runtime.progress import StageProgress
from schemas.chat import EMBEDDED_MODEL, ChatReply, ModelEntry
from schemas.lineage import CodeVersion
from schemas.plan import Plan
from schemas.tables.responses import Responses
from schemas.usage import Expectation
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.models.cost import Estimator
from tasks.models.http.failures import BUDGET_SPENT
from tests.flows.command import ended
from tests.flows.commands.test_dry_run import DATASETS, ask
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.tasks.rows import response, responses

COUNTS = ("dataset", "model", "role", "calls", "from_journal", "sent", "unsent", "failed", "uncounted")


def counts(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in COUNTS) for row in document["usage"]]


def tokens(row: dict[str, Any]) -> list[int | None]:
    return [row[f"{paid}{kind}_tokens"] for paid in ("", "paid_") for kind in ("prompt", "completion")]


def test_calls_of_a_partition_that_were_not_sent_have_not_failed(tmp_path: Path) -> None:
    ended_calls = {"d-0": ("B", None), "d-1": (None, "HTTP 500"), "d-2": (None, BUDGET_SPENT)}
    stored = responses(*(response(item_id, reply, error=error) for item_id, (reply, error) in ended_calls.items()))
    key = partition_key("responses", {"dataset": "d", "model": "m", "setting": "base"}, {}, [], "1")
    lake, plan = (
        Lake(tmp_path, CodeVersion("1", None)),
        Plan(benchmark="moodbench-mini", models=(ModelEntry(name=EMBEDDED_MODEL),)),
    )
    (row,) = usage_of(lake.write(key, stored, Responses, complete=False), lake, plan)
    assert (row.calls, row.failed, row.unsent) == (3, 1, 1)


def test_what_was_used_is_summed_and_paid_once(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with ModelServer(policy(DATASETS, "gold")) as server:
        first = ask("run", server.base_url, tmp_path, "--json").document
        shutil.rmtree(lake / "responses")
        again = ask("infer", server.base_url, tmp_path, "--json").document
        unpriced = ask("infer", server.base_url, tmp_path, "--json", priced=False).document
    # Whether it asked or found all there, the stage names what it writes.
    written = [{ref["layer"] for ref in stage["partitions"]} for stage in (again, unpriced)]
    assert written == [{"responses", "answers", "judgements"}] * 2
    # 8 items each, and 8 answers to judge.
    tested = [(name, "scripted", "tested") for name in sorted(DATASETS)]
    parts = [("mini_summarization", "rater", "judge"), *tested]
    assert counts(first) == [(*part, 8, 0, 8, 0, 0, 0) for part in parts]
    # Then replies come from the journal, while the judge's ratings are still in the lake; at last all is there.
    assert counts(again) == [(*parts[0], 8, 0, 0, 0, 0, 0), *((*part, 8, 8, 0, 0, 0, 0) for part in parts[1:])]
    assert counts(unpriced) == [(*part, 8, 0, 0, 0, 0, 0) for part in parts]
    # 8 x 11 and 8 x 2 per row.
    assert [tokens(row) for row in first["usage"]] == [[88, 16, 88, 16]] * 3
    assert [tokens(row) for row in again["usage"]] == [tokens(row) for row in unpriced["usage"]] == [[88, 16, 0, 0]] * 3
    # Judge: 88 + 16 = 104 millionths. Tested: 88 x 2.5 + 16 x 10 = 380 millionths per dataset.
    assert [row["cost"] for row in first["usage"]] == pytest.approx([104e-6, 380e-6, 380e-6])
    models = [(row["model"], row["role"], row["cost"], row["paid_cost"]) for row in first["cost"]["models"]]
    assert models == [
        ("scripted", "tested", pytest.approx(760e-6), pytest.approx(760e-6)),
        ("rater", "judge", pytest.approx(104e-6), pytest.approx(104e-6)),
    ]
    totals = [
        (done["cost"]["currency"], done["cost"]["total"]["cost"], done["cost"]["total"]["paid_cost"]) for done in (first, again)
    ]
    assert totals == [("EUR", pytest.approx(864e-6), pytest.approx(864e-6)), ("EUR", pytest.approx(864e-6), 0)]
    assert_shown_everywhere(first, lake)
    # Without prices there are tokens and no cost.
    assert (unpriced["cost"]["currency"], unpriced["cost"]["unpriced"]) == (None, ["scripted", "rater"])
    total = unpriced["cost"]["total"]
    assert (total["prompt_tokens"], total["completion_tokens"], total["cost"], total["paid_cost"]) == (264, 48, None, None)


def table_rows(page: str) -> str:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", Path(page).read_text(encoding="utf-8"), flags=re.DOTALL)
    cells = (
        (re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)) for row in rows
    )
    return "\n".join(f"| {' | '.join(' '.join(unescape(cell).split()) for cell in row)} |" for row in cells)


def assert_shown_everywhere(made: dict[str, Any], lake: Path) -> None:
    """Manifest, report and `runs show` say what the run itself printed."""
    manifest = json.loads(Path(made["manifest"]).read_text(encoding="utf-8"))
    assert manifest["usage"] == made["usage"]
    assert [price["model"] for price in manifest["prices"]["prices"]] == ["scripted", "rater"]
    report = table_rows(made["report"])
    assert "| scripted | tested | 16 | 16 | 0 | 176 | 32 | 0.000760 EUR | 176 | 32 | 0.000760 EUR |" in report
    assert "| All models |  | 24 | 24 | 0 | 264 | 48 | 0.000864 EUR | 264 | 48 | 0.000864 EUR |" in report
    assert "| Summarization, bundled items | rater | judge | 8 | 8 | 0 | 88 | 16 | 0.000104 EUR |" in report
    shown = ended("runs", "show", made["run"], "--lake", lake, "--json").document
    assert (shown["usage"], shown["cost"]) == (made["usage"], made["cost"])
    assert "0.000864" in ended("runs", "show", made["run"], "--lake", lake).out
    # The sum, then 2 rows by model.
    assert [("all", "all", 264, "EUR"), ("all", "scripted", 176, "EUR"), ("all", "rater", 88, "EUR")] in asyncio.run(
        published_costs()
    )


async def published_costs() -> list[list[tuple[Any, ...]]]:
    """The first rows of every artifact `cost` of the server, which other tests publish to as well."""
    wanted = ArtifactFilter(key=ArtifactFilterKey(any_=["cost"]))
    async with get_client() as client:
        found = await client.read_artifacts(artifact_filter=wanted, sort=ArtifactSort.CREATED_DESC)
    columns = ("Dataset", "Model", "Prompt tokens", "Currency")
    return [[tuple(row[name] for name in columns) for row in json.loads(str(artifact.data))[:3]] for artifact in found]


def test_answers_without_counts_are_not_zero() -> None:
    counter = UsageCounter(StageProgress("asked", "calls", Progress()))
    counter.on_reply(ChatReply(text="B"))
    (uncounted,) = counter.usage("d", "m", "tested")
    assert (uncounted.prompt_tokens, uncounted.uncounted) == (None, 1)
    counter.on_reply(ChatReply(text="B", prompt_tokens=11, completion_tokens=2, from_journal=True))
    counter.on_reply(ChatReply(failure="http_5xx"))
    counter.on_reply(ChatReply(failure="budget"))
    counter.on_reply(ChatReply(failure="empty_content", prompt_tokens=7, completion_tokens=0))
    (used,) = counter.usage("d", "m", "tested")
    assert (used.calls, used.from_journal, used.sent, used.unsent, used.failed, used.uncounted) == (5, 1, 3, 1, 2, 1)
    # 11 + 7, and paid now 7: of what was sent, one answer was not counted, so that is a lower bound.
    assert (used.prompt_tokens, used.completion_tokens) == (18, 2)
    assert (used.paid_prompt_tokens, used.paid_completion_tokens) == (7, 0)


def test_calls_of_batches_are_counted_apart() -> None:
    counter = UsageCounter(StageProgress("asked", "calls", Progress()))
    counter.on_reply(ChatReply(text="B", prompt_tokens=11, completion_tokens=2, paid_as="batch", from_journal=True))
    counter.on_reply(ChatReply(text="B", prompt_tokens=5, completion_tokens=1, paid_as="live"))
    counter.on_reply(ChatReply(text="B", prompt_tokens=7, completion_tokens=3))  # kept before this was noted
    used = {row.paid_as: (row.calls, row.prompt_tokens, row.completion_tokens) for row in counter.usage("d", "m", "tested")}
    assert used == {"batch": (1, 11, 2), "live": (2, 12, 4)}


@pytest.mark.parametrize(("replies", "notes"), [(40, []), (41, ["That is more than the budget of 100 tokens."])])
def test_prompts_and_replies_count_against_a_budget(replies: int, notes: list[str]) -> None:
    plan = Plan(benchmark="moodbench-mini", models=(ModelEntry(name=EMBEDDED_MODEL),), budget_tokens=100)
    total = Expectation(calls=2, prompt_tokens=60, completion_tokens=replies)
    assert list(EstimateBasis(Estimator(), None, ()).notes(plan, total)) == notes
