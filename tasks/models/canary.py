"""Ask calls anew that the journal answers, and tell whether the model is still the one that answered them.

A server may give another reply to the same words at temperature 0 without any change behind it: other calls share its batch. So a
reply that differs is asked for once more, and counts only if it stays; and how many differ is compared with how many did before.
"""

import asyncio
import json
from collections.abc import Iterable
from contextlib import closing
from math import comb
from pathlib import Path
from typing import NamedTuple

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.canary import CanaryFinding, CanaryRecord
from schemas.chat import Chat, ChatMessage, ChatReply, ModelEntry, WrittenRequest
from tasks.lake.errors import unreadable_document, unwritable
from tasks.lake.files import replace_file
from tasks.lake.fingerprint import hash_settings
from tasks.models.http.parse_reply import set_thoughts_apart
from tasks.models.journal.table import (
    COLUMNS,
    CUT_MARK,
    JOURNAL,
    JournalRow,
    connect_to_read,
    journal_errors,
    read_reply,
    row_errors,
)

CANARIES = Path("journal") / "canaries"
"""Folder below the lake's local state that keeps what canaries found."""

RARE = 0.01
"""A number of differing replies counts as a change if as many or more would come about by chance this rarely."""

PRIOR = (1, 11)
"""Differing replies, and replies, that a server is credited with before anything is known of it: about one in ten."""

NAMES_LOOKED_AT = 10_000
LONGEST_SHOWN = 80


class CanarySample(NamedTuple):
    """Calls that the journal answers, and by which names the server called the model."""

    rows: list[JournalRow]
    names: tuple[str, ...]


def draw_sample(state: Path, identity: str, model: str, size: int) -> CanarySample:
    """Return journaled calls of a model, the same ones each time as long as no others come.

    Args:
        state: folder with the journal; none may be there.
        identity: of the endpoint.
        model: its name.
        size: most calls.

    Raises:
        LakeError: the journal cannot be read.
    """
    path, whose = state / JOURNAL, (identity, model)
    if not path.is_file():
        return CanarySample([], ())
    # A damaged row is told when it is used; a server that cut a prompt may have more room by now.
    called = "FROM replies WHERE identity = ? AND json_valid(request) AND json_extract(request, '$.model') = ?"
    of_model = f"{called} AND NOT instr(reply, '{CUT_MARK}')"
    with journal_errors(path), closing(connect_to_read(path)) as journal:
        rows = journal.execute(f"SELECT {COLUMNS} {of_model} ORDER BY key LIMIT ?", (*whose, size))
        calls = [JournalRow(*row) for row in rows]
        whole = f"SELECT reply {of_model} AND json_valid(reply) LIMIT ?"
        replies = f"SELECT DISTINCT json_extract(reply, '$.model') FROM ({whole})"  # noqa: S608
        names = journal.execute(replies, (*whose, NAMES_LOOKED_AT)).fetchall() if calls else []
    return CanarySample(calls, tuple(sorted(name for (name,) in names if name)))


async def compare_replies(entry: ModelEntry, sample: CanarySample, before: CanaryRecord, chat: Chat, path: Path) -> CanaryFinding:
    """Ask a sample anew, what differs once more, and decide whether that is more than the server did before.

    Args:
        entry: the model.
        sample: calls that the journal answers.
        before: what earlier canaries found.
        chat: sends calls, whatever the journal has.
        path: of the journal, for messages.
    """
    known = before.model_copy(update={"names": tuple(sorted({*before.names, *sample.names}))})

    async def ask(rows: Iterable[JournalRow]) -> list[tuple[JournalRow, ChatReply]]:
        listed = list(rows)
        return list(zip(listed, await asyncio.gather(*(chat(_request(entry, row)) for row in listed)), strict=True))

    asked = await ask(sample.rows)
    answered = [(row, reply) for row, reply in asked if reply.failure is None]
    errors = [f"{reply.failure}: {reply.error}" for _, reply in asked if reply.failure]
    cold = [(row, reply) for row, reply in answered if json.loads(row.request).get("temperature") == 0]
    others = {row: reply.text for row, reply in cold if _stored(row, path) != reply.text}
    steady = [(_stored(row, path), reply.text) for row, reply in await ask(others) if reply.text == others[row]]
    names = {reply.model for _, reply in answered if reply.model} - set(known.names) if known.names else set()
    return CanaryFinding(
        model=entry.name,
        identity=entry.identity,
        asked=len(answered),
        compared=len(cold),
        differing=len(steady),
        unsteady=len(others) - len(steady),
        before=known,
        names_now=tuple(sorted(names)),
        changed=bool(names) or is_more_than_before(len(steady), len(cold), before),
        epoch=before.epoch,
        example=next(((_short(old), _short(now)) for old, now in steady), None),
        error=errors[0] if errors else None,
    )


def is_more_than_before(differing: int, compared: int, before: CanaryRecord) -> bool:
    """Return whether so many differing replies, or more, would rarely come about if the server is as it was."""
    share = (before.differing + PRIOR[0]) / (before.compared + PRIOR[1])
    counts = range(differing, compared + 1)
    chance = sum(comb(compared, count) * share**count * (1 - share) ** (compared - count) for count in counts)
    return differing > 0 and chance < RARE


def read_record(state: Path, identity: str, model: str) -> CanaryRecord:
    """Return what earlier canaries found of a model.

    Raises:
        LakeError: if the file is there and cannot be read.
    """
    path = _record_file(state, identity, model)
    if not path.is_file():
        return CanaryRecord()
    with unreadable_document("what canaries found of a model", path, "remove the file; the next canary begins anew"):
        return CanaryRecord.model_validate_json(path.read_bytes())


def keep_finding(state: Path, identity: str, found: CanaryFinding) -> None:
    """Add what a model that did not change did; begin a record for its new epoch if it is asked anew from now on.

    Raises:
        LakeError: the disk refuses the file.
    """
    before = found.before
    if found.epoch > before.epoch:
        kept = CanaryRecord(epoch=found.epoch)
    elif found.changed or not found.asked:
        return
    else:
        counts = {"compared": before.compared + found.compared, "differing": before.differing + found.differing}
        kept = before.model_copy(update=counts)
    path = _record_file(state, identity, found.model)
    with unwritable("what the canary found cannot be written", path):
        replace_file(path, f"{kept.model_dump_json(indent=1)}\n".encode())


def epoch_identity(identity: str, epoch: int) -> str:
    """Return the identity of an endpoint in an epoch; in the first it is the endpoint's own, as in all keys written before."""
    return identity if epoch == 1 else f"{identity} epoch {epoch}"


def _record_file(state: Path, identity: str, model: str) -> Path:
    return state / CANARIES / f"{hash_settings({'identity': identity, 'model': model})}.json"


def _request(entry: ModelEntry, row: JournalRow) -> WrittenRequest:
    messages = tuple(map(ChatMessage.model_validate, json.loads(row.request)["messages"]))
    capabilities = entry.dialect or DEFAULT_CAPABILITIES
    return WrittenRequest(entry.name, entry.identity, messages, entry.sampling, capabilities=capabilities, written=row.request)


def _stored(row: JournalRow, path: Path) -> str | None:
    with row_errors(path, row.key):
        return set_thoughts_apart(read_reply(row.reply)).text


def _short(text: str | None) -> str:
    shown = text or ""
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 1]}…"
