"""Why a dataset's score differs between the profiles: what its replies show, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from schemas.blueprint import MethodSpec
from schemas.letters import option_letters
from schemas.vocabulary import Metric
from tasks.metrics.item_scores import RESPONSE
from tasks.metrics.reference.methods import REASONS, Cause, reference_method

Kind = Literal[
    "call_failed",
    "judge_failed",
    "left_out",
    "filler",
    "unread_here",
    "unread_there",
    "unread_label",
    "other_option",
    "no_option",
    "gold",
]
"""What sets the two scores of one reply apart."""

TEXT: frozenset[Metric] = frozenset({"rouge_1", "word_recall"})
"""Metrics of the released code that read no letter."""

RANKED: frozenset[Metric] = frozenset({"recall_at_k", "mrr"})
"""Metrics of rankings, of which the released code reads the first letter."""

THEIRS = "_theirs"
"""Ends the names of the released code's columns."""

_COUNTED = ("scored", "unparsed")


class ReasonCounts(NamedTuple):
    """Numbers of replies, by kind: those of the kind, and those of them that are worth something else there."""

    found: Counter[Kind]
    changed: Counter[Kind]
    unmatched: int
    """Right here, and without a gold there that any answer could match, however they are read."""

    unread: int
    """No answer here."""

    total: int


def explain_difference(
    dataset: str, corrected: pl.DataFrame, reference: pl.DataFrame, methods: Sequence[MethodSpec]
) -> tuple[str, ...]:
    """What makes a dataset's two scores differ, the reason that concerns most replies first.

    Args:
        dataset: of the sixty, with a method in the reference profile.
        corrected: its rows of `item_scores` for one model and setting; replies are compared by the first metric.
        reference: the same in the reference profile.
        methods: those of the corrected profile.

    Returns:
        Sentences; those about how replies are read or what is right stand only where replies of these are scored differently.
    """
    method = reference_method(dataset)
    if method is None:
        return ()
    ours, theirs = _of_first_metric(corrected, methods[0]), _of_first_metric(reference, method)
    pairs = ours.join(theirs, on=RESPONSE, suffix=THEIRS)
    metrics = methods[0].metrics[0].metric, method.metrics[0].metric
    counts = count_kinds(pairs, *metrics)
    every = [spec.metric for one in methods for spec in one.metrics]
    weighed = [*_known(dataset, counts), *_metric(dataset, every, metrics[1], counts.total), *_measured(counts, metrics[1])]
    return tuple(sentence for _, sentence in sorted(weighed, key=lambda reason: -reason[0]))


def _of_first_metric(scores: pl.DataFrame, method: MethodSpec) -> pl.DataFrame:
    return scores.filter((pl.col("method") == method.id) & (pl.col("metric") == method.metrics[0].metric))


def count_kinds(pairs: pl.DataFrame, ours: Metric, theirs: Metric) -> ReasonCounts:
    """Count what sets scores apart.

    Args:
        pairs: rows of `item_scores`, with those of the reference profile in columns that end in THEIRS.
        ours: metric of the corrected rows.
        theirs: metric of the reference rows.
    """
    found: Counter[Kind] = Counter()
    changed: Counter[Kind] = Counter()
    unmatched = unread = 0
    for row in pairs.iter_rows(named=True):
        unread += row["status"] == "unparsed" and row[f"status{THEIRS}"] in _COUNTED
        kind = find_kind(row, ours, theirs)
        if kind is None:
            continue
        found[kind] += 1
        # A pooled F1 counts every label that is named: a letter read otherwise changes it even where nothing is right.
        if row["value"] != row[f"value{THEIRS}"] or theirs == "micro_f1":
            changed[kind] += 1
        unmatched += kind != "gold" and _is_unmatched(row)
    return ReasonCounts(found, changed, unmatched, unread, pairs.height)


