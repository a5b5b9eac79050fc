"""Find prompts of which a server read only a part, by the tokens that it counted, and ask one that shows it.

Measured on 585 texts (datasets, pages, code) and on repeated words, with the tokenizers of GPT-4, GPT-4o, Qwen 2.5 and 3.6,
DeepSeek and Mistral (v3, Tekken): English has at most 5.8 characters a token and 1.19 tokens or more a word, and one token a word
where the same word is said over and over; Chinese at most 1.6 characters a token. Hundreds of blanks, signs or
repeated characters can be one token, so they are not counted here. Jurassic-2, now retired, joined words: 0.77 tokens a word.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, Self

from schemas.api_capabilities import Sampling
from schemas.chat import Chat, ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.provider import CapabilityFinding, ModelProbe
from tasks.models.capabilities.probe import REPLY_TOKENS, one_line
from tasks.models.capabilities.providers import choose_capabilities

TOKENS_PER_WORD, TOKENS_PER_SIGN = 0.9, 1 / 3
"""Each text had 1.32 times as many tokens or more; a sign is Chinese, Japanese or Korean."""

_SIGNS = "぀-ヿ㐀-鿿豈-﫿가-힣"
SIGN = re.compile(rf"([{_SIGNS}])\1*")
WORD = re.compile(rf"(?<!\S)[^\W_{_SIGNS}]")

WAS_CUT = "the server cut the prompt"
LEAST_WINDOW = 512
"""Tokens of the smallest usual context. A smaller count is a placeholder, or leaves out what was cached (Ollama 0.30)."""

SAME_WINDOW, LEAST_PINNED, SPREAD = 3, 1000, 1.25
"""How many prompts have to share the largest count, how large it has to be, and how much longer the longest of them is."""

MOST_TOKENS_PER_CHARACTER = 3
"""Bytes of a character: a prompt with fewer bytes than the count was not cut to it."""


class LongPrompt(NamedTuple):
    """A prompt that was answered: who was asked, its characters, the fewest tokens it can have, and those counted."""

    target: tuple[str, str]
    characters: int
    fewest: float
    counted: int

    @classmethod
    def of(cls, request: ChatRequest, reply: ChatReply) -> Self | None:
        """Measure a prompt; null if nothing was answered or counted, or if the count is too small for a context."""
        if reply.failure is not None or reply.prompt_tokens is None or reply.prompt_tokens < LEAST_WINDOW:
            return None
        text = "\n".join(message.content for message in request.messages)
        fewest = TOKENS_PER_WORD * len(WORD.findall(text)) + TOKENS_PER_SIGN * len(SIGN.findall(text))
        return cls((request.identity, request.model), len(text), fewest, reply.prompt_tokens)

    @property
    def is_cut(self) -> bool:
        """Whether no tokenizer makes as few tokens of the prompt as were counted."""
        return self.counted < self.fewest

    @property
    def error(self) -> str:
        """The error of its call if it was cut."""
        return f"{WAS_CUT}: it read {self.counted:,} tokens of {self.characters:,} characters"


def is_cut(request: ChatRequest, reply: ChatReply) -> bool:
    """Return whether a prompt was cut, as its tokens show or the journal says."""
    prompt = LongPrompt.of(request, reply)
    return reply.remark == "prompt_cut" or (prompt is not None and prompt.is_cut)


def find_pinned(prompts: Mapping[str, LongPrompt]) -> set[str]:
    """Return the keys of prompts whose count is the size of the context: a prompt with that count was cut, or many share it."""
    groups, largest = defaultdict[tuple[tuple[str, str], int], list[str]](list), defaultdict[tuple[str, str], int](int)
    for key, prompt in prompts.items():
        if prompt.counted <= MOST_TOKENS_PER_CHARACTER * prompt.characters:
            groups[prompt.target, prompt.counted].append(key)
            largest[prompt.target] = max(largest[prompt.target], prompt.counted)
    pinned = set[str]()
    for (target, counted), keys in groups.items():
        fewest = sorted(prompts[key].fewest for key in keys)
        at_most = counted == largest[target] and counted >= LEAST_PINNED
        if counted < fewest[-1] or (at_most and len(keys) >= SAME_WINDOW and fewest[-1] >= SPREAD * fewest[0]):
            pinned.update(keys)
    return pinned


SENTENCES = 1000
"""Of nine words and a number each: 10,000 tokens or more, and contexts of 8,192 and fewer are common defaults."""

MARKS = {"front": "harbour 4817", "end": "lantern 2953"}
TASK = "This text begins and ends with a mark, a word and a number each. Repeat both marks and say nothing else."


async def ask_long_prompt(entry: ModelEntry, probe: ModelProbe, chat: Chat) -> ModelProbe:
    """Return what a probe found, with `long_prompt`: whether both ends of one came back, and how many tokens were counted."""
    story = " ".join(f"On day {number} she wrote a letter to her friend." for number in range(SENTENCES))
    prompt = f"{TASK}\nFirst mark: {MARKS['front']}.\n{story}\nSecond mark: {MARKS['end']}.\n{TASK}"
    messages, capabilities = (ChatMessage(role="user", content=prompt),), choose_capabilities(None, None, probe)
    request = ChatRequest(entry.name, entry.identity, messages, Sampling(max_tokens=REPLY_TOKENS), capabilities=capabilities)
    finding = _judge(request, await chat(request), len(prompt))
    return replace(probe, calls=probe.calls + 1, long_prompt=replace(finding, evidence=one_line(finding.evidence)))


def _judge(request: ChatRequest, reply: ChatReply, characters: int) -> CapabilityFinding:
    if reply.failure not in {None, "length", "reasoning_only"}:
        refused = reply.failure == "context_too_long"
        evidence = f"{'refused as too long' if refused else 'no answer'}, {characters:,} characters: {reply.error}"
        return CapabilityFinding("no" if refused else "unknown", evidence)
    measured = LongPrompt.of(request, replace(reply, failure=None))
    cut = measured is not None and measured.is_cut
    lost = [end for end, mark in MARKS.items() if mark.split()[1] not in f"{reply.reasoning} {reply.text}"]
    marks = f"no mark of its {' or its '.join(lost)} came back" if lost else "both its marks came back"
    tokens = "no" if reply.prompt_tokens is None else f"{reply.prompt_tokens:,}"
    unseen = "" if measured else " counted, so that a cut cannot be seen,"
    evidence = f"{'cut: ' if cut else ''}{tokens} tokens{unseen} of {characters:,} characters, {marks}"
    return CapabilityFinding("no" if cut else "yes" if measured and not lost else "unknown", evidence)
