"""Ask with one long prompt whether a server reads all of it."""

from dataclasses import replace

from schemas.api_capabilities import Sampling
from schemas.chat import Chat, ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.provider import CapabilityFinding, ModelProbe
from tasks.models.capabilities.probe import REPLY_TOKENS, one_line
from tasks.models.capabilities.providers import choose_capabilities
from tasks.models.http.cut_prompts import LongPrompt

SENTENCES = 1000
"""Of nine words and a number each: 10,000 tokens or more, and contexts of 8,192 and fewer are common defaults."""

MARKS = {"front": "harbour 4817", "end": "lantern 2953"}
TASK = "This text begins and ends with a mark, a word and a number each. Repeat both marks and say nothing else."


async def ask_long_prompt(entry: ModelEntry, found: ModelProbe, chat: Chat) -> ModelProbe:
    """Return what a probe found, with `long_prompt`: whether both ends of one came back, and how many tokens were counted."""
    story = " ".join(f"On day {number} she wrote a letter to her friend." for number in range(SENTENCES))
    prompt = f"{TASK}\nFirst mark: {MARKS['front']}.\n{story}\nSecond mark: {MARKS['end']}.\n{TASK}"
    messages, capabilities = (ChatMessage(role="user", content=prompt),), choose_capabilities(None, None, found)
    request = ChatRequest(entry.name, entry.identity, messages, Sampling(max_tokens=REPLY_TOKENS), capabilities=capabilities)
    finding = _judge(request, await chat(request), len(prompt))
    return replace(found, calls=found.calls + 1, long_prompt=replace(finding, evidence=one_line(finding.evidence)))


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
