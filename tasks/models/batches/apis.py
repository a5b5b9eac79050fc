"""The batch APIs of providers behind one protocol: OpenAI's form and Anthropic's."""

import json
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, Self

import httpx

from schemas.addresses import is_loopback, read_pairs
from schemas.chat import ModelEntry
from schemas.errors import EndpointError
from schemas.json_yaml import read_json
from tasks.models.batches.limits import BatchLimits
from tasks.models.batches.messages import to_messages
from tasks.models.http.endpoint_check import resolve_keys
from tasks.models.http.failures import describe_error
from tasks.models.journal.table import JournalRow
from tasks.text.scrub_keys import Scrubber

LABEL = "moodflow_job"
TRANSFER_S = 600.0
"""Longest wait for bytes of a file on their way."""

ENDED = frozenset({"completed", "failed", "expired", "cancelled", "ended"})
"""Statuses of a job that is not at work any more; one that is not known counts as at work."""


@dataclass(frozen=True)
class RemoteJob:
    """A job as its provider describes it."""

    id: str
    status: str
    label: str | None = None
    calls: int | None = None
    """Null = not said."""
    created: str = ""
    window_ends: str | None = None
    results: tuple[str, ...] = ()
    """Files or addresses of the lines that are there."""
    counts: Mapping[str, int | None] = field(default_factory=dict)
    errors: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes."""
        return self.status in ENDED

    @property
    def json(self) -> str:
        """What is kept of it."""
        return json.dumps({"status": self.status, "counts": dict(self.counts), "errors": self.errors}, ensure_ascii=False)


class NoAnswerError(Exception):
    """Raised when a server did not answer, or not in its form: what it did is not known."""


class BatchApi(Protocol):
    """What every provider's batches can do. A refusal is an EndpointError, no answer a NoAnswerError."""

    async def upload(self, calls: Iterable[JournalRow]) -> str:
        """Hand the lines over, where they go first; return the name of their file."""

    async def create(self, file_id: str, calls: Iterable[JournalRow], job: str) -> RemoteJob:
        """Create a job."""

    def jobs(self, since: str) -> AsyncIterator[RemoteJob]:
        """Yield the jobs that were created since then, ISO 8601."""

    async def poll(self, remote_id: str) -> RemoteJob | None:
        """Return a job as it is now; null: there is none."""

    async def read(self, remote: RemoteJob) -> tuple[list[bytes], bool]:
        """Return the lines of a job's files, and whether all came."""

    async def cancel(self, remote_id: str) -> RemoteJob:
        """Ask for a job's end."""


