"""Patterns in servers' error messages that tell apart failures of the same HTTP status.

Every pattern has an example in `tests/tasks/models/http/test_failures.py`.
"""

import re
from typing import NamedTuple

from schemas.vocabulary import Failure


class ErrorPattern(NamedTuple):
    """A pattern that shows one kind of failure."""

    failure: Failure
    pattern: str

    def is_code(self, codes: tuple[str, ...]) -> bool:
        """Say whether it is the whole of one of an error's codes (its code, type or status), whatever its case."""
        return any(re.fullmatch(self.pattern, code, re.IGNORECASE) for code in codes)

    def is_worded(self, message: str) -> bool:
        """Say whether it is somewhere in an error's message, whatever its case."""
        return re.search(self.pattern, message, re.IGNORECASE) is not None


BASE_RESPONSE = "base_resp "
"""Stands before the codes of MiniMax: other servers use the same numbers for other things."""

# OpenAI, Gemini, DashScope
PASSING = ErrorPattern(
    "http_429", r"\bper[ -](?:second|minute|min)\b|\b[rt]pm\b|try again in|retry in \d|allocated quota exceeded"
)
"""Message of a limit that passes by itself, though some servers call it a quota in the same words as one that is used up."""

CODES: tuple[ErrorPattern, ...] = (
    ErrorPattern("context_too_long", r"context_length_exceeded|string_above_max_length"),  # OpenAI, OpenRouter, Groq
    ErrorPattern("context_too_long", r"exceed_context_size_error"),  # llama.cpp
    ErrorPattern("context_too_long", r"request_too_large"),  # Anthropic
    ErrorPattern("context_too_long", r"1261"),  # Zhipu
    ErrorPattern("context_too_long", r"tokens_too_long|characters_too_long|tokens_limit_reached"),  # Qianfan, GitHub
    ErrorPattern("content_filter", r"content_filter(?:ed)?|content_policy_violation"),  # OpenAI, Azure, Moonshot
    ErrorPattern("content_filter", r"ResponsibleAIPolicyViolation"),  # Azure
    ErrorPattern("content_filter", r"data_?inspection_?failed"),  # DashScope
    ErrorPattern("content_filter", r"(?:input|output)?(?:text)?(?:SensitiveContentDetected|RiskDetection)(?:\..+)?"),  # Ark
    ErrorPattern("content_filter", r"sensitive_words_detected"),  # one-api gateways
    ErrorPattern("content_filter", r"1301"),  # Zhipu
    ErrorPattern("content_filter", rf"{BASE_RESPONSE}102[67]"),  # MiniMax
    ErrorPattern("quota", r"insufficient_quota|billing_(?:hard_limit_reached|not_active)|credit_balance_exhausted"),  # OpenAI
    ErrorPattern("quota", r"(?:organization|project)_(?:spend|usage)_limit_exceeded"),  # OpenAI
    ErrorPattern("quota", r"exceeded_current_quota(?:_error)?"),  # Moonshot
    ErrorPattern("quota", r"Arrearage|AllocationQuota\.FreeTierOnly|CommodityNotPurchased|PrepaidBillOverdue"),  # DashScope
    ErrorPattern("quota", r"AccountOverdueError|QuotaExceeded|SetLimitExceeded"),  # Ark
    ErrorPattern("quota", r"1113|1304|1308|1309|1310"),  # Zhipu
    ErrorPattern("quota", r"insufficient_balance(?:_error)?|insufficient_user_quota"),  # MiniMax, one-api gateways
    ErrorPattern("quota", rf"{BASE_RESPONSE}(?:1008|2056)"),  # MiniMax
    ErrorPattern("quota", r"billing_error|payment_required"),  # Anthropic, OpenRouter, Gemini
    # OpenAI, DashScope, Moonshot
    ErrorPattern("auth", r"invalid_?api_?key|incorrect_api_key_error|invalid_authentication_error"),
    ErrorPattern("auth", r"authentication_?error|authorized_error"),  # Anthropic, DeepSeek, Ark, MiniMax
    ErrorPattern("auth", r"100[0-4]|111[012]|1121"),  # Zhipu
    ErrorPattern("auth", rf"{BASE_RESPONSE}(?:1004|2049)"),  # MiniMax
    # OpenAI, Anthropic, Moonshot
    ErrorPattern("http_429", r"rate_limit_(?:error|exceeded|reached_error)|engine_overloaded_error"),
    ErrorPattern("http_429", r"130[235]|131[23]"),  # Zhipu
    ErrorPattern("http_429", rf"{BASE_RESPONSE}(?:1002|1039|1041)"),  # MiniMax
)
"""The first one that is a code of an error names the failure, whatever the HTTP status; behind each the servers that write so."""

