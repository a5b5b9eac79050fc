"""Estimate how many tokens a call will use, before a server has counted them.

At first by documented guesses, then by what replies have shown: per model and script the ratio of counted to guessed prompt
tokens, and per model the mean length of its replies, those of a judge apart.
"""

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from schemas.chat import ChatReply, ChatRequest

CHARACTERS_PER_TOKEN = 4.0
"""Of Latin and other alphabetic text, by guess."""

TOKENS_PER_CJK_CHARACTER = 1.0
"""Of Chinese, Japanese and Korean characters and their punctuation, by guess; vocabularies made for Chinese need fewer."""

TOKENS_PER_MESSAGE = 4.0
"""For the role and the marks around a message, by guess."""

FIRST_REPLY_SHARE = 0.25
"""Of `max_tokens`: length of a reply before one was seen, by guess."""

CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")

Script = Literal["cjk", "other"]


class Measure(NamedTuple):
    """What a call's estimate is learned under. `guessed` is the guess for its prompt, in tokens."""

    model: str
    judged: bool
    script: Script
    guessed: float


class Expected(NamedTuple):
    """Tokens a call will use as far as is known."""

    prompt_tokens: float
    completion_tokens: float
    measure: Measure


class Tokens(NamedTuple):
    """Tokens a call has used; `counted` says whether by the server."""

    prompt: float
    completion: float
    counted: bool


@dataclass
class _Sum:
    amount: float = 0.0
    parts: float = 0.0


@dataclass
class Estimator:
    """Estimate calls, and learn from replies."""

    _prompts: dict[tuple[str, Script], _Sum] = field(default_factory=dict)
    _replies: dict[tuple[str, bool], _Sum] = field(default_factory=dict)

    def expect(self, request: ChatRequest) -> Expected:
        """Estimate what a call will use."""
        measure = measure_call(request)
        reply = self.mean_reply(measure.model, judged=measure.judged, max_tokens=request.sampling.max_tokens)
        return Expected(self.prompt_tokens(measure), reply, measure)

    def prompt_tokens(self, measure: Measure) -> float:
        """Estimate prompt tokens: the guess, times how far guesses were off so far."""
        seen = self._prompts.get((measure.model, measure.script))
        return measure.guessed * (seen.amount / seen.parts if seen else 1.0)

    def mean_reply(self, model: str, *, judged: bool, max_tokens: int) -> float:
        """Estimate completion tokens of a reply: the mean so far, before that a share of the most there can be."""
        seen = self._replies.get((model, judged))
        return seen.amount / seen.parts if seen else FIRST_REPLY_SHARE * max_tokens

    def learn(self, measure: Measure, prompt_tokens: int, completion_tokens: int) -> None:
        """Take the server's counts of an answered call into account."""
        if measure.guessed:
            prompts = self._prompts.setdefault((measure.model, measure.script), _Sum())
            prompts.amount += prompt_tokens
            prompts.parts += measure.guessed
        replies = self._replies.setdefault((measure.model, measure.judged), _Sum())
        replies.amount += completion_tokens
        replies.parts += 1

    def count(self, expected: Expected, reply: ChatReply) -> Tokens:
        """Return what a call has used: the server's counts, nothing for a failure without them, else an estimate of what came."""
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            return Tokens(reply.prompt_tokens, reply.completion_tokens, counted=True)
        if reply.failure is not None:
            return Tokens(0, 0, counted=True)
        return Tokens(expected.prompt_tokens, guess_tokens((reply.reasoning or "") + (reply.text or "")), counted=False)

    def seen(self, model: str, *, judged: bool) -> int:
        """Count the replies of a model that its estimates rest on; 0 = they are guesses."""
        replies = self._replies.get((model, judged))
        return int(replies.parts) if replies else 0


def measure_call(request: ChatRequest) -> Measure:
    """Return what a call's tokens are learned under. A judge's call is one that asks for a form of reply."""
    return measure_texts(request.model, [message.content for message in request.messages], judged=request.json_schema is not None)


def measure_texts(model: str, texts: list[str], *, judged: bool) -> Measure:
    """Return the same for a conversation's texts, one per message."""
    cjk = sum(len(CJK.findall(text)) for text in texts)
    other = sum(len(text) for text in texts) - cjk
    of_cjk, of_other = cjk * TOKENS_PER_CJK_CHARACTER, other / CHARACTERS_PER_TOKEN
    script: Script = "cjk" if of_cjk > of_other else "other"
    return Measure(model, judged, script, of_cjk + of_other + TOKENS_PER_MESSAGE * len(texts))


def guess_tokens(text: str) -> float:
    """Guess the tokens of a text."""
    cjk = len(CJK.findall(text))
    return cjk * TOKENS_PER_CJK_CHARACTER + (len(text) - cjk) / CHARACTERS_PER_TOKEN
