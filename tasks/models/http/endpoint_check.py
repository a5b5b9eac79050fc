"""Check an endpoint before the first call: its key, its URL, and whether its host can be reached."""

import asyncio
import socket
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Thread

import httpx
from pydantic import SecretStr

from schemas.addresses import KEY_ADDRESSES
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from tasks.models.capabilities.providers import provider_at
from tasks.models.http.transport import choose_proxy

PROBE_TIMEOUT_S = 3.0
"""For the connection to each address of a name."""

LIMIT_S = 2 * PROBE_TIMEOUT_S
"""For the look-up of the name and all connections."""

PORTS = {"http": 80, "https": 443}
LAST_PORT = 65535


def resolve_keys(entry: ModelEntry, environ: Mapping[str, str]) -> dict[str, SecretStr]:
    """Read the environment variables that a model's entry names: its key, and values of headers and of the query.

    EndpointError if one is empty, holds what cannot be sent, or may not go to the base URL. White space around it is dropped.
    """
    keys = {}
    for variable in entry.key_variables:
        _require_allowed(entry, variable, environ.get(KEY_ADDRESSES))
        keys[variable] = SecretStr(environ.get(variable, "").strip())
        if not keys[variable]:
            raise EndpointError(
                f"the API key of model {entry.name} is missing",
                where=f"environment variable {variable}",
                expected="the key",
                got="an empty value" if variable in environ else "no such variable",
                next_step=f"export {variable}=... and run again",
            )
        _require_sendable(entry, variable, keys[variable])
    return keys


def _require_sendable(entry: ModelEntry, variable: str, key: SecretStr) -> None:
    """Refuse a key that no header can hold; libraries would print it when they fail on it. The error names its variable only.

    A header of another name may have a scheme in front of its key.
    """
    text = key.get_secret_value()
    if not text.isascii() or not text.isprintable() or text.count(" ") > (variable != entry.api_key_env):
        raise EndpointError(
            f"the API key of model {entry.name} cannot be sent",
            where=f"environment variable {variable}",
            expected="printable ASCII characters without spaces",
            got=f"{len(text)} characters, including spaces or non-ASCII ones",
            next_step="set the variable to just the key",
        )


def _require_allowed(entry: ModelEntry, variable: str, allowed: str | None) -> None:
    provider = provider_at(entry.base_url)
    if allowed is None or entry.base_url is None or (provider and provider.api_key_env == variable):
        return
    pair = f"{variable}={entry.base_url.rstrip('/')}"
    if pair not in [url.rstrip("/") for url in allowed.split()]:
        raise EndpointError(
            f"the key of model {entry.name} may not be sent to this base URL",
            where=f"environment variable {variable}, base_url {entry.base_url}",
            expected=f"a pair in {KEY_ADDRESSES} of the run's environment, or a provider's own",
            got=pair,
            next_step=f"add the pair to the prefect.yaml of moodflow serve, or to {KEY_ADDRESSES} of the worker",
        )


async def check_endpoint(entry: ModelEntry) -> None:
    """Raise EndpointError unless a base URL names a host that can be reached; the embedded model needs no check.

    A host that answers and refuses the connection passes: the server is down now, which is a failure of calls and not a wrong
    option (see docs/decisions/0001). Where a proxy stands in between, only the proxy can be checked: it looks up the name.
    """
    if entry.base_url is None or entry.is_file:
        return
    url = _parse(entry, entry.base_url)
    if proxy := choose_proxy(entry, url):
        url = _parse(entry, proxy)
    host = f"of the proxy {url.host}" if proxy else url.host
    location = f"{host}:{_port(url)}"
    try:
        await asyncio.wait_for(_connect(url), LIMIT_S)
    except TimeoutError as error:
        raise _unreachable(entry, f"{location}: no answer within {LIMIT_S:g} s") from error
    except socket.gaierror as error:
        raise _unreachable(entry, f"host name {host} has no address ({error.strerror})") from error
    except UnicodeError as error:
        # DNS cannot spell an empty or overlong label.
        raise _unreachable(entry, f"host name {host}: {error}") from error
    except ExceptionGroup as errors:
        # A host that refuses is there, whatever became of its other addresses.
        if errors.subgroup((ConnectionRefusedError, ConnectionResetError)) is None:
            raise _unreachable(entry, f"{location}: {', '.join(dict.fromkeys(map(_describe, errors.exceptions)))}") from errors


def _connect(url: httpx.URL) -> asyncio.Future[None]:
    """Connect to one of the addresses of a host: a name may have several, and some may lead nowhere."""
    ended: Future[None] = Future()
    ended.set_running_or_notify_cancel()  # else one that is not waited for any more could take no result

    def connect() -> None:
        try:
            socket.create_connection((url.host, _port(url)), PROBE_TIMEOUT_S, all_errors=True).close()
            ended.set_result(None)
        except (ExceptionGroup, OSError, UnicodeError) as error:
            ended.set_exception(error)

    # Not in the loop's own threads: the program would wait for them at its end, which takes as long as DNS does.
    Thread(target=connect, daemon=True).start()
    return asyncio.wrap_future(ended)


def _describe(fault: Exception) -> str:
    return (
        f"no answer within {PROBE_TIMEOUT_S:g} s" if isinstance(fault, TimeoutError) else getattr(fault, "strerror", str(fault))
    )


def _port(url: httpx.URL) -> int:
    return url.port or PORTS.get(url.scheme, 0)


def _parse(entry: ModelEntry, text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
        port = _port(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise _unreachable(entry, str(error)) from error
    if url.scheme not in PORTS or not url.host:
        raise _unreachable(entry, "not an http or https URL")
    # The resolver takes a larger number modulo 65536, which is another port.
    if port > LAST_PORT:
        raise _unreachable(entry, f"port {port}, the last one is {LAST_PORT}")
    return url


def _unreachable(entry: ModelEntry, got: str) -> EndpointError:
    return EndpointError(
        f"the server of model {entry.name} cannot be reached",
        where=f"base URL {entry.base_url}",
        expected="the address of an OpenAI-compatible server, such as http://localhost:8000/v1",
        got=got,
        next_step="correct --base-url (or --judge-base-url), or start the server",
    )
