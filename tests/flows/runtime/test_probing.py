"""A model that wants calls otherwise: probed once, remembered, and called its way through the whole run."""

import asyncio
import json
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any

import polars as pl

from flows.planning.capabilities import unprobed, with_capabilities
from flows.runtime.probing import ensure_probed
from schemas.api_capabilities import ApiCapabilities
from schemas.chat import ModelEntry
from schemas.plan import Plan
from tasks.models.capabilities.probe_records import list_probes
from tasks.models.cost import Budget
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import is_probe
from tests.probed_server import Answer, ProbedServer, Script, completed, refused, refusing

DATASETS = ("mini_user_safety", "mini_text_matching")
ITEMS = 16
THOUGHT = "The answer is Z. Or is it Y? No, Z."


def command(stage: str, server: ProbedServer, lake: Path, *more: str) -> Ended:
    model = ("--model", "thinker", "--base-url", server.base_url, "--datasets", ",".join(DATASETS))
    return ended(stage, "moodbench-mini", *model, "--lake", lake, *more, "--json")


def items_asked(server: ProbedServer) -> list[dict[str, Any]]:
    return [body for body in server.bodies if not is_probe(body)]


def thinker() -> Script:
    """Wants its limit by the new name and no temperature; says what it thinks now here, now there, and then the truth."""
    answer, numbers = policy(DATASETS, "gold"), count()

    def script(body: dict[str, Any], _: str) -> Answer:
        if found := [name for name in ("max_tokens", "temperature") if name in body]:
            return refused(f"Unsupported parameter: '{found[0]}' is not supported with this model.")
        if is_probe(body):
            return completed(body)
        text = answer(body["messages"])
        match next(numbers) % 3:
            case 0:
                return completed(body, text, reasoning_content=THOUGHT)
            case 1:
                return completed(body, text, reasoning=THOUGHT)
            case _:
                return completed(body, f"<think>\n{THOUGHT}\n</think>\n\n{text}")

    return script


def test_a_thinking_model_is_probed_once(tmp_path: Path) -> None:
    with ProbedServer(thinker()) as server:
        first = command("run", server, tmp_path)
        sent = len(server.bodies)
        second = command("infer", server, tmp_path)
        assert len(server.bodies) == sent
    # One parameter less with each refusal.
    assert sent == 3 + ITEMS
    assert (first.status, second.status) == (0, 0)
    for body in items_asked(server):
        assert body.keys() == {"model", "messages", "top_p", "max_completion_tokens"}
    responses = pl.read_parquet(tmp_path / "responses/**/*.parquet", hive_partitioning=False)
    assert responses["reasoning"].to_list() == [THOUGHT] * ITEMS
    assert not responses["reply"].str.contains("answer is Z").any()
    assert [(row["value"], row["n_scored"]) for row in first.document["raw_scores"]] == [(1, 8), (1, 8)]
    manifest = json.loads((tmp_path / "runs" / first.document["run"] / "manifest.json").read_text())
    (model,) = manifest["plan"]["models"]
    assert (model["dialect"]["token_limit"], model["dialect"]["unsent"]) == ("max_completion_tokens", ["temperature"])


def test_nothing_is_probed_where_nothing_is_asked(tmp_path: Path) -> None:
    with ProbedServer(lambda body, _: completed(body, "A")) as server:
        for stage in ("score", "report"):
            assert command(stage, server, tmp_path).status == 2
        assert command("build", server, tmp_path).status == 0
        assert server.bodies == []
        assert command("infer", server, tmp_path).status == 0
        assert len(server.bodies) == 1 + ITEMS
        rmtree(tmp_path / "journal" / "models")
        assert command("infer", server, tmp_path).status == 0
    assert len(server.bodies) == 1 + ITEMS
    assert list_probes(tmp_path) == []


def test_what_is_stated_is_not_probed(tmp_path: Path) -> None:
    dialect = "{token_limit: max_completion_tokens, unsent: [temperature, top_p], reasoning_effort: low, extra: {top_k: 1}}"
    stated = ["--set", f"models.dialect={dialect}", "--max-tokens", "2000"]
    with ProbedServer(lambda body, _: completed(body, "A")) as server:
        command("build", server, tmp_path)
        assert command("infer", server, tmp_path, *stated).status == 0
    assert len(server.bodies) == ITEMS
    for body in server.bodies:
        assert body.keys() == {"model", "messages", "max_completion_tokens", "reasoning_effort", "top_k"}
        assert (body["max_completion_tokens"], body["reasoning_effort"], body["top_k"]) == (2000, "low", 1)


def test_a_model_silent_to_probes_is_asked(tmp_path: Path) -> None:
    with ProbedServer(lambda *_: refused("invalid key", 401)) as server:
        command("build", server, tmp_path)
        failed = command("infer", server, tmp_path)
        assert sum(map(is_probe, server.bodies)) == 1
        assert list_probes(tmp_path) == []
        server.script = thinker()
        mended = command("infer", server, tmp_path)
    assert (failed.status, mended.status) == (2, 0)
    assert "no call was answered" in failed.err
    assert mended.document["calls"]["answered"] == ITEMS
    assert len(list_probes(tmp_path)) == 1


def plan(base_url: str, lake: Path, *, judged: bool = False, **fields: Any) -> Plan:
    entry = ModelEntry(name="thinker", base_url=base_url, **fields)
    judge = entry.model_copy(update={"concurrency": 3}) if judged else None
    return Plan.model_validate({"benchmark": "moodbench-mini", "models": (entry,), "roles": {"judge": judge}, "lake": lake})


def capabilities_of(resolved: Plan) -> ApiCapabilities:
    dialect = resolved.models[0].dialect
    assert dialect is not None
    return dialect


async def test_two_runs_at_once_probe_once_between_them(tmp_path: Path) -> None:
    with ProbedServer(refusing("temperature")) as server:
        wanted = plan(server.base_url, tmp_path, judged=True)
        found = await asyncio.gather(*(ensure_probed(tmp_path, unprobed(wanted), Budget()) for _ in range(2)))
        assert await ensure_probed(tmp_path, unprobed(wanted), Budget()) is False
    assert found == [True, True]
    assert len(server.bodies) == 2
    resolved = with_capabilities(wanted)
    assert capabilities_of(resolved).unsent == ("temperature",)
    (judge,) = resolved.named("judge")
    assert judge.dialect == capabilities_of(resolved)
    assert with_capabilities(resolved) == resolved
