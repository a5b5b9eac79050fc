"""The model that comes with the install: it answers, and it leaves no process behind."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemas.chat import EMBEDDED_MODEL, ChatRequest, Message, ModelEntry, Sampling
from schemas.errors import EndpointError
from tasks.inference import embedded
from tasks.inference.client import HttpChat
from tasks.inference.embedded import find_weights, serve_embedded

ROOT = Path(__file__).resolve().parents[3]


def alive(pid: int) -> bool:
    # An ended process whose parent is gone too may stay as a zombie where nobody reaps orphans.
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def test_it_answers_and_is_gone_afterwards() -> None:
    entry = ModelEntry(name=EMBEDDED_MODEL)
    call = ChatRequest(
        model=entry.name,
        identity=entry.identity,
        messages=(Message(role="user", content="Hi"),),
        sampling=Sampling(max_tokens=3),
    )
    async with serve_embedded() as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert alive(server.pid)
        async with HttpChat(entry, server.base_url) as chat:
            reply = await chat(call)
    assert (reply.failure, reply.error, reply.http_status) == (None, None, 200)
    assert str(reply.text).strip()
    assert reply.completion_tokens is not None
    assert 1 <= reply.completion_tokens <= 3
    assert not alive(server.pid)


def test_it_ends_with_its_parent_however_that_went() -> None:
    command = [sys.executable, "-m", "tests.tasks.inference.embedded_parent"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "EMBEDDED_WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EndpointError, match="not the known ones") as caught:
        find_weights()
    assert caught.value.expected == f"sha256 {'0' * 64}"
    assert "requirements-weights.txt" in str(caught.value.next_step)
