"""Find the weakest tasks, each with its numbers, advice and example items."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from operator import attrgetter

from schemas.documents.answered_item import ShownOption
from schemas.question_types import QUESTION_TYPES
from schemas.table import Table
from tasks.reporting.content.advice import AdviceOptions, Diagnosis, advise
from tasks.reporting.content.evidence import (
    DialogueLine,
    Excerpt,
    NeedleExcerpt,
    ShownChunk,
    dialogue_lines,
    make_excerpt,
    make_needle_excerpt,
    prompt_chunks,
    ratings_table,
)
from tasks.reporting.content.tables import HIGHEST, RawRow, TaskRow, weakest
from tasks.runs.answers import ScoredItem, collect_answers, explain_answer, shown_options
from tasks.runs.run_tables import ReportData, Row, System

PER_TASK = 3
MAX_REFERENCES = 3


@dataclass(frozen=True)
class Example:
    """One item, as a rule one that did not earn its full score.

    `excerpt` stands in place of the context where that holds a needle. Of segments only the odd one and the chosen one are among
    the options; `left_out_options` counts the others. `dialogue` stands in place of the reply where the answer is one.
    """

    dataset: str
    item_id: str
    language: str
    source: str
    context: Excerpt | None
    question: Excerpt
    options: tuple[ShownOption, ...]
    references: tuple[str, ...]
    reply: Excerpt | None
    reasoning: Excerpt | None
    status: str
    why: str
    excerpt: NeedleExcerpt | None = None
    left_out_options: int = 0
    ratings: Table | None = None
    retrieved: Sequence[ShownChunk] = ()
    dialogue: tuple[DialogueLine, ...] = ()


def pick_examples(diagnoses: tuple[Diagnosis, ...], text_limit: int) -> tuple[Example, ...]:
    """Return up to three items of a task: at most one unreadable reply as long as wrong ones are there, all datasets in turn."""
    wrong = _in_turn(diagnoses, lambda answer: answer.score["status"] == "scored" and not _is_full(answer))
    unparsed = _in_turn(diagnoses, lambda answer: answer.score["status"] == "unparsed")
    chosen = [*wrong[: PER_TASK - 1], *unparsed[:1], *wrong[PER_TASK - 1 :], *unparsed[1:]][:PER_TASK]
    return tuple(_example(answer, text_limit) for answer in chosen)


def pick_rows(diagnosis: Diagnosis) -> tuple[Example, ...]:
    """Return items of one dataset in short: those that did not earn their full score, as above; if all did, the first of them."""
    picked = pick_examples((diagnosis,), 0)
    full = [answer for answer in diagnosis.answers if answer.score["status"] == "scored"]
    return picked or tuple(_example(answer, 0) for answer in full[:1])


def _is_full(answer: ScoredItem) -> bool:
    """Whether the answer earned all points; never by a metric that calls no item right or wrong."""
    return answer.points is not None and round(answer.points, 9) >= HIGHEST


def _in_turn(diagnoses: tuple[Diagnosis, ...], wanted: Callable[[ScoredItem], bool]) -> list[ScoredItem]:
    lists = [_languages_in_turn(filter(wanted, diagnosis.answers)) for diagnosis in diagnoses]
    return [answer for turn in zip_longest(*lists) for answer in turn if answer is not None]


def _languages_in_turn(answers: Iterable[ScoredItem]) -> list[ScoredItem]:
    worst_of_each: dict[str, ScoredItem] = {}
    for answer in sorted(answers, key=lambda answer: HIGHEST if answer.points is None else answer.points):
        worst_of_each.setdefault(answer.item["item_id"], answer)  # asked in several orders, an item is one example
    by_language: dict[str, list[ScoredItem]] = {}
    for answer in worst_of_each.values():
        by_language.setdefault(answer.item["language"], []).append(answer)
    mixed = [answer for turn in zip_longest(*by_language.values()) for answer in turn if answer is not None]
    return list(islice(mixed, PER_TASK))


def _example(answer: ScoredItem, text_limit: int) -> Example:
    item, given, call = answer.item, answer.answer or {}, answer.call or {}
    excerpt = make_needle_excerpt(item["context"], answer.context) if item["context"] and answer.context else None
    options = _options(answer)
    return Example(
        dataset=item["dataset"],
        item_id=item["item_id"],
        language=item["language"],
        source=f"{item['source_file']}, row {item['source_row']}",
        context=make_excerpt(item["context"], text_limit) if item["context"] and excerpt is None else None,
        question=make_excerpt(item["question"], text_limit),
        options=options,
        references=tuple(make_excerpt(text, text_limit).short for text in _references(item)),
        reply=make_excerpt(given["text"], text_limit) if given.get("text") is not None else None,
        reasoning=make_excerpt(call["reasoning"], text_limit) if call.get("reasoning") else None,
        status=answer.score["status"],
        why=explain_answer(answer),
        excerpt=excerpt,
        left_out_options=len(item["options"] or ()) - len(options) if answer.form == "index" else 0,
        ratings=ratings_table(answer.ratings) if answer.ratings else None,
        retrieved=prompt_chunks(answer.retrieved),
        dialogue=tuple(dialogue_lines(given.get("turns") or (), answer.faults, text_limit)),
    )


def _references(item: Row) -> list[str]:
    texts, names = item["references"] or [], QUESTION_TYPES[item["question_type"]].reference_names
    if names and len(texts) == len(names):
        return [f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in zip(names, texts, strict=True)]
    return texts[:MAX_REFERENCES]


def _options(answer: ScoredItem) -> tuple[ShownOption, ...]:
    """Return options with short texts; segments are counted from 0, labels have no letter: their text is the answer."""
    if answer.form == "text":
        return ()  # nothing to choose from: the adjectives of a questionnaire, the same in every item
    read = answer.score["parsed_answer"]
    options = [replace(option, text=make_excerpt(option.text, 0).short) for option in shown_options(answer)]
    if answer.form == "index":
        segments = (replace(option, letter=str(option.index), chosen=str(option.index) == read) for option in options)
        return tuple(option for option in sorted(segments, key=attrgetter("index")) if option.gold or option.chosen)
    return tuple(replace(option, letter="") if answer.form == "label" else option for option in options)


WEAKEST = 5
TEXT_BUDGET = 250_000
"""Characters of context, reply and reasoning shown in full over a whole report, in examples of the weakest tasks alone."""

LONG_TEXTS = 3
"""Texts of an example that may be long: context, reply, reasoning."""

TEXT_LIMITS = (300, 6000)
PER_OTHER_DATASET = 2
MAX_OTHER = 600
"""Examples of all tasks but the weakest, over all models: with short texts only, they stay below 2 MB, in Chinese too."""


@dataclass(frozen=True)
class Weakness:
    """A task with everything known about why it has its score.

    `examples`: of a weak task, over all its datasets; then those of the remaining datasets, texts shortened.
    """

    task: TaskRow
    numbers: tuple[RawRow, ...]
    advice: tuple[str, ...]
    examples: tuple[Example, ...]


def find_reasons(data: ReportData, system: System, tasks: tuple[TaskRow, ...], raw: tuple[RawRow, ...]) -> dict[str, Weakness]:
    """Find one finding per task, by its id, in the blueprint's order."""
    weak = {task.part.id for task in weakest(tasks, WEAKEST)}
    return {
        name: _find(data, system, task, tuple(row for row in raw if row.path.task.id == name), is_weak=name in weak)
        for task in tasks
        for name in [task.part.id]
    }


