"""A server whose certificate nobody vouches for."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from pydantic import SecretStr

from schemas.chat import ModelEntry
from tasks.inference.client import HttpChat
from tasks.inference.limits import RetryPolicy
from tests.model_server import ModelServer
from tests.tasks.inference.calls import Pauses, request

OPENSSL = shutil.which("openssl")


def self_signed(folder: Path) -> ssl.SSLContext:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    named = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    subprocess.run([str(OPENSSL), *made, *named, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.mark.skipif(OPENSSL is None, reason="openssl makes the certificate")
async def test_a_certificate_that_is_not_trusted_is_a_failure_of_its_own_and_no_key_is_sent(tmp_path: Path) -> None:
    with ModelServer(lambda _: "B", tls=self_signed(tmp_path)) as server:
        model = ModelEntry(name="listener", base_url=server.base_url)
        async with HttpChat(model, server.base_url, SecretStr("sk-hidden"), policy=RetryPolicy(sleep=Pauses())) as chat:
            reply = await chat(request())
        assert (reply.failure, reply.attempts, reply.http_status, server.calls) == ("tls", 1, None, 0)
    assert "sk-hidden" not in str(reply.error)


@pytest.mark.skipif(OPENSSL is None, reason="openssl makes the certificate")
async def test_a_certificate_that_the_user_trusts_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = self_signed(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with ModelServer(lambda _: "B", tls=context) as server:
        model = ModelEntry(name="listener", base_url=server.base_url)
        async with HttpChat(model, server.base_url, policy=RetryPolicy(sleep=Pauses())) as chat:
            reply = await chat(request())
    assert (reply.text, reply.failure) == ("B", None)


async def test_a_server_without_encryption_under_https_is_a_failure_of_tls() -> None:
    with ModelServer(lambda _: "B") as server:
        address = server.base_url.replace("http://", "https://")
        async with HttpChat(ModelEntry(name="listener", base_url=address), address, policy=RetryPolicy(sleep=Pauses())) as chat:
            reply = await chat(request())
    assert (reply.failure, reply.attempts) == ("tls", 1)
