"""Check that a stored prompt is what was sent: by its hash, by building it again, and by the journal's copy of the call."""

import json
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from schemas.api_capabilities import Sampling
from schemas.chat import ChatRequest
from schemas.documents.answered_item import Journaled, PromptProof, Rebuilt
from schemas.item import Item
from schemas.vocabulary import TooLong
from tasks.models.journal.rows import recompute_key
from tasks.models.journal.table import connect_to_read, journal_errors
from tasks.solvers.presentation import MARKS, WINDOW, show_in_order, truncate
from tasks.solvers.prompts import OwnPrompts, Prompts, build_messages, prompted_types
from tasks.solvers.registry import SOLVERS
from tasks.solvers.run import read_item


def check_prompt(
    item: Mapping[str, Any],
    response: Mapping[str, Any],
    settings: Mapping[str, Any],
    journal: Path | None,
    own: OwnPrompts,
) -> PromptProof:
    """Check the messages of one row of `responses`; LakeError: the journal cannot be read.

    `settings` are those of the partition's footer, `own` the prompts of the run's blueprint; null = no journal is looked into.
    """
    expected = response["messages_sha256"]
    messages, obstacle = _rebuild(item, response, settings, Prompts.load(own))
    rebuilt: Rebuilt = "not rebuilt" if messages is None else "same" if _hash(messages) == expected else "different"
    journaled, journal_messages = look_up(journal, response["call_key"], response["messages"])
    holds = _hash(response["messages"]) == expected
    return PromptProof(hash_holds=holds, rebuilt=rebuilt, why=obstacle, journal=journaled, journal_messages=journal_messages)


def _rebuild(
    item: Mapping[str, Any], response: Mapping[str, Any], settings: Mapping[str, Any], prompts: Prompts
) -> tuple[str | None, str | None]:
    """Return the messages of a call, built from the item as they were first, as `responses` has them; else what is in the way."""
    setting = response["setting"]
    if setting != "base" and not (setting in SOLVERS and SOLVERS[setting].retrieves):
        return None, f"setting {setting} words its own prompts, which may repeat earlier turns; shown as stored"
    if setting != "base" or item["question_type"] not in prompted_types() or response["turn"] > 0:
        return None, "prompts about long contexts contain retrieved texts or earlier turns; shown as stored"
    if (now := prompts.sha256) != (was := settings.get("prompts_sha256")):
        return None, f"the prompt texts have changed since: {was[:12] if was else 'an unknown version'} then, {now[:12]} now"
    whole, left_out = show_in_order(read_item(item), response["option_order"]), response.get("left_out_characters")
    policy: TooLong = settings.get("too_long", {}).get("policy", "missing")
    shortened = _truncated(whole, left_out, policy) if left_out else whole
    if shortened is None:
        return None, "the place where the context was shortened cannot be found again"
    return ChatRequest("", "", build_messages(shortened, prompts), Sampling()).messages_json, None


def _truncated(whole: Item, left_out: int, too_long: TooLong) -> Item | None:
    """Return the item as it was shown: how long its context was to be is not stored, how much was left out is."""
    kept = len(whole.context or "") - left_out + len(MARKS[whole.language]) + 2
    # A cut is moved back to the end of a sentence, at each of its two sides by less than WINDOW characters.
    for length in range(kept - 2, kept + 2 * WINDOW + 2):
        cut = truncate(whole, length, too_long) if too_long != "missing" else None
        shortened, omitted = cut or (None, 0)
        if shortened is not None and omitted == left_out:
            return shortened
    return None


def look_up(journal: Path | None, key: str, messages: str) -> tuple[Journaled, JsonValue]:
    """Compare the journal's call of this key with these messages, and give its own where they differ; LakeError if unreadable."""
    if journal is None or not journal.is_file():
        return "no journal", None
    with journal_errors(journal):
        with closing(connect_to_read(journal)) as connection:
            query = "SELECT identity, repetition, request FROM replies WHERE key = ?"
            row = connection.execute(query, (key,)).fetchone()
        if row is None:
            return "no such call", None
        identity, repetition, body = row[0], row[1], json.loads(row[2])
        same = body.get("messages") == json.loads(messages) and recompute_key(identity, body, repetition) == key
    return ("same", None) if same else ("different", body.get("messages"))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
