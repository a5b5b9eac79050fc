"""What can be known to be wrong about an endpoint before the first call."""

import asyncio
import socket
from collections.abc import Mapping

import httpx
from pydantic import SecretStr

from schemas.chat import ModelEntry
from schemas.errors import EndpointError

PROBE_TIMEOUT_S = 3.0
PORTS = {"http": 80, "https": 443}
LAST_PORT = 65535


def resolve_api_key(entry: ModelEntry, environ: Mapping[str, str]) -> SecretStr | None:
    """The key of a model from the environment variable it names.

    Raises:
        EndpointError: if that variable is not set or empty.
    """
    if entry.api_key_env is None:
        return None
    if key := environ.get(entry.api_key_env, "").strip():
        return SecretStr(key)
    raise EndpointError(
        f"the API key of model {entry.name} is missing",
        where=f"environment variable {entry.api_key_env}",
        expected="the key",
        got="an empty value" if entry.api_key_env in environ else "no such variable",
        next_step=f"export {entry.api_key_env}=... and run again",
    )


async def check_endpoint(entry: ModelEntry) -> None:
    """Prove that a base URL names a host that can be reached.

    A host that answers and refuses the connection passes: the server is down now, which is a failure of calls and not a wrong
    option (see docs/decisions/0001).

    Raises:
        EndpointError: if the URL is none, or its host has no address, no route or does not answer in time.
    """
    if entry.base_url is None:
        return
    host, port = _address(entry, entry.base_url)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), PROBE_TIMEOUT_S)
    except ConnectionRefusedError:
        return
    except TimeoutError as error:
        raise _unreachable(entry, f"no answer from {host}:{port} within {PROBE_TIMEOUT_S:g} s") from error
    except socket.gaierror as error:
        raise _unreachable(entry, f"host name {host} has no address ({error.strerror})") from error
    except OSError as error:
        raise _unreachable(entry, f"{host}:{port}: {error.strerror or error}") from error
    except UnicodeError as error:
        # A host name that DNS cannot spell: an empty or overlong label.
        raise _unreachable(entry, f"host name {host}: {error}") from error
    writer.close()
    await writer.wait_closed()


def _address(entry: ModelEntry, base_url: str) -> tuple[str, int]:
    try:
        url = httpx.URL(base_url)
        port = url.port or PORTS.get(url.scheme)
    except (httpx.InvalidURL, ValueError) as error:
        raise _unreachable(entry, str(error)) from error
    if port is None or not url.host:
        raise _unreachable(entry, "not an http or https URL")
    # The resolver takes a larger number modulo 65536, which is another port.
    if port > LAST_PORT:
        raise _unreachable(entry, f"port {port}, the last one is {LAST_PORT}")
    return url.host, port


def _unreachable(entry: ModelEntry, got: str) -> EndpointError:
    return EndpointError(
        f"the server of model {entry.name} cannot be reached",
        where=f"base URL {entry.base_url}",
        expected="the address of an OpenAI-compatible server, such as http://localhost:8000/v1",
        got=got,
        next_step="correct --base-url (or --judge-base-url), or start the server",
    )
