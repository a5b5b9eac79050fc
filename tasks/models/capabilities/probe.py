"""Probe what an endpoint accepts and returns, in as few tiny calls as possible.

The first call sends every parameter a run may send. Only if it is refused do others follow, each with one parameter less: the one
the refusal names, or where it names none, one after the other. What fell victim to another's refusal is offered again.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, get_args

from schemas.api_capabilities import Sampling
from schemas.chat import Chat, ChatMessage, ChatReply, ModelEntry, WrittenRequest
from schemas.json_yaml import read_json
from schemas.provider import CAPABILITIES, Capability, CapabilityFinding, ModelProbe, TokenLimit, Verdict
from tasks.models.http.failures import FAILURE_KINDS

PROBE_VERSION = 1
"""Of what is asked and how it is judged; what another version found is found out anew."""

REPLY_TOKENS = 512
"""Enough for a model that reasons to come to an answer; one that does not needs about ten."""

KEY = "count_of_weekdays"
"""A name no model would choose by itself: a reply that has it was held to the schema."""

SCHEMA = {"type": "object", "properties": {KEY: {"type": "integer"}}, "required": [KEY], "additionalProperties": False}
QUESTION = "How many days are in a week? Answer in JSON."
SYSTEM = "You know the calendar."
TOP_LOGPROBS = 5
LONGEST_EVIDENCE = 200
NOTHING_CAME = "no call was answered"
OF_REPLY: tuple[Capability, ...] = ("usage", "finish_reason", "same_model", "reasoning")

SUCCESS, CLIENT_ERROR = 2, 4
"""Hundreds of HTTP statuses."""

NOT_ABOUT_PARAMETERS = frozenset({401, 402, 403, 404, 407, 408, 409, 413, 425, 429, 499})
"""HTTP statuses of refusals for another reason: key, money, address, proxy, time, length, rate."""


@dataclass(frozen=True)
class Parameter:
    """A parameter on offer: what it adds to the body, and how error messages spell it."""

    name: Capability
    spellings: str
    body: dict[str, Any] = field(hash=False)

    def is_named_in(self, text: str) -> bool:
        """Whether a text names it as a word of its own."""
        return re.search(rf"(?<![a-z0-9])(?:{self.spellings})(?![a-z0-9])", text, re.IGNORECASE) is not None


LIMITS: dict[TokenLimit, Parameter] = {
    name: Parameter(name, name.replace("_", "_?"), {name: REPLY_TOKENS}) for name in get_args(TokenLimit)
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
SAMPLING = (
    Parameter("logprobs", "(?:top_)?log_?probs", {"logprobs": True, "top_logprobs": TOP_LOGPROBS}),
    Parameter("json_schema", "response_?format|json_?schema|structured[ _]outputs?", {"response_format": FORMAT}),
    Parameter("seed", "seed", {"seed": 0}),
    Parameter("top_p", "top[_-]?p", {"top_p": 1.0}),
    Parameter("temperature", "temperature", {"temperature": 0.0}),
)
"""Besides the limit; what a run can do without comes first and is given up first."""

SYSTEM_ROLE = Parameter(
    "system_role",
    r"(?:system|developer)[ _](?:message|prompt|instruction)s?|['\"`]system|roles?|alternat(?:e|ing)"
    r"|first message|jinja|template",
    {"messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]},
)
"""Without it the question is asked alone."""

WHOLE_REPLY = Parameter("whole_reply", "stream(?:ing|ed)?", {})
STREAMS = (
    WHOLE_REPLY,
    Parameter("stream_options", "stream_?options|include_?usage", {"stream": True, "stream_options": {"include_usage": True}}),
    Parameter("stream", "stream", {"stream": True}),
)
"""Ways to get a reply. The first asks for no stream, so a refusal that speaks of streams means it."""

RIVALS = (tuple(LIMITS.values()), STREAMS)
"""Parameters that exclude each other: if one is refused, the next is offered."""


@dataclass(frozen=True)
class ParameterRefusal:
    """A parameter that was given up: the server's words, and which parameters these could mean."""

    parameter: Parameter
    error: str
    suspects: tuple[Parameter, ...]


