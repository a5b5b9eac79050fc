"""moodflow models check and list, over real HTTP."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flows.commands import models
from tasks.models.capabilities.providers import find_provider
from tests.flows.command import Ended, ended
from tests.probed_server import Answer, CuttingContext, ProbedServer, Side, SmallContext, completed, refused, refusing

KEY = "sk-marked-7f3a9c"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def check(lake: Path, *arguments: str | Path) -> Ended:
    return ended("models", "check", *arguments, "--lake", lake)


def test_a_model_that_answers(lake: Path) -> None:
    with ProbedServer(refusing("temperature")) as server:
        done = check(lake, "listener", "--base-url", server.base_url, "--json")
        assert done.status == 0
        document = done.document
    assert (document["model"], document["server"], document["answers"]) == ("listener", server.base_url, True)
    assert (document["calls"], document["remembered"], document["token_limit"]) == (3, False, "max_tokens")
    assert document["unsent"] == ["temperature"]
    assert (document["dialect"]["token_limit"], document["dialect"]["unsent"]) == ("max_tokens", ["temperature"])
    assert document["capabilities"]["temperature"] == {
        "verdict": "no",
        "evidence": "HTTP 400: Unsupported parameter: 'temperature' is not supported with this model.",
        "documented": None,
    }
    assert document["capabilities"]["seed"]["verdict"] == "yes"
    assert Path(document["file"]).is_file()


def test_findings_are_remembered_until_asked_again(lake: Path) -> None:
    with ProbedServer(lambda body, _: completed(body)) as server:
        arguments = ("listener", "--base-url", server.base_url)
        first = check(lake, *arguments, "--json").document
        second = check(lake, *arguments, "--json").document
        assert len(server.bodies) == 2
        assert second == {**first, "remembered": True}
        shown = check(lake, *arguments)
        assert "--again sends calls" in shown.out
        assert check(lake, *arguments, "--again", "--json").document["remembered"] is False
        assert len(server.bodies) == 4
    assert check(lake, *arguments).status == 0  # the server is gone, the answer is not
    assert check(lake, *arguments, "--again").status == 1


@pytest.mark.parametrize(("status", "message"), [(401, "invalid key"), (404, "model listener not found")])
def test_no_answer_is_not_remembered(lake: Path, status: int, message: str) -> None:
    with ProbedServer(lambda *_: refused(message, status)) as server:
        done = check(lake, "listener", "--base-url", server.base_url, "--json")
        assert done.status == 1
        assert done.document["capabilities"]["answers"]["evidence"] == f"HTTP {status}: {message}"
        assert done.document["file"] is None
        assert not lake.exists()
        server.script = lambda body, _: completed(body)
        assert check(lake, "listener", "--base-url", server.base_url).status == 0


def test_the_table_says_what_the_document_says(lake: Path) -> None:
    def script(body: dict[str, Any], _: str) -> Answer:
        if "seed" in body:
            return refused("[bold]seed[/bold] is not supported")
        return completed(body, model="other", reasoning_content="Monday", usage=None)

    with ProbedServer(script) as server:
        shown = check(lake, "listener", "--base-url", server.base_url).out
    for words in (
        "HTTP 400: [bold]seed[/bold] is not supported",
        "asked listener, answered by other",
        "in reasoning_content",
        "not reported",
        "Calls have to leave out: seed",
        "A run would call it with: limit max_tokens, without seed",
        f"listener at {server.base_url}: 3 calls",
    ):
        assert words in " ".join(shown.split())


def long_prompt(server: ProbedServer, lake: Path) -> tuple[str, str]:
    """Verdict and evidence of the check with a long prompt."""
    found = check(lake, "listener", "--base-url", server.base_url, "--json").document["long_prompt"]
    return found["verdict"], found["evidence"]


def repeat(words: list[str]) -> str:
    return " and ".join(word for word in words if re.fullmatch(r"\d{4}\.", word)) or "Seven."


@pytest.mark.parametrize(
    ("window", "side", "lost"),
    [
        (2048, "front", "no mark of its front came"),
        (4096, "end", "no mark of its end came"),
        (8192, "middle", "both its marks came"),
    ],
)
def test_a_server_that_cuts_is_told(lake: Path, window: int, side: Side, lost: str) -> None:
    with CuttingContext(window, side, reply=repeat) as server:
        verdict, evidence = long_prompt(server, lake)
    assert (verdict, evidence.split(" of ")[0]) == ("no", f"cut: {window:,} tokens")
    assert lost in evidence


def test_without_token_counts_no_cut_is_ruled_out(lake: Path) -> None:
    with CuttingContext(4096, "middle", usage=False, reply=repeat) as server:
        found, evidence = long_prompt(server, lake)
    assert (found, evidence.split(" of ")[0]) == ("unknown", "no tokens counted, so that a cut cannot be seen,")


def test_a_whole_long_prompt_is_reported(lake: Path) -> None:
    with CuttingContext(20_000, reply=repeat) as server:
        verdict, evidence = long_prompt(server, lake)
        assert (verdict, evidence.endswith("both its marks came back")) == ("yes", True)
        # A run does without; what it found is completed by a check.
        (file,) = lake.rglob("journal/models/*.json")
        found = json.loads(file.read_text())
        file.write_text(json.dumps({name: value for name, value in found.items() if name != "long_prompt"}))
        asked = len(server.bodies)
        assert long_prompt(server, lake)[0] == "yes"
        assert len(server.bodies) == asked + 1


def test_a_long_prompt_that_is_refused_is_told(lake: Path) -> None:
    with SmallContext(4096) as server:
        verdict, evidence = long_prompt(server, lake)
    assert (verdict, evidence.split(",")[0]) == ("no", "refused as too long")
    assert "exceeds the available context size (4096 tokens)" in evidence


def test_a_provider_gives_address_key_and_first_tries(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def script(body: dict[str, Any], authorization: str) -> Answer:
        sent.append(authorization)
        return refusing("max_tokens", "temperature", "top_p", "logprobs")(body, authorization)

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ProbedServer(script) as server:
        # Only the address is not OpenAI's.
        here = find_provider("openai").model_copy(update={"base_url": server.base_url})
        monkeypatch.setattr(models, "find_provider", lambda _: here)
        document = check(lake, "o3-mini", "--provider", "openai", "--json").document
        assert "Documented" in check(lake, "o3-mini", "--provider", "openai").out
    assert set(sent) == {f"Bearer {KEY}"}
    assert "max_tokens" not in server.bodies[0]
    assert (document["token_limit"], document["unsent"]) == ("max_completion_tokens", ["temperature", "top_p"])
    stated = {name: found["documented"] for name, found in document["capabilities"].items() if found["documented"]}
    assert (document["dialect"]["token_limit"], document["dialect"]["unsent"]) == (
        "max_completion_tokens",
        ["temperature", "top_p"],
    )
    assert stated == {"temperature": "no", "top_p": "no", "logprobs": "no", "seed": "some", "json_schema": "some"}


def test_the_model_that_comes_with_the_install(lake: Path) -> None:
    document = check(lake, "smollm2", "--json").document
    assert (document["answers"], document["server"], document["token_limit"]) == (True, "", "max_tokens")
    works = {name for name, found in document["capabilities"].items() if found["verdict"] == "yes"}
    assert {"temperature", "top_p", "seed", "usage", "finish_reason"} <= works


def test_the_list_has_providers_and_checked_models(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    monkeypatch.delenv("MOONSHOT_API_KEY", raising=False)
    empty = ended("models", "list", "--lake", lake)
    assert "Checked model" not in empty.out
    with ProbedServer(lambda body, _: completed(body)) as server:
        check(lake, "org/listener", "--base-url", server.base_url)
    document = ended("models", "list", "--lake", lake, "--json").document
    rows = {row["id"]: row for row in document["providers"]}
    assert (rows["deepseek"]["api_key_env"], rows["deepseek"]["key_is_set"]) == ("DEEPSEEK_API_KEY", True)
    assert (rows["moonshot"]["key_is_set"], rows["ollama"]["key_is_set"]) == (False, None)
    assert rows["openai"]["verified"] == "2026-04-01"
    (checked,) = document["checked"]
    assert (checked["model"], checked["server"], checked["token_limit"]) == ("org/listener", server.base_url, "max_tokens")
    assert (checked["dialect"]["token_limit"], checked["dialect"]["unsent"]) == ("max_tokens", [])
    shown = ended("models", "list", "--lake", lake).out
    assert "org/listener" in shown
    assert "limit max_tokens" in " ".join(shown.split())
    assert "MOONSHOT_API_KEY (not set)" in " ".join(shown.split())
    assert KEY not in shown
