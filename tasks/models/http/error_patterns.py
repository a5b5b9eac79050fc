"""Patterns in what servers say: which failure an error is, which lengths it states, and why a reply ended.

Every pattern has an example in `tests/tasks/models/http/test_failures.py`.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Literal

from schemas.vocabulary import Failure

Patterns = Mapping[Failure, tuple[str, ...]]
"""Patterns by the failure that they show, whatever the case of a text; the first that fits decides."""

BASE_RESPONSE = "base_resp "
"""Stands before the codes of MiniMax: other servers use the same numbers for other things."""

PASSING = re.compile(
    r"\bper[ -](?:second|minute|min)\b|\b[rt]pm\b|try again in|retry in \d|allocated quota exceeded", re.IGNORECASE
)
"""Message of a limit that passes by itself, though OpenAI, Gemini and DashScope call it a quota as one that is used up."""

CODES: Patterns = {
    "context_too_long": (
        r"context_length_exceeded|string_above_max_length",  # OpenAI, OpenRouter, Groq
        r"exceed_context_size_error",  # llama.cpp
        r"request_too_large",  # Anthropic
        r"1261",  # Zhipu
        r"tokens_too_long|characters_too_long|tokens_limit_reached",  # Qianfan, GitHub
    ),
    "content_filter": (
        r"content_filter(?:ed)?|content_policy_violation",  # OpenAI, Azure, Moonshot
        r"ResponsibleAIPolicyViolation",  # Azure
        r"data_?inspection_?failed",  # DashScope
        r"(?:input|output)?(?:text)?(?:SensitiveContentDetected|RiskDetection)(?:\..+)?",  # Ark
        r"sensitive_words_detected",  # one-api gateways
        r"1301",  # Zhipu
        rf"{BASE_RESPONSE}102[67]",  # MiniMax
    ),
    "quota": (
        r"insufficient_quota|billing_(?:hard_limit_reached|not_active)|credit_balance_exhausted",  # OpenAI
        r"(?:organization|project)_(?:spend|usage)_limit_exceeded",  # OpenAI
        r"exceeded_current_quota(?:_error)?",  # Moonshot
        r"Arrearage|AllocationQuota\.FreeTierOnly|CommodityNotPurchased|PrepaidBillOverdue",  # DashScope
        r"AccountOverdueError|QuotaExceeded|SetLimitExceeded",  # Ark
        r"1113|1304|1308|1309|1310",  # Zhipu
        r"insufficient_balance(?:_error)?|insufficient_user_quota",  # MiniMax, one-api gateways
        rf"{BASE_RESPONSE}(?:1008|2056)",  # MiniMax
        r"billing_error|payment_required",  # Anthropic, OpenRouter, Gemini
    ),
    "auth": (
        r"invalid_?api_?key|incorrect_api_key_error|invalid_authentication_error",  # OpenAI, DashScope, Moonshot
        r"authentication_?error|authorized_error",  # Anthropic, DeepSeek, Ark, MiniMax
        r"100[0-4]|111[012]|1121",  # Zhipu
        rf"{BASE_RESPONSE}(?:1004|2049)",  # MiniMax
    ),
    "http_429": (
        r"rate_limit_(?:error|exceeded|reached_error)|engine_overloaded_error",  # OpenAI, Anthropic, Moonshot
        r"130[235]|131[23]",  # Zhipu
        rf"{BASE_RESPONSE}(?:1002|1039|1041)",  # MiniMax
    ),
}
"""The first one that is a code of an error names the failure, whatever the HTTP status; behind each the servers that write so."""

MESSAGES: Patterns = {
    "loading": (
        r"(?<!error )(?<!failed )(?<!while )loading (?:the )?model",  # llama.cpp, Ollama, Hugging Face, vLLM
        r"\b(?:is|are) (?:currently |still |being )*(?:loading|being loaded|starting|warming up)\b",
        r"\b(?:model|server|engine) (?:is )?not (?:yet )?ready\b",
    ),
    "context_too_long": (
        r"(?:maximum|model'?s) (?:context|model) length",  # OpenAI, DeepSeek, vLLM, SGLang, Mistral
        r"(?:input|prompt) (?:\(\d+ tokens\) )?is too long",  # Anthropic, vLLM, Bedrock
        r"exceed(?:s|ed)? (?:the )?(?:available |max )?context (?:size|window|limit|length)",  # llama.cpp, Ollama, Anthropic
        r"context window exceeds limit",  # MiniMax
        r"input length .*exceeds the (?:maximum|context)",  # SGLang, Ark, Ollama
        r"range of input length should be",  # DashScope
        r"exceeds? the maximum number of tokens allowed",  # Gemini
        r"exceeded model token limit|input token length too long",  # Moonshot
        r"exceed max message tokens",  # Ark
        r"must be <= \d+\. given: \d+",  # TGI
        r"greater than the context length|context the overflows",  # LM Studio
        r"maximum prompt length is|input tokens exceed the",  # xAI, OpenAI
        r"`inputs` must have less|tokens in the prompt cannot exceed",  # TGI, Cohere
    ),
    "length": (
        r"could not finish the message because max_tokens",  # OpenAI
    ),
    "content_filter": (
        r"content exists risk",  # DeepSeek
        r"considered high risk",  # Moonshot
        r"requires moderation|(?:input|prompt) was flagged",  # OpenRouter
        r"data may contain inappropriate content",  # DashScope
        r"content management policy|(?:input|output) new_sensitive",  # Azure, MiniMax
    ),
    "quota": (
        r"insufficient (?:account )?(?:balance|credits?|quota)",  # DeepSeek, MiniMax, OpenRouter
        r"exceeded your current quota",  # OpenAI, W&B
        r"credit balance is too low",  # Anthropic
        r"requires more credits",  # OpenRouter
        r"account is in good standing|overdue balance",  # DashScope, Ark
        r"reached your [\w ]*usage limit",  # Ollama, Moonshot
    ),
    "auth": (
        r"api[ _]key not valid|(?:incorrect|invalid) api[ _]key",  # Gemini, OpenAI, vLLM
    ),
}
"""The same of messages, where no code tells."""

UNDER_SUCCESS: Patterns = {
    "http_5xx": (
        r"server_error|api_error|overloaded_error|internal_?server_?error|internalerror",  # many
        rf"{BASE_RESPONSE}(?:1000|1001|1013|1024|1033)",  # MiniMax
    ),
}
"""Codes of errors that come with HTTP 200; otherwise the status says as much."""


def find_failure(patterns: Patterns, texts: Collection[str], *, whole: bool = True) -> Failure | None:
    """Return the failure with a pattern that one of the texts is, or in which it stands somewhere."""
    fits = re.fullmatch if whole else re.search
    listed = ((failure, pattern) for failure, several in patterns.items() for pattern in several)
    return next((name for name, pattern in listed if any(fits(pattern, text, re.IGNORECASE) for text in texts)), None)


LONGEST_CONTEXT: tuple[str, ...] = (
    r"maximum (?:context|model) length (?:is|of) (\d+)",
    r"context length \((\d+) tokens\)",
    r"context length (?:is|of) only (\d+)",
    r"(?:must have less than|maximum prompt length is|configured limit of|prompt cannot exceed) (\d+)",
    r"available context size \((\d+) tokens\)",
    r"\bn_ctx\W{1,4}(\d+)",
    r"context window of (\d+)",
    r"exceeds limit of (\d+)",
    r"> (\d+) maximum",
    r"exceed context limit: \d+ \+ \d+ > (\d+)",
    r"maximum number of tokens allowed \((\d+)\)",
    r"model token limit ?: ?(\d+)",
    r"range of input length should be \[\d+, ?(\d+)\]",
    r"exceeds the maximum (?:allowed )?length \(?(\d+)",
    r"model with (\d+) maximum context length",
    r"must be <= (\d+)\. given: \d+",
)
"""Where an error that complains of the length states the longest one: a number of tokens, once commas are taken out."""

LONGEST_COUNT = 9
"""Digits of a number of tokens."""

PROMPT_TOKENS = (
    r"\b(\d+) (?:tokens )?(?:in|from|of) (?:the |your )?(?:input |text )?(?:messages|prompt|input)\b",
    r"\b(\d+) input tokens\b",
    r"\bmessages resulted in (\d+) tokens\b",
    r"\b(?:request|input|prompt) \((?:length )?(\d+)(?: tokens)?\)",
    r"\bprompt is too long: (\d+) tokens\b",
    r"\binput token count (?:is |\()(\d+)\b",
    r"\bexceed context limit: (\d+) \+",
    r"\brequested tokens \((\d+)\)",
    r"\bgiven: (\d+) `?inputs",
)
"""How OpenAI, vLLM, SGLang, llama.cpp, Anthropic and Gemini state the length of the prompt they refuse."""

REPLY_TOKENS = (
    r"too large: (\d+)\b",
    r"\b(\d+) (?:tokens )?(?:in|for) the (?:completion|output)\b",
    r"\b(\d+) output tokens\b",
    r"context limit: \d+ \+ (\d+)\b",
    r"\b(\d+) `?max_new_tokens",
)
"""Likewise how vLLM, OpenAI, OpenRouter, SGLang, Anthropic and TGI state the limit of the reply they were asked for."""

NAME = r"max(?:imum)?[_ ]?(?:completion_?|new_?|output_?)?[_ ]?tokens"
REPLY_LIMIT = re.compile(
    # Not where it is one of two that are too long together: "the prompt and max_tokens exceed".
    rf"(?<!and )(?<!and .)(?<!\+ )(?<!\+ .){NAME}[^.]{{0,60}}?"
    r"(?:too (?:large|high|big)|exceed|limited|限|range|less|at most|between|above|> ?\d|<|(?:be|in) \[)"
    rf"|maximum value (?:for|of) .?{NAME}|at most \d+ completion tokens",
    re.IGNORECASE,
)


def read_max_context(text: str) -> int | None:
    """Return the longest context in tokens that an error states, or null; with some servers that of the prompt alone."""
    return _first_number(LONGEST_CONTEXT, text)


def read_prompt_tokens(error: str) -> int | None:
    """Return the tokens of a prompt that was refused for its length, if the error states them."""
    return _first_number(PROMPT_TOKENS, error)


def is_reply_limit(error: str) -> bool:
    """Return whether an error is about the limit of the reply.

    Where all lengths are stated, the limit is at fault that takes more than half of the context, if the prompt has room in it.
    """
    longest, prompt, reply = (_first_number(patterns, error) for patterns in (LONGEST_CONTEXT, PROMPT_TOKENS, REPLY_TOKENS))
    if longest is not None and prompt is not None and (reply is not None or prompt >= longest):
        return prompt < longest and reply is not None and reply > longest // 2
    return REPLY_LIMIT.search(error) is not None


def _first_number(patterns: tuple[str, ...], text: str) -> int | None:
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    matches = (re.search(pattern, plain, re.IGNORECASE) for pattern in patterns)
    return next((int(match[1]) for match in matches if match and len(match[1]) <= LONGEST_COUNT), None)


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
