"""Ask with one long prompt whether a server reads all of it."""

import json
from dataclasses import replace

from schemas.api_capabilities import Sampling
from schemas.chat import Chat, ChatMessage, ModelEntry, WrittenRequest
from schemas.provider import CapabilityFinding, ModelProbe
from tasks.models.capabilities.probe import REPLY_TOKENS, one_line
from tasks.models.http.cut_prompts import is_cut

SENTENCES = 1000
"""Of nine words and a number each: 10,000 tokens or more, and contexts of 8,192 and fewer are common defaults."""

MARKS = {"front": "harbour 4817", "end": "lantern 2953"}
TASK = "This text begins and ends with a mark, a word and a number each. Repeat both marks and say nothing else."


async def ask_long_prompt(entry: ModelEntry, found: ModelProbe, chat: Chat) -> ModelProbe:
    """Return what a probe found, with `long_prompt`: whether both ends of one came back, and what the server counted of it."""
    story = " ".join(f"On day {number} she wrote a letter to her friend." for number in range(SENTENCES))
    prompt = f"{TASK}\nFirst mark: {MARKS['front']}.\n{story}\nSecond mark: {MARKS['end']}.\n{TASK}"
    messages = (ChatMessage(role="user", content=prompt),)
    body = {"model": entry.name, "messages": [messages[0].model_dump()], found.token_limit or "max_tokens": REPLY_TOKENS}
    request = WrittenRequest(entry.name, entry.identity, messages, Sampling(), written=json.dumps(body))
    reply = await chat(request)
    if reply.failure not in {None, "length", "reasoning_only"}:
        refused = reply.failure == "context_too_long"
        evidence = f"{'refused as too long' if refused else 'no answer'}, {len(prompt):,} characters: {reply.error}"
        finding = CapabilityFinding("no" if refused else "unknown", evidence)
    else:
        cut = is_cut(request, replace(reply, failure=None))
        lost = [end for end, mark in MARKS.items() if mark.split()[1] not in f"{reply.reasoning} {reply.text}"]
        marks = f"no mark of its {' or its '.join(lost)} came back" if lost else "both its marks came back"
        tokens = (
            "no tokens counted, so that a cut cannot be seen,"
            if reply.prompt_tokens is None
            else f"{reply.prompt_tokens:,} tokens"
        )
        evidence = f"{'cut: ' if cut else ''}{tokens} of {len(prompt):,} characters, {marks}"
        finding = CapabilityFinding("no" if cut else "unknown" if lost else "yes", evidence)
    return replace(found, calls=found.calls + 1, long_prompt=replace(finding, evidence=one_line(finding.evidence)))
