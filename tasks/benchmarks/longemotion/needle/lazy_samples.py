"""Lazy samples that come one per record, and fields of a record that must hold a text or a language."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.datasets.building import number_repeats


def one_per_record(
    name: Callable[[Record], str],
    build: Callable[[Record], tuple[Item, Context]],
    cluster: Callable[[Record], str | None] = lambda _record: None,
) -> SampleBuilder:
    """Return a sample builder that makes one item of each record, as the source has it: options and seed change nothing.

    Args:
        name: of the item a record becomes; the second record of the same name gets the suffix `-2`, and so on.
        build: from the record to its item; raises ValueError, LookupError or TypeError where it allows none.
        cluster: of the item a record becomes; null = its own.
    """

    def build_samples(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        item_ids = number_repeats(map(name, records))
        named = zip(item_ids, records, strict=True)
        return [LazySample(item_id, record, partial(build, record), cluster(record)) for item_id, record in named]

    return build_samples


def read_text(fields: Mapping[str, Any], name: str) -> str:
    """Return the text of a field without white space around it; raise LookupError, TypeError or ValueError if there is none."""
    value = fields[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text but {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"{name} is empty")
    return value.strip()


def read_language(record: Record) -> Language:
    """Return the language of a record, English where it does not say."""
    language: Language = record.fields.get("language", "en")
    return language
