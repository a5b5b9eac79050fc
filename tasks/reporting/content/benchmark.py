"""Describe a blueprint as reports need it: the paths of its tasks and metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.blueprint import Ability, Blueprint, MethodSpec, MetricSpec, Task
from schemas.metrics import Metric


@dataclass(frozen=True)
class TaskPath:
    """A task with the ability it hangs on and the main ability above that (the same one in a flat tree)."""

    task: Task
    parent: Ability
    main: Ability

    @property
    def path(self) -> str:
        """Ability titles from the top, for readers."""
        return self.parent.title if self.parent == self.main else f"{self.main.title} › {self.parent.title}"


@dataclass(frozen=True)
class MetricPath:
    """One number the blueprint expects: dataset, method and metric. `weight` is 0 if it is shown and does not count."""

    dataset: str
    title: str
    task: Task
    path: str
    method: MethodSpec
    spec: MetricSpec
    weight: float

    @property
    def key(self) -> tuple[str, str, Metric]:
        """What names its rows: dataset, method and metric."""
        return self.dataset, self.method.id, self.spec.metric

    @property
    def metric_label(self) -> str:
        """Name of the metric, with its cut-off where it has one, and whether it counts."""
        name = self.spec.metric if self.spec.k is None else f"{self.spec.metric} (k = {self.spec.k})"
        return name if self.weight else f"{name} (not in the total)"


def task_paths(blueprint: Blueprint) -> tuple[TaskPath, ...]:
    """Return every task with its path, in the blueprint's order."""
    return tuple(TaskPath(task, node, main) for main in blueprint.abilities for _, node in main.walk() for task in node.tasks)


def has_levels(blueprint: Blueprint) -> bool:
    """Return whether tasks stand at several levels; if they all stand at one, it says nothing about any of them."""
    return len({task.level for _, task in blueprint.tasks()}) > 1


def metric_paths(blueprint: Blueprint) -> Iterator[MetricPath]:
    """Yield every number the blueprint expects, in the order of its tasks."""
    for path in task_paths(blueprint):
        for entry in path.task.datasets:
            dataset = blueprint.datasets[entry.id]
            for method in dataset.methods:
                for spec in method.metrics:
                    yield MetricPath(entry.id, dataset.title, path.task, path.path, method, spec, entry.weight * spec.weight)
