"""A scriptable server of batches for tests, in OpenAI's form and in Anthropic's, which also answers live calls.

    with BatchServer(lambda messages: "B") as server:
        ...  # server.base_url, server.executed[key], server.live

A job ends as soon as it was polled `polls` times. Faults are set on the server:

* `fault(n)`: what comes of the n-th call (0-based) that is executed by a batch: `missing`, `twice`, `two_answers`, `expired`,
  `status_0`, or an HTTP status in words: `400`, `404`, `413`, `429`, `500`; null: its answer.
* `shuffle`, `foreign` (a line with an id of another), `truncated` (the last line of a file is cut), `html` (pages for files):
  what result files are like.
* `ends_as`: the status with which jobs end: `completed`, `failed`, `expired`, `cancelled`.
* `statuses`: statuses that come before it, one a poll, which no client may know. `no_counts`: `request_counts` is null.
* `nameless`: the answer to an upload names no file.
* `poll_status`: HTTP status of every poll, such as 503. `gone`: jobs are not found. `lists`: jobs are listed.
* `around(moment, step)`: called `before` and `after` a step (`upload`, `create`, `poll`, `results`, `list`) is done and before
  its answer is sent, to kill a client. If it returns true, the connection ends without an answer.
"""

import email
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Handler, LoopbackServer
from tests.model_server import Reply, is_probe

FIXED = {
    "400": (400, {"message": "bad parameter", "code": "invalid_value"}),
    "404": (404, {"message": "no such model", "code": "model_not_found"}),
    "413": (400, {"message": "This model's maximum context length is 4096 tokens.", "code": "context_length_exceeded"}),
    "429": (429, {"message": "slow down", "code": "rate_limit_exceeded"}),
    "500": (500, {"message": "out of order", "code": "server_error"}),
}
ANTHROPIC_ERRORS = {
    "400": "invalid_request_error", "404": "not_found_error", "413": "request_too_large", "429": "rate_limit_error",
    "500": "api_error",
}  # fmt: skip
COUNTED = {"prompt_tokens": 11, "completion_tokens": 2}


def completion(text: str, model: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, "logprobs": None}
    return {"model": model, "choices": [choice], "usage": COUNTED}


@dataclass
class Job:
    """A job on the server."""

    id: str
    calls: list[tuple[str, dict[str, Any]]]
    label: dict[str, str] | None
    created: float
    polls: int = 0
    status: str = "validating"
    files: dict[str, bytes] | None = None


class _Handler(Handler):
    def do_POST(self) -> None:  # noqa: N802  the name http.server uses
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        owner: BatchServer = self.server.owner
        owner.headers.append(dict(self.headers))
        path = urlsplit(self.path).path
        if path == "/v1/chat/completions":
            self._send(owner.answer_live(json.loads(content)))
        elif path == "/v1/files":
            self._do("upload", lambda: owner.upload(_file_in(self.headers["Content-Type"], content)))
        elif path == "/v1/batches":
            self._do("create", lambda: owner.create(json.loads(content)))
        elif path == "/v1/messages/batches":
            self._do("create", lambda: owner.create_messages(json.loads(content)))
        elif path.endswith("/cancel"):
            self._do("cancel", lambda: owner.cancel(path.split("/")[-2]))
        else:
            self.send_body(404, b'{"error": {"message": "no such address"}}')

    def do_GET(self) -> None:  # noqa: N802
        owner: BatchServer = self.server.owner
        url = urlsplit(self.path)
        parts, query = url.path.strip("/").split("/"), {name: values[0] for name, values in parse_qs(url.query).items()}
        if parts[1] == "files" or parts[-1] == "results":
            body = b"<html>busy</html>" if owner.html else owner.lines_of(parts[-2])
            self._do("results", lambda: body)
        elif parts[-1] == "batches":
            self._do("list", lambda: owner.list_jobs(query))
        else:
            self._poll(parts[-1], owner)

    def _poll(self, name: str, owner: "BatchServer") -> None:
        if owner.gone or name not in owner.jobs:
            self.send_body(404, b'{"error": {"message": "no such batch"}}')
        elif owner.poll_status != 200:
            self.send_body(owner.poll_status, b"<html>busy</html>")
        else:
            self._do("poll", lambda: owner.poll(name))

    def _do(self, step: str, work: Callable[[], Any]) -> None:
        owner: BatchServer = self.server.owner
        if owner.around("before", step):
            self.close_connection = True
            return
        with owner.lock:
            answer = work()
            owner.steps[step] += 1
        if owner.around("after", step):
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Any) -> None:
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        self.send_body(status, body if isinstance(body, bytes) else json.dumps(body).encode())


