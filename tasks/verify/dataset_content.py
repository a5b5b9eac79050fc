"""Count what a dataset's items hold, so that a person can compare it with what its authors say."""

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.letters import option_letters
from schemas.question_types import answered_by

Row = Mapping[str, Any]
_DIVIDING = str.maketrans("", "", ".,;:!?…'\"“”‘’。，、；：！？")


@dataclass(frozen=True)
class Content:
    """Counts over the items made of a dataset's records.

    `rejected` counts broken rules, an item may break several. `gold` counts right options by the letter they are shown with.
    `duplicates`: items that ask what an earlier one asks. `contradictions`: those of them with other gold.
    """

    items_read: int
    good: int
    rejected: dict[str, int]
    languages: dict[str, int]
    question_types: dict[str, int]
    gold: dict[str, int]
    duplicates: int
    contradictions: int


def describe_content(good: pl.DataFrame, rejected: pl.DataFrame) -> Content:
    """Count what is there; `good`: rows of `items` that break no rule, `rejected`: the others, with `broken_rules`."""
    duplicates, contradictions = count_repeats(good)
    return Content(
        items_read=good.height + rejected.height,
        good=good.height,
        rejected=_counted(rejected["broken_rules"].explode()),
        languages=_counted(good["language"]),
        question_types=_counted(good["question_type"]),
        gold=count_gold(good),
        duplicates=duplicates,
        contradictions=contradictions,
    )


def count_gold(good: pl.DataFrame) -> dict[str, int]:
    """Count how often each letter is right, in the order of letters; questions of several golds count each."""
    chosen = good.filter(pl.col("question_type").cast(pl.String).is_in(answered_by("letter", "letters", "ranking")))
    counts = Counter(chosen["gold_indices"].explode().drop_nulls().to_list())
    letters = option_letters(max(counts) + 1) if counts else ()
    return {letters[index]: counts[index] for index in sorted(counts)}


def count_repeats(good: pl.DataFrame) -> tuple[int, int]:
    """Count items that ask what an earlier one asks, and those of them whose gold is new."""
    seen: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    duplicates = contradictions = 0
    for row in good.iter_rows(named=True):
        known, gold = seen[question_key(row)], gold_texts(row)
        duplicates += bool(known)
        contradictions += bool(known) and gold not in known
        known.add(gold)
    return duplicates, contradictions


def _counted(values: pl.Series) -> dict[str, int]:
    counts = Counter(values.cast(pl.String).drop_nulls().to_list())
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def question_key(row: Row) -> str:
    """Return a key that is equal for items that ask the same, whatever their order of options, capitals and punctuation."""
    options = sorted(_essence(option) for option in row["options"] or ())
    return json.dumps([_essence(row["context"] or ""), _essence(row["question"]), options], ensure_ascii=False)


def gold_texts(row: Row) -> frozenset[str]:
    """Return texts of the right options, else the references, in the same form."""
    if row["options"] and row["gold_indices"]:
        return frozenset(_essence(row["options"][index]) for index in row["gold_indices"])
    return frozenset(_essence(text) for text in row["references"] or ())


def _essence(text: str) -> str:
    """Return letters, digits and symbols of a text, lower-cased; of a text that has none the text itself.

    Marked words (between asterisks) and signs of formulas tell items apart, so only punctuation that ends or divides sentences is
    left out.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(plain.translate(_DIVIDING).split()) or plain
