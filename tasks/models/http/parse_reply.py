"""Parse the body of an OpenAI-compatible server's answer into a reply, and compare the model's name with the one asked."""

import math
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from schemas.chat import ChatReply
from schemas.json_yaml import read_json
from schemas.provider import ReasoningPlace
from schemas.vocabulary import Failure, Remark
from tasks.models.http.error_patterns import end_of
from tasks.models.http.failures import describe_error, find_error, read_error, whole_text
from tasks.text.replies import split_reasoning

REASONING_FIELDS: tuple[ReasoningPlace, ...] = ("reasoning_content", "reasoning")
"""Fields into which a server's parser puts what it takes for reasoning."""

THOUGHT = re.compile("think|thought|reason")
"""In the type of a part of the content that is no answer."""

LARGEST_COUNT = 10**9
"""Tokens of one call; sums of more would leave the columns that hold them."""

LONGEST_NAME = 1000
"""Characters of a model's name or of the reason why it finished."""


def read_completion(body: bytes, status: int = 200, *, model: str | None = None, require_same_model: bool = False) -> ChatReply:
    """Read the reply in the body of a successful answer.

    It has text, and a warning (`remark`) if it is odd; or a failure: `invalid_json`, `missing_choices` (or what the error says
    that came instead), `tool_call`, `content_filter`, `length`, `reasoning_only`, `empty_content`, `http_5xx` (broken off),
    `wrong_model`. Its error text is not shortened. Counts, log probabilities and such are null if not of the usual type.

    `model` was asked; null = not compared with the one that answered. With `require_same_model` an answer by another one is a
    failure; a server that names none is believed.
    """
    try:
        document = read_json(body, lenient=True)
    except ValueError as error:
        text = f"not JSON that can be read ({error}): {describe_error(body)}"
        return ChatReply(failure="invalid_json", error=text, http_status=status)
    if find_error(document) is not None:
        return read_error(status, body)
    try:
        choice = document["choices"][0]
        content, refused, calls_tool = _read_content(choice)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return ChatReply(failure="missing_choices", error=f"not a chat completion: {describe_error(body)}", http_status=status)
    reply = _read_reply(document, choice, content, status)
    failed = _failure(reply, calls_tool=calls_tool)
    if failed is None and require_same_model and _is_other_model(reply, model):
        failed = "wrong_model", f"asked {model}, answered by {reply.model}"
    if failed is not None:
        failure, reason = failed
        return replace(reply, text=None, top_logprobs=None, failure=failure, error=reason)
    warning = _warning(reply, model, refused=refused)
    return reply if warning is None else replace(reply, remark=warning)


def _read_reply(document: dict[str, Any], choice: dict[str, Any], content: ChatReply, status: int) -> ChatReply:
    usage = document.get("usage")
    reply = replace(
        content,
        finish_reason=_name(choice.get("finish_reason")),
        prompt_tokens=_count_prompt(usage, document.get("timings")),
        completion_tokens=_count_completion(usage),
        top_logprobs=None if content.reasoning else read_top_logprobs(choice, content.text or ""),
        http_status=status,
        model=_name(document.get("model")),
    )
    return set_thoughts_apart(reply)


def set_thoughts_apart(reply: ChatReply) -> ChatReply:
    """Return a reply whose text is the answer alone, which may be empty; what the model thought joins the reasoning."""
    whole = reply.text or ""
    thought, text = split_reasoning(whole)
    if text == reply.text:
        return reply
    thoughts = "\n\n".join(part for part in (reply.reasoning, thought) if part) or None
    reasoning_in = reply.reasoning_in or ("think" if thought else None)
    # The first token of a reply that reasons is one of the reasoning and says nothing of the answer.
    likeliest = None if thought or not whole.startswith(text) else reply.top_logprobs
    return replace(reply, text=text, reasoning=thoughts, reasoning_in=reasoning_in, top_logprobs=likeliest)