def find_kind(row: Mapping[str, Any], ours: Metric, theirs: Metric) -> Kind | None:
    """What sets the two scores of one reply apart; null if it is read alike and worth the same, or is a text."""
    here, there = row["status"], row[f"status{THEIRS}"]
    if "not_counted" in (here, there):
        return None if here == there else "filler" if here == "not_counted" else "left_out"
    if here not in _COUNTED:
        failure: Kind = "call_failed" if here == "call_failed" else "judge_failed"
        return failure
    if here == there == "unparsed":
        return "unread_label" if theirs == "micro_f1" else None
    if "unparsed" in (here, there):
        return "unread_here" if here == "unparsed" else "unread_there"
    return None if theirs in TEXT else _compare_readings(row, ours)


def _compare_readings(row: Mapping[str, Any], ours: Metric) -> Kind | None:
    letters = set(row[f"parsed_answer{THEIRS}"].split(","))
    if letters == _letters_shown(row, ours):
        return None if row["value"] == row[f"value{THEIRS}"] else "gold"
    no_option = row["gold_place"] is not None and row[f"chosen_place{THEIRS}"] is None
    return "no_option" if no_option else "other_option"


def _letters_shown(row: Mapping[str, Any], metric: Metric) -> set[str]:
    """Letters of the options that we read, as they were shown; only a single choice is shown in several orders."""
    if row["gold_place"] is not None:
        return {option_letters(row["chosen_place"] + 1)[-1]}
    letters = row["parsed_answer"].split(",")
    return set(letters[:1] if metric in RANKED else letters)


def _is_unmatched(row: Mapping[str, Any]) -> bool:
    gold, values = row[f"gold{THEIRS}"], (row["value"], row[f"value{THEIRS}"])
    if gold is None or None in values:
        return False
    return values[0] > values[1] and (not gold or any(letter.islower() for letter in gold))


Weighed = tuple[int, str]
"""A number of replies and the sentence about them."""


def _known(dataset: str, counts: ReasonCounts) -> Iterator[Weighed]:
    """What REASONS says of the dataset's gold and items, where these replies show it."""
    kinds: Mapping[Cause, int] = {
        "gold": counts.changed["gold"] + counts.unmatched + counts.changed["filler"],
        "left_out": counts.found["left_out"],
    }
    for cause, weight in kinds.items():
        if weight and cause in REASONS.get(dataset, {}):
            yield weight, REASONS[dataset][cause]


def _metric(dataset: str, ours: Sequence[Metric], theirs: Metric, total: int) -> Iterator[Weighed]:
    if list(ours) != [theirs]:
        generic = f"Scored by {' and '.join(ours)} here, by {theirs} as released."
        yield total, REASONS.get(dataset, {}).get("metric", generic)


def _measured(counts: ReasonCounts, theirs: Metric) -> Iterator[Weighed]:
    for kind, weight in counts.changed.items():
        number = weight if kind == "gold" else counts.found[kind]
        if weight:
            yield weight, _sentence(kind, number, counts, theirs)


def _sentence(kind: Kind, number: int, counts: ReasonCounts, theirs: Metric) -> str:
    one = number == 1
    are, replies = "is" if one else "are", f"{number:,} {'reply' if one else 'replies'}"
    of_total = f"{number:,} of {counts.total:,} replies"
    first_letter = "" if theirs in TEXT else ", by the first letter found"
    points = theirs == "questionnaire_points"
    sentences: Mapping[Kind, str] = {
        "call_failed": f"{number:,} {'call' if one else 'calls'} failed; as released "
        + ("it is a wrong answer." if one else "they are wrong answers."),
        "judge_failed": f"{number:,} {'answer' if one else 'answers'} could not be judged.",
        "left_out": f"{of_total} {are} to items the released code leaves out.",
        "filler": f"{of_total} {are} to items that do not count here.",
        "unread_here": f"{number:,} of {counts.unread:,} replies that are no answer here {are} one as released{first_letter}.",
        "unread_there": f"{replies} cannot be read as released.",
        "unread_label": f"{replies} that cannot be read {'counts' if one else 'count'} as a wrong label as released.",
        "other_option": f"{replies} {are} read as another option.",
        "no_option": f"{replies} {are} read as a letter that no option has.",
        "gold": f"{of_total} {'earns' if one else 'earn'} other points as released."
        if points
        else f"{of_total} {are} held against another gold as released.",
    }
    return sentences[kind]
