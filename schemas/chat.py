"""Talking to a model: what is sent, what comes back, and the protocol between the two."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, NoReturn, Protocol, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from schemas.addresses import require_plain_address
from schemas.base import Frozen
from schemas.errors import UsageError
from schemas.provider import ReasoningPlace, TokenLimit, Unsent
from schemas.vocabulary import Failure, Remark

EMBEDDED_MODEL = "smollm2"
"""Name of the model whose weights come with the install."""

EMBEDDED_WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDED_IDENTITY = f"embedded/SmolLM2-135M-Instruct-Q4_1@{EMBEDDED_WEIGHTS_SHA256[:12]}"


OWN_FIELDS = frozenset({"model", "messages", "stream", "n"})
"""Fields of a body that no setting may replace: without them it would be another call, or an answer nobody reads."""

SWITCH = {"true": True, "false": False}
"""Where reasoning is switched on and off instead of measured out, the body has a truth value."""


NO_MESSAGES = '"messages": null'

ADDRESS_LIKE = re.compile(r"//|:.*@", re.DOTALL)
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DEEPEST_EXTRA = 64
"""Levels of objects and lists in what is merged into every body."""


class Message(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(Frozen):
    """Parameters that change what a model answers."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=512, ge=1, description="longest reply, in the model's own tokens")
    seed: int | None = None


class Dialect(Frozen):
    """What a model wants otherwise than the usual OpenAI chat API has it."""

    token_limit: TokenLimit = Field(default="max_tokens", description="name of the parameter that limits the reply's length")
    unsent: tuple[Unsent, ...] = Field(default=(), description="parameters that are left out, since they are refused")
    reasoning_effort: str | None = Field(
        default=None, min_length=1, description="how much to reason, in the provider's own words"
    )
    effort_path: str = Field(
        default="reasoning_effort", pattern=r"^\w+(\.\w+)*$", description="where the body has it, such as reasoning.effort"
    )
    extra: str | None = Field(default=None, description="a JSON object that is merged into the body of every call")

    @model_validator(mode="after")
    def _effort_has_a_place_of_its_own(self) -> Self:
        if (first := self.effort_path.split(".")[0]) in {*OWN_FIELDS, *Sampling.model_fields, "response_format"}:
            raise ValueError(f"effort_path begins with {first}, which every call sets itself")
        return self

    @model_validator(mode="after")
    def _extra_is_an_object(self) -> Self:
        extra = {} if self.extra is None else _read_extra(self.extra)
        if taken := sorted(OWN_FIELDS & extra.keys()):
            raise ValueError(f"extra has {', '.join(taken)}, which every call sets itself")
        return self


def _read_extra(text: str) -> dict[str, Any]:
    try:
        extra = json.loads(text, parse_constant=_refuse_constant)
        # What is read can still be impossible to send: 1e999 becomes infinity, \ud800 is no character.
        json.dumps(extra, ensure_ascii=False, allow_nan=False).encode()
        depth = _depth(extra)
    except RecursionError:
        depth = DEEPEST_EXTRA + 1
    except ValueError as error:
        raise ValueError(f"extra is no JSON object: {text[:80]!r} ({error})") from error
    if depth > DEEPEST_EXTRA:
        raise ValueError(f"extra is nested more than {DEEPEST_EXTRA} levels deep: {text[:80]!r}")
    is_object = isinstance(extra, dict)
    if not is_object:
        raise ValueError(f"extra is no JSON object: {text[:80]!r}")
    return dict(extra)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


USUAL_DIALECT = Dialect()


class ModelEntry(Frozen):
    """A model behind an OpenAI-compatible server. The key is named here, never held."""

    name: str = Field(min_length=1, description="name sent to the server and shown in tables")
    base_url: str | None = Field(default=None, description="for example http://localhost:8000/v1; null = the embedded server")
    identity: str = Field(default="", description="what makes two calls the same; default: base_url or embedded weights")
    api_key_env: str | None = Field(default=None, description="environment variable that holds the key")
    sampling: Sampling = Sampling()
    concurrency: int = Field(default=64, ge=1, description="most calls in flight at once; fewer where the server cannot keep up")
    requests_per_minute: int | None = Field(default=None, ge=1, description="most calls sent per minute; null = no limit")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="most tokens per minute, prompts and replies together")
    connect_timeout_s: float = Field(default=10.0, gt=0, description="longest wait for a connection")
    first_byte_timeout_s: float | None = Field(
        default=None, gt=0, description="longest wait for the answer to begin; null = until timeout_s, since it comes as a whole"
    )
    timeout_s: float = Field(default=120.0, gt=0, description="longest wait for one reply, connection included")
    require_same_model: bool = Field(
        default=False, description="an answer that names another model than the one asked is a failure, not a remark"
    )
    http2: bool = Field(default=False, description="HTTP/2 where the server speaks it; slower than many HTTP/1.1 connections")
    dialect: Dialect | None = Field(default=None, description="null = as probed, else as the provider's entry says")
    token_probabilities: bool = Field(
        default=False, description="rank options by the probabilities of their letters, where the endpoint returns them"
    )

    @model_validator(mode="before")
    @classmethod
    def _identity_follows_the_endpoint(cls, values: Any) -> Any:
        if isinstance(values, dict) and not values.get("identity"):
            return {**values, "identity": values.get("base_url") or EMBEDDED_IDENTITY}
        return values

    @field_validator("base_url", "identity")
    @classmethod
    def _no_secret_in_an_address(cls, value: str | None, info: ValidationInfo) -> str | None:
        # An identity that is no address may have these characters.
        if value is not None and (info.field_name == "base_url" or ADDRESS_LIKE.search(value)):
            require_plain_address(value, str(info.field_name))
        return value

    @field_validator("api_key_env")
    @classmethod
    def _key_is_named_and_not_given(cls, value: str | None) -> str | None:
        # No ValueError: its message would repeat the value, and that is most likely the key itself.
        if value is not None and not VARIABLE_NAME.fullmatch(value):
            raise UsageError(
                "what names the environment variable of an API key is no such name",
                where="api_key_env (--api-key-env, --judge-api-key-env)",
                expected="letters, digits and underscores, such as OPENAI_API_KEY",
                got="other characters" if value else "nothing",
                next_step="export MY_KEY=... with the key, and name MY_KEY",
            )
        return value

    @model_validator(mode="after")
    def _embedded_model_has_its_own_name(self) -> Self:
        if self.base_url is None and self.name != EMBEDDED_MODEL:
            raise ValueError(f"model {self.name} needs a base_url; only {EMBEDDED_MODEL} comes with the install")
        return self

    @property
    def meaning(self) -> dict[str, Any]:
        """What changes the model's replies, as settings of a partition; a parameter that is not sent is null.

        Transport settings are no part of it, nor is the name of the limit.
        """
        dialect = self.dialect or USUAL_DIALECT
        sent = self.sampling.model_dump(mode="json")
        meaning = {"identity": self.identity, "sampling": {name: None if name in dialect.unsent else sent[name] for name in sent}}
        if dialect.reasoning_effort is not None:
            meaning["reasoning_effort"] = {dialect.effort_path: dialect.reasoning_effort}
        if dialect.extra is not None:
            meaning["extra"] = json.loads(dialect.extra)
        return meaning


