"""A raw record, the evaluation item an adapter makes of it, and the letters of its options."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import BeforeValidator

from schemas.base import Frozen
from schemas.question_types import QuestionType
from schemas.vocabulary import Language, OptionRole

_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode


@dataclass(frozen=True)
class Record:
    """One raw record as its reader found it.

    `fields` maps column or key names to values; `file` and `row` (0-based, header not counted) say where it stood. `hidden` is
    what its item does not show, for layers of its own: no part of the record's hash, nor of the draw. `faults` are the rules that
    it breaks, with the reasons: it is no item, and is rejected by their names.
    """

    fields: Mapping[str, Any]
    file: str
    row: int
    hidden: Mapping[str, Any] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sha256(self) -> str:
        """Hash of the record's content, independent of its place in the file."""
        return sha256(_canonical(self.fields).encode()).hexdigest()


def _by_name(groups: Any) -> Any:
    """Return groups by name, as a row of `items` has them in a list."""
    return {group["name"]: group["value"] for group in groups} if isinstance(groups, list) else groups


class Item(Frozen):
    """What is asked and what would be right.

    Which gold field is set follows from how its question type is answered (`schemas.question_types`):

    * `letter`, `letters`, `ranking`, `label`: `options` and `gold_indices` (0-based; one, several, the relevant ones, one).
    * `order`: `options` and `gold_indices`, a permutation: the option indices in true order.
    * `scale`: `options` and `option_points`, the points each option earns; all null marks a filler item.
    * `index`: `options`, the segments in order, and `gold_indices`, the one that differs.
    * `text`: `references` where the type has them, even for a judge. `options` are what else an answer is about, say adjectives.

    `option_roles` says what each option stands for (StereoSet, BBQ). `wrong_references` of an open-ended item are answers known
    to be false (TruthfulQA). `fixed_order` forbids permuting the options: they name each other by letter or place.
    `reference_gold_indices` is what the benchmark's released code takes for right where that is not our gold; empty if no answer
    can match it. Null: the same as ours.

    A record whose gold cannot be read yields an item with that field null; validation rejects it, visibly.
    """

    language: Language = "en"
    question_type: QuestionType = "single_choice"
    question: str
    context: str | None = None
    options: tuple[str, ...] | None = None
    gold_indices: tuple[int, ...] | None = None
    references: tuple[str, ...] | None = None
    option_points: tuple[float | None, ...] | None = None
    option_roles: tuple[OptionRole, ...] | None = None
    wrong_references: tuple[str, ...] | None = None
    fixed_order: bool = False
    reference_gold_indices: tuple[int, ...] | None = None
    item_id: str | None = None
    """Stable name given by the source; if null, it is derived from the record's hash."""

    subset: str | None = None
    """Part of the dataset the item belongs to (file, category), where results by part are of interest."""

    groups: Annotated[Mapping[str, str] | None, BeforeValidator(_by_name)] = None
    """What it is besides, by name, such as the gender of who speaks: results are broken down by each; null = by none."""

    cluster: str | None = None
    """What it shares with other items: a passage, dialogue, book or person; if null, nothing. Intervals rest on clusters."""


def text_id(text: str) -> str:
    """Return a short name for a text, the same for equal ones: of the cluster of items that ask about it."""
    return sha256(text.encode()).hexdigest()[:12]


Adapter = Callable[[Record], Item | Sequence[Item]]
"""A pure function from one raw record to its item, or to several."""

RecordJoin = Callable[[Sequence[Record]], Sequence[Record]]
"""A pure function from the records of all files of a dataset, in order, to the records that the adapter reads."""

Annotate = Callable[[Record], Mapping[str, Sequence[Mapping[str, Any]]]]
"""A pure function from a record to rows of further layers, by layer; the columns dataset and item_id are added."""


@cache  # the same few numbers for every item of a run
def option_letters(n: int) -> tuple[str, ...]:
    """Return the letters of `n` options in order: A to Z, then AA, AB, ... as in a spreadsheet."""
    return tuple(_letter(index) for index in range(n))


def _letter(index: int) -> str:
    prefix = "" if index < len(ascii_uppercase) else _letter(index // len(ascii_uppercase) - 1)
    return prefix + ascii_uppercase[index % len(ascii_uppercase)]
