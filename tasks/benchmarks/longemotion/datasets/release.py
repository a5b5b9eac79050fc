"""What the datasets of LongEmotion share: the pinned release, its paper and its licence, and samples that come one per record."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.datasets.building import number_repeats
from tasks.datasets.catalogue import pinned_in

longemotion_file = pinned_in("github.com/LongEmotion/LongEmotion", "7149110920c83589e979a0f1615d2661af884594")

PAPER = "LongEmotion, arXiv:2509.07403"

released = partial(DatasetSpec, licence="none stated")
"""Makes the entry of a file of the release, whose repository has no licence file."""

BY_MD5 = "The file could not be had for this entry: it is checked against the md5 its authors report."


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
        records_by_id = zip(item_ids, records, strict=True)
        return [LazySample(item_id, record, partial(build, record), cluster(record)) for item_id, record in records_by_id]

    return build_samples


def read_text(fields: Mapping[str, Any], name: str) -> str:
    """Return the text of a field without white space around it; raise LookupError, TypeError or ValueError if there is none."""
    value = fields[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is not a text, but {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"{name} is empty")
    return value.strip()


def read_language(record: Record) -> Language:
    """Return the language of a record, English where it does not say."""
    language: Language = record.fields.get("language", "en")
    return language
