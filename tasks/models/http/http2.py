"""The same calls over HTTP/2, where the server speaks it: many at once over one connection (docs/decisions/0010)."""

import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from h2.exceptions import H2Error, TooManyStreamsError

from schemas.vocabulary import Failure
from tasks.models.http.transport import HttpAnswer, HttpTransport, TransportError


class Clients:
    """httpx clients: the newest takes the calls, others are left to those they have.

    A call that is given up keeps its stream, since httpx tells the server nothing of it, and a connection has only so many. So
    the client of such a call gets no more, and is closed after its last one.

    Args:
        open_client: gives a new client.
    """

    def __init__(self, open_client: Callable[[], httpx.AsyncClient]) -> None:
        self._open_client = open_client
        self._newest: httpx.AsyncClient | None = None
        self._in_flight: Counter[httpx.AsyncClient] = Counter()
        self.share_connections = True
        """Whether HTTP/2 is spoken, as far as is known. Over HTTP/1.1 a call that is given up costs its own connection only."""

    @asynccontextmanager
    async def take(self) -> AsyncIterator[httpx.AsyncClient]:
        """The client for one call, which is the block."""
        client = self._newest = self._newest or self._open_client()
        self._in_flight[client] += 1
        try:
            yield client
        except BaseException as error:
            if self.share_connections and self._newest is client and _keeps_stream(error):
                self._newest = None
            raise
        finally:
            self._in_flight[client] -= 1
            if client is not self._newest and not self._in_flight[client]:
                await client.aclose()
                del self._in_flight[client]

    async def close(self) -> None:
        """Close all of them."""
        for client in list(self._in_flight):
            await client.aclose()


class Http2Transport(HttpTransport[Clients]):
    """Over httpx. Which protocol is spoken is settled as a connection opens; a server without HTTP/2 gets HTTP/1.1."""

    errors = (httpx.HTTPError, httpx.InvalidURL, ValueError, H2Error)

    def _open(self) -> Clients:
        trusted = httpx.create_ssl_context()
        return Clients(lambda: self._open_client(trusted))

    def _open_client(self, trusted: ssl.SSLContext) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            http2=True,
            headers=self._address.headers,
            verify=trusted,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=self._entry.connect_timeout_s),
            limits=httpx.Limits(max_connections=self._entry.concurrency, max_keepalive_connections=self._entry.concurrency),
            trust_env=self._address.may_need_proxy,
        )

    async def _exchange(self, body: bytes) -> HttpAnswer:
        try:
            return await self._send(body)
        except TransportError as error:
            if not _is_unsent(error):
                raise
        return await self._send(body)

    async def _send(self, body: bytes) -> HttpAnswer:
        async with self._connections.take() as client:
            response = await self._begin(self._post(client, body))
            self._connections.share_connections = response.http_version == "HTTP/2"
            try:
                return HttpAnswer(response.status_code, response.headers, await response.aread())
            except (httpx.HTTPError, H2Error) as error:
                raise self._failed("truncated_body", error, response.status_code) from error
            finally:
                await response.aclose()

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> httpx.Response:
        return await client.send(client.build_request("POST", self._address.url, content=body), stream=True)

    def _name(self, error: Exception) -> Failure:
        if isinstance(error, httpx.ConnectTimeout):
            return "timeout_connect"
        if isinstance(error, httpx.LocalProtocolError | H2Error):
            return "truncated_body"  # there is a server, and a connection: the two sides do not agree on its state
        return "tls" if _is_handshake(error) else "connect"


def _keeps_stream(error: BaseException) -> bool:
    """Whether a call that ended so may still have its stream; not where the server or the network ended it."""
    cause = error.__cause__ if isinstance(error, TransportError) else error
    return isinstance(cause, httpx.LocalProtocolError) or not isinstance(cause, httpx.HTTPError)


def _is_unsent(error: TransportError) -> bool:
    """Whether the connection had no stream left for a call, which then was not sent and is not paid for."""
    cause = error.__cause__.__cause__ if isinstance(error.__cause__, httpx.LocalProtocolError) else None
    return cause is not None and isinstance(next(iter(cause.args), None), TooManyStreamsError)


def _is_handshake(error: BaseException) -> bool:
    """Whether the encryption is what failed, which httpx calls a connection that failed."""
    cause: BaseException | None = error if isinstance(error, httpx.ConnectError) else None
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