def _failure(reply: ChatReply, *, calls_tool: bool) -> tuple[Failure, str] | None:
    """Return why a completion is no answer: the failure and its error."""
    reason, end = reply.finish_reason, end_of(reply.finish_reason)
    text = (reply.text or "").strip()
    # An answer that the filter or a failing server cut off is not what the model has to say, as one cut off at the limit is.
    if end == "broken_off":
        return "http_5xx", f"the server broke the answer off after {len(text)} characters, finish_reason {reason}"
    if end == "filter" or (end == "refusal" and not text):
        return "content_filter", f"stopped by the filter after {len(text)} characters, finish_reason {reason}"
    if text:
        return None
    error = f"{'no text besides reasoning' if reply.reasoning else 'no text'}, finish_reason {reason}"
    if calls_tool or end == "tool_call":
        return "tool_call", f"{error}; a tool call came instead, though no tools are offered"
    if end == "length":
        return "length", f"{error}; the limit max_tokens was reached before the answer"
    taken = end == "ordinary" and reply.reasoning_in in REASONING_FIELDS
    return ("reasoning_only", f"{error}; all came in {reply.reasoning_in}") if taken else ("empty_content", error)


def _is_other_model(reply: ChatReply, model: str | None) -> bool:
    return model is not None and reply.model is not None and not is_same_model(model, reply.model)


def _warning(reply: ChatReply, model: str | None, *, refused: bool) -> Remark | None:
    if _is_other_model(reply, model):
        return "other_model"
    end = end_of(reply.finish_reason)
    if end == "length":
        return "length"
    if refused or end == "refusal":
        return "refusal"
    return "unknown_end" if end == "unknown" else None


def read_top_logprobs(choice: dict[str, Any], text: str) -> tuple[tuple[str, float], ...] | None:
    """Read the likeliest tokens at the first place of an answer that is not blank, with their log probabilities.

    Null if the server sent none of the usual form, or if the answer does not begin with that token, which then stands in a tag,
    or in a header that was taken off.
    """
    try:
        first = next(token for token in choice["logprobs"]["content"] if token["token"].strip())
        likeliest = tuple((whole_text(other["token"]), _finite(other["logprob"])) for other in first["top_logprobs"])
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    begins = text.lstrip().startswith(first["token"].strip())
    return likeliest if likeliest and begins else None


def _read_content(choice: dict[str, Any]) -> tuple[ChatReply, bool, bool]:
    """Read the text of a choice's message, and what the server itself keeps apart as reasoning.

    Return also whether the words stand where a model says that it refuses, and whether it calls a tool.
    """
    # Vertex sends no message where the choice only says why it ended.
    is_bare = choice.get("message") is None and _name(choice.get("finish_reason")) and not {"text", "delta"} & choice.keys()
    message = {} if is_bare else choice["message"]
    content = message.get("content")
    text, thought = _join_parts(content) if isinstance(content, list) else (content or "", None)
    refusal = _string(message.get("refusal"))
    if refused := not text and refusal is not None:
        # A model that refuses has answered: its words stand in a field of their own.
        text = refusal
    if not isinstance(text, str):
        raise TypeError(f"content is a {type(text).__name__}")
    fields: dict[ReasoningPlace, str] = {}
    if thoughts := _string(message.get("reasoning_content")):
        fields["reasoning_content"] = thoughts
    elif thoughts := _string(message.get("reasoning") or _join_details(message.get("reasoning_details"))):
        fields["reasoning"] = thoughts
    if thoughts := _string(thought):
        fields["content_part"] = thoughts
    calls_tool = bool(message.get("tool_calls") or message.get("function_call"))
    thoughts = "\n\n".join(fields.values()) or None
    return ChatReply(whole_text(text), thoughts, reasoning_in=next(iter(fields), None)), refused, calls_tool


