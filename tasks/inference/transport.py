"""How a call travels to a model server: one POST of JSON, over many HTTP/1.1 connections (docs/decisions/0009)."""

import asyncio
from collections.abc import Mapping
from ipaddress import ip_address
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import aiohttp
import httpx
from pydantic import SecretStr

from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.vocabulary import Failure

JSON = {"Content-Type": "application/json"}


class Answer(NamedTuple):
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

    async def post(self, body: bytes) -> Answer:
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


class AioTransport:
    """Over one aiohttp session.

    Args:
        entry: the model; its concurrency bounds the connections, its time limits hold.
        address: of the server.
    """

    def __init__(self, entry: ModelEntry, address: Address) -> None:
        self._entry = entry
        self._address = address
        self._url = str(address.url)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # The same certificates as for downloads; reading them takes 20 ms.
        trusted = httpx.create_ssl_context() if self._address.url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            headers=self._address.headers,
            connector=aiohttp.TCPConnector(limit=self._entry.concurrency, ssl=trusted),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._entry.connect_timeout_s),
            # A proxy from the environment is for remote servers; one on this machine is spoken to directly.
            trust_env=not is_loopback(self._address.url.host),
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, body: bytes) -> Answer:
        """Send one body; see `Transport`."""
        try:
            async with asyncio.timeout(self._entry.timeout_s):
                return await self._exchange(body)
        except TimeoutError:
            raise TransportError("timeout_total", f"no whole answer within {self._entry.timeout_s:g} s") from None

    async def _exchange(self, body: bytes) -> Answer:
        # In two steps, since a connection lost before the answer began means something else than an answer cut short.
        response = await self._begin(body)
        try:
            return Answer(response.status, response.headers, await response.read())
        except aiohttp.ClientError as error:
            raise TransportError("truncated_body", f"the answer is cut short: {explain(error)}", response.status) from error
        finally:
            response.release()

    async def _begin(self, body: bytes) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("AioTransport is used as an async context manager")
        begin = self._session.post(self._url, data=body, allow_redirects=False)
        limit_s = self._entry.first_byte_timeout_s
        try:
            if limit_s is None:
                return await begin
            async with asyncio.timeout(limit_s) as waiting:
                return await begin
        except aiohttp.ConnectionTimeoutError as error:
            text = f"no connection to {self._address.place} within {self._entry.connect_timeout_s:g} s"
            raise TransportError("timeout_connect", text) from error
        except TimeoutError as error:
            if limit_s is None or not waiting.expired():
                raise  # the limit around the whole call
            raise TransportError("timeout_first_byte", f"no answer began within {limit_s:g} s") from error
        except aiohttp.ClientSSLError as error:
            raise TransportError("tls", f"no secure connection to {self._address.place}: {explain(error)}") from error
        except (aiohttp.ClientError, ValueError, UnicodeError) as error:
            raise TransportError("connect", f"no connection to {self._address.place}: {explain(error)}") from error


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


def explain(error: BaseException) -> str:
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