MESSAGES: tuple[ErrorPattern, ...] = (
    # llama.cpp, Ollama, Hugging Face, vLLM
    ErrorPattern("loading", r"(?<!error )(?<!failed )(?<!while )loading (?:the )?model"),
    ErrorPattern("loading", r"\b(?:is|are) (?:currently |still |being )*(?:loading|being loaded|starting|warming up)\b"),
    ErrorPattern("loading", r"\b(?:model|server|engine) (?:is )?not (?:yet )?ready\b"),
    ErrorPattern("context_too_long", r"(?:maximum|model'?s) (?:context|model) length"),  # OpenAI, DeepSeek, vLLM, SGLang, Mistral
    ErrorPattern("context_too_long", r"(?:input|prompt) (?:\(\d+ tokens\) )?is too long"),  # Anthropic, vLLM, Bedrock
    # llama.cpp, Ollama, Anthropic
    ErrorPattern("context_too_long", r"exceed(?:s|ed)? (?:the )?(?:available |max )?context (?:size|window|limit|length)"),
    ErrorPattern("context_too_long", r"context window exceeds limit"),  # MiniMax
    ErrorPattern("context_too_long", r"input length .*exceeds the (?:maximum|context)"),  # SGLang, Ark, Ollama
    ErrorPattern("context_too_long", r"range of input length should be"),  # DashScope
    ErrorPattern("context_too_long", r"exceeds? the maximum number of tokens allowed"),  # Gemini
    ErrorPattern("context_too_long", r"exceeded model token limit|input token length too long"),  # Moonshot
    ErrorPattern("context_too_long", r"exceed max message tokens"),  # Ark
    ErrorPattern("context_too_long", r"must be <= \d+\. given: \d+"),  # TGI
    ErrorPattern("context_too_long", r"greater than the context length|context the overflows"),  # LM Studio
    ErrorPattern("context_too_long", r"maximum prompt length is|input tokens exceed the"),  # xAI, OpenAI
    ErrorPattern("context_too_long", r"`inputs` must have less|tokens in the prompt cannot exceed"),  # TGI, Cohere
    ErrorPattern("length", r"could not finish the message because max_tokens"),  # OpenAI
    ErrorPattern("content_filter", r"content exists risk"),  # DeepSeek
    ErrorPattern("content_filter", r"considered high risk"),  # Moonshot
    ErrorPattern("content_filter", r"requires moderation|(?:input|prompt) was flagged"),  # OpenRouter
    ErrorPattern("content_filter", r"data may contain inappropriate content"),  # DashScope
    ErrorPattern("content_filter", r"content management policy|(?:input|output) new_sensitive"),  # Azure, MiniMax
    ErrorPattern("quota", r"insufficient (?:account )?(?:balance|credits?|quota)"),  # DeepSeek, MiniMax, OpenRouter
    ErrorPattern("quota", r"exceeded your current quota"),  # OpenAI, W&B
    ErrorPattern("quota", r"credit balance is too low"),  # Anthropic
    ErrorPattern("quota", r"requires more credits"),  # OpenRouter
    ErrorPattern("quota", r"account is in good standing|overdue balance"),  # DashScope, Ark
    ErrorPattern("quota", r"reached your [\w ]*usage limit"),  # Ollama, Moonshot
    ErrorPattern("auth", r"api[ _]key not valid|(?:incorrect|invalid) api[ _]key"),  # Gemini, OpenAI, vLLM
)
"""The same of messages, where no code tells."""

UNDER_SUCCESS: tuple[ErrorPattern, ...] = (
    ErrorPattern("http_5xx", r"server_error|api_error|overloaded_error|internal_?server_?error|internalerror"),  # many
    ErrorPattern("http_5xx", rf"{BASE_RESPONSE}(?:1000|1001|1013|1024|1033)"),  # MiniMax
)
"""Codes of errors that come with HTTP 200; otherwise the status says as much."""

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
