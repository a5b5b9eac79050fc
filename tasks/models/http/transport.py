"""How a call travels to a model server: one POST of JSON, over many HTTP/1.1 connections (docs/decisions/0009)."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from ipaddress import ip_address
from types import TracebackType
from typing import ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import aiohttp
import httpx
from pydantic import SecretStr

from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.vocabulary import Failure

JSON = {"Content-Type": "application/json"}


class HttpAnswer(NamedTuple):
    """What a server sent, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TransportError(Exception):
    """No whole answer came.

    Args:
        failure: which way it failed.
        text: what the user should know of it; holds no key and no header.
        http_status: if the answer had begun.
    """

    def __init__(self, failure: Failure, text: str, http_status: int | None = None) -> None:
        super().__init__(text)
        self.failure = failure
        self.text = text
        self.http_status = http_status


class Transport(Protocol):
    """Connections to one endpoint. Used as an async context manager."""

    async def __aenter__(self) -> Self:
        """Make ready; connections are opened when they are needed."""
        ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close all connections."""
        ...

    async def post(self, body: bytes) -> HttpAnswer:
        """Send one body to the endpoint's `chat/completions`.

        Raises:
            TransportError: no whole answer came; one with an error status is an answer.
        """
        ...


class Address(NamedTuple):
    """Where calls go, and the key they carry; `key` is written nowhere but into the header."""

    base_url: str
    key: SecretStr | None = None

    @property
    def url(self) -> httpx.URL:
        """Of the method that is called."""
        return httpx.URL(f"{self.base_url.rstrip('/')}/chat/completions")

    @property
    def place(self) -> str:
        """Scheme, host and port; never the whole URL, which may carry a password."""
        return f"{self.url.scheme}://{self.url.netloc.decode()}"

    @property
    def headers(self) -> dict[str, str]:
        """Of every call."""
        return {**JSON, **({"Authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {})}

    @property
    def may_need_proxy(self) -> bool:
        """Whether a proxy of the environment is meant: for remote servers; one on this machine is spoken to directly."""
        return not is_loopback(self.url.host)


class Connections(Protocol):
    """What a library keeps connections in."""

    async def close(self) -> None:
        """Close all of them."""
        ...


Kept = TypeVar("Kept", bound=Connections)
Begun = TypeVar("Begun")


class HttpTransport(ABC, Generic[Kept]):
    """What every transport has, over whichever library: lifecycle, time limits, names of failures.

    Args:
        entry: the model; its concurrency bounds the connections, its time limits hold.
        address: of the server.
    """

    errors: ClassVar[tuple[type[Exception], ...]]
    """What the library raises if no answer begins."""

    def __init__(self, entry: ModelEntry, address: Address) -> None:
        self._entry = entry
        self._address = address
        self._kept: Kept | None = None

    @abstractmethod
    def _open(self) -> Kept:
        """Make ready; called inside the event loop."""

    @abstractmethod
    async def _exchange(self, body: bytes) -> HttpAnswer:
        """Send one body. In two steps, since a connection lost before the answer began is no answer cut short."""

    @abstractmethod
    def _name(self, error: Exception) -> Failure:
        """Which failure one of `errors` is."""

    @property
    def _connections(self) -> Kept:
        if self._kept is None:
            raise RuntimeError(f"{type(self).__name__} is used as an async context manager")
        return self._kept

    async def __aenter__(self) -> Self:
        self._kept = self._open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.close()

    async def post(self, body: bytes) -> HttpAnswer:
        """Send one body; see `Transport`."""
        try:
            async with asyncio.timeout(self._entry.timeout_s):
                return await self._exchange(body)
        except TimeoutError:
            raise TransportError("timeout_total", f"no whole answer within {self._entry.timeout_s:g} s") from None

    async def _begin(self, sending: Awaitable[Begun]) -> Begun:
        """The answer that `sending` waits for, as soon as it has begun."""
        limit_s = self._entry.first_byte_timeout_s
        try:
            if limit_s is None:
                return await sending
            async with asyncio.timeout(limit_s) as waiting:
                return await sending
        except self.errors as error:
            raise self._failed(self._name(error), error) from error
        except TimeoutError as error:
            if limit_s is None or not waiting.expired():
                raise  # the limit around the whole call
            raise TransportError("timeout_first_byte", f"no answer began within {limit_s:g} s") from error

    def _failed(self, failure: Failure, error: Exception, status: int | None = None) -> TransportError:
        place, reason = self._address.place, describe_cause(error)
        texts: dict[Failure, str] = {
            "timeout_connect": f"no connection to {place} within {self._entry.connect_timeout_s:g} s",
            "tls": f"no secure connection to {place}: {reason}",
            "connect": f"no connection to {place}: {reason}",
            "truncated_body": f"the answer is cut short: {reason}",
        }
        return TransportError(failure, texts[failure], status)


class AioTransport(HttpTransport[aiohttp.ClientSession]):
    """Over one aiohttp session."""

    errors = (aiohttp.ClientError, ValueError)

    def _open(self) -> aiohttp.ClientSession:
        # The same certificates as for downloads; reading them takes 20 ms.
        trusted = httpx.create_ssl_context() if self._address.url.scheme == "https" else True
        self._url = str(self._address.url)
        return aiohttp.ClientSession(
            headers=self._address.headers,
            connector=aiohttp.TCPConnector(limit=self._entry.concurrency, ssl=trusted),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._entry.connect_timeout_s),
            trust_env=self._address.may_need_proxy,
        )

    async def _exchange(self, body: bytes) -> HttpAnswer:
        response = await self._begin(self._connections.post(self._url, data=body, allow_redirects=False))
        try:
            return HttpAnswer(response.status, response.headers, await response.read())
        except aiohttp.ClientError as error:
            raise self._failed("truncated_body", error, response.status) from error
        finally:
            response.release()

    def _name(self, error: Exception) -> Failure:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "timeout_connect"
        return "tls" if isinstance(error, aiohttp.ClientSSLError) else "connect"


def require_sendable(entry: ModelEntry, key: SecretStr | None) -> None:
    """Refuse a key that no header can hold; libraries would print it when they fail on it.

    Raises:
        EndpointError: naming the variable, never the key.
    """
    text = key.get_secret_value() if key else "-"
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise EndpointError(
            f"the API key of model {entry.name} cannot be sent",
            where=f"environment variable {entry.api_key_env}",
            expected="printable ASCII characters without spaces",
            got=f"{len(text)} characters, some of another kind",
            next_step="set the variable to the key alone",
        )


def describe_cause(error: BaseException) -> str:
    """The operating system's reason, else the kind of error; messages of other libraries may quote headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; no proxy stands in between then."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