def text_limit(systems: int) -> int:
    """Return characters one text may show in full, so that all texts of all systems fit the budget."""
    lowest, highest = TEXT_LIMITS
    return min(highest, max(lowest, TEXT_BUDGET // (max(1, systems) * WEAKEST * PER_TASK * LONG_TEXTS)))


def examples_of_others(systems: int, datasets: int) -> int:
    """Return the number of examples of each dataset outside the weakest tasks; 0 if there is no room for one each."""
    return min(PER_OTHER_DATASET, MAX_OTHER // max(1, systems * datasets))


def _find(data: ReportData, system: System, task: TaskRow, numbers: tuple[RawRow, ...], *, is_weak: bool) -> Weakness:
    counted_first = sorted(numbers, key=lambda row: not row.path.weight)
    first_of_each = {row.path.dataset: row for row in reversed(counted_first) if row.value is not None}
    main = [row for row in numbers if first_of_each.get(row.path.dataset) is row]
    diagnoses = tuple(Diagnosis(row, collect_answers(data, system, *row.path.key)) for row in main)
    size = data.manifest.plan.get("sample")
    samples = {name: data.blueprint.sample_of(name, size) for name in data.blueprint.datasets}
    broken = {
        name: count.words
        for count in data.instruments
        if count.failed and (count.model, count.setting) == system
        for name in count.datasets
    }
    # The embedded model's limits are those of the prompt files, which nobody raises for a model this small.
    served = [each for each in data.manifest.plan.get("models", ()) if each["name"] == system.model and each.get("base_url")]
    max_tokens = served[0].get("sampling", {}).get("max_tokens") if served else None
    options = AdviceOptions(samples, max_tokens, broken)
    systems = len(data.systems)
    examples = pick_examples(diagnoses, text_limit(systems)) if is_weak else ()
    told = {example.dataset for example in examples}
    each = examples_of_others(systems, len(data.blueprint.datasets))
    others = [row for d in diagnoses if d.raw.path.dataset not in told for row in islice(pick_rows(d), each)]
    advice = advise(diagnoses, options) if weakest((task,), 1) else ()
    return Weakness(task, numbers, advice, (*examples, *others))
