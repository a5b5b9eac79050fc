"""Addresses of servers, written into every layer and so without secrets, and the variables whose values go into every call."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from schemas.base import Frozen
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
    if parts := [part for character, part in SECRET_PARTS.items() if character in text]:
        raise UsageError(
            "a model's address must not contain a key or password, because it is stored in every file of the lake",
            where=f"{field} (--base-url, --judge-base-url)",
            expected="scheme, host, port and path, such as http://localhost:8000/v1",
            got=" and ".join(parts),
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


FORM_VARIABLE = "^[A-Za-z_][A-Za-z0-9_]*$"
"""What a parameter form accepts: it stores what is typed before our own checks see it, and so would store a key."""

OF_THE_CONNECTION = (
    r"host|connection|keep-alive|te|trailer|upgrade|expect|cookie|transfer-encoding|accept-encoding|(?:content|proxy)-.*"
)
HEADER = re.compile(rf"(?!(?:{OF_THE_CONNECTION})=)[a-z0-9_-]+=[a-z_]\w*", re.ASCII | re.IGNORECASE)
SECRET = re.compile(r"[\w.-]+=[A-Za-z_]\w*", re.ASCII)
HARMLESS = re.compile(r"(?!.*(?:key|token|secret|sig|code|pass|auth|cred).*=)[\w.-]+=[\w.:-]{1,60}", re.ASCII | re.IGNORECASE)
"""Part of a query that holds no secret and may be stored."""


def _as_texts(value: Any) -> Any:
    parts = value if isinstance(value, list | tuple) else [value or {}]
    lists = ([f"{name}={text}" for name, text in part.items()] if isinstance(part, Mapping) else [part] for part in parts)
    return tuple(text for texts in lists for text in texts)


Pairs = Annotated[tuple[str, ...], BeforeValidator(_as_texts), Field(exclude_if=lambda pairs: not pairs)]
"""`NAME=VALUE`, or a mapping of names to values; a mapping itself could not be compared by its hash."""


def read_pairs(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return values by name."""
    return dict(pair.split("=", 1) for pair in pairs)


class KeyVariables(Frozen):
    """Key, headers and query of every call, which change no reply; secrets are named, never held."""

    api_key_env: str | None = Field(
        default=None, description="environment variable that holds the key", json_schema_extra={"pattern": FORM_VARIABLE}
    )
    headers_env: Pairs = Field(default=(), description="extra headers: HEADER=VARIABLE, which holds the value")
    query_env: Pairs = Field(default=(), description="query parameters: NAME=VARIABLE, which holds the value")
    query: Pairs = Field(default=(), description="query parameters that are not secret: NAME=VALUE")

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Return the environment variables whose values are sent, each once."""
        variables = read_pairs((*self.headers_env, *self.query_env)).values()
        return tuple(dict.fromkeys((*([self.api_key_env] if self.api_key_env else []), *variables)))

    @field_validator("api_key_env")
    @classmethod
    def _key_is_named_and_not_given(cls, value: str | None) -> str | None:
        # No ValueError: its message would repeat the value, and that is most likely the key itself.
        if value is not None and not re.fullmatch(FORM_VARIABLE, value):
            raise UsageError(
                "api_key_env is not a valid variable name",
                where="api_key_env (--api-key-env, --set judge.api_key_env)",
                expected="letters, digits and underscores, such as OPENAI_API_KEY",
                got="other characters" if value else "nothing",
                next_step="give the name, not the key: export MY_KEY=... and use --api-key-env MY_KEY",
            )
        return value

    @model_validator(mode="after")
    def _pairs_may_be_sent(self) -> Self:
        rules = ((HEADER, self.headers_env), (SECRET, self.query_env), (HARMLESS, self.query))
        is_allowed = all(pattern.fullmatch(pair) for pattern, pairs in rules for pair in pairs)
        headers = (*self.headers_env, *(["Authorization"] if self.api_key_env else []))
        names = [[pair.partition("=")[0].lower() for pair in pairs] for pairs in (headers, (*self.query_env, *self.query))]
        if not is_allowed or any(len(set(listed)) < len(listed) for listed in names):
            raise UsageError(
                "headers_env, query_env or query is invalid",
                where="headers_env, query_env, query",
                expected="each name once, no header that MoodFlow sets itself, and secrets as the names of their variables",
                next_step="for example --set models.headers_env=api-key=MY_KEY --set models.query=api-version=2024-10-21",
            )
        return self