def _file_in(kind: str, content: bytes) -> bytes:
    """Return the file of a multipart form."""
    form = email.message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + content, policy=HTTP)
    (file,) = [part for part in form.iter_parts() if part.get_filename()]
    return bytes(file.get_payload(decode=True))


@dataclass(eq=False)
class BatchServer(LoopbackServer):
    """Answers by batch, or fails as it is told; `executed` counts how often a batch executed each id."""

    handler = _Handler

    reply: Reply
    _: KW_ONLY
    polls: int = 1
    fault: Callable[[int], str | None] = lambda _number: None
    shuffle: bool = False
    foreign: bool = False
    truncated: bool = False
    html: bool = False
    ends_as: str = "completed"
    statuses: list[str] = field(default_factory=list)
    no_counts: bool = False
    nameless: bool = False
    poll_status: int = 200
    gone: bool = False
    lists: bool = True
    around: Callable[[str, str], bool | None] = lambda _moment, _step: None
    executed: Counter[str] = field(default_factory=Counter, init=False)
    live: list[dict[str, Any]] = field(default_factory=list, init=False)
    headers: list[dict[str, str]] = field(default_factory=list, init=False)
    steps: Counter[str] = field(default_factory=Counter, init=False)
    files: dict[str, bytes] = field(default_factory=dict, init=False)
    jobs: dict[str, Job] = field(default_factory=dict, init=False)
    lock: Any = field(default_factory=threading.RLock, init=False)

    def answer_live(self, body: dict[str, Any]) -> Any:
        """Answer a live call; probes of what an endpoint accepts are not counted."""
        if is_probe(body):
            return completion('{"count_of_weekdays": 7}', body["model"])
        with self.lock:
            self.live.append(body)
        return completion(self.reply(body["messages"]), body["model"])

    def upload(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return {} if self.nameless else {"id": name, "object": "file", "bytes": len(content), "purpose": "batch"}

    def create(self, body: dict[str, Any]) -> Any:
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert len({line["body"]["model"] for line in lines}) == 1
        return self._begin([(line["custom_id"], line["body"]) for line in lines], body.get("metadata"))

    def create_messages(self, body: dict[str, Any]) -> Any:
        return self._begin([(request["custom_id"], request["params"]) for request in body["requests"]], None)

    def _begin(self, calls: list[tuple[str, dict[str, Any]]], label: dict[str, str] | None) -> dict[str, Any]:
        assert len({key for key, _ in calls}) == len(calls)
        job = Job(f"batch_{len(self.jobs)}", calls, label, time.time())
        self.jobs[job.id] = job
        return self.show(job)

    def cancel(self, name: str) -> dict[str, Any]:
        job = self.jobs[name]
        job.status = "cancelled"
        job.files = job.files or {}
        return self.show(job)

    def list_jobs(self, query: dict[str, str]) -> dict[str, Any]:
        newest = [*reversed(self.jobs.values())] if self.lists else []
        after = query.get("after") or query.get("after_id")
        names = [job.id for job in newest]
        rest = newest[names.index(after) + 1 :] if after else newest
        most = min(int(query.get("limit", 20)), 2)  # a client has to turn pages
        return {"data": [self.show(job) for job in rest[:most]], "has_more": len(rest) > most}

    def poll(self, name: str) -> dict[str, Any]:
        job = self.jobs[name]
        job.polls += 1
        if job.files is None and self.statuses:
            job.status = self.statuses.pop(0)
        elif job.files is None and job.polls >= self.polls:
            job.status = self.ends_as
            job.files = {} if self.ends_as == "failed" else self._execute(job)
        return self.show(job)

    def show(self, job: Job) -> dict[str, Any]:
        ended = job.files is not None
        if job.label is None:
            created = datetime.fromtimestamp(job.created, UTC).isoformat()
            counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
            counts["succeeded" if ended else "processing"] = len(job.calls)
            status, address = "ended" if ended else "in_progress", f"{self.base_url}/messages/batches/{job.id}/results"
            return {
                "id": job.id, "processing_status": status, "request_counts": counts, "created_at": created,
                "expires_at": created, "results_url": address if ended else None,
            }  # fmt: skip
        shown = {"id": job.id, "status": job.status, "metadata": job.label, "created_at": int(job.created)}
        counts = {"total": len(job.calls), "completed": len(job.calls) if ended else 0, "failed": 0}
        files = {f"{name}_file_id": f"{job.id}-{name}" for name in job.files or {}}
        errors = {"data": [{"code": "invalid_json_line", "message": "not JSON", "param": None, "line": 3}]}
        more = {"errors": errors} if job.status == "failed" else {}
        return {**shown, "request_counts": None if self.no_counts else counts, **files, **more}

    def lines_of(self, name: str) -> bytes:
        """Return a file of results: JOB-output, JOB-error, or of Anthropic's form JOB."""
        job, _, kind = name.partition("-")
        return (self.jobs[job].files or {})[kind or "output"]

    def _execute(self, job: Job) -> dict[str, bytes]:
        output, errors = list[str](), list[str]()
        for key, body in job.calls:
            number = self.executed.total()
            self.executed[key] += 1
            line = self._anthropic_line if job.label is None else self._line
            fault = self.fault(number)
            if fault == "missing":
                continue
            to = errors if job.label is not None and fault in {*FIXED, "expired"} else output
            to.append(json.dumps(line(key, body, fault)))
            if fault == "twice":
                output.append(output[-1])
            if fault == "two_answers":
                output.append(json.dumps(line(key, {**body, "messages": [{"role": "user", "content": "?"}]}, "other")))
        if self.foreign:
            output.append(output[0].replace(job.calls[0][0], "f" * 64))
        files = {}
        for name, lines in (("output", output), ("error", errors)):
            if self.shuffle:
                random.Random(20).shuffle(lines)
            text = "".join(f"{line}\n" for line in lines)
            if lines or name == "output":
                files[name] = (text[:-20] if self.truncated else text).encode()
        return files

    def _line(self, key: str, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        line: dict[str, Any] = {"id": f"line-{key[:8]}", "custom_id": key, "error": None}
        if fault == "expired":
            return {**line, "response": None, "error": {"code": "batch_expired", "message": "not in time"}}
        if fault == "status_0":
            return {**line, "response": {"status_code": 0, "request_id": "", "body": {}}}
        status, content = (200, completion("another answer" if fault == "other" else self.reply(body["messages"]), body["model"]))
        if fault in FIXED:
            status, content = FIXED[fault][0], {"error": FIXED[fault][1]}
        return {**line, "response": {"status_code": status, "request_id": "r", "body": content}}

    def _anthropic_line(self, key: str, params: dict[str, Any], fault: str | None) -> dict[str, Any]:
        if fault in {"expired", "status_0"}:
            return {"custom_id": key, "result": {"type": "expired"}}
        if fault in FIXED:
            error = {"type": "error", "error": {"type": ANTHROPIC_ERRORS[fault], "message": FIXED[fault][1]["message"]}}
            return {"custom_id": key, "result": {"type": "errored", "error": error}}
        system = [{"role": "system", "content": params["system"]}] if "system" in params else []
        text = "another answer" if fault == "other" else self.reply([*system, *params["messages"]])
        usage = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 2}
        message = {
            "model": params["model"], "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage,
        }  # fmt: skip
        return {"custom_id": key, "result": {"type": "succeeded", "message": message}}
