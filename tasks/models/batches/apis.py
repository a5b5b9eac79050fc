"""The batch APIs of providers: OpenAI's form, and Anthropic's with what differs."""

import json
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

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
CLOCKS_APART = timedelta(minutes=10)

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
    """Addresses of the lines that are there."""
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


LATER = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses of a request that the server would take at another time; they refuse nothing."""


class NoAnswerError(Exception):
    """Raised when a server did not answer, or not in its form: what it did is not known."""


class BatchApi(AbstractAsyncContextManager["BatchApi"]):
    """Batches in OpenAI's form: a file goes up, a job is created, two files come back. Used as an async context manager.

    A refusal is an EndpointError, no answer a NoAnswerError.
    """

    path, after = "/batches", "after"

    def __init__(self, entry: ModelEntry, limits: BatchLimits) -> None:
        self._entry, self._limits = entry, limits
        self._keys = resolve_keys(entry, os.environ)
        secret = {variable: key.get_secret_value() for variable, key in self._keys.items()}
        base = str(entry.base_url).rstrip("/")
        self._http = httpx.AsyncClient(
            base_url=base,
            headers=self._login(secret.get(entry.api_key_env or ""))
            | {name: secret[variable] for name, variable in read_pairs(entry.headers_env).items()},
            params={**read_pairs(entry.query), **{name: secret[of] for name, of in read_pairs(entry.query_env).items()}},
            timeout=httpx.Timeout(600.0, connect=entry.connect_timeout_s),  # files take long
            trust_env=not is_loopback(httpx.URL(base).host),
        )

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def _login(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def upload(self, calls: Iterable[JournalRow]) -> str:
        """Hand the lines over, where they go before the job; return the name of their file."""
        head = {"method": "POST", "url": self._limits.path}
        lines = (json.dumps({"custom_id": row.key, **head, "body": json.loads(row.request)}, ensure_ascii=False) for row in calls)
        file = ("moodflow.jsonl", "".join(f"{line}\n" for line in lines).encode(), "application/jsonl")
        answer = await self._ask("POST", "/files", data={"purpose": "batch"}, files={"file": file})
        if not answer or not isinstance(name := answer.get("id"), str):
            raise NoAnswerError(f"{self._entry.base_url}/files: no file in the answer")
        return name

    async def create(self, file_id: str, calls: Iterable[JournalRow], job: str) -> RemoteJob:
        """Create a job."""
        return self._job(await self._ask("POST", self.path, json=self._order(file_id, calls, job)))

    def _order(self, file_id: str, calls: Iterable[JournalRow], job: str) -> dict[str, Any]:  # noqa: ARG002
        window = {"endpoint": self._limits.path, "completion_window": self._limits.window}
        return {"input_file_id": file_id, **window, "metadata": {LABEL: job}}

    async def jobs(self, since: str) -> AsyncIterator[RemoteJob]:
        """Yield the jobs that were created since then, ISO 8601, newest first; where they carry labels, all."""
        after: dict[str, str] = {}
        while answer := await self._ask("GET", self.path, params={"limit": 100, **after}):
            data = answer.get("data") or []
            for remote in map(self._job, data):
                if remote.created and datetime.fromisoformat(remote.created) < datetime.fromisoformat(since) - CLOCKS_APART:
                    return
                yield remote
            if not answer.get("has_more") or not data:
                return
            after = {self.after: data[-1]["id"]}

    async def poll(self, remote_id: str) -> RemoteJob | None:
        """Return a job as it is now; null: there is none."""
        answer = await self._ask("GET", f"{self.path}/{remote_id}")
        return None if answer is None else self._job(answer)

    async def cancel(self, remote_id: str) -> RemoteJob:
        """Ask for a job's end."""
        return self._job(await self._ask("POST", f"{self.path}/{remote_id}/cancel"))

    async def read(self, remote: RemoteJob) -> tuple[list[bytes], bool]:
        """Return the lines of a job's results, and whether all came."""
        lines, is_whole = list[bytes](), True
        for address in remote.results:
            content = bytearray()
            try:
                async with self._http.stream("GET", address) as response:
                    response.raise_for_status()
                    async for chunk in response.aiter_bytes():
                        content += chunk
            except httpx.HTTPError:
                is_whole = False
            lines += filter(bytes.strip, bytes(content).split(b"\n"))
        return lines, is_whole

    async def _ask(self, method: str, path: str, **what: Any) -> dict[str, Any] | None:
        """Return the object that the server answers with; null: not found."""
        where = f"{self._entry.base_url}{path}"
        try:
            response = await self._http.request(method, path, **what)
            if response.status_code == httpx.codes.NOT_FOUND and method == "GET":
                return None
            if response.is_client_error and response.status_code not in LATER:
                raise self._refused(where, response)
            document = read_json(response.raise_for_status().content, lenient=True)
        except httpx.HTTPStatusError as error:
            raise NoAnswerError(f"{where}: HTTP {error.response.status_code}") from error
        except (httpx.HTTPError, ValueError) as error:
            raise NoAnswerError(f"{where}: {type(error).__name__}") from error
        if not isinstance(document, dict):
            raise NoAnswerError(f"{where}: not an object")
        return document

    def _refused(self, where: str, response: httpx.Response) -> EndpointError:
        text = describe_error(response.content)
        for key in self._keys.values():
            text = Scrubber(key).clean(text)
        return EndpointError(
            "the provider refused a batch",
            where=where,
            expected="an endpoint with batches, and a key that may use them",
            got=f"HTTP {response.status_code}: {text}"[:400],
            next_step="correct what it names, or run without --batch",
        )

    def _job(self, answer: Mapping[str, Any] | None) -> RemoteJob:
        if not answer or not isinstance(answer.get("id"), str):
            raise NoAnswerError(f"{self._entry.base_url}: no batch in the answer")
        return self._describe(answer, answer.get("request_counts") or {})

    def _describe(self, answer: Mapping[str, Any], counts: Mapping[str, int | None]) -> RemoteJob:
        faults = (answer.get("errors") or {}).get("data") or []
        ends, files = answer.get("expires_at"), (answer.get("output_file_id"), answer.get("error_file_id"))
        return RemoteJob(
            id=answer["id"],
            status=str(answer.get("status")),
            label=(answer.get("metadata") or {}).get(LABEL),
            calls=counts.get("total"),
            window_ends=datetime.fromtimestamp(ends, UTC).isoformat() if isinstance(ends, int | float) else None,
            results=tuple(f"/files/{file}/content" for file in files if file),
            counts=counts,
            errors=tuple(f"line {fault.get('line')}: {fault.get('code')}: {fault.get('message')}" for fault in faults),
        )


