"""Collect what a model answered to the items of a dataset, and explain what each answer earned."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import polars as pl

from schemas.documents.answered_item import ShownOption
from schemas.item import option_letters
from schemas.metrics import METRICS
from schemas.question_types import QUESTION_TYPES, AnswerForm
from tasks.runs.run_tables import ReportData, Row, System
from tasks.scoring.normalisation import item_points
from tasks.solvers.answers import SAID
from tasks.text.number_format import listed, number, shorten

_KEY = ["item_id", "repetition"]


@dataclass(frozen=True)
class ScoredItem:
    """One scored answer: rows of `items`, `item_scores` and, unless they are not in this run, `answers` and `responses`.

    `answer["text"]` is what it says as one text, `call` the last one it rests on. `retrieved`: the chunks that the prompt had
    (columns PROMPT_CHUNKS). `faults`: rows of `simulation_faults` that count.
    """

    item: Row
    score: Row
    answer: Row | None
    context: Row | None = None
    ratings: tuple[Row, ...] = ()
    retrieved: tuple[Row, ...] = ()
    call: Row | None = None
    faults: tuple[Row, ...] = ()
    points: float | None = None
    """What the value is worth on 0-100; null = there is none, or no item is right or wrong by the metric."""

    @property
    def form(self) -> AnswerForm:
        """The form of its answer."""
        return QUESTION_TYPES[self.item["question_type"]].answer

    @property
    def order(self) -> tuple[int, ...]:
        """The item's option shown at each place."""
        places = self.answer.get("option_order") if self.answer else None
        return tuple(range(len(self.item["options"] or ())) if places is None else places)

    @property
    def was_cut_off(self) -> bool:
        """Whether the reply ended at the token limit."""
        return self.answer is not None and self.answer["finish_reason"] == "length"


def collect_answers(data: ReportData, system: System, dataset: str, method: str, metric: str) -> tuple[ScoredItem, ...]:
    """Collect every item behind one raw score, by item and repetition."""
    own = data.about(system, dataset)
    scores = own.item_scores.filter(pl.col("method") == method, pl.col("metric") == metric)
    return tuple(scored_items(own, scores.sort([*_KEY, "part"])))


def scored_items(data: ReportData, scores: pl.DataFrame) -> Iterator[ScoredItem]:
    """Yield the scored answers behind rows of `item_scores` of one system and dataset, in their order.

    Those of items that are not in the run are left out.
    """
    items, contexts = (_by(frame, ["item_id"]) for frame in (data.items, data.contexts))
    answers = _by(data.answers.with_columns(text=SAID), [*_KEY, "part"])
    calls = _by(data.responses, [*_KEY, "call_key"])
    rated = data.judgements.filter(pl.col("rubric") != (data.manifest.plan.get("simulation_rubric") or ""))  # no reviews
    beside = (rated, data.prompt_chunks, data.simulation_faults.filter(pl.col("refused").is_null()))
    ratings, retrieved, faults = (frame.rows_by_key(_KEY, named=True, include_key=True) for frame in beside)
    for row in scores.join(data.items, on="item_id", how="semi", maintain_order="left").iter_rows(named=True):
        key = (row["item_id"], row["repetition"])
        answer = answers.get((*key, row["part"]))
        yield ScoredItem(
            items[row["item_id"]],
            row,
            answer,
            contexts.get(row["item_id"]),
            tuple(rating for rating in ratings.get(key, ()) if rating["part"] == row["part"]),
            tuple(retrieved.get(key, ())),
            calls.get((*key, answer["call_keys"][-1])) if answer else None,
            tuple(fault for fault in faults.get(key, ()) if fault["part"] == row["part"]),
            item_points(row["value"], row["metric"], data.blueprint.rule(row["dataset"], row["method"], row["metric"])),
        )


def _by(frame: pl.DataFrame, key: list[str]) -> dict[Any, Row]:
    return dict(frame.rows_by_key(key, named=True, unique=True, include_key=True))


SHORT_LABEL = 80


def chosen_letters(answer: ScoredItem) -> tuple[str, ...]:
    """Return letters the reply was read as, in order; none if it was read as anything else than options."""
    options, parsed = answer.item["options"] or [], answer.score["parsed_answer"] or ""
    letters, position = option_letters(len(options)), answer.score.get("chosen_place")
    if position is not None:
        return (letters[position],)
    if parsed in options:
        return (letters[answer.order.index(options.index(parsed))],)
    parts = [part for part in re.split(r"[^A-Z]+", parsed) if part]
    return tuple(parts) if set(parts) <= set(letters) else ()


