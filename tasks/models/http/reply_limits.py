"""Read the lengths that an error states, and tell whether the limit of the reply is at fault or the prompt."""

import re

from tasks.models.http.error_patterns import LONGEST_CONTEXT

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
