"""Tell an error about a reply's limit from one about a prompt that is too long: many servers word both alike."""

import re

PROMPT_TOKENS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(\d{1,9}) (?:tokens )?(?:in|from|of) (?:the |your )?(?:input |text )?(?:messages|prompt|input)\b",
        r"\b(\d{1,9}) input tokens\b",
        r"\bmessages resulted in (\d{1,9}) tokens\b",
        r"\b(?:request|input|prompt) \((?:length )?(\d{1,9})(?: tokens)?\)",
        r"\bprompt is too long: (\d{1,9}) tokens\b",
        r"\binput token count (?:is |\()(\d{1,9})\b",
        r"\bexceed context limit: (\d{1,9}) \+",
        r"\brequested tokens \((\d{1,9})\)",
        r"\bgiven: (\d{1,9}) `?inputs",
    )
)
"""How OpenAI, vLLM, SGLang, llama.cpp, Anthropic and Gemini state the length of the prompt they refuse."""

REPLY_TOKENS = re.compile(
    r"too large: (\d{1,9})\b|\b(\d{1,9}) (?:tokens )?(?:in|for) the (?:completion|output)\b|\b(\d{1,9}) output tokens\b"
    r"|context limit: \d+ \+ (\d{1,9})\b|\b(\d{1,9}) `?max_new_tokens",
    re.IGNORECASE,
)
"""Likewise how vLLM, OpenAI, OpenRouter, SGLang, Anthropic and TGI state the limit of the reply they were asked for."""

NAME = r"max_?(?:completion_?|new_?|output_?)?tokens"
REPLY_LIMIT = re.compile(
    rf"{NAME}\W{{1,3}}is too large|at most \d+ completion tokens|{NAME}: \d+ > \d+|{NAME}\W{{1,3}}is limited"  # OpenAI, Anthropic
    rf"|{NAME}\W{{1,3}}(?:must|should) be (?:less|at most|between|in\b|<|\[)"  # Groq, DashScope, TGI
    rf"|{NAME} value of \d+ but|(?:valid|supported) range of {NAME}"  # Gemini, DeepSeek
    rf"|{NAME}\b[^:]{{0,60}}not valid: integer above maximum",  # Ark
    re.IGNORECASE,
)


def read_prompt_tokens(error: str) -> int | None:
    """Return tokens of the prompt, as a server states them that refuses it for its length; null if it does not."""
    text = _without_commas(error)
    found = next((match for pattern in PROMPT_TOKENS if (match := pattern.search(text))), None)
    return int(found[1]) if found else None


def is_reply_limit(error: str, longest: int | None) -> bool:
    """Return whether an error is about the limit of the reply; `longest`: the context in tokens that it states.

    Where all lengths are stated, the limit is at fault that takes more than half of the context, if the prompt has room in it.
    """
    prompt, reply = read_prompt_tokens(error), REPLY_TOKENS.search(_without_commas(error))
    if longest is not None and prompt is not None and (reply or prompt >= longest):
        return prompt < longest and reply is not None and int(reply[reply.lastindex or 0]) > longest // 2
    return REPLY_LIMIT.search(error) is not None


def _without_commas(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
