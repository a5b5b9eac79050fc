"""What is known about each task: its numbers, advice and example rows; and which tasks are the weakest."""

from dataclasses import dataclass
from itertools import islice

from tasks.analysis.answers import collect_answers
from tasks.analysis.run_tables import ReportData, System
from tasks.reporting.content.advice import Advice, AskedWith, Diagnosis, advise
from tasks.reporting.content.blueprint_paths import has_levels
from tasks.reporting.content.examples import PER_TASK, Example, pick_examples, pick_rows
from tasks.reporting.content.tables import RawRow, TaskRow

WEAKEST = 5
FULL_SCORE = 100.0
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

    `examples`: of a weak task, over all its datasets. `others`: of the remaining datasets, texts shortened.
    """

    task: TaskRow
    numbers: tuple[RawRow, ...]
    advice: tuple[Advice, ...]
    examples: tuple[Example, ...]
    others: tuple[Example, ...]

    @property
    def shown(self) -> tuple[Example, ...]:
        """All example rows."""
        return (*self.examples, *self.others)


def find_reasons(data: ReportData, system: System, tasks: tuple[TaskRow, ...], raw: tuple[RawRow, ...]) -> dict[str, Weakness]:
    """One finding per task, by its id, in the blueprint's order."""
    weakest = {task.id for task in weakest_tasks(tasks)}
    return {
        task.id: _find(data, system, task, tuple(row for row in raw if row.task == task.id), is_weak=task.id in weakest)
        for task in tasks
    }


def weakest_tasks(tasks: tuple[TaskRow, ...]) -> tuple[TaskRow, ...]:
    """The five tasks with the lowest scores, lowest first; tasks without a score are not weak but missing, full ones not weak."""
    scored = [(task.score, task.id, task) for task in tasks if task.score is not None and task.score < FULL_SCORE]
    return tuple(task for _, _, task in sorted(scored, key=lambda entry: entry[:2])[:WEAKEST])


def text_limit(systems: int) -> int:
    """Characters one text may show in full, so that all texts of all systems fit the budget."""
    lowest, highest = TEXT_LIMITS
    return min(highest, max(lowest, TEXT_BUDGET // (max(1, systems) * WEAKEST * PER_TASK * LONG_TEXTS)))


def examples_of_others(systems: int, datasets: int) -> int:
    """Examples that each dataset outside the weakest tasks shows; 0 if there are too many datasets and models for one each."""
    return min(PER_OTHER_DATASET, MAX_OTHER // max(1, systems * datasets))


def _find(data: ReportData, system: System, task: TaskRow, numbers: tuple[RawRow, ...], *, is_weak: bool) -> Weakness:
    first_of_each = {row.dataset: row for row in reversed(numbers) if row.value is not None}
    main = [row for row in numbers if first_of_each.get(row.dataset) is row]
    diagnoses = tuple(Diagnosis(row, collect_answers(data, system, row)) for row in main)
    asked = AskedWith(data.sample, _max_tokens(data, system), has_levels(data.blueprint))
    systems = len(data.systems())
    examples = pick_examples(diagnoses, text_limit(systems)) if is_weak else ()
    told = {example.dataset for example in examples}
    each = examples_of_others(systems, len(data.blueprint.datasets))
    others = [row for d in diagnoses if d.raw.dataset not in told for row in islice(pick_rows(d), each)]
    is_short = task.score is not None and task.score < FULL_SCORE
    return Weakness(task, numbers, advise(task, diagnoses, asked) if is_short else (), examples, tuple(others))


def _max_tokens(data: ReportData, system: System) -> int | None:
    models = data.manifest.plan.get("models", ())
    # The embedded model's limits are those of the prompt files, which nobody raises for a model this small.
    served = [model for model in models if model["name"] == system.model and model.get("base_url")]
    found = [model.get("sampling", {}).get("max_tokens") for model in served]
    return found[0] if found else None
