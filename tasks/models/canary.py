"""Ask calls anew that the journal answers, and tell whether the model is still the one that answered them.

A server may give another reply to the same words at temperature 0 without any change behind it: other calls share its batch. So
each call is asked twice. The three replies of an unchanged model come from the same distribution, however noisy the server is:
where exactly one is unlike the other two, that one is the journaled reply in a third of cases.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.canary import DECIDED, CanaryFinding, CanaryRecord
from schemas.chat import Chat, ChatMessage, ModelEntry, WrittenRequest
from schemas.errors import UsageError
from tasks.lake.files import replace_file, unreadable_document, unwritable
from tasks.lake.partitions import hash_settings
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

TURNS = 25
"""Nights until a call is asked again: a small change needs many calls, and what one call shows counts once."""

NAMES_LOOKED_AT = 10_000
LONGEST_SHOWN = 80


class CanarySample(NamedTuple):
    """Calls that the journal answers, of how many they are a part, and by which names the server called the model."""

    rows: list[JournalRow]
    names: tuple[str, ...]
    total: int = 1


def kind_of(stored: str | None, first: str | None, second: str | None) -> str:
    """Return in a word which reply to a call is unlike the others, the journaled one or one of tonight's two."""
    if first == second:
        return "same" if first == stored else "differing"
    return "noise" if stored in {first, second} else "unsteady"


def draw_sample(state: Path, identity: str, model: str, size: int, last: str) -> CanarySample:
    """Return at most `size` journaled calls of a model whose turn it is: after the call with the key `last`.

    The folder `state` need not have a journal.
    """
    path, whose = state / JOURNAL, (identity, model)
    if not path.is_file():
        return CanarySample([], ())
    # A damaged row is told when it is used; a server that cut a prompt may have more room by now.
    called = "FROM replies WHERE identity = ? AND json_valid(request) AND json_extract(request, '$.model') = ?"
    of_model = f"{called} AND NOT instr(reply, '{CUT_MARK}')"
    keys = f"(SELECT key {of_model} ORDER BY key LIMIT ?)"
    turn = f"(SELECT key, count(*) OVER () AS total FROM {keys} ORDER BY key <= ?, key LIMIT ?)"  # noqa: S608
    in_turn = f"SELECT {COLUMNS}, total FROM replies JOIN {turn} USING (key) ORDER BY key <= ?, key"  # noqa: S608
    with journal_errors(path), closing(connect_to_read(path)) as journal:
        rows = journal.execute(in_turn, (*whose, size * TURNS, last, size, last)).fetchall()
        whole = f"SELECT reply {of_model} AND json_valid(reply) LIMIT ?"
        replies = f"SELECT DISTINCT json_extract(reply, '$.model') FROM ({whole})"  # noqa: S608
        names = journal.execute(replies, (*whose, NAMES_LOOKED_AT)).fetchall() if rows else []
    calls = [JournalRow(*row[:-1]) for row in rows]
    return CanarySample(calls, tuple(sorted(name for (name,) in names if name)), rows[0][-1] if rows else 0)


async def compare_replies(entry: ModelEntry, sample: CanarySample, before: CanaryRecord, chat: Chat, path: Path) -> CanaryFinding:
    """Ask a sample anew, each call twice, and add what that shows to what earlier canaries counted.

    `chat` sends calls, whatever the journal has; `path` is that of the journal, for messages.
    """
    rows = sample.rows
    # All are under way at once, and the two of a call not side by side: they share a batch with other calls.
    replies = await asyncio.gather(*(chat(_request(entry, row)) for row in (*rows, *rows)))
    texts = {
        row.key: (_stored(row, path), first.text, second.text)
        for row, first, second in zip(rows, replies[: len(rows)], replies[len(rows) :], strict=True)
        if first.failure is None and second.failure is None and json.loads(row.request).get("temperature") == 0
    }
    kinds = {key: kind_of(*three) for key, three in texts.items()}
    example = next((texts[key][:2] for key, kind in kinds.items() if kind == "differing"), None)
    answered = [reply.model for reply in replies if reply.failure is None]
    names = {*before.names, *sample.names}
    served = tuple(sorted({name for name in answered if name and names} - names)) if answered else before.served
    identity = {"last": rows[-1].key, "names": tuple(sorted(names)), "served": served}
    counts = {kind: list(kinds.values()).count(kind) for kind in ("differing", "noise", "unsteady")}
    error = next((f"{reply.failure}: {reply.error}" for reply in replies if reply.failure), None)
    summary = {"asked": len(answered), "compared": len(kinds), "example": example and tuple(map(_short, example)), "error": error}
    return conclude(entry, add_pairs(before, kinds, sample.total).model_copy(update=identity)).model_copy(update=counts | summary)


