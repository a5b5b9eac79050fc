"""Read and write the SQLite table of a journal, and report what is wrong with it."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from errno import EDQUOT, EFBIG, ENOSPC
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from schemas.chat import ChatReply, ChatRequest
from schemas.errors import LakeError, summarize
from schemas.json_yaml import LARGEST_INTEGER
from tasks.models.http.parse_reply import set_thoughts_apart

JOURNAL = Path("journal") / "replies.sqlite"

TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, repetition INTEGER NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS batches (
    job TEXT PRIMARY KEY, provider TEXT NOT NULL, identity TEXT NOT NULL, endpoint TEXT NOT NULL, remote_id TEXT, file_id TEXT,
    state TEXT NOT NULL, created TEXT NOT NULL, window_ends TEXT, n INTEGER NOT NULL, sha256_of_lines TEXT NOT NULL,
    counts TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS batch_calls (
    key TEXT NOT NULL, job TEXT NOT NULL, repetition INTEGER NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL, failure TEXT,
    PRIMARY KEY (key, job)
);
CREATE UNIQUE INDEX IF NOT EXISTS open_calls ON batch_calls (key) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS calls_of_job ON batch_calls (job);
"""
"""An open call is a claim that outlives its process: `failure` is the reply to one that failed for good and was not told yet."""

COLUMNS = "key, identity, repetition, request, reply, created"
CUT_MARK = '"remark": "prompt_cut"'
"""In the JSON text of a reply; within a string of it the quotation marks would be escaped."""

UNLESS_WHOLE = f"""ON CONFLICT (key) DO UPDATE SET request = excluded.request, reply = excluded.reply, created = excluded.created
WHERE instr(replies.reply, '{CUT_MARK}')"""
ROWS_PER_STATEMENT = 500
"""SQLite takes 32,766 values in one statement."""

LOCK_TIMEOUT_S = 30.0
"""Longest wait for another process that writes into the same journal."""

DISK_FULL = frozenset({ENOSPC, EFBIG, EDQUOT})
_REPLY = TypeAdapter(ChatReply)
_encode = json.JSONEncoder(ensure_ascii=False).encode


class JournalRow(NamedTuple):
    """One reply as the table has it: `request` and `reply` are JSON texts, `created` is ISO 8601 with milliseconds."""

    key: str
    identity: str
    repetition: int
    request: str
    reply: str
    created: str


def connect(path: Path) -> sqlite3.Connection:
    """Connect to a journal, made with its folder if it is not there; what is committed survives a power cut.

    LakeError: it cannot be used.
    """
    with journal_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(TABLES)
        except sqlite3.Error:
            connection.close()
            raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a journal that is there; nothing is changed."""
    with journal_errors(path):
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=LOCK_TIMEOUT_S)


def insert(connection: sqlite3.Connection, rows: Sequence[JournalRow]) -> int:
    """Add rows, in the caller's transaction; the first reply to the whole of a call stays. Return how many were new.

    Many rows go into one statement: between two statements the thread has to wait for its turn in the interpreter, and a busy
    event loop makes it wait for milliseconds.
    """
    added = 0
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        part = rows[start : start + ROWS_PER_STATEMENT]
        places = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(part))
        statement = f"INSERT INTO replies ({COLUMNS}) VALUES {places} {UNLESS_WHOLE}"  # noqa: S608  question marks only
        added += connection.execute(statement, tuple(chain.from_iterable(part))).rowcount
    return added


def journal_row(request: ChatRequest, reply: ChatReply, now: datetime | None = None) -> JournalRow:
    """Return the row of a call and the reply to it, kept at a time, by default now."""
    created = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
    return JournalRow(request.key, request.identity, request.repetition, request.body_json, write_reply(reply), created)


def write_reply(reply: ChatReply) -> str:
    """Return the reply as JSON text."""
    return _encode(vars(reply))


def read_reply(text: str) -> ChatReply:
    """Read the reply of a row, marked as journaled; ValueError: it is no answer, or a field has a value of another type."""
    try:
        reply = _REPLY.validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise ValueError(summarize(error)) from error
    if reply.failure is not None or reply.error is not None or reply.text is None:
        raise ValueError(f"not an answer: failure {reply.failure}")
    if any(isinstance(value, int) and abs(value) >= LARGEST_INTEGER for value in vars(reply).values()):
        raise ValueError("a number that no column holds")
    return replace(reply, from_journal=True)


def find_reply(connection: sqlite3.Connection, path: Path, key: str) -> ChatReply | None:
    """Return the reply to a call, marked as journaled; null if the journal at `path` has none.

    Thoughts that stand in its text, which is kept as it came, are set apart; one that is nothing else is a call that failed.
    """
    with journal_errors(path):
        row = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    with row_errors(path, key):
        stored = read_reply(row[0])
    reply = set_thoughts_apart(stored)
    if reply.text or not stored.text:
        return reply
    error = f"no text besides reasoning, finish_reason {reply.finish_reason}"
    return replace(reply, text=None, failure="length" if reply.remark == "length" else "empty_content", error=error)


@contextmanager
def opened_replies(path: Path) -> Iterator[Callable[[str], ChatReply | None]]:
    """Open a journal to look replies up by key, as a run does; one that is not there has none. Nothing is written."""
    if not path.is_file():
        yield lambda _key: None
        return
    with closing(connect_to_read(path)) as connection:
        yield lambda key: reply if (reply := find_reply(connection, path, key)) and reply.remark != "prompt_cut" else None


@contextmanager
def row_errors(path: Path, key: str) -> Iterator[None]:
    """Turn what a damaged row raises into one clear error, which names its key; all other rows can be saved without it."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise LakeError(
            "a reply in the journal is damaged",
            where=f"{path}, key {key}",
            expected="a reply as moodflow writes it",
            got=f"{type(error).__name__}: {error}",
            next_step=f"move the folder {path.parent} and run moodflow journal merge "
            f"MOVED_FOLDER/{path.name}; this saves all other replies, and only the damaged call is sent again",
        ) from error


@contextmanager
def journal_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite or the disk raises into one clear error."""
    try:
        yield
    except (OSError, sqlite3.Error, ValueError, TypeError) as error:
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in DISK_FULL
        raise LakeError(
            "the journal cannot be written: the disk is full" if full else "the journal cannot be used",
            where=str(path),
            expected="a journal this user may write, on a disk with space left",
            got=f"{type(error).__name__}: {error}",
            next_step="free space and run again; stored replies are not paid twice"
            if full
            else "free space or fix permissions, and run again; if the file is damaged, move it away",
        ) from error