class _Client:
    def __init__(self, entry: ModelEntry, limits: BatchLimits) -> None:
        self._entry, self.limits = entry, limits
        self._keys = resolve_keys(entry, os.environ)
        headers = {name: self._keys[variable].get_secret_value() for name, variable in read_pairs(entry.headers_env).items()}
        query = {name: self._keys[variable].get_secret_value() for name, variable in read_pairs(entry.query_env).items()}
        base = str(entry.base_url).rstrip("/")
        self._http = httpx.AsyncClient(
            base_url=base,
            headers={**self._login(self._keys[entry.api_key_env].get_secret_value() if entry.api_key_env else ""), **headers},
            params={**read_pairs(entry.query), **query},
            timeout=httpx.Timeout(TRANSFER_S, connect=entry.connect_timeout_s),
            trust_env=not is_loopback(httpx.URL(base).host),
        )

    def _login(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def _ask(self, method: str, path: str, **what: Any) -> dict[str, Any] | None:
        """Return the object that the server answers with; null: not found."""
        try:
            response = await self._http.request(method, path, **what)
            if response.status_code == httpx.codes.NOT_FOUND and method == "GET":
                return None
            if response.is_client_error:
                raise self._refused(path, response)
            document = read_json(response.raise_for_status().content, lenient=True)
        except (httpx.HTTPError, ValueError) as error:
            raise NoAnswerError(f"{self._entry.base_url}{path}: {type(error).__name__}") from error
        if not isinstance(document, dict):
            raise NoAnswerError(f"{self._entry.base_url}{path}: not an object")
        return document

    def _refused(self, path: str, response: httpx.Response) -> EndpointError:
        text = describe_error(response.content)
        for key in self._keys.values():
            text = Scrubber(key).clean(text)
        return EndpointError(
            "the provider refused a batch",
            where=f"{self._entry.base_url}{path}",
            expected="an endpoint with batches, and a key that may use them",
            got=f"HTTP {response.status_code}: {text}"[:400],
            next_step="correct what it names, or run without --batch; no call was sent",
        )

    async def _read(self, paths: Iterable[str]) -> tuple[list[bytes], bool]:
        lines, is_whole = list[bytes](), True
        for path in paths:
            content = bytearray()
            try:
                async with self._http.stream("GET", path) as response:
                    response.raise_for_status()
                    async for chunk in response.aiter_bytes():
                        content += chunk
            except httpx.HTTPError:
                is_whole = False
            lines += [line for line in bytes(content).split(b"\n") if line.strip()]
        return lines, is_whole


class OpenAiBatches(_Client):
    """Batches in OpenAI's form: a file goes up, a job is created, two files come back."""

    async def upload(self, calls: Iterable[JournalRow]) -> str:
        """Upload the lines."""
        path = self.limits.path
        head = {"method": "POST", "url": path}
        lines = (json.dumps({"custom_id": row.key, **head, "body": json.loads(row.request)}, ensure_ascii=False) for row in calls)
        file = ("moodflow.jsonl", "".join(f"{line}\n" for line in lines).encode(), "application/jsonl")
        answer = await self._ask("POST", "/files", data={"purpose": "batch"}, files={"file": file})
        return str((answer or {})["id"])

    async def create(self, file_id: str, calls: Iterable[JournalRow], job: str) -> RemoteJob:  # noqa: ARG002
        """Create a job, which carries our name."""
        body = {"input_file_id": file_id, "endpoint": self.limits.path, "completion_window": self.limits.window}
        return self._job(await self._ask("POST", "/batches", json={**body, "metadata": {LABEL: job}}))

    async def jobs(self, since: str) -> AsyncIterator[RemoteJob]:  # noqa: ARG002  a label says enough
        """Yield all jobs, newest first."""
        after: dict[str, str] = {}
        while answer := await self._ask("GET", "/batches", params={"limit": 100, **after}):
            data = answer.get("data") or []
            for each in data:
                yield self._job(each)
            if not answer.get("has_more") or not data:
                return
            after = {"after": data[-1]["id"]}

    async def poll(self, remote_id: str) -> RemoteJob | None:
        """Return a job as it is now."""
        answer = await self._ask("GET", f"/batches/{remote_id}")
        return None if answer is None else self._job(answer)

    async def read(self, remote: RemoteJob) -> tuple[list[bytes], bool]:
        """Return the lines of output and errors."""
        return await self._read(f"/files/{file}/content" for file in remote.results)

    async def cancel(self, remote_id: str) -> RemoteJob:
        """Ask for a job's end."""
        return self._job(await self._ask("POST", f"/batches/{remote_id}/cancel"))

    def _job(self, answer: Mapping[str, Any] | None) -> RemoteJob:
        if not answer or not isinstance(answer.get("id"), str):
            raise NoAnswerError(f"{self._entry.base_url}: no batch in the answer")
        counts = answer.get("request_counts") or {}
        faults = (answer.get("errors") or {}).get("data") or []
        return RemoteJob(
            id=answer["id"],
            status=str(answer.get("status")),
            label=(answer.get("metadata") or {}).get(LABEL),
            calls=counts.get("total"),
            window_ends=_moment(answer.get("expires_at")),
            results=tuple(file for name in ("output_file_id", "error_file_id") if (file := answer.get(name))),
            counts=counts,
            errors=tuple(f"line {fault.get('line')}: {fault.get('code')}: {fault.get('message')}" for fault in faults),
        )


class AnthropicBatches(_Client):
    """Batches in Anthropic's form: one POST has all calls; a job carries no name of ours."""

    def _login(self, key: str) -> dict[str, str]:
        return {"x-api-key": key, "anthropic-version": "2023-06-01"} if key else {"anthropic-version": "2023-06-01"}

    async def upload(self, calls: Iterable[JournalRow]) -> str:  # noqa: ARG002
        """Upload nothing: the calls go with the job."""
        return ""

    async def create(self, file_id: str, calls: Iterable[JournalRow], job: str) -> RemoteJob:  # noqa: ARG002
        """Create a job with its calls."""
        requests = [{"custom_id": row.key, "params": to_messages(json.loads(row.request))} for row in calls]
        return self._job(await self._ask("POST", "/messages/batches", json={"requests": requests}))

    async def jobs(self, since: str) -> AsyncIterator[RemoteJob]:
        """Yield the jobs created since then, newest first."""
        after: dict[str, str] = {}
        while answer := await self._ask("GET", "/messages/batches", params={"limit": 100, **after}):
            data = answer.get("data") or []
            for each in map(self._job, data):
                if _utc(each.created) < _utc(since):
                    return
                yield each
            if not answer.get("has_more") or not data:
                return
            after = {"after_id": data[-1]["id"]}

    async def poll(self, remote_id: str) -> RemoteJob | None:
        """Return a job as it is now."""
        answer = await self._ask("GET", f"/messages/batches/{remote_id}")
        return None if answer is None else self._job(answer)

    async def read(self, remote: RemoteJob) -> tuple[list[bytes], bool]:
        """Return the lines of the results; none came if they are archived."""
        lines, is_whole = await self._read(f"/messages/batches/{remote.id}/results" for _ in remote.results)
        return lines, is_whole and bool(remote.results)

    async def cancel(self, remote_id: str) -> RemoteJob:
        """Ask for a job's end."""
        return self._job(await self._ask("POST", f"/messages/batches/{remote_id}/cancel"))

    def _job(self, answer: Mapping[str, Any] | None) -> RemoteJob:
        if not answer or not isinstance(answer.get("id"), str):
            raise NoAnswerError(f"{self._entry.base_url}: no batch in the answer")
        counts = answer.get("request_counts") or {}
        return RemoteJob(
            id=answer["id"],
            status=str(answer.get("processing_status")),
            calls=sum(value or 0 for value in counts.values()) if counts else None,
            created=str(answer.get("created_at") or ""),
            window_ends=answer.get("expires_at"),
            results=(answer["results_url"],) if answer.get("results_url") else (),
            counts=counts,
        )


def _moment(seconds: Any) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if isinstance(seconds, int | float) else None


def _utc(stamp: str) -> datetime:
    # To the second: providers round.
    return datetime.fromisoformat(stamp).astimezone(UTC).replace(microsecond=0)


FORMS: Mapping[str, type[OpenAiBatches] | type[AnthropicBatches]] = {"openai": OpenAiBatches, "anthropic": AnthropicBatches}
