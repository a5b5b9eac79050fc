"""Entries, requests and clients the tests of this folder share."""

import random
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from pydantic import SecretStr

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatReply, ChatRequest, ModelEntry
from tasks.models.http.client import CallRetryPolicy, HttpChat

HANGS_S = 300.0
"""Longer than anything takes on a machine however busy: what is not there by then never comes."""


@contextmanager
def running(module: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program of this folder in a process of its own, which is killed in the end."""
    command = [sys.executable, "-m", f"tests.tasks.models.{module}", *arguments]
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


class Pauses:
    """Stands in for asyncio.sleep: remembers what it was asked for and waits for nothing."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def entry(base_url: str, *, concurrency: int = 8, timeout_s: float = HANGS_S) -> ModelEntry:
    return ModelEntry(name="listener", base_url=base_url, concurrency=concurrency, timeout_s=timeout_s)


def request(text: str = "How are you?", *, repetition: int = 0, base_url: str = "http://localhost/v1") -> ChatRequest:
    return ChatRequest(
        model="listener",
        identity=base_url,
        messages=(ChatMessage(role="user", content=text),),
        sampling=Sampling(max_tokens=16),
        repetition=repetition,
    )


def client(model: ModelEntry, pauses: Callable[[float], Awaitable[None]], key: SecretStr | None = None) -> HttpChat:
    if model.base_url is None:
        raise AssertionError("tests of the client name a server")
    base_url, keys = model.base_url, {} if key is None else {model.api_key_env or "LISTENER_KEY": key}
    model = model.model_copy(update={"api_key_env": next(iter(keys), None)})
    return HttpChat(model, base_url, keys, policy=CallRetryPolicy(sleep=pauses, draw=random.Random(0).random))


async def ask_once(model: ModelEntry, pauses: Pauses, key: SecretStr | None = None) -> ChatReply:
    async with client(model, pauses, key) as chat:
        return await chat(request())


@cache
def held() -> socket.socket:
    """A socket that has a port and does not listen, so that nobody else gets it."""
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    return found


def closed_port() -> int:
    """A port at which nothing listens."""
    port: int = held().getsockname()[1]
    return port
