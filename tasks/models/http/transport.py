"""Send one POST of JSON to a model server, over many HTTP/1.1 connections (docs/decisions/0009), and join a streamed answer."""

import asyncio
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from pydantic import SecretStr

from schemas.addresses import is_loopback, read_pairs
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.json_yaml import LARGEST_BYTES, read_json
from schemas.vocabulary import Failure
from tasks.models.http.failures import find_error

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
                    text = "the answer is incomplete, or not compressed as its header says"
                    raise TransportError("truncated_body", text, response.status) from error
                except aiohttp.ClientError as error:
                    text = f"the answer is incomplete: {describe_cause(error)}"
                    raise TransportError("truncated_body", text, response.status) from error
                finally:
                    response.release()
        except TimeoutError:
            raise TransportError("timeout_total", f"the answer was not complete within {self._entry.timeout_s:g} s") from None

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
            text = f"the answer's headers cannot be read: not HTTP, too many, or one is larger than {LARGEST_HEADER // 2**10} KiB"
            raise TransportError("invalid_json", text) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise TransportError("connect", f"no connection to {self.server}: {describe_cause(error)}") from error
        except TimeoutError as error:
            if limit_s is None or not waiting.expired():
                raise  # the limit around the whole call
            raise TransportError("timeout_first_byte", f"the answer did not begin within {limit_s:g} s") from error


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    packings = PACKINGS.findall(response.headers.get("Content-Encoding", "").lower())
    if packings not in ([], ["gzip"]):
        text = f"the answer is encoded as {', '.join(packings)}, which was not requested"
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
        raise TransportError("truncated_body", "the compressed answer is incomplete", response.status)
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
            next_step=f"set it to an http proxy, or add {url.host} to NO_PROXY",
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


STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
"""How an event stream begins, perhaps with a comment; JSON and pages never do."""

LINES = re.compile(rb"\s*\{[^\n]*\}\r?\n\s*\{")
OF_OLLAMA = "JSON line by line, as the native API of Ollama streams it, and not the OpenAI-compatible one below /v1"

DONE = "[DONE]"
ERROR_EVENT = re.compile(r"^event: ?error$", re.MULTILINE)
BROKEN_OFF = 502
"""What gateways answer for a server that hung up."""


def join_events(body: bytes) -> bytes:
    """Return the body of an answer as if it had not been streamed; if it is no event stream, return it as it is.

    Texts in the chunks of the first choice are joined. Of usage, model and the like the last one counts. The first event with an
    error is the whole answer. Where neither `[DONE]` nor a finish reason came, the answer is an error that says so.
    """
    if LINES.match(body):
        return json.dumps({"error": f"{OF_OLLAMA}: {body.decode('utf-8', 'replace')}"}).encode()
    if not STREAM.match(body):
        return body
    document: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    parts: defaultdict[str, list[Any]] = defaultdict(list)
    data = ""
    with suppress(ValueError, TypeError, AttributeError):  # at an event that cannot be read what came before counts
        for data in _read_events(body.decode("utf-8-sig", "replace")):
            if data == DONE:
                choice.setdefault("finish_reason", None)
                break
            event = read_json(data, lenient=True)
            if find_error(event):
                return data.encode()
            first: dict[str, Any] = next((other for other in event.pop("choices", None) or () if not other.get("index")), {})
            if whole := first.pop("message", None):
                parts.clear()  # it repeats what came in parts
            delta = whole or first.pop("delta", None) or {}
            logprobs = first.pop("logprobs", None)
            tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
            for name, part in (*delta.items(), ("logprobs", tokens)):
                if part and isinstance(part, str | list):
                    parts[name].append(part)
            choice |= {name: value for name, value in first.items() if value}
            document |= {name: value for name, value in event.items() if value is not None}
    if "finish_reason" not in choice:
        characters = sum(map(len, parts["content"]))
        text = f"the event stream broke off after {characters} characters of the reply; its last event: {data}"
        return json.dumps({"error": {"code": BROKEN_OFF, "message": text}}).encode()
    message = {name: _join(parts[name]) for name in parts}
    choices = [{**choice, "message": message, "logprobs": {"content": message.get("logprobs")}}]
    return json.dumps({**document, "choices": choices}).encode()


def _read_events(text: str) -> Iterator[str]:
    """Yield the data of each event; of objects that follow each other without a blank line each is an event.

    After an event of type `error` comes one whose data states that error, in case its own data does not.
    """
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = [line[5:].strip(" ") for line in block.split("\n") if line.startswith("data:")]
        are_several = all(line.startswith(("{", DONE)) for line in lines)
        yield from filter(None, lines if are_several else ["\n".join(lines)])
        if ERROR_EVENT.search(block):
            yield json.dumps({"error": {"code": BROKEN_OFF, "message": "\n".join(lines)}})


def _join(parts: list[Any]) -> Any:
    """Join texts, or lists between which texts may stand."""
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    return list(chain.from_iterable([{"type": "text", "text": part}] if isinstance(part, str) else part for part in parts))