def _join_details(details: Any) -> str:
    """Reasoning that OpenRouter and MiniMax send as a list of parts; encrypted parts say nothing."""
    parts = details if isinstance(details, list) else []
    texts = [part.get("text") or part.get("summary") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _join_parts(parts: list[Any]) -> tuple[str, str]:
    """Text and reasoning of a content that is a list of texts, or of parts such as `{"type": "text", "text": ...}`."""
    texts, thoughts = list[Any](), list[Any]()
    for part in parts:
        if not isinstance(part, dict):
            texts.append(part)
        elif part.get("thought") or THOUGHT.search(str(part.get("type"))):
            inner = part.get("thinking") or part.get("text") or ""
            thoughts.append(_join_parts(inner)[0] if isinstance(inner, list) else inner)
        else:
            texts.append(part.get("text"))
    return "".join(filter(None, map(_string, texts))), "".join(filter(None, map(_string, thoughts)))


def _string(value: Any) -> str | None:
    return whole_text(value) if isinstance(value, str) and value else None


def _name(value: Any) -> str | None:
    text = _string(value)
    return text if text is None or len(text) <= LONGEST_NAME else None


def _count_prompt(usage: Any, timings: Any) -> int | None:
    """Return the tokens of the whole prompt: some servers count those apart that were in their cache (Anthropic, llama.cpp)."""
    counted = _count(usage, "prompt_tokens")
    if not counted:  # no prompt is empty
        return None
    details, total, reply = usage.get("prompt_tokens_details"), _count(usage, "total_tokens"), _count(usage, "completion_tokens")
    cached = max(_count(details, "cached_tokens") or 0, _count(usage, "cache_read_input_tokens") or 0)
    whole = counted + cached + (_count(usage, "cache_creation_input_tokens") or 0)
    is_apart = counted < cached or (total is not None and total == whole + (reply or 0))
    return max(whole if is_apart else counted, (_count(timings, "prompt_n") or 0) + (_count(timings, "cache_n") or 0))


def _count_completion(usage: Any) -> int | None:
    """Return the tokens of the reply; where only the sum is stated, what the prompt leaves of it."""
    reply, total, prompt = (_count(usage, name) for name in ("completion_tokens", "total_tokens", "prompt_tokens"))
    return reply if reply is not None or total is None or prompt is None or total < prompt else total - prompt


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_COUNT else None


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected a finite number, got {value!r}")
    return float(value)


VERSION = re.compile(
    r"(?P<stem>.+?)[-_.@]"
    r"(?P<version>latest|v\d+(?:\.\d+)*|\d{4}-\d{2}-\d{2}|(?:preview-)?\d{2}-\d{2}(?:-\d{4})?|\d{8}|\d{6}|\d{4}|\d{3})"
)
"""A name and the date or version after it: gpt-4o-2024-08-06, doubao-pro-32k-240615, gpt-4-0613, gemini-1.5-pro-002."""

LATEST = "latest"
ROUTES = re.compile(r":(?:latest|free|nitro|floor|exacto|extended)$")
"""Tags that choose a server and not a model; others, such as `llama3:8b`, are part of the name."""

FILE = re.compile(r"(?:-\d{5}-of-\d{5})?\.gguf$")
ARK_ENDPOINT = re.compile(r"ep-\d{8,14}-\w+")


@lru_cache(maxsize=256)  # the same two names come with every answer of a run
def is_same_model(sent: str, answered: str) -> bool:
    """Say whether the name sent to a server and the one in its answer mean the same model, as far as names can tell.

    Case does not count, nor do tags that choose a server, nor the ending of a file. A path or a provider's prefix may stand
    before either name (`openai/gpt-4o`, `/models/qwen.gguf`); if both have one, the shorter must be the end of the longer. One
    name may say which date or version it is and the other not, or `latest`; two different versions are two models. An endpoint
    of Ark (`ep-...`) is an alias that can stand for any model, so nothing contradicts it.
    """
    if ARK_ENDPOINT.fullmatch(sent):
        return True
    ours, theirs = _path(sent), _path(answered)
    shared = min(len(ours), len(theirs))
    if ours[-shared:-1] != theirs[-shared:-1]:
        return False
    if ours[-1] == theirs[-1]:
        return True
    (stem, version), (other_stem, other_version) = _split(ours[-1]), _split(theirs[-1])
    if stem == other_stem:
        return version == other_version or {version, other_version} & {None, LATEST} != set()
    # What looks like a version may be a part of the name that the other name, too, goes on after.
    return stem == theirs[-1] or other_stem == ours[-1]


def _path(name: str) -> list[str]:
    bare = FILE.sub("", ROUTES.sub("", name.strip().casefold()))
    return [part for part in re.split(r"[/\\]", bare) if part] or [bare]


def _split(name: str) -> tuple[str, str | None]:
    match = VERSION.fullmatch(name)
    return (match["stem"], match["version"]) if match else (name, None)
