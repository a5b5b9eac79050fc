"""Calls written for others to answer, as a batch and as a task of lm-evaluation-harness, and read back.

Sources: lines of OpenAI's batch API; fields of tasks and of `samples_*.jsonl` of lm-evaluation-harness 0.4.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from schemas.json_yaml import read_json, read_text
from tasks.lake.files import replace_file, require_absent
from tasks.models.journal.table import JournalRow

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
    return tuple(_write_set(folder, name_of_set, of_set) for name_of_set, of_set in _sets(calls, name))


def write_lines(calls: Iterable[OpenCall], file: Path) -> tuple[RequestSet, ...]:
    """Write the lines of calls to a file per endpoint, model and repetition, and what they are to `NAME.about.json`.

    Further files have a number. UsageError: one is there already.
    """
    described = [_describe(f"{name}{file.suffix}", of_set) for name, of_set in _sets(calls, file.stem)]
    _write_new({file.with_name(name): text for about, lines in described for name, text in _files(about, lines, about.file)})
    return tuple(about for about, _ in described)


def _sets(calls: Iterable[OpenCall], name: str) -> Iterator[tuple[str, list[OpenCall]]]:
    groups: dict[tuple[str, str, int], list[OpenCall]] = {}
    for call in calls:
        groups.setdefault((call.request.identity, call.request.model, call.request.repetition), []).append(call)
    for number, of_set in enumerate(groups.values(), 1):
        yield f"{name}-{number}" if number > 1 else name, of_set


def _describe(file: str, calls: list[OpenCall]) -> tuple[RequestSet, bytes]:
    """Return what a set is, and its lines."""
    first = calls[0].request
    lines = _lines({"custom_id": call.request.key, "method": "POST", "url": URL, "body": call.request.body()} for call in calls)
    sha256_of_lines = sha256(lines).hexdigest()
    about = RequestSet(
        file=file,
        identity=first.identity,
        model=first.model,
        repetition=first.repetition,
        calls=len(calls),
        sha256=sha256_of_lines,
    )
    return about, lines


def _files(about: RequestSet, lines: bytes, name: str) -> tuple[tuple[str, bytes], ...]:
    return (about.file, lines), (f"{name}{ABOUT}", about.model_dump_json(indent=1).encode())


def _write_new(files: Mapping[Path, bytes]) -> None:
    for file in files:
        require_absent(file)
    for file, content in files.items():
        replace_file(file, content)


def _write_set(folder: Path, name: str, calls: list[OpenCall]) -> RequestSet:
    about, lines = _describe(f"{name}.jsonl", calls)
    temperature = calls[0].request.sampling.temperature
    longest = max(call.request.sampling.max_tokens for call in calls)
    generation = {"until": [], "do_sample": bool(temperature), "temperature": temperature, "max_gen_toks": longest}
    decoding = yaml.safe_dump({"task": name, "generation_kwargs": generation}, sort_keys=False)
    documents = ({"custom_id": each.key, "item_id": item, "step": step, "prompt": flatten(each)} for each, item, step in calls)
    files = {
        **dict(_files(about, lines, name)),
        f"{name}/documents.jsonl": _lines(documents),
        f"{name}/documents.py": (TASK / "documents.txt").read_bytes(),
        f"{name}/{name}.yaml": f"{read_text(TASK / 'task.yaml')}\n{decoding}".encode(),
    }
    _write_new({folder / file: content for file, content in files.items()})
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


def read_requests(source: Path) -> dict[str, JournalRow]:
    """Read the calls that were written into a folder, or a file of it, by key, as rows of the journal without a reply."""
    calls: dict[str, JournalRow] = {}
    damaged, got = source, None
    beside = [source.with_name(f"{name}{ABOUT}") for name in (source.name, source.stem)]
    try:
        for path in sorted(source.glob(f"*{ABOUT}")) if source.is_dir() else filter(Path.is_file, beside):
            damaged = path
            about = RequestSet.model_validate(read_json(read_text(path)), strict=True)
            damaged = path.with_name(about.file)
            for line in read_raw_lines(damaged):
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
            expected="the files that moodflow journal requests or run --requests-to writes",
            got=got or "none",
            next_step=f"give the unchanged file with its {ABOUT}, or the folder of journal requests --to",
        )
    return calls


def read_raw_lines(file: Path) -> Iterator[bytes]:
    """Yield the lines of a file that are not blank."""
    with file.open("rb") as lines:  # as text they would end at other characters, too
        yield from filter(bytes.strip, lines)


def read_sample(fields: Mapping[str, Any], calls: Mapping[str, JournalRow]) -> dict[str, Any] | None:
    """Return a sample of lm-evaluation-harness as a line of results; null: it was asked with another prompt than its call.

    ValueError, KeyError, TypeError, AttributeError: it is of another form.
    """
    key, ((text,),) = fields["doc"]["custom_id"], fields["resps"]
    if call := calls.get(key):
        messages = read_json(call.request)["messages"]
        # A server gets the messages, not one text.
        if not _is_asked(_prompt_of(fields), messages) or (len(messages) > 1 and "//" in call.identity):
            return None
    body = {"choices": [{"message": {"content": text}}]}
    return {"custom_id": key, "response": {"status_code": HTTPStatus.OK, "body": body}}
