"""The one client of model servers: OpenAI-compatible chat over httpx."""

import math
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import cycle
from types import TracebackType
from typing import Self

import httpx
from pydantic import SecretStr

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.vocabulary import Failure
from tasks.inference.limits import CircuitBreaker, Limiter, RetryPolicy
from tasks.inference.reading import LONGEST_ERROR, describe_error, read_completion

CONNECTIONS_PER_POOL = 8
"""Measured: one httpx 0.28 pool at 256 connections carries about 60 requests/s, 32 pools of 8 about 1,000."""

CONNECT_TIMEOUT_S = 10.0
TOO_MANY_REQUESTS = 429


class HttpChat:
    """Answers requests from one endpoint; never raises for a failed call.

    Args:
        entry: the model; its concurrency and timeout hold for the whole endpoint.
        base_url: server, up to and including `/v1`.
        key: sent as a bearer token and nowhere else.
        policy: what is retried.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        entry: ModelEntry,
        base_url: str,
        key: SecretStr | None = None,
        *,
        policy: RetryPolicy | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._entry = entry
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._key = key
        self._policy = policy or RetryPolicy()
        self._clock = clock
        self._limiter = Limiter(entry.concurrency)
        self._breaker = CircuitBreaker()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self._key.get_secret_value()}"} if self._key else {}
        timeout = httpx.Timeout(self._entry.timeout_s, connect=CONNECT_TIMEOUT_S, pool=None)
        limits = httpx.Limits(max_connections=CONNECTIONS_PER_POOL, max_keepalive_connections=CONNECTIONS_PER_POOL)
        pools = [
            await self._stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits))
            for _ in range(math.ceil(self._entry.concurrency / CONNECTIONS_PER_POOL))
        ]
        self._pools = cycle(pools)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.aclose()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Send one request, again if the policy says so; a slot is held while it is on the wire, not while it waits."""
        attempt = 0
        while True:
            attempt += 1
            reply, retry_after_s = await self._attempt(request)
            reply = replace(reply, attempts=attempt)
            if reply.failure is None or self._breaker.is_open:
                return reply
            delay_s = self._policy.delay_s(reply.failure, attempt, retry_after_s)
            if delay_s is None:
                return reply
            await self._policy.sleep(delay_s)

    async def _attempt(self, request: ChatRequest) -> tuple[ChatReply, float | None]:
        async with self._limiter:
            if self._breaker.is_open:
                text = f"not sent: the server at {self._url} refused the calls before this one"
                return ChatReply(failure="connect", error=text), None
            started = self._clock()
            try:
                response = await next(self._pools).post(self._url, json=request.body())
            except httpx.HTTPError as error:
                reply, retry_after_s = ChatReply(failure=_kind_of(error), error=_say(error, self._url)), None
            else:
                reply, retry_after_s = _read(response), _retry_after(response)
            reply = replace(reply, latency_s=self._clock() - started)
            self._breaker.report(reply)
            return reply, retry_after_s


def _kind_of(error: httpx.HTTPError) -> Failure:
    # A connection that cannot be made in time is a connection failure; ConnectTimeout is a TimeoutException as well.
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "connect"
    if isinstance(error, httpx.TimeoutException):
        return "timeout"
    if isinstance(error, httpx.RemoteProtocolError | httpx.DecodingError):
        return "malformed_reply"
    return "connect"


def _say(error: httpx.HTTPError, url: str) -> str:
    return f"{type(error).__name__} at {url}: {error}"[:LONGEST_ERROR]


def _read(response: httpx.Response) -> ChatReply:
    if response.is_success:
        return read_completion(response.content)
    status = response.status_code
    kind: Failure = "http_5xx" if response.is_server_error else "http_4xx"
    if status == TOO_MANY_REQUESTS:
        kind = "http_429"
    return ChatReply(failure=kind, error=describe_error(response.content), http_status=status)


def _retry_after(response: httpx.Response) -> float | None:
    # The header may also be a date; clients of model servers see seconds, and a date is then left to the back-off.
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
