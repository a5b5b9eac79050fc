"""Send one POST of JSON to a model server, over many HTTP/1.1 connections (docs/decisions/0009)."""

import asyncio
import re
import zlib
from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from pydantic import SecretStr

from schemas.addresses import is_loopback, read_pairs
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.json_yaml import LARGEST_BYTES
from schemas.vocabulary import Failure

JSON = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}
GZIP = 16 + zlib.MAX_WBITS
MEMBER = b"\x1f"
"""First byte of each member of a gzip file."""

END_OF_STREAM, LONGEST_END = re.compile(rb"[\r\n]data: ?\[DONE\]\s*\Z"), 32
"""Some servers leave the connection open after it. JSON cannot contain it, since it has no line ends within strings."""

PACKINGS = re.compile(r"\b(?:gzip|br|deflate|zstd|compress)\b")
"""Encodings that change the bytes of an answer. Some servers state others by mistake, such as `utf-8`."""

LARGEST_HEADER = 2**16
"""Bytes of one header; some gateways send whole prompts and tokens in theirs."""


class HttpAnswer(NamedTuple):
    """The whole answer of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TransportError(Exception):
    """Raised when no whole answer came: in which way, and what the user should know, which holds no key and no header."""

    def __init__(self, failure: Failure, text: str, http_status: int | None = None) -> None:
        super().__init__(text)
        self.failure = failure
        self.http_status = http_status


class Transport:
    """Connections to one endpoint, in one aiohttp session. Used as an async context manager.

    The model's concurrency bounds the connections, and its time limits hold. The keys, by their variables, are written nowhere
    but into headers and query.
    """

    def __init__(self, entry: ModelEntry, base_url: str, keys: Mapping[str, SecretStr]) -> None:
        self._entry = entry
        self._keys = keys
        secret = {name: keys[variable].get_secret_value() for name, variable in read_pairs(entry.query_env).items()}
        query = {**read_pairs(entry.query), **secret}
        self._url = httpx.URL(f"{base_url.rstrip('/')}/chat/completions", params=query or None)
        self._address = str(self._url)
        self._proxy = choose_proxy(entry, self._url)

    @property
    def server(self) -> str:
        """Scheme, host and port; never the whole URL, which may hold a password."""
        return f"{self._url.scheme}://{self._url.netloc.decode()}"

    async def __aenter__(self) -> Self:
        headers = {
            name: self._keys[variable].get_secret_value() for name, variable in read_pairs(self._entry.headers_env).items()
        }
        if key := self._keys.get(self._entry.api_key_env or ""):
            headers["Authorization"] = f"Bearer {key.get_secret_value()}"
        # The same certificates as for downloads; reading them takes 20 ms.
        trusted = httpx.create_ssl_context() if self._url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            headers={**JSON, **headers},
            connector=aiohttp.TCPConnector(limit=self._entry.concurrency, ssl=trusted),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._entry.connect_timeout_s),
            # Unpacked here, where it can be bounded: a megabyte may stand for one of a thousand.
            auto_decompress=False,
            max_line_size=LARGEST_HEADER,
            max_field_size=LARGEST_HEADER,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def post(self, body: bytes) -> HttpAnswer:
        """Send one body to the endpoint's `chat/completions`; redirects are not followed. An error status is an answer, too."""
        try:
            async with asyncio.timeout(self._entry.timeout_s):
                response = await self._begin(body)
                try:
                    return HttpAnswer(response.status, response.headers, await _read_body(response))
                except zlib.error as error:
                    text = "the answer is cut short, or not packed as its header says"
                    raise TransportError("truncated_body", text, response.status) from error
                except aiohttp.ClientError as error:
                    text = f"the answer is cut short: {describe_cause(error)}"
                    raise TransportError("truncated_body", text, response.status) from error
                finally:
                    response.release()
        except TimeoutError:
            raise TransportError("timeout_total", f"no whole answer within {self._entry.timeout_s:g} s") from None

    async def _begin(self, body: bytes) -> aiohttp.ClientResponse:
        """Send a body and wait until the answer begins: a connection lost before that is no answer cut short."""
        limit_s = self._entry.first_byte_timeout_s
        try:
            async with asyncio.timeout(limit_s) as waiting:
                return await self._session.post(self._address, data=body, allow_redirects=False, proxy=self._proxy)
        except aiohttp.ConnectionTimeoutError as error:
            text = f"no connection to {self.server} within {self._entry.connect_timeout_s:g} s"
            raise TransportError("timeout_connect", text) from error
        except aiohttp.ClientSSLError as error:
            raise TransportError("tls", f"no secure connection to {self.server}: {describe_cause(error)}") from error
        except aiohttp.ClientResponseError as error:
            text = f"the answer's headers cannot be read: no HTTP, too many, or one is larger than {LARGEST_HEADER // 2**10} KiB"
            raise TransportError("invalid_json", text) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise TransportError("connect", f"no connection to {self.server}: {describe_cause(error)}") from error
        except TimeoutError as error:
            if limit_s is None or not waiting.expired():
                raise  # the limit around the whole call
            raise TransportError("timeout_first_byte", f"no answer began within {limit_s:g} s") from error


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    packings = PACKINGS.findall(response.headers.get("Content-Encoding", "").lower())
    if packings not in ([], ["gzip"]):
        text = f"the answer is encoded as {', '.join(packings)}, which was not asked for"
        raise TransportError("invalid_json", text, response.status)
    unpacking = zlib.decompressobj(GZIP) if packings else None
    body, came = bytearray(), 0
    async for chunk in response.content.iter_any():
        came += len(chunk)
        while unpacking and chunk and len(body) <= LARGEST_BYTES:
            if unpacking.eof and chunk[:1] != MEMBER:
                break  # padding
            if unpacking.eof:
                unpacking = zlib.decompressobj(GZIP)
            body += unpacking.decompress(chunk, LARGEST_BYTES + 1 - len(body))
            chunk = unpacking.unused_data  # noqa: PLW2901
        body += b"" if unpacking else chunk
        if max(came, len(body)) > LARGEST_BYTES:
            text = f"the answer is larger than {LARGEST_BYTES // 2**20} MiB"
            raise TransportError("truncated_body", text, response.status)
        if END_OF_STREAM.search(body[-LONGEST_END:]):
            return bytes(body)
    if unpacking and came and not unpacking.eof:  # proxies mark errors without a body, too
        raise TransportError("truncated_body", "the answer is cut short: its packing does not end", response.status)
    return bytes(body)


def choose_proxy(entry: ModelEntry, url: httpx.URL) -> str | None:
    """Return the URL of the environment's http proxy to a server; null if there is none.

    It is meant for remote servers; one on this machine is spoken to directly.
    """
    proxies = getproxies()
    scheme = url.scheme if proxies.get(url.scheme) else "all"
    proxy = proxies.get(scheme)
    if not proxy or is_loopback(url.host) or proxy_bypass(url.host):
        return None
    protocol, separator, _ = proxy.partition("://")
    if separator and protocol.lower() != "http":
        raise EndpointError(
            f"the proxy to the server of model {entry.name} cannot be used",
            where=f"environment variable {scheme.upper()}_PROXY or {scheme}_proxy",
            expected="an http proxy, such as http://proxy:3128; SOCKS and https proxies are not supported",
            got=f"a {protocol[:10]} proxy",
            next_step=f"name an http proxy there, or add {url.host} to NO_PROXY",
        )
    return proxy if separator else f"http://{proxy}"


def describe_cause(error: BaseException) -> str:
    """Return the operating system's reason, else the kind of error; messages of other libraries may quote headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
