"""Requests to a model, its replies, and the types of clients."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from schemas.addresses import CALL_PATH, KeyVariables, require_plain_address
from schemas.api_capabilities import DEFAULT_CAPABILITIES, SWITCH, ApiCapabilities, Sampling, merge_objects
from schemas.base import Frozen, omittable
from schemas.errors import UsageError
from schemas.model_description import ModelDescription
from schemas.provider import ReasoningPlace
from schemas.vocabulary import Failure, PaidAs, Remark

EMBEDDED_MODEL = "smollm2"

EMBEDDED_WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDED_PREFIX = "embedded/"
EMBEDDED_IDENTITY = f"{EMBEDDED_PREFIX}SmolLM2-135M-Instruct-Q4_1@{EMBEDDED_WEIGHTS_SHA256[:12]}"

ADDRESS_LIKE = re.compile(r"//|:.*@", re.DOTALL)
FILE_PREFIX = "file:"
"""Of the base URL of a model whose replies come from a file; its SHA-256 follows."""

FORM_ADDRESS = "^[^@?#]*$"
"""What a parameter form accepts: it stores what is typed before our own checks see it, and so would store a key."""

_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
"""As `json.dumps` with these options, which makes an encoder of every call."""


class ChatMessage(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str

    @cached_property
    def canonical_json(self) -> str:
        """The turn as canonical JSON, encoded once for all the calls that repeat it."""
        return _canonical({"content": self.content, "role": self.role})


class ModelEntry(KeyVariables):
    """A model behind an OpenAI-compatible server. The key is named here, never held."""

    name: str = Field(min_length=1, description="name sent to the server and shown in tables")
    base_url: str | None = Field(
        default=None,
        description="for example http://localhost:8000/v1; null = the embedded server",
        json_schema_extra={"pattern": FORM_ADDRESS},
    )
    identity: str = Field(
        default_factory=lambda entry: entry["base_url"] or EMBEDDED_IDENTITY,
        description="what makes two calls the same; default: base_url or embedded weights",
    )
    sampling: Sampling = Field(default=Sampling(), description="parameters that change its answers")
    concurrency: int = Field(default=64, ge=1, description="most calls in flight at once; fewer where the server cannot keep up")
    requests_per_minute: int | None = Field(default=None, ge=1, description="most calls sent per minute; null = no limit")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="most tokens per minute, prompts and replies together")
    connect_timeout_s: float = Field(default=10.0, gt=0, description="longest wait for a connection")
    first_byte_timeout_s: float | None = Field(
        default=None, gt=0, description="longest wait for the answer to begin; null = timeout_s, because it arrives as a whole"
    )
    timeout_s: float = Field(default=120.0, gt=0, description="longest wait for one reply, connection included")
    require_same_model: bool = Field(
        default=False, description="treat an answer that names a different model as a failure, not a remark"
    )
    dialect: ApiCapabilities | None = Field(
        default=None, title="Dialect", description="null = as probed, else the provider's entry"
    )
    token_probabilities: bool = Field(
        default=False, description="rank options by the probabilities of their letters if the endpoint returns them"
    )
    # Left out where it is null, so that a plan without one has the name it had before there were any.
    about: ModelDescription | None = omittable(
        title="About", description="description of the model; changes no call and no score"
    )

    @model_validator(mode="before")
    @classmethod
    def _what_would_be_derived_is_not_kept(cls, values: Any) -> Any:
        # Parameters of a deployment would keep it when their base URL is changed; a form has null or "" for what is empty.
        if isinstance(values, dict) and values.get("identity") in (None, "", values.get("base_url") or EMBEDDED_IDENTITY):
            return {name: value for name, value in values.items() if name != "identity"}
        return values

    @field_validator("base_url", "identity")
    @classmethod
    def _no_secret_in_an_address(cls, value: str | None, info: ValidationInfo) -> str | None:
        value = value and CALL_PATH.sub("", value.strip())
        # An identity that is no address may have these characters.
        if value is not None and (info.field_name == "base_url" or ADDRESS_LIKE.search(value)):
            require_plain_address(value, str(info.field_name))
        return value

    @model_validator(mode="after")
    def _embedded_model_has_its_own_name(self) -> Self:
        if self.base_url is None and self.name != EMBEDDED_MODEL:
            raise ValueError(f"model {self.name} needs a base_url; only {EMBEDDED_MODEL} comes with the install")
        return self

    def require_own_identity(self) -> None:
        """Raise UsageError for an identity that was derived of another server, as parameters keep it whose base URL is changed.

        Replies of that server would be taken for those of the one at the base URL.
        """
        own = self.base_url or EMBEDDED_IDENTITY
        is_derived = "//" in self.identity or self.identity.startswith(EMBEDDED_PREFIX)
        if is_derived and self.identity.rstrip("/") != own.rstrip("/"):
            raise UsageError(
                f"the identity of model {self.name} is another server's address, so that server's replies would count as its own",
                where="identity",
                expected=f"no identity (= {own}), or a name that is not an address",
                got=self.identity,
                next_step="remove identity",
            )

    @property
    def is_file(self) -> bool:
        """Return whether its replies come from a file, so that nothing is sent."""
        return (self.base_url or "").startswith(FILE_PREFIX)

    @property
    def repeats_itself(self) -> bool:
        """Return whether it is asked at temperature 0, so that the same words would only be paid for again."""
        return bool(self.meaning["sampling"]["temperature"] == 0)

    @property
    def meaning(self) -> dict[str, Any]:
        """Settings of a partition that change the model's replies; a parameter that is not sent is null.

        Transport settings are no part of it, nor are the name of the limit and whether replies are streamed.
        """
        capabilities = self.dialect or DEFAULT_CAPABILITIES
        sent = self.sampling.model_dump(mode="json")
        meaning = {
            "identity": self.identity,
            "sampling": {name: None if name in capabilities.unsent else sent[name] for name in sent},
        }
        if capabilities.reasoning_effort is not None:
            meaning["reasoning_effort"] = {capabilities.effort_path: capabilities.reasoning_effort}
        if capabilities.extra is not None:
            meaning["extra"] = json.loads(capabilities.extra)
        return meaning | ({"fold_system": True} if capabilities.fold_system else {})


@dataclass(frozen=True)
class ChatRequest:
    """One call, fully described: equal requests mean the same call."""

    model: str
    identity: str
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    repetition: int = 0
    json_schema: str | None = None
    """JSON schema (as text) the reply is asked to follow, where the endpoint can enforce one."""
    top_logprobs: int | None = None
    """How many of the likeliest tokens are asked for at each place of the reply, with their log probabilities."""
    capabilities: ApiCapabilities = DEFAULT_CAPABILITIES

    def body(self) -> dict[str, JsonValue]:
        """The JSON body of `POST /chat/completions`."""
        usual = self._meant([{"role": message.role, "content": message.content} for message in self.arranged])
        return {self.capabilities.token_limit if name == "max_tokens" else name: value for name, value in usual.items()}

    def _meant(self, messages: list[JsonValue]) -> dict[str, JsonValue]:
        """The body by the usual name of its limit: another name for the same limit does not make it another call."""
        body: dict[str, JsonValue] = {
            "model": self.model,
            "messages": messages,
            **self.sampling.model_dump(exclude_none=True, exclude=set[str](self.capabilities.unsent)),
        }
        if self.json_schema is not None and "json_schema" not in self.capabilities.unsent:
            schema = {"name": "reply", "strict": True, "schema": json.loads(self.json_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        if (effort := self.capabilities.reasoning_effort) is not None:
            added: Any = SWITCH.get(effort, effort)
            for name in reversed(self.capabilities.effort_path.split(".")):
                added = {name: added}
            body |= added
        return body if self.capabilities.extra is None else merge_objects(body, json.loads(self.capabilities.extra))

    @cached_property
    def arranged(self) -> tuple[ChatMessage, ...]:
        """The messages as the model takes them; with `fold_system` the system's words become the user's, and roles alternate."""
        if not self.capabilities.fold_system:
            return self.messages
        turns = groupby(self.messages, lambda message: "assistant" if message.role == "assistant" else "user")
        return tuple(ChatMessage(role=role, content="\n\n".join(turn.content for turn in same)) for role, same in turns)

    @property
    def sent_json(self) -> str:
        """The body as it is sent: it asks for an event stream if the model answers in no other way."""
        if not self.capabilities.stream:
            return self.body_json
        counts = "" if "stream_options" in self.capabilities.unsent else ', "stream_options": {"include_usage": true}'
        return f'{self.body_json[:-1]}, "stream": true{counts}}}'

    @cached_property
    def body_json(self) -> str:
        """The body, streamed or not."""
        if self.capabilities.token_limit == DEFAULT_CAPABILITIES.token_limit:
            return self._meant_json  # encoded once, for body and key
        return json.dumps(self.body(), ensure_ascii=False)

    @cached_property
    def messages_json(self) -> str:
        """The conversation as canonical JSON."""
        return f"[{', '.join(message.canonical_json for message in self.arranged)}]"

    @cached_property
    def key(self) -> str:
        """The meaning of the call: endpoint identity, body and repetition number. No secrets, no transport settings."""
        return call_key(self.identity, self._meant_json, self.repetition)

    @cached_property
    def _meant_json(self) -> str:
        stand_in: list[JsonValue] = []  # where the messages belong, which are encoded already
        texts = (
            f"{_canonical(name)}: {self.messages_json if value is stand_in else _canonical(value)}"
            for name, value in sorted(self._meant(stand_in).items())
        )
        return f"{{{', '.join(texts)}}}"


@dataclass(frozen=True)
class WrittenRequest(ChatRequest):
    """A call whose body is given as JSON: it has no parameter that is not named there."""

    written: str = "{}"

    def _meant(self, messages: list[JsonValue]) -> dict[str, JsonValue]:  # noqa: ARG002  they are in what is written
        body: dict[str, JsonValue] = json.loads(self.written)
        return body


def call_key(identity: str, meant: str, repetition: int) -> str:
    """Return the hash that names a call in the journal; `meant` is its body by the usual names, as JSON with sorted keys."""
    meaning = f'{{"body": {meant}, "identity": {json.dumps(identity, ensure_ascii=False)}, "repetition": {repetition}}}'
    return sha256(meaning.encode()).hexdigest()


@dataclass(frozen=True)
class ChatReply:
    """The outcome of one call.

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
    latency_s: float | None = 0.0
    """Seconds of the last attempt; null = the reply came by a file."""
    attempts: int = 1
    from_journal: bool = False
    paid_as: PaidAs | None = None
    """Null = not known: the reply was kept before this was noted."""


Keep = Callable[[ChatRequest, ChatReply], Awaitable[None]]

Chat = Callable[[ChatRequest], Awaitable[ChatReply]]
"""A client that answers requests and never raises for a failed call: the reply says what happened."""

KeepingChat = Callable[[ChatRequest, Keep | None], Awaitable[ChatReply]]
"""A client that holds a call's slot until its answer is kept: what a crash can cost is what was in flight, no more."""