def add_pairs(before: CanaryRecord, kinds: Mapping[str, str], total: int) -> CanaryRecord:
    """Return a record with further pairs of replies, by key and kind, to calls of which there are `total`."""
    others = set(before.others) - kinds.keys() | {key for key, kind in kinds.items() if kind == "differing"}
    pairs, noise = before.pairs + len(kinds), before.noise + list(kinds.values()).count("noise")
    counts = {"pairs": pairs, "calls": max(before.calls, min(pairs, total)), "noise": noise}
    return before.model_copy(update={**counts, "others": tuple(sorted(others))})


def conclude(entry: ModelEntry, record: CanaryRecord) -> CanaryFinding:
    """Return what a record says of a model."""
    evidence = weigh(record)
    changed = bool(record.served) or evidence >= DECIDED
    return CanaryFinding(model=entry.name, identity=entry.identity, record=record, evidence=evidence, changed=changed)


def weigh(record: CanaryRecord) -> float:
    """Return how many times likelier a record's counts are of a model that changed.

    If it did not change, the odd reply is the journaled one by chance; if it did, more often. How much more often is not known,
    so the ratio is a mean. While each call is new it is a martingale that begins at 1: without a change it reaches 100 in one
    case of 100 at most (Ville 1939, Robbins 1970). Differences that somebody accepted count as noise.
    """
    chance = record.calls / max(1, record.calls + 2 * record.pairs)
    odd, noise = len(record.others), record.noise + 2 * record.usual * record.pairs
    roots = [(step + 0.5) / 100 for step in range(100)]  # of the noise of a changed model, as a part of that by chance
    logs = (odd * log(1 / chance + (1 - 1 / chance) * root**2) + 2 * noise * log(root) for root in roots)
    return sum(exp(min(ratio, 20)) for ratio in logs) / len(roots) if record.pairs else 1.0


def read_record(state: Path, identity: str, model: str) -> CanaryRecord:
    """Return what earlier canaries counted of a model."""
    path = _record_file(state, identity, model)
    record = _read(path) if path.is_file() else CanaryRecord()
    return record.model_copy(update={"model": model, "identity": identity})


def keep_record(state: Path, record: CanaryRecord) -> None:
    """Write what canaries counted of a model."""
    path = _record_file(state, record.identity, record.model)
    with unwritable("what the canary found cannot be written", path):
        replace_file(path, f"{record.model_dump_json(indent=1)}\n".encode())


def accept_findings(state: Path, model: str) -> list[CanaryRecord]:
    """Take what canaries found of a model for usual from now on, and return its records; UsageError: they found nothing.

    The share that is accepted is the largest that goes with what was counted, at 99 %.
    """
    from scipy.special import betaincinv  # noqa: PLC0415

    records = map(_read, sorted((state / CANARIES).glob("*.json")))
    changed = [record for record in records if record.model == model and (record.others or record.served)]
    if not changed:
        raise UsageError(f"no canary in this lake found a change in model {model}", where="moodflow models accept")
    for record in changed:
        odd, names = len(record.others), tuple(sorted({*record.names, *record.served}))
        usual = float(betaincinv(odd + 1, record.calls - odd + 1, 0.99)) if odd else record.usual
        reset = {"pairs": 0, "calls": 0, "noise": 0, "others": (), "served": ()}
        keep_record(state, record.model_copy(update={**reset, "usual": usual, "names": names}))
    return [read_record(state, record.identity, model) for record in changed]


def epoch_identity(identity: str, epoch: int) -> str:
    """Return the identity of an endpoint in an epoch; in the first it is the endpoint's own, as in all keys written before."""
    return identity if epoch == 1 else f"{identity} epoch {epoch}"


def _read(path: Path) -> CanaryRecord:
    with unreadable_document("what canaries found of a model", path, "remove the file; the next canary begins anew"):
        return CanaryRecord.model_validate_json(path.read_bytes())


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
    answer = text or ""
    return answer if len(answer) <= LONGEST_SHOWN else f"{answer[: LONGEST_SHOWN - 1]}…"
