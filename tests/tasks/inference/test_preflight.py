"""What is refused before the first call, and what is not."""

import pytest

from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.errors import EndpointError
from tasks.inference.preflight import check_endpoint, resolve_api_key
from tests.model_server import ModelServer
from tests.tasks.inference.calls import closed_port, entry

KEYED = ModelEntry(name="listener", base_url="http://localhost/v1", api_key_env="LISTENER_KEY")


def test_the_key_comes_from_the_variable_the_entry_names() -> None:
    key = resolve_api_key(KEYED, {"LISTENER_KEY": " sk-1\n", "OTHER": "sk-2"})
    assert key is not None
    assert key.get_secret_value() == "sk-1"
    assert "sk-1" not in repr(key)


def test_an_entry_without_a_variable_has_no_key() -> None:
    assert resolve_api_key(entry("http://localhost/v1"), {"OPENAI_API_KEY": "sk-1"}) is None


@pytest.mark.parametrize(
    ("environ", "got"),
    [({}, "no such variable"), ({"LISTENER_KEY": ""}, "an empty value"), ({"LISTENER_KEY": " \n"}, "an empty value")],
)
def test_a_missing_key_is_told_with_its_variable(environ: dict[str, str], got: str) -> None:
    with pytest.raises(EndpointError) as caught:
        resolve_api_key(KEYED, environ)
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
        ("no url at all", "not an http or https URL"),
        ("http://", "not an http or https URL"),
        ("http://localhost:port/v1", "Invalid port"),
        ("http://[::1/v1", ""),
        ("http://localhost:99999/v1", "port 99999, the last one is 65535"),
        ("http://two..dots/v1", "host name two..dots"),
        (f"http://{'a' * 70}/v1", ""),
        ("http://no-such-host.invalid/v1", "host name no-such-host.invalid has no address"),
    ],
)
async def test_a_wrong_address_is_told_with_the_next_step(base_url: str, got: str) -> None:
    with pytest.raises(EndpointError) as caught:
        await check_endpoint(entry(base_url))
    assert caught.value.where == f"base URL {base_url}"
    assert caught.value.next_step == "correct --base-url (or --judge-base-url), or start the server"
    assert got in str(caught.value.got)


async def test_a_server_that_is_down_passes() -> None:
    await check_endpoint(entry(f"http://127.0.0.1:{closed_port()}/v1"))


async def test_a_server_that_is_up_passes_and_is_not_called() -> None:
    with ModelServer(lambda _: "B") as server:
        await check_endpoint(entry(server.base_url))
    assert server.calls == 0


async def test_the_embedded_model_has_no_address_to_check() -> None:
    await check_endpoint(ModelEntry(name=EMBEDDED_MODEL))
