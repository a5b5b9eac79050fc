"""Tell what the reason means that a server gives for the end of a reply."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

End = Literal["ordinary", "length", "filter", "refusal", "tool_call", "broken_off", "unknown"]
"""`filter`: the provider stopped the reply. `refusal`: the model declined. `broken_off`: the server could not go on."""

ENDS: Mapping[End, str] = {
    "ordinary": r"stop(?:ped|_sequence|_token|_word|_str(?:ing)?)?|matched_stop|word|eo[sdt](?:_token)?"
    r"|end(?:_turn|_?of_?(?:text|turn|sequence))?|(?:complete|finish)(?:d|ed)?|done|success|normal|natural|<.*>|\[.*\]",
    "filter": r".*(?:filter|block|policy|toxic|sensitive|spii|moderat|flagged|guardrail|safe|recitation|prohibited).*|language",
    "refusal": r"refusal|refused",
    "tool_call": r"(?:malformed_|unexpected_|too_many_)?(?:tool|function)_?calls?|tool_use",
    "broken_off": r".*(?:error(?!_limit)|abort|cancel|time_?out|timed_out|time_limit|rate_limit|interrupt|fail|exception|preempt"
    r"|disconnect|shutdown|not_finished|malformed_response|insufficient_system_resource).*",
    "length": r".*(?:length|limit|max_|context_window|tokens).*",
}
"""Reasons in small letters with underscores; the first pattern that matches counts. OpenAI, Anthropic, Bedrock, Gemini, Vertex,
Cohere, Mistral, DeepSeek, Zhipu, OpenRouter, TGI, vLLM, SGLang, llama.cpp; tokens such as `<|eot_id|>` are an ordinary end."""


@lru_cache(maxsize=256)  # the same few reasons come with every answer of a run
def end_of(reason: str | None) -> End:
    """Return what a reason means; none at all is an ordinary end."""
    if not reason:
        return "ordinary"
    words = re.sub(r"[\s-]+", "_", reason.strip().casefold()).removeprefix("finish_reason_").removeprefix("finishreason.")
    return next((end for end, pattern in ENDS.items() if re.fullmatch(pattern, words, re.DOTALL)), "unknown")
