"""The same calls over HTTP/2, where the server speaks it: many at once over one connection (docs/decisions/0010)."""

import asyncio
import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Self

import httpx

from schemas.chat import ModelEntry
from tasks.inference.transport import Address, Answer, TransportError, explain, is_loopback


class Http2Transport:
    """Over one httpx client. Which protocol is spoken is settled as a connection opens; a server without HTTP/2 gets HTTP/1.1.

    Args:
        entry: the model; its concurrency bounds the connections, its time limits hold.
        address: of the server.
    """

    def __init__(self, entry: ModelEntry, address: Address) -> None:
        self._entry = entry
        self._address = address
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        self._client = httpx.AsyncClient(
            http2=True,
            headers=self._address.headers,
            verify=httpx.create_ssl_context(),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=self._entry.connect_timeout_s),
            limits=httpx.Limits(max_connections=self._entry.concurrency, max_keepalive_connections=self._entry.concurrency),
            # A proxy from the environment is for remote servers; one on this machine is spoken to directly.
            trust_env=not is_loopback(self._address.url.host),
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._client is not None:
            await self._client.aclose()

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
            return Answer(response.status_code, response.headers, await response.aread())
        except httpx.HTTPError as error:
            raise TransportError("truncated_body", f"the answer is cut short: {explain(error)}", response.status_code) from error
        finally:
            await response.aclose()

    async def _begin(self, body: bytes) -> httpx.Response:
        if self._client is None:
            raise RuntimeError("Http2Transport is used as an async context manager")
        limit_s, place = self._entry.first_byte_timeout_s, self._address.place
        try:
            request = self._client.build_request("POST", self._address.url, content=body)
            async with asyncio.timeout(limit_s) as waiting:
                return await self._client.send(request, stream=True)
        except httpx.ConnectTimeout as error:
            text = f"no connection to {place} within {self._entry.connect_timeout_s:g} s"
            raise TransportError("timeout_connect", text) from error
        except TimeoutError as error:
            if not waiting.expired():
                raise  # the limit around the whole call
            raise TransportError("timeout_first_byte", f"no answer began within {limit_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            if _is_handshake(error):
                raise TransportError("tls", f"no secure connection to {place}: {explain(error)}") from error
            raise TransportError("connect", f"no connection to {place}: {explain(error)}") from error


def _is_handshake(error: BaseException) -> bool:
    """Whether the encryption is what failed, which httpx calls a connection that failed."""
    cause: BaseException | None = error if isinstance(error, httpx.ConnectError) else None
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
