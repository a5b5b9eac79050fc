"""An S3 server on loopback (moto's, over real HTTP), and the environment that names it."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import botocore.session
import httpx
import pytest
from moto.server import ThreadedMotoServer

BUCKET = "moodflow-lake"
KEY = "AKIAMARKED"
SECRET = "secret-marked-41f7"  # noqa: S105  of a server that lives as long as a test


@contextmanager
def object_store(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store with the bucket BUCKET; the standard environment variables name it. Yields its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        name_store(patch, address)
        # What an earlier server held is kept in the process, not in the server.
        httpx.post(f"{address}/moto-api/reset").raise_for_status()
        client().create_bucket(Bucket=BUCKET)
        yield address
    finally:
        server.stop()


def name_store(patch: pytest.MonkeyPatch, address: str) -> None:
    """Set the variables; no profile or metadata service of the machine is looked at, and botocore does not try again."""
    variables = {"ENDPOINT_URL": address, "ACCESS_KEY_ID": KEY, "SECRET_ACCESS_KEY": SECRET, "REGION": "us-east-1"}
    nowhere = dict.fromkeys(("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"), "/nonexistent") | {"EC2_METADATA_DISABLED": "true"}
    for name, value in {**variables, **nowhere, "MAX_ATTEMPTS": "1"}.items():
        patch.setenv(f"AWS_{name}", value)


def client() -> Any:
    """A client that is not the one under test."""
    return _client(os.environ["AWS_ENDPOINT_URL"])


@cache
def _client(address: str) -> Any:
    return botocore.session.get_session().create_client("s3", region_name="us-east-1", endpoint_url=address)


def keys() -> list[str]:
    pages = client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    return [found["Key"] for page in pages for found in page.get("Contents", [])]
