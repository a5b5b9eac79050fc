"""Keys of the partitions of the infer stage: chunks, responses and retrievals."""

from collections.abc import Mapping
from typing import Any

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.retrieval import RetrievalOptions
from schemas.usage import Role
from schemas.vocabulary import Setting, TooLong
from tasks.lake.fingerprint import partition_key
from tasks.solvers.option_order import Epochs
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import SolverOptions
from tasks.solvers.truncation import truncation_settings

RESPONSES_VERSION = "4"
"""Bumped when calls are asked or recorded differently; prompt texts carry their own hash."""

LONG_RESPONSES_VERSION = "2"
"""The same for items with a context built for them; solvers and prompts carry versions of their own."""

ANSWERS_VERSION = "1"
"""Bumped when answers are taken otherwise from the same replies."""

CHUNKS_VERSION = "1"
"""Bumped when a text is split differently."""

SEGMENTS = "segments"
"""Chunking of a context that comes in segments: each is a chunk."""


def responses_key(
    items: PartitionRef,
    models: Mapping[Role, ModelEntry],
    setting: str,
    prompts_sha256: str,
    epochs: Epochs,
    too_long: TooLong = "missing",
) -> PartitionKey:
    """Return the key of one model's replies to one dataset's items under one setting.

    Token probabilities count only where they are asked for, the policy for too long items only where it cuts.

    Args:
        items: what is asked.
        models: the model under test and its helpers, by role.
        setting: name of the setting.
        prompts_sha256: hash of the prompt texts.
        epochs: how often and in which orders of options items are asked.
        too_long: policy for items longer than the model's context.
    """
    entry = models["tested"]
    settings = {
        "model": entry.name,
        **entry.meaning,
        **_helper_settings(models),
        "prompts_sha256": prompts_sha256,
        **epochs.settings,
        **({"token_probabilities": True} if entry.token_probabilities else {}),
        **truncation_settings(too_long),
    }
    keys = {"dataset": items.key("dataset"), "model": entry.name, "setting": setting}
    return partition_key("responses", keys, settings, parents=[items.identity], version=RESPONSES_VERSION)


def answers_key(responses: PartitionRef) -> PartitionKey:
    """Return the key of the answers that one partition of replies comes to."""
    return partition_key("answers", dict(responses.place), {}, [responses.identity], ANSWERS_VERSION)


def chunks_key(items: PartitionRef, chunk_tokens: int | None, options: RetrievalOptions) -> PartitionKey:
    """Return the key of the chunks of a dataset's contexts.

    Args:
        items: hold the contexts.
        chunk_tokens: longest chunk; null = the contexts come in segments.
        options: overlap and how tokens are counted.
    """
    if chunk_tokens is None:
        chunking, settings = SEGMENTS, {}
    else:
        settings = {"chunk_tokens": chunk_tokens, "overlap_tokens": options.overlap_tokens, "legacy_bos": options.counts_bos}
        chunking = f"{chunk_tokens}-{options.overlap_tokens}{'-bos' if options.counts_bos else ''}"
    place = {"dataset": items.key("dataset"), "chunking": chunking}
    return partition_key("chunks", place, settings, parents=[items.identity], version=CHUNKS_VERSION)


def long_settings(
    options: SolverOptions, models: Mapping[Role, ModelEntry], embedder: str | None, texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return what changes the calls about a long item, besides the model under test.

    Args:
        options: the setting.
        models: those that take part, by role.
        embedder: identity of the model that ranks; null = nothing is ranked by meaning.
        texts: versions and hashes of prompts and solvers.
    """
    retrieves = SOLVERS[options.setting].retrieves
    retrieval = options.retrieval.model_dump(mode="json", exclude={"embedder"}) if retrieves else {}
    return {
        "length_demand": options.length_demand,
        **dict(texts),
        **({"retrieval": retrieval, "chunks_version": CHUNKS_VERSION} if retrieves else {}),
        **({"embedder": embedder} if embedder else {}),
        **_helper_settings(models),
    }


def _helper_settings(models: Mapping[Role, ModelEntry]) -> dict[str, Any]:
    return {role: {"model": entry.name, **entry.meaning} for role, entry in models.items() if role != "tested"}


def long_key(
    layer: str, entry: ModelEntry, setting: Setting, settings: Mapping[str, Any], parents: tuple[PartitionRef, PartitionRef]
) -> PartitionKey:
    """Return the key of one model's responses to long items, or of the retrievals behind them, or of chunks of what it wrote.

    Args:
        layer: `responses`, `retrievals` or `chunks`.
        entry: the model under test.
        setting: how it is asked.
        settings: of `long_settings`, how often items are asked and what becomes of too long ones.
        parents: items and contexts.
    """
    place = {"dataset": parents[0].key("dataset"), "model": entry.name, "setting": setting}
    resolved = {"model": entry.name, **entry.meaning, **settings}
    return partition_key(layer, place, resolved, [ref.identity for ref in parents], LONG_RESPONSES_VERSION)
