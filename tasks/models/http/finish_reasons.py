"""How servers say why a reply ended, and what that means for it."""

import re
from collections.abc import Mapping
from typing import Literal

End = Literal["ordinary", "length", "filter", "refusal", "tool_call", "broken_off", "unknown"]
"""`filter`: the provider stopped the reply. `refusal`: the model declined. `broken_off`: the server could not go on."""

ENDS: Mapping[End, str] = {
    "ordinary": r"stop(?:ped|_sequence|_token|_word)?|word|eo[sdt](?:_token)?|end(?:_turn|_?of_?(?:text|turn|sequence))?"
    r"|(?:complete|finish)(?:d|ed)?|done|success|normal|natural|<.*>|\[.*\]",
    "length": r"length|max_?(?:(?:output|completion|new)_?)?tokens|max_length|model_length|(?:token_|error_)?limit"
    r"|model_context_window_exceeded",
    "filter": r"content_?(?:filter|block)(?:ed)?\b.*|content_policy.*|(?:error_)?toxic|sensitive|blocked|blocklist|spii|language"
    r"|moderat(?:ed|ion)|flagged|guardrails?(?:_.*)?|(?:image_)?(?:safety|recitation|prohibited_content)",
    "refusal": r"refusal|refused",
    "tool_call": r"(?:malformed_|unexpected_|too_many_)?(?:tool|function)_?calls?|tool_use",
    "broken_off": r"(?:\w+_)?error|abort(?:ed)?|(?:user_)?cancell?(?:ed)?|timeout|timed_out|time_limit|interrupted|failed"
    r"|disconnect(?:ed)?|shutdown|not_finished|malformed_response|insufficient_system_resource",
}
"""Reasons in small letters with underscores. OpenAI, Anthropic, Bedrock, Gemini and Vertex, Cohere, Mistral, DeepSeek, Zhipu,
OpenRouter, TGI, vLLM, SGLang, llama.cpp; tokens such as `<|eot_id|>` are an ordinary end."""


def end_of(reason: str | None) -> End:
    """Return what a reason means; none at all is an ordinary end."""
    if not reason:
        return "ordinary"
    words = re.sub(r"[\s-]+", "_", reason.strip().casefold()).removeprefix("finish_reason_").removeprefix("finishreason.")
    return next((end for end, pattern in ENDS.items() if re.fullmatch(pattern, words, re.DOTALL)), "unknown")
