"""The batches of a lake and the calls they hold, in the SQLite file of its journal."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import NamedTuple

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.documents.batches import ENDED, BatchJob, BatchState
from schemas.errors import unknown_name
from tasks.models.journal.table import JournalRow, connect, insert, journal_errors, write_reply

ENDPOINT = {"name", "base_url", "api_key_env", "headers_env", "query_env", "query", "require_same_model", "connect_timeout_s"}
"""Fields of a model's entry that a job keeps, so that it can be collected without the plan; no key is among them."""


class StoredBatch(NamedTuple):
    """A row of `batches`; `counts` is what the provider said last, its errors included."""

    job: str
    provider: str
    identity: str
    endpoint: str
    remote_id: str | None
    file_id: str | None
    state: BatchState
    created: str
    window_ends: str | None
    n: int
    sha256_of_lines: str
    counts: str

    @property
    def entry(self) -> ModelEntry:
        """Return how its endpoint is called."""
        return ModelEntry.model_validate_json(self.endpoint)


COLUMNS = ", ".join(StoredBatch._fields)


@dataclass
class Outcome:
    """What came of a job: of its lines replies, failures of the model by key, and keys that are to be asked again."""

    rows: dict[str, JournalRow] = field(default_factory=dict)
    failed: dict[str, ChatReply] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    rules: Counter[str] = field(default_factory=Counter)
    unknown_form: str | None = None
    """Fields of the first line whose form is not known."""
    is_whole: bool = True
    freed: int = 0
    """Calls of the job that are still to be asked, now that it has ended."""
    note: str = ""
    """What was found, in words."""