def shown_options(answer: ScoredItem) -> list[ShownOption]:
    """Return the options in the order in which they were shown; none where an item has none."""
    texts: Sequence[str] = answer.item["options"] or ()
    gold, points = answer.item["gold_indices"] or (), answer.item["option_points"] or [None] * len(texts)
    chosen, letters = chosen_letters(answer), option_letters(len(texts)) if texts else ()
    return [
        ShownOption(letter, index, texts[index], index in gold, letter in chosen, points[index])
        for letter, index in zip(letters, answer.order, strict=True)
    ]


def explain_answer(answer: ScoredItem) -> str:
    """Return why the item did not earn its full score, in one or two sentences."""
    if answer.score["status"] == "unparsed":
        cut = " It stopped at the token limit." if answer.was_cut_off else ""
        empty = answer.answer is not None and not (answer.answer["text"] or "").strip()
        what = "The reply is empty" if empty else "No answer could be read from the reply"
        error = f" ({answer.score['error']} while it was read)" if answer.score.get("error") else ""
        return f"{what}{error}, so the item counts as wrong.{cut}"
    return EXPLANATIONS[answer.form](answer)


def _gold_letters(answer: ScoredItem) -> list[str]:
    letters = option_letters(len(answer.item["options"]))
    return [letters[answer.order.index(index)] for index in answer.item["gold_indices"]]


def _read_as(answer: ScoredItem) -> str:
    # Letters as shown: what the reply was read as may name the option or its letter.
    position = answer.score.get("chosen_place")
    return f"Read as {answer.score['parsed_answer'] or 'no option' if position is None else chosen_letters(answer)[0]}"


def _explain_choice(answer: ScoredItem) -> str:
    gold, chosen = _gold_letters(answer), chosen_letters(answer)
    missed = [letter for letter in gold if letter not in chosen]
    extra = [letter for letter in chosen if letter not in gold]
    several = len(gold) > 1 and bool(chosen)
    missing = f"; missing {listed(missed)}" if several and missed else ""
    too_many = f"; too many: {listed(extra)}" if several and extra else ""
    return f"{_read_as(answer)}, right is {listed(gold)}{missing}{too_many}."


def _explain_order(answer: ScoredItem) -> str:
    return f"{_read_as(answer)}, right order is {', '.join(_gold_letters(answer))}."


def _explain_points(answer: ScoredItem) -> str:
    points = [point for point in answer.item["option_points"] if point is not None]
    if not points:
        return f"{_read_as(answer)}; no option of the item has points."
    letters = option_letters(len(answer.item["options"]))
    earned = {letters[index]: point for index, point in enumerate(answer.item["option_points"])}
    chosen = [earned[letter] for letter in chosen_letters(answer) if earned[letter] is not None]
    got = f" and earns {number(sum(chosen), 0)} points" if chosen else ""
    return f"{_read_as(answer)}{got}; the item's points go from {number(min(points), 0)} to {number(max(points), 0)}."


def _explain_label(answer: ScoredItem) -> str:
    gold = listed([answer.item["options"][index] for index in answer.item["gold_indices"]])
    read = answer.score["parsed_answer"] or "no label"
    return f"Read as {shorten(read, SHORT_LABEL)}, right is {shorten(gold, SHORT_LABEL)}."


def _explain_segment(answer: ScoredItem) -> str:
    gold = [str(index) for index in answer.item["gold_indices"]]
    return f"Read as segment {answer.score['parsed_answer'] or 'none'}, the odd one is {listed(gold)}; segments count from 0."


def _explain_share(answer: ScoredItem) -> str:
    metric, value = METRICS[answer.score["metric"]], answer.score["value"]
    low, high = metric.bounds
    share = f"{number(value, 2)} of {high:g}"
    if answer.points is not None and not isclose(answer.points, 100 * value / high, abs_tol=0.01):
        share = f"{number(value, 2)} on {low:g} to {high:g}, worth {number(answer.points, 0)} of 100"
    if metric.rating is not None:
        return f"The ratings of the reply come to {share}."
    against = " against the best reference" if answer.item["references"] else ""
    return f"{metric.name}{against}: {share}."


EXPLANATIONS: Mapping[AnswerForm, Callable[[ScoredItem], str]] = {
    "letter": _explain_choice,
    "letters": _explain_choice,
    "ranking": _explain_choice,
    "order": _explain_order,
    "scale": _explain_points,
    "label": _explain_label,
    "index": _explain_segment,
    "text": _explain_share,
}
