"""Addresses of servers, which are written into every layer and so must not hold a secret."""

import re
from ipaddress import ip_address

from schemas.errors import UsageError

SECRET_PARTS = {"@": "a user name or password before @", "?": "a query after ?", "#": "a fragment after #"}
"""Parts of a URL that are no part of an address, by the character that tells them."""

CALL_PATH = re.compile(r"/chat/completions/*$")
"""What a call adds to the address of a server; an address may end with it."""

VERSION_PATH = "/v1"
"""Path of the API on most servers, often left out of an address."""

REPORTS_URL = "MOODFLOW_REPORTS_URL"
"""Environment variable: address under which the lake's `runs` folder is served. Browsers open no file from a page of the UI."""

KEY_ADDRESSES = "MOODFLOW_KEY_ADDRESSES"
"""Environment variable: `VARIABLE=BASE_URL`, one or more, with spaces between; once it is set, a key is sent nowhere else."""

QUERY = re.compile(r"[?#]")


def require_plain_address(text: str, field: str) -> None:
    """Raise UsageError if an address has anything besides scheme, host, port and path. The message does not repeat it.

    `field` is that of the model's entry, for the message.
    """
    if found := [part for character, part in SECRET_PARTS.items() if character in text]:
        raise UsageError(
            "an address of a model may not hold a key or a password, since it is written into every file of the lake",
            where=f"{field} (--base-url, --judge-base-url)",
            expected="scheme, host, port and path, such as http://localhost:8000/v1",
            got=" and ".join(found),
            next_step="name the key's variable with --api-key-env or --set judge.api_key_env=NAME, and what a query needs with "
            "--set models.query=api-version=2024-10-21, or --set models.query_env=NAME=VARIABLE",
        )


def hide_credentials(text: str) -> str:
    """A text without what stands before the host or after the path of an address in it; rather too much is hidden."""
    before, slashes, after = text.partition("//")
    if "@" in after and slashes:
        after = f"...@{after.rpartition('@')[2]}"
    words = (f"...@{word.rpartition('@')[2]}" if word.rfind("@") > 0 else word for word in re.split(r"(\s+)", before))
    query = QUERY.search(after)
    return f"{''.join(words)}{slashes}{after[: query.start()]}?..." if query else f"{''.join(words)}{slashes}{after}"


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, so that no proxy stands in between."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
