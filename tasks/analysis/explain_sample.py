"""One row whole: what was sent and the proof of it, what came back, how it was read and rated, and where all of it is stored."""

from collections.abc import Sequence
from dataclasses import asdict
from json import loads
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.lineage import PartitionRef
from schemas.tables.items import Items
from schemas.vocabulary import TooLong
from tasks.analysis.evidence import Evidence, Key, read_evidence, read_unredacted
from tasks.analysis.explain_rows import row_document
from tasks.analysis.past_run import PastRun, nearest_name
from tasks.analysis.redaction import NO_MESSAGES
from tasks.lake.local_state import state_folder
from tasks.models.journal.table import JOURNAL
from tasks.solvers.prompt_check import RequestOptions, check_prompt

CALL = (
    *("turn", "call_key", "messages_sha256", "status", "reply", "reasoning", "finish_reason", "answered_by", "remark"),
    *("left_out_characters", "failure", "error", "http_status", "prompt_tokens", "completion_tokens", "token_logprobs"),
    *("latency_s", "attempts"),
)
RETRIEVED = (
    *("query_number", "stage", "rank", "corpus", "chunk", "query", "dense", "bm25", "fused", "kept", "holds_needle"),
    *("enriched", "helper", "helper_call_key"),
)
CHUNK = ("query_number", "rank", "text", "holds_needle")
SOURCE = ("source_file", "source_row", "source_row_sha256")

Row = dict[str, Any]


def find_dataset_of(run: PastRun, item: str, datasets: Sequence[str]) -> str:
    """The dataset among these that has an item of this id.

    Raises:
        UsageError: none has it, or several have.
    """
    ids = {
        str(ref.key("dataset")): run.lake.read(ref, Items)["item_id"].to_list()
        for ref in run.partitions("items")
        if ref.key("dataset") in datasets
    }
    holders = [name for name, known in ids.items() if item in known]
    if len(holders) == 1:
        return holders[0]
    if holders:
        raise UsageError(
            f"several datasets have an item {item}",
            where="--item",
            expected="one of them named with --dataset",
            got=", ".join(holders),
            next_step=f"--dataset {holders[0]}",
        )
    known = [name for names in ids.values() for name in names]
    raise UsageError(
        f"no item {item} was asked in this run",
        where="--item",
        expected=f"the id of one of {len(known)} items" + (f" of {', '.join(ids)}" if len(ids) == 1 else ""),
        got=item,
        next_step=nearest_name(item, known) or f"{run.command('explain', '--dataset', next(iter(ids), 'NAME'))} lists ids",
    )


def item_document(run: PastRun, dataset: str, system: tuple[str, str], item: str) -> Row:
    """Everything about one item and how one model and setting answered it.

    Raises:
        LakeError: a partition is gone or changed, or the journal cannot be read.
    """
    stored, shown = read_unredacted(run, dataset, *system), read_evidence(run, dataset, *system)
    keys = sorted({(row["item_id"], row["repetition"]) for row in stored.item_scores.to_dicts() if row["item_id"] == item})
    row = shown.item(item)
    context = shown.contexts.filter(shown.contexts["item_id"] == item).to_dicts()
    return {
        "item": {**row, "source": {name: row[name] for name in SOURCE}},
        "context": context[0] if context else None,
        "withheld": shown.withheld,
        "notes": list(shown.notes),
        "asked": [asked_document(run, stored, shown, key) for key in keys],
        "stored": [_stored(run, ref) for ref in shown.refs],
    }


def asked_document(run: PastRun, stored: Evidence, shown: Evidence, key: Key) -> Row:
    """One time the item was asked: its calls in order, what was retrieved for them, ratings and scores."""
    told = {turn["turn"]: turn for turn in shown.turns(key)}
    row = row_document(run, shown, key, ())
    order = next((turn["option_order"] for turn in stored.turns(key)), None)
    retrieved = [{name: found[name] for name in RETRIEVED} for found in shown.about(shown.retrievals, key)]
    return {
        "repetition": key[1],
        "option_order": order,
        "options": row["options"],
        "calls": [_call(run, stored, turn, told[turn["turn"]]) for turn in stored.turns(key)],
        "retrieved": sorted(retrieved, key=_by_rank),
        "chunks": [{name: chunk[name] for name in CHUNK} for chunk in sorted(shown.about(shown.shown, key), key=_by_rank)],
        "ratings": row["ratings"],
        "scores": row["scores"],
    }


def _call(run: PastRun, stored: Evidence, turn: Row, told: Row) -> Row:
    ref = run.partitions("responses", dataset=turn["dataset"], model=turn["model"], setting=turn["setting"])[0]
    proof = check_prompt(stored.item(turn["item_id"]), turn, asked_how(run, ref), journal_of(run))
    withheld = told["messages"] == NO_MESSAGES != turn["messages"]
    document = {name: told.get(name) for name in CALL}
    document["messages"] = None if withheld else loads(told["messages"])
    document["proof"] = {**asdict(proof), **({"journal_messages": None} if withheld else {})}
    return document


def _by_rank(found: Row) -> tuple[int, str, int]:
    return (found["query_number"], str(found.get("stage")), found["rank"])


def asked_how(run: PastRun, ref: PartitionRef) -> RequestOptions:
    """How a partition was asked, from its footer."""
    settings = run.lake.read_footer(ref).settings
    policy: TooLong = settings.get("too_long", {}).get("policy", "missing")
    return RequestOptions(settings.get("prompts_sha256"), policy)


def journal_of(run: PastRun) -> Path | None:
    """File of the lake's journal; null if there is none on this machine."""
    file = state_folder(run.lake.root) / JOURNAL
    return file if file.is_file() else None


def _stored(run: PastRun, ref: PartitionRef) -> Row:
    footer = run.lake.read_footer(ref)
    return {
        "layer": ref.layer,
        "file": str(run.lake.path(ref)),
        "fingerprint": ref.fingerprint,
        "content_sha256": ref.content_sha256,
        "package_version": footer.package_version,
        "git_commit": footer.git_commit,
    }
