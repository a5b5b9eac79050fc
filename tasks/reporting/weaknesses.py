"""The drill-down: weakest tasks, their datasets and numbers, advice and evidence rows."""

from dataclasses import dataclass

from tasks.reporting.advice import Advice, AskedWith, Diagnosis, advise
from tasks.reporting.answers import collect_answers
from tasks.reporting.data import ReportData, Subject
from tasks.reporting.examples import PER_TASK, Example, pick_examples
from tasks.reporting.places import has_levels
from tasks.reporting.tables import RawRow, TaskRow

WEAKEST = 5
FULL_SCORE = 100.0
TEXT_BUDGET = 250_000
"""Characters of context, reply and reasoning shown in full over a whole report: the page stays below 2 MB in Chinese, too."""

LONG_TEXTS = 3
"""Texts of an example that may be long: context, reply, reasoning."""

TEXT_LIMITS = (300, 6000)


@dataclass(frozen=True)
class WeakTask:
    """One of the weakest tasks with everything known about why."""

    task: TaskRow
    numbers: tuple[RawRow, ...]
    advice: tuple[Advice, ...]
    examples: tuple[Example, ...]


def weak_tasks(data: ReportData, subject: Subject, tasks: tuple[TaskRow, ...], raw: tuple[RawRow, ...]) -> tuple[WeakTask, ...]:
    """The five tasks with the lowest scores, lowest first; tasks without a score are not weak but missing, full ones not weak."""
    scored = [(task.score, task.id, task) for task in tasks if task.score is not None and task.score < FULL_SCORE]
    weakest = [task for _, _, task in sorted(scored, key=lambda entry: entry[:2])[:WEAKEST]]
    limit = text_limit(len(data.subjects()))
    return tuple(_weak_task(data, subject, task, tuple(row for row in raw if row.task == task.id), limit) for task in weakest)


def text_limit(subjects: int) -> int:
    """Characters one text may show in full, so that all texts of all subjects fit the budget."""
    lowest, highest = TEXT_LIMITS
    return min(highest, max(lowest, TEXT_BUDGET // (max(1, subjects) * WEAKEST * PER_TASK * LONG_TEXTS)))


def _weak_task(data: ReportData, subject: Subject, task: TaskRow, numbers: tuple[RawRow, ...], limit: int) -> WeakTask:
    first_of_each = {row.dataset: row for row in reversed(numbers) if row.value is not None}
    main = [row for row in numbers if first_of_each.get(row.dataset) is row]
    diagnoses = tuple(Diagnosis(row, collect_answers(data, subject, row)) for row in main)
    asked = AskedWith(data.sample, _max_tokens(data, subject), has_levels(data.blueprint))
    return WeakTask(task, numbers, advise(task, diagnoses, asked), pick_examples(diagnoses, limit))


def _max_tokens(data: ReportData, subject: Subject) -> int | None:
    models = data.manifest.plan.get("models", ())
    # The embedded model's limits are those of the prompt files, which nobody raises for a model this small.
    served = [model for model in models if model["name"] == subject.model and model.get("base_url")]
    found = [model.get("sampling", {}).get("max_tokens") for model in served]
    return found[0] if found else None