class BatchStore(AbstractContextManager["BatchStore"]):
    """Rows of `batches` and `batch_calls`. Used as a context manager, from one thread."""

    def __init__(self, journal: Path) -> None:
        self._path, self._connection = journal, connect(journal)

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for writing, so that what is read stays true; a crash leaves all of it or nothing."""
        with journal_errors(self._path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def jobs(self, *, is_open: bool = False) -> list[StoredBatch]:
        """Return the jobs in the order in which they were made; `is_open`: only those that hold calls."""
        with journal_errors(self._path):
            jobs = map(StoredBatch._make, self._connection.execute(f"SELECT {COLUMNS} FROM batches ORDER BY created, job"))  # noqa: S608
            return [job for job in jobs if not is_open or job.state not in ENDED]

    def find(self, name: str) -> StoredBatch:
        """Return the job whose name begins so; UsageError: none, or several."""
        jobs = {job.job: job for job in self.jobs()}
        same = [job for key, job in jobs.items() if name and key.startswith(name)]
        if len(same) != 1:
            raise unknown_name("batch", name, [key[:12] for key in jobs], "JOB", "moodflow batches list shows them")
        return same[0]

    def calls(self, job: StoredBatch, *, is_open: bool = False) -> dict[str, JournalRow]:
        """Return the calls of a job, all or those that are open, as rows of the journal without a reply, by key."""
        query = "SELECT key, repetition, request FROM batch_calls WHERE job = ? AND (state = 'open' OR NOT ?) ORDER BY key"
        with journal_errors(self._path):
            rows = self._connection.execute(query, (job.job, is_open)).fetchall()
        return {key: JournalRow(key, job.identity, repetition, request, "", "") for key, repetition, request in rows}

    def plan(self, provider: str, entry: ModelEntry, requests: Sequence[ChatRequest]) -> StoredBatch | None:
        """Claim calls as a new job; those that an open job holds are left out. None: nothing is left to claim.

        Equal calls make the same job. One that the provider refused as a whole is returned as it is: it has to be given up first.
        """
        identity = requests[0].identity
        with self._transaction() as connection:
            held = {key for (key,) in connection.execute("SELECT key FROM batch_calls WHERE state = 'open'")}
            calls = {request.key: request for request in sorted(requests, key=lambda each: each.key) if request.key not in held}
            if not calls:
                return None
            known = {job.job: job for job in self.jobs()}
            names = (sha256(json.dumps([identity, [*calls], attempt]).encode()).hexdigest() for attempt in count())
            name = next(name for name in names if name not in known or known[name].state == "failed")
            if name in known:
                return known[name]
            created, endpoint = datetime.now(UTC).isoformat(timespec="milliseconds"), entry.model_dump_json(include=ENDPOINT)
            lines = sha256("".join(f"{each.body_json}\n" for each in calls.values()).encode()).hexdigest()
            job = StoredBatch(name, provider, identity, endpoint, None, None, "planned", created, None, len(calls), lines, "{}")
            connection.execute(f"INSERT INTO batches ({COLUMNS}) VALUES ({', '.join('?' * len(job))})", job)  # noqa: S608
            connection.executemany(
                "INSERT INTO batch_calls VALUES (?, ?, ?, ?, 'open', NULL)",
                [(key, name, request.repetition, request.body_json) for key, request in calls.items()],
            )
        return job

    def change(self, job: StoredBatch, *, frees: bool = False, **values: str | None) -> StoredBatch:
        """Write what changed of a job; `frees`: its open calls may be asked again."""
        with self._transaction():
            self._write(job, values, frees=frees)
        return job._replace(**values)  # type: ignore[arg-type]

    def _write(self, job: StoredBatch, values: Mapping[str, str | None], *, frees: bool) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self._connection.execute(f"UPDATE batches SET {names} WHERE job = ?", (*values.values(), job.job))  # noqa: S608
        if frees:
            self._connection.execute("UPDATE batch_calls SET state = 'free' WHERE job = ? AND state = 'open'", (job.job,))

    def keep(self, job: StoredBatch, outcome: Outcome, *, ends: bool) -> None:
        """Keep what the lines of a job's files came to, at once or not at all: replies, then what its calls are.

        `ends`: the files were whole, so the job is collected, and calls of which no line came may be asked again.
        """
        with self._transaction() as connection:
            insert(connection, [*outcome.rows.values()])
            states: list[tuple[str, str | None, str]] = [("answered", None, key) for key in outcome.rows]
            states += [("free", write_reply(reply), key) for key, reply in outcome.failed.items()]
            states += [("free", None, key) for key in outcome.free]
            update = "UPDATE batch_calls SET state = ?, failure = ? WHERE job = ? AND key = ? AND state = 'open'"
            connection.executemany(update, [(state, failure, job.job, key) for state, failure, key in states])
            if ends:
                self._write(job, {"state": "collected"}, frees=True)

    def note_failures(self, rows: Iterable[JournalRow]) -> None:
        """Note failures that a file brought for calls, each as the reply of its row."""
        with self._transaction() as connection:
            statement = "INSERT OR REPLACE INTO batch_calls VALUES (?, 'file', ?, ?, 'free', ?)"
            connection.executemany(statement, [(row.key, row.repetition, row.request, row.reply) for row in rows])

    def failure(self, key: str) -> ChatReply | None:
        """Return the failure that a batch brought for a call, unless a run has told it."""
        with journal_errors(self._path):
            query = "SELECT failure FROM batch_calls WHERE key = ? AND failure IS NOT NULL ORDER BY rowid DESC"
            row = self._connection.execute(query, (key,)).fetchone()
        return ChatReply(**json.loads(row[0])) if row else None

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Note that a run has told these failures: the next one asks again."""
        with self._transaction() as connection:
            connection.executemany("UPDATE batch_calls SET failure = NULL WHERE key = ?", [(key,) for key in keys])

    def describe(self, job: StoredBatch) -> BatchJob:
        """Return a job as a document."""
        with journal_errors(self._path):
            query = "SELECT state, count(*), count(failure) FROM batch_calls WHERE job = ? GROUP BY state"
            states = {state: (calls, failed) for state, calls, failed in self._connection.execute(query, (job.job,))}
        return BatchJob(
            **{
                name: getattr(job, name)
                for name in ("job", "provider", "identity", "remote_id", "state", "created", "window_ends")
            },
            model=job.entry.name,
            calls=job.n,
            **{state: states.get(state, (0, 0))[0] for state in ("open", "answered", "free")},
            failed=states.get("free", (0, 0))[1],
            **({"status": None, "counts": {}, "errors": ()} | json.loads(job.counts)),
        )