@dataclass(frozen=True)
class ChatRequest:
    """One call, fully described: equal requests mean the same call."""

    model: str
    identity: str
    messages: tuple[Message, ...]
    sampling: Sampling
    repetition: int = 0
    json_schema: str | None = None
    """JSON schema (as text) the reply is asked to follow, where the endpoint can enforce one."""
    top_logprobs: int | None = None
    """How many of the likeliest tokens are asked for at each place of the reply, with their log probabilities."""
    dialect: Dialect = USUAL_DIALECT

    def body(self) -> dict[str, Any]:
        """The JSON body of `POST /chat/completions`."""
        body = self._meant()
        if self.dialect.token_limit != "max_tokens":  # noqa: S105  a parameter's name
            body = {self.dialect.token_limit if name == "max_tokens" else name: value for name, value in body.items()}
        return body

    def _meant(self) -> dict[str, Any]:
        """The body by the usual name of its limit: another name for the same limit does not make it another call."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            **self.sampling.model_dump(exclude_none=True, exclude=set[str](self.dialect.unsent)),
        }
        if self.json_schema is not None and "json_schema" not in self.dialect.unsent:
            schema = {"name": "reply", "strict": True, "schema": json.loads(self.json_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        if (effort := self.dialect.reasoning_effort) is not None:
            added: Any = SWITCH.get(effort, effort)
            for name in reversed(self.dialect.effort_path.split(".")):
                added = {name: added}
            body |= added
        return body if self.dialect.extra is None else _merge(body, json.loads(self.dialect.extra))

    @cached_property
    def body_json(self) -> str:
        """The body as it is sent."""
        return self._with_messages(json.dumps({**self.body(), "messages": None}, ensure_ascii=False))

    @cached_property
    def messages_json(self) -> str:
        """The conversation as canonical JSON."""
        messages = [{"content": message.content, "role": message.role} for message in self.messages]
        return json.dumps(messages, ensure_ascii=False, sort_keys=True)

    @cached_property
    def key(self) -> str:
        """The meaning of the call: endpoint identity, body and repetition number. No secrets, no transport settings."""
        meaning = {"identity": self.identity, "body": {**self._meant(), "messages": None}, "repetition": self.repetition}
        return sha256(self._with_messages(json.dumps(meaning, ensure_ascii=False, sort_keys=True)).encode()).hexdigest()

    def _with_messages(self, text: str) -> str:
        # The conversation is most of a call: it is encoded once, for the body, the key and the row.
        return text.replace(NO_MESSAGES, f'"messages": {self.messages_json}', 1)


def _merge(body: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Both, objects within them likewise; elsewhere `extra` wins."""
    inner = {
        name: _merge(body[name], value)
        for name, value in extra.items()
        if isinstance(value, dict) and isinstance(body.get(name), dict)
    }
    return body | extra | inner


@dataclass(frozen=True)
class ChatReply:
    """What became of one call.

    Either `failure` is null and `text` holds the answer (`reasoning` what the model thought before it, kept apart), or `failure`
    says which way the call failed and `error` the details. Token counts are the server's, null where it sends none.
    `top_logprobs` are the likeliest tokens at the answer's first place with their natural log probabilities, likewise. `model`
    is the name the server says answered, `reasoning_in` where in its answer the reasoning stood. `remark` says what is odd about
    an answer.
    """

    text: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    top_logprobs: tuple[tuple[str, float], ...] | None = None
    model: str | None = None
    reasoning_in: ReasoningPlace | None = None
    remark: Remark | None = None
    failure: Failure | None = None
    error: str | None = None
    http_status: int | None = None
    latency_s: float = 0.0
    attempts: int = 1
    from_journal: bool = False


class Chat(Protocol):
    """A client that answers requests and never raises for a failed call: the reply says what happened."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        ...
