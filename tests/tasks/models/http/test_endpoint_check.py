"""What is refused before the first call, and what is not."""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from schemas.addresses import KEY_ADDRESSES
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from tasks.models.http import endpoint_check
from tasks.models.http.endpoint_check import check_endpoint, resolve_keys
from tests.probed_server import ProbedServer, completed
from tests.tasks.models.making_calls import Pauses, ask_once, closed_port, entry

KEYED = ModelEntry(name="listener", base_url="http://localhost/v1", api_key_env="LISTENER_KEY")


NO_ROUTE = "255.255.255.255"
"""The broadcast address, to which the operating system opens no connection."""

NAMES = {"two-addresses.invalid": (NO_ROUTE, "127.0.0.1")}


@pytest.fixture(autouse=True)
def own_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Names below `.invalid` are looked up by nobody: few have an address, and `slow.invalid` never gets an answer."""
    look_up, over = socket.getaddrinfo, threading.Event()

    def answer(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host in NAMES:
            return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)) for address in NAMES[host]]
        if host == "slow.invalid":
            over.wait()
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    yield
    over.set()


@contextmanager
def full_socket() -> Iterator[int]:
    """Port of a listener whose queue is full: further connections wait."""
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def test_key_comes_from_variable_entry_names() -> None:
    keys = resolve_keys(KEYED, {"LISTENER_KEY": " sk-1\n", "OTHER": "sk-2"})
    assert {name: key.get_secret_value() for name, key in keys.items()} == {"LISTENER_KEY": "sk-1"}
    assert "sk-1" not in repr(keys)


ALLOWED = "OTHER=http://elsewhere/v1 LISTENER_KEY=http://localhost/v1/"


@pytest.mark.parametrize(
    ("changed", "allowed", "is_sent"),
    [
        ({}, ALLOWED, True),
        ({"base_url": "http://localhost/v1/"}, ALLOWED, True),
        ({}, "", False),
        ({"base_url": "http://elsewhere/v1"}, ALLOWED, False),
        ({"api_key_env": "OTHER"}, ALLOWED, False),
        ({"base_url": "https://api.openai.com/v1", "api_key_env": "OPENAI_API_KEY"}, "", True),
        ({"base_url": "https://api.openai.com/v1"}, "", False),
    ],
    ids=["named", "slash", "none named", "other address", "other key", "provider", "provider, other key"],
)
def test_key_goes_only_where_listed(changed: dict[str, str], allowed: str, *, is_sent: bool) -> None:
    one = KEYED.model_copy(update=changed)
    environ = {"LISTENER_KEY": "sk-1", "OTHER": "sk-1", "OPENAI_API_KEY": "sk-1"}
    assert resolve_keys(one, environ)  # who names both on the command line needs no list
    if is_sent:
        assert resolve_keys(one, {**environ, KEY_ADDRESSES: allowed})
        return
    with pytest.raises(EndpointError, match="may not be sent to this base URL") as caught:
        resolve_keys(one, {**environ, KEY_ADDRESSES: allowed})
    assert caught.value.got == f"{one.api_key_env}={one.base_url}"
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    ("environ", "got"),
    [({}, "no such variable"), ({"LISTENER_KEY": ""}, "an empty value"), ({"LISTENER_KEY": " \n"}, "an empty value")],
)
def test_a_missing_key_is_told_with_its_variable(environ: dict[str, str], got: str) -> None:
    with pytest.raises(EndpointError) as caught:
        resolve_keys(KEYED, environ)
    assert str(caught.value) == (
        "the API key of model listener is missing\n"
        "  where: environment variable LISTENER_KEY\n"
        "  expected: the key\n"
        f"  got: {got}\n"
        "  next step: export LISTENER_KEY=... and run again"
    )


@pytest.mark.parametrize(
    ("base_url", "got"),
    [
        ("ftp://localhost/v1", "not an http or https URL"),
        ("localhost:8000/v1", "not an http or https URL"),
        ("http://localhost:port/v1", "Invalid port"),
        ("http://[::1/v1", ""),
        ("http://localhost:99999/v1", "port 99999, the last one is 65535"),
        ("http://two..dots/v1", "host name two..dots"),
        (f"http://{'a' * 70}/v1", ""),
        ("http://no-such-host.invalid/v1", "host name no-such-host.invalid has no address"),
    ],
)
async def test_wrong_address_is_told_with_next_step(base_url: str, got: str) -> None:
    with pytest.raises(EndpointError) as caught:
        await check_endpoint(entry(base_url))
    assert caught.value.where == f"base URL {base_url}"
    assert caught.value.next_step == "correct --base-url (or --judge-base-url), or start the server"
    assert got in str(caught.value.got)


async def test_one_address_of_several_is_enough() -> None:
    # One without a route first, as with a broken IPv6; the one behind it refuses, so it is there.
    await check_endpoint(entry(f"http://two-addresses.invalid:{closed_port()}/v1"))


async def test_slow_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_check, "PROBE_TIMEOUT_S", 0.2)
    with full_socket() as port, pytest.raises(EndpointError) as caught:
        await check_endpoint(entry(f"http://127.0.0.1:{port}/v1"))
    assert caught.value.got == f"127.0.0.1:{port}: no answer within 0.2 s"


async def test_slow_name_lookup_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_check, "LIMIT_S", 0.1)
    with pytest.raises(EndpointError) as caught:
        await check_endpoint(entry("http://slow.invalid/v1"))
    assert caught.value.got == "slow.invalid:80: no answer within 0.1 s"


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
async def test_behind_a_proxy_the_proxy_is_checked(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    # Only the proxy can look the name up; it is there, if down.
    monkeypatch.setenv(variable, f"http://127.0.0.1:{closed_port()}")
    await check_endpoint(entry("http://no-such-host.invalid/v1"))
    monkeypatch.setenv(variable, "no-such-proxy.invalid:3128")
    with pytest.raises(EndpointError, match="host name of the proxy no-such-proxy"):
        await check_endpoint(entry("http://no-such-host.invalid/v1"))


@pytest.mark.parametrize(
    ("variable", "proxy", "kind"),
    [
        ("ALL_PROXY", "socks5://ada:secret@127.0.0.1:7891", "socks5"),
        ("all_proxy", "socks5h://127.0.0.1:7891", "socks5h"),
        ("HTTPS_PROXY", "https://proxy.invalid:443", "https"),
    ],
)
async def test_a_proxy_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, proxy: str, kind: str
) -> None:
    monkeypatch.setenv(variable, proxy)
    model = entry("https://two-addresses.invalid/v1")
    for use in (lambda: check_endpoint(model), lambda: ask_once(model, Pauses())):
        with pytest.raises(EndpointError, match="the proxy to the server of model listener cannot be used") as caught:
            await use()
        assert variable.upper() in str(caught.value.where)
        assert caught.value.got == f"a {kind} proxy"
        assert caught.value.next_step == "set it to an http proxy, or add two-addresses.invalid to NO_PROXY"
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
async def test_check_and_client_go_through_same_proxy(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    model = entry("http://no-such-host.invalid/v1")
    with ProbedServer(lambda body, _: completed(body, "B")) as proxy:
        monkeypatch.setenv(variable, proxy.url.replace("//", "//ada:pass@"))
        await check_endpoint(model)
        assert (await ask_once(model, Pauses())).text == "B"
        monkeypatch.delenv("no_proxy", raising=False)  # an earlier command in this process may have set it
        monkeypatch.setenv("NO_PROXY", "no-such-host.invalid")
        with pytest.raises(EndpointError, match="has no address"):
            await check_endpoint(model)
        assert (await ask_once(model, Pauses())).failure == "connect"
    assert proxy.paths == ["http://no-such-host.invalid/v1/chat/completions"]
    assert proxy.headers[0]["Proxy-Authorization"] == f"Basic {b64encode(b'ada:pass').decode()}"


async def test_local_server_is_not_sought_behind_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://no-such-proxy.invalid:3128")
    await check_endpoint(entry(f"http://127.0.0.1:{closed_port()}/v1"))