class AnthropicBatches(BatchApi):
    """Batches in Anthropic's form: one POST has all calls; a job carries no name of ours."""

    path, after = "/messages/batches", "after_id"

    def _login(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    async def upload(self, calls: Iterable[JournalRow]) -> str:  # noqa: ARG002
        """Upload nothing: the calls go with the job."""
        return ""

    def _order(self, file_id: str, calls: Iterable[JournalRow], job: str) -> dict[str, Any]:  # noqa: ARG002
        return {"requests": [{"custom_id": row.key, "params": to_messages(json.loads(row.request))} for row in calls]}

    async def read(self, remote: RemoteJob) -> tuple[list[bytes], bool]:
        """Return the lines of the results; none came if they are archived."""
        lines, is_whole = await super().read(remote)
        return lines, is_whole and bool(remote.results)

    def _describe(self, answer: Mapping[str, Any], counts: Mapping[str, int | None]) -> RemoteJob:
        return RemoteJob(
            id=answer["id"],
            status=str(answer.get("processing_status")),
            calls=sum(value or 0 for value in counts.values()) if counts else None,
            created=str(answer.get("created_at") or ""),
            window_ends=answer.get("expires_at"),
            results=(f"{self.path}/{answer['id']}/results",) if answer.get("results_url") else (),
            counts=counts,
        )


FORMS: Mapping[str, type[BatchApi]] = {"openai": BatchApi, "anthropic": AnthropicBatches}
