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


def write_requests(calls: Iterable[OpenCall], file: Path, *, with_tasks: bool = False) -> tuple[RequestSet, ...]:
    """Write calls, each once, to a file per endpoint, model and repetition, and say what they are in `NAME.about.json`.

    `with_tasks` adds a folder with a task of lm-evaluation-harness to each. Further files have a number. Return what is said of
    them. UsageError: one is there already, and none is written.
    """
    groups: dict[tuple[str, str, int], list[OpenCall]] = {}
    for call in calls:
        groups.setdefault((call.request.identity, call.request.model, call.request.repetition), []).append(call)
    sets, contents = list[RequestSet](), dict[str, bytes]()
    for number, ((identity, model, repetition), of_set) in enumerate(groups.items(), 1):
        name = f"{file.stem}-{number}" if number > 1 else file.stem
        requests = [call.request for call in of_set]
        lines = _lines({"custom_id": each.key, "method": "POST", "url": URL, "body": each.body()} for each in requests)
        about = RequestSet(
            file=f"{name}{file.suffix}",
            identity=identity,
            model=model,
            repetition=repetition,
            calls=len(of_set),
            sha256=sha256(lines).hexdigest(),
        )
        contents[about.file] = lines
        contents[f"{name if with_tasks else about.file}{ABOUT}"] = about.model_dump_json(indent=1).encode()
        if with_tasks:
            contents |= _task_files(name, of_set)
        sets.append(about)
    for path in contents:
        require_absent(file.parent / path)
    for path, content in contents.items():
        replace_file(file.parent / path, content)
    return tuple(sets)


def _task_files(name: str, calls: list[OpenCall]) -> dict[str, bytes]:
    temperature = calls[0].request.sampling.temperature
    longest = max(call.request.sampling.max_tokens for call in calls)
    generation = {"until": [], "do_sample": bool(temperature), "temperature": temperature, "max_gen_toks": longest}
    decoding = yaml.safe_dump({"task": name, "generation_kwargs": generation}, sort_keys=False)
    documents = ({"custom_id": each.key, "item_id": item, "step": step, "prompt": flatten(each)} for each, item, step in calls)
    return {
        f"{name}/documents.jsonl": _lines(documents),
        f"{name}/documents.py": (TASK / "documents.txt").read_bytes(),
        f"{name}/{name}.yaml": f"{read_text(TASK / 'task.yaml')}\n{decoding}".encode(),
    }


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
