"""Calls written for others to answer, as a batch and as a task of lm-evaluation-harness, and replies read from their logs.

Sources: lines of OpenAI's and Anthropic's batch APIs; fields of tasks and of `samples_*.jsonl` of lm-evaluation-harness 0.4.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, Field

from schemas.chat import ChatMessage, ChatRequest
from schemas.documents.lake import RequestSet
from schemas.errors import UsageError, summarize
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_json, read_text, require_short
from tasks.lake.files import replace_file, require_absent
from tasks.models.http.parse_reply import read_completion
from tasks.models.journal.files import ImportedReplies, add_replies
from tasks.models.journal.result_lines import read_result
from tasks.models.journal.table import JournalRow, write_reply

URL = "/v1/chat/completions"
ABOUT = ".about.json"
TASK = DATA_FOLDER / "lm_eval_task"
FRAME = re.compile(r"(?:<[^<>\s]{1,40}>|\[/?INST\]|system|user|assistant|model|human|[\s:#])*+", re.IGNORECASE)
"""What chat templates put around a message: special tokens and roles, no words of their own."""


class OpenCall(NamedTuple):
    """A call that is to be answered, and the item and step that it is about."""

    request: ChatRequest
    item_id: str
    step: str


def write_requests(calls: Iterable[OpenCall], folder: Path, name: str) -> tuple[RequestSet, ...]:
    """Write calls, each once, as files of a folder: a batch and a folder with a task per endpoint, model and repetition.

    `name` is that of the first set, and of its task; further ones have a number. Return what the `.about.json` of each set says,
    which names the call together with its line.
    """
    groups: dict[tuple[str, str, int], list[OpenCall]] = {}
    for call in calls:
        groups.setdefault((call.request.identity, call.request.model, call.request.repetition), []).append(call)
    return tuple(
        _write_set(folder, f"{name}-{number}" if number > 1 else name, of_set) for number, of_set in enumerate(groups.values(), 1)
    )


def _write_set(folder: Path, name: str, calls: list[OpenCall]) -> RequestSet:
    requests = [call.request for call in calls]
    first = requests[0]
    lines = _lines({"custom_id": each.key, "method": "POST", "url": URL, "body": each.body()} for each in requests)
    about = RequestSet(
        file=f"{name}.jsonl",
        identity=first.identity,
        model=first.model,
        repetition=first.repetition,
        calls=len(calls),
        sha256=sha256(lines).hexdigest(),
    )
    temperature, longest = first.sampling.temperature, max(each.sampling.max_tokens for each in requests)
    generation = {"until": [], "do_sample": bool(temperature), "temperature": temperature, "max_gen_toks": longest}
    decoding = yaml.safe_dump({"task": name, "generation_kwargs": generation}, sort_keys=False)
    documents = ({"custom_id": each.key, "item_id": item, "step": step, "prompt": flatten(each)} for each, item, step in calls)
    files = {
        f"{name}.jsonl": lines,
        f"{name}{ABOUT}": about.model_dump_json(indent=1).encode(),
        f"{name}/documents.jsonl": _lines(documents),
        f"{name}/documents.py": (TASK / "documents.txt").read_bytes(),
        f"{name}/{name}.yaml": f"{read_text(TASK / 'task.yaml')}\n{decoding}".encode(),
    }
    for file in files:
        require_absent(folder / file)
    for file, content in files.items():
        replace_file(folder / file, content)
    return about


def flatten(request: ChatRequest) -> str:
    """Return the conversation of a call as one text: of one message its words, of several each after its role."""
    return flat_text([message.model_dump() for message in request.arranged])


def flat_text(messages: Sequence[Mapping[str, str]]) -> str:
    """Return a conversation as one text, as `flatten`."""
    alone = len(messages) == 1
    return "\n\n".join(message["content"] if alone else f"{message['role']}: {message['content']}" for message in messages)


def _is_asked(prompt: str, messages: Sequence[Mapping[str, str]]) -> bool:
    """Return whether a prompt is that of a call, apart from space and the marks with which a chat template frames it."""
    before, wanted, after = " ".join(prompt.split()).partition(" ".join(flat_text(messages).split()))
    return bool(wanted and FRAME.fullmatch(before) and FRAME.fullmatch(after))


def _prompt_of(sample: Mapping[str, Any]) -> str:
    """Return the prompt that a sample was asked with: a text, or messages, which chat endpoints are sent as JSON."""
    prompt: Any = sample.get("arguments") or sample["doc"]["prompt"]
    while isinstance(prompt, dict | list):
        first, *others = prompt.values() if isinstance(prompt, dict) else prompt
        if isinstance(first, dict) and "role" in first:
            return flat_text([first, *others])
        prompt = first
    text: str = flat_text(read_json(prompt)) if prompt.startswith('[{"role"') else prompt
    return text


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


class _Body(BaseModel, strict=True):
    model: str
    messages: list[ChatMessage] = Field(min_length=1)


class _Line(BaseModel, strict=True):
    custom_id: str
    body: _Body


def read_requests(folder: Path) -> dict[str, JournalRow]:
    """Read the calls that `write_requests` wrote into a folder, by key, as rows of the journal without a reply."""
    calls: dict[str, JournalRow] = {}
    damaged, got = folder, None
    try:
        for path in sorted(folder.glob(f"*{ABOUT}")):
            damaged = path
            about = RequestSet.model_validate(read_json(read_text(path)), strict=True)
            damaged = folder / about.file
            for line in _read_lines(damaged):
                call = read_json(line)
                key = _Line.model_validate(call).custom_id
                body = json.dumps(call["body"], ensure_ascii=False, sort_keys=True)
                calls[key] = JournalRow(key, about.identity, about.repetition, body, "", "")
    except (OSError, ValueError, TypeError) as error:
        got = summarize(error)
    if got or not calls:
        raise UsageError(
            "the request files cannot be read",
            where=str(damaged),
            expected="the files that moodflow journal requests writes",
            got=got or "none",
            next_step="give the unchanged folder of journal requests --to",
        )
    return calls


def import_answers(file: Path, requests: Path, journal: Path) -> ImportedReplies:
    """Add the replies of a log to a journal, each verified: lines of a batch's results, or samples of lm-evaluation-harness.

    The folder `requests` has the calls that were to be answered.
    """
    calls, taken, rows = read_requests(requests), ImportedReplies(), list[JournalRow]()
    created = datetime.now(UTC).isoformat(timespec="milliseconds")
    for line in _read_lines(file):
        outcome = _read_line(line, calls)
        if isinstance(outcome, JournalRow):
            rows.append(outcome._replace(created=created))
        else:
            taken.refuse(outcome)
    add_replies(rows, file, journal, taken)
    return taken


def _read_lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:  # as text they would end at other characters, too
        yield from filter(bytes.strip, lines)


def _read_line(line: bytes, calls: Mapping[str, JournalRow]) -> JournalRow | str:
    try:
        require_short(line)
        fields = read_json(line, lenient=True)
        is_sample = "doc" in fields
        if is_sample:
            key, ((text,),) = fields["doc"]["custom_id"], fields["resps"]
            status, body = None, json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        else:
            key, status, body = read_result(fields)
        call = calls.get(key)
        sent = read_json(call.request) if call else {}
        is_other = is_sample and call is not None and not _is_asked(_prompt_of(fields), sent["messages"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return "line_is_of_a_log"
    if call is None:
        return "id_is_known"
    # A server gets the messages, not one text.
    if is_other or (is_sample and len(sent["messages"]) > 1 and "//" in call.identity):
        return "prompt_is_that_of_the_call"
    if not is_sample and status != HTTPStatus.OK:
        return "call_was_answered"
    reply = read_completion(body, model=sent["model"])
    return call._replace(reply=write_reply(replace(reply, http_status=status, latency_s=None)))
