"""A server whose certificate nobody vouches for."""

import ssl
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from tests.model_server import ModelServer
from tests.tasks.models.making_calls import Pauses, ask_once, entry

AUTHORITY = trustme.CA()


def certified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    return context


async def test_untrusted_certificate_fails_and_sends_no_key() -> None:
    with ModelServer(lambda _: "B", tls=certified()) as server:
        reply = await ask_once(entry(server.base_url), Pauses(), SecretStr("sk-hidden"))
        assert (reply.failure, reply.attempts, reply.http_status, server.calls) == ("tls", 1, None, 0)
    assert "sk-hidden" not in str(reply.error)


async def test_a_certificate_that_the_user_trusts_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    AUTHORITY.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with ModelServer(lambda _: "B", tls=certified()) as server:
        reply = await ask_once(entry(server.base_url), Pauses())
    assert (reply.text, reply.failure) == ("B", None)


async def test_plain_server_under_https_is_tls_failure() -> None:
    with ModelServer(lambda _: "B") as server:
        reply = await ask_once(entry(server.base_url.replace("http://", "https://")), Pauses())
    assert (reply.failure, reply.attempts) == ("tls", 1)