@dataclass
class Trial:
    """One probe while it goes on; `cleared` and `confirmed` is what became of parameters that were offered again."""

    entry: ModelEntry
    chat: Chat
    offered: tuple[Parameter, ...]
    refusals: list[ParameterRefusal] = field(default_factory=list)
    cleared: list[Parameter] = field(default_factory=list)
    confirmed: list[Parameter] = field(default_factory=list)
    calls: int = 0

    async def call(self, parameters: tuple[Parameter, ...]) -> ChatReply:
        """Send the question with these parameters."""
        self.calls += 1
        question = ChatMessage(role="user", content=QUESTION)
        body: dict[str, Any] = {"model": self.entry.name, "messages": [question.model_dump()]}
        for parameter in parameters:
            body |= parameter.body
        return await self.chat(
            WrittenRequest(self.entry.name, self.entry.identity, (question,), Sampling(), written=json.dumps(body))
        )

    async def run(self) -> ChatReply:
        """Offer less and less until a call gets through, or something else than a parameter is at fault."""
        reply = await self.call(self.offered)
        blind = False
        while self._is_refusal(reply) and self.offered:
            suspects = tuple(parameter for parameter in self.offered if parameter.is_named_in(self.words(reply)))
            if not suspects and not blind:
                blind = True
                bare = await self.call(())
                if not _has_answered(bare):
                    return bare
            self.give_up(suspects or self.offered, reply.error or "")
            reply = await self.call(self.offered)
        return await self._offer_again(reply) if _has_answered(reply) else reply

    def words(self, reply: ChatReply) -> str:
        """Return what the server said, without the model's name: that may hold a parameter's, such as doubao-seed."""
        return re.sub(rf"(?<!\w){re.escape(self.entry.name)}(?!\w)", "", reply.error or "", flags=re.ASCII)

    def give_up(self, suspects: tuple[Parameter, ...], error: str) -> None:
        """Leave out the first suspect, or offer its next rival instead."""
        least = suspects[0]
        tried = {refusal.parameter for refusal in self.refusals}
        others = [rival for rival in _rivals(least) if rival != least and rival not in tried]
        self.refusals.append(ParameterRefusal(least, error, suspects))
        index = self.offered.index(least)
        self.offered = (*self.offered[:index], *others[:1], *self.offered[index + 1 :])

    def doubtful(self) -> list[Parameter]:
        """Return parameters given up for an error that could as well mean one given up later."""
        given_up = [refusal.parameter for refusal in self.refusals]
        return [
            refusal.parameter for index, refusal in enumerate(self.refusals) if set(refusal.suspects) & set(given_up[index + 1 :])
        ]

    def _is_refusal(self, reply: ChatReply) -> bool:
        """Whether the server refuses the request itself: llama.cpp with 501 or 500, others with 500 where a template fails."""
        if reply.failure in {"auth", "quota"}:  # some servers say so with a 400
            return False
        status = reply.http_status or 0
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return any(parameter.is_named_in(self.words(reply)) for parameter in (SYSTEM_ROLE, WHOLE_REPLY))
        return status == HTTPStatus.NOT_IMPLEMENTED or (status // 100 == CLIENT_ERROR and status not in NOT_ABOUT_PARAMETERS)

    async def _offer_again(self, reply: ChatReply) -> ChatReply:
        doubtful = self.doubtful()
        if not doubtful:
            return reply
        rivals = [rival for parameter in doubtful for rival in _rivals(parameter)]
        kept = tuple(parameter for parameter in self.offered if parameter not in rivals)
        second = await self.call((*doubtful, *kept))
        if _has_answered(second):
            self.cleared = doubtful
            return second
        if self._is_refusal(second):
            confirmed = [parameter for parameter in doubtful if parameter.is_named_in(self.words(second))]
            self.confirmed = doubtful if len(doubtful) == 1 else confirmed
        return reply


async def probe(
    entry: ModelEntry,
    chat: Chat,
    *,
    token_limit: TokenLimit = "max_tokens",  # noqa: S107  a parameter's name
) -> ModelProbe:
    """Probe what a model accepts and returns.

    A `chat` that tries again after a failure makes the probe slower, not better. `token_limit` is offered first.
    """
    trial = Trial(entry, chat, (SYSTEM_ROLE, *SAMPLING[:-1], LIMITS[token_limit], SAMPLING[-1], WHOLE_REPLY))
    reply = await trial.run()
    findings = dict((*_of_parameters(trial, reply), *_of_reply(entry, reply)))
    return ModelProbe(
        version=PROBE_VERSION,
        model=entry.name,
        server=one_line(entry.base_url or ""),
        probed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        calls=trial.calls,
        latency_s=reply.latency_s if _has_answered(reply) else None,
        echoed_model=None if reply.model is None else one_line(reply.model),
        reasoning_in=reply.reasoning_in,
        findings={name: replace(findings[name], evidence=one_line(findings[name].evidence)) for name in CAPABILITIES},
    )


def one_line(text: str) -> str:
    """Return a text as one line that a table has room for."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line if len(line) <= LONGEST_EVIDENCE else f"{line[:LONGEST_EVIDENCE]}..."


def _of_parameters(trial: Trial, reply: ChatReply) -> Iterator[tuple[Capability, CapabilityFinding]]:
    answered = _has_answered(reply)
    accepted = {parameter.name for parameter in (*trial.offered, *trial.cleared)} if answered else set()
    refusals = {refusal.parameter.name: refusal for refusal in trial.refusals}
    doubtful = {parameter.name for parameter in trial.doubtful() if parameter not in trial.confirmed}
    for name in (parameter.name for parameter in (*SAMPLING, *LIMITS.values(), SYSTEM_ROLE, *STREAMS)):
        if name in accepted:
            yield name, _of_accepted(name, reply)
        elif refusal := refusals.get(name):
            if len(refusal.suspects) == 1:
                yield name, CapabilityFinding("no", refusal.error)
            elif answered and name not in doubtful:
                yield name, CapabilityFinding("no", f"accepted without it; with it {refusal.error}")
            else:
                yield name, CapabilityFinding("unknown", f"refused together with others: {refusal.error}")
        else:
            other = "the other limit" if name in LIMITS else "another way"
            yield name, CapabilityFinding("unknown", f"not tried, {other} is accepted" if answered else NOTHING_CAME)


def _of_accepted(name: Capability, reply: ChatReply) -> CapabilityFinding:
    if name == "json_schema":
        return _of_schema(reply.text)
    if name == "logprobs":
        if reply.top_logprobs:
            return CapabilityFinding("yes", f"{len(reply.top_logprobs)} tokens at the first place")
        if reply.reasoning or not reply.text:
            return CapabilityFinding("unknown", "accepted, but the reply begins with reasoning")
        return CapabilityFinding("no", "accepted, but none are sent")
    return CapabilityFinding("yes", "accepted")


def _of_reply(entry: ModelEntry, reply: ChatReply) -> Iterator[tuple[Capability, CapabilityFinding]]:
    if not _has_answered(reply):
        yield "answers", CapabilityFinding("no", reply.error or "no answer")
        yield from ((name, CapabilityFinding("unknown", NOTHING_CAME)) for name in OF_REPLY)
        return
    cut = "" if reply.text else f", no answer within {REPLY_TOKENS} tokens"
    if reply.failure == "reasoning_only":
        cut = f", all of it as reasoning: {FAILURE_KINDS[reply.failure].remedy}"
    yield "answers", CapabilityFinding("yes", f"HTTP {reply.http_status} after {reply.latency_s or 0:.2f} s{cut}")
    counts = (reply.prompt_tokens, reply.completion_tokens)
    usage = "not reported" if None in counts else f"{counts[0]} tokens in, {counts[1]} out"
    yield "usage", CapabilityFinding(_yes(None not in counts), usage)
    yield "finish_reason", CapabilityFinding(_yes(reply.finish_reason is not None), reply.finish_reason or "not sent")
    if reply.model is None:
        yield "same_model", CapabilityFinding("unknown", "the reply names no model")
    else:
        yield "same_model", CapabilityFinding(_yes(reply.model == entry.name), f"asked {entry.name}, answered by {reply.model}")
    field = reply.reasoning_in
    yield "reasoning", CapabilityFinding(_yes(field is not None), f"in {field}" if field else "none")


def _has_answered(reply: ChatReply) -> bool:
    """Whether words of the model came, even if the limit ended them before the answer."""
    has_words = bool(reply.text or reply.reasoning or reply.failure == "length")
    return has_words and (reply.http_status or 0) // 100 == SUCCESS


def _of_schema(text: str | None) -> CapabilityFinding:
    if not text:
        return CapabilityFinding("unknown", "accepted, but there is no answer that could follow it")
    with suppress(ValueError, TypeError, LookupError):
        if isinstance(read_json(text)[KEY], int):
            return CapabilityFinding("yes", "the answer follows it")
    return CapabilityFinding("no", "accepted, but the answer does not follow it")


def _rivals(parameter: Parameter) -> tuple[Parameter, ...]:
    return next((rivals for rivals in RIVALS if parameter in rivals), ())


def _yes(condition: bool) -> Verdict:  # noqa: FBT001
    return "yes" if condition else "no"
