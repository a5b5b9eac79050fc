"""Where datasets and tasks stand in the benchmarks, with the share of each in its main ability and in the total."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import polars as pl

from schemas.benchmark import Rows
from schemas.blueprint import Ability, Blueprint, MetricSpec, Task
from schemas.dataset import DatasetSpec
from tasks.datasets.catalogue import CATALOGUE
from tasks.scoring.aggregation import aggregate_scores, total_scores
from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.scoring.tree import tree_tables


@dataclass(frozen=True)
class Place:
    """A dataset in a benchmark. `path`: the abilities above its task, main one first. Shares are percentages.

    `of_main`: of its main ability; `of_total`: null = a gate, which is in no total.
    """

    dataset: str
    blueprint: Blueprint
    path: tuple[Ability, ...]
    task: Task
    weight: float
    of_main: float
    of_total: float | None

    @property
    def metrics(self) -> tuple[MetricSpec, ...]:
        """Its metrics in this benchmark."""
        return tuple(spec for method in self.blueprint.datasets[self.dataset].methods for spec in method.metrics)

    @property
    def is_judged(self) -> bool:
        """Whether a judge rates its answers."""
        return any(method.judged for method in self.blueprint.datasets[self.dataset].methods)


@dataclass(frozen=True)
class Catalogue:
    """All blueprints, datasets, and the places of the one in the other."""

    blueprints: dict[str, Blueprint]
    datasets: Rows[DatasetSpec]
    places: tuple[Place, ...]
    families: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Blueprints with a page of their own, and those that are sections of it: variants, whose names begin with its name."""

    @cached_property
    def tasks(self) -> dict[str, list[Place]]:
        """Places by task, in the order of benchmarks."""
        places: dict[str, list[Place]] = {}
        for place in self.places:
            places.setdefault(place.task.id, []).append(place)
        return places

    def of_dataset(self, name: str) -> list[Place]:
        """Return the places of a dataset; none = no benchmark has it."""
        return [place for place in self.places if place.dataset == name]

    def title_of(self, dataset: str) -> str:
        """Return the title of a dataset; one that is the name of its task is that task's title."""
        title, tasks = self.datasets[dataset].title, (place.task for place in self.of_dataset(dataset))
        return next(
            (f"Bundled items: {task.title}" for task in tasks if title == f"Bundled items: {task.id.replace('_', ' ')}"), title
        )

    def of_blueprint(self, name: str) -> list[Place]:
        """Return the places of a benchmark, in the order of its file."""
        return [place for place in self.places if place.blueprint.name == name]

    def family_of(self, blueprint: str) -> str:
        """Return the blueprint on whose page another is shown."""
        return next(name for name, members in self.families.items() if blueprint in members)


ORDER = ("moodbench", "ecdbench", "longemotion", "esc-eval", "attunebench")
"""Benchmarks in the order of the README; others follow by name."""


def read_catalogue() -> Catalogue:
    """Read what the program knows of all benchmarks, in the order of their pages."""
    families: dict[str, tuple[str, ...]] = {}
    names = sorted(list_blueprints(), key=lambda name: (_rank(name), name))
    for name in names:
        family = next((other for other in families if name.startswith(f"{other}-")), name)
        families[family] = (*families.get(family, ()), name)
    blueprints = {name: load_blueprint(name) for name in names}
    places = tuple(place for blueprint in blueprints.values() for place in list_places(blueprint))
    return Catalogue(blueprints, CATALOGUE, places, families)


def _rank(name: str) -> int:
    return next((rank for rank, first in enumerate(ORDER) if name.startswith(first)), len(ORDER))


def list_places(blueprint: Blueprint) -> Iterator[Place]:
    """Yield the datasets of a benchmark, in the order of its file."""
    shares, totals = measure_shares(blueprint)
    for path, task in _tasks(blueprint.abilities):
        for entry in task.datasets:
            of_main = shares[entry.id, path[0].id]
            of_total = None if blueprint.gate and blueprint.gate.ability == path[0].id else totals[entry.id]
            yield Place(entry.id, blueprint, path, task, entry.weight, of_main, of_total)


def _tasks(abilities: Iterable[Ability], path: tuple[Ability, ...] = ()) -> Iterator[tuple[tuple[Ability, ...], Task]]:
    for ability in abilities:
        below = (*path, ability)
        yield from ((below, task) for task in ability.tasks)
        yield from _tasks(ability.children, below)


def measure_shares(blueprint: Blueprint) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """Return the share of each dataset in each main ability, and in the total, both in percent.

    They are the scores of a model that earns 100 in this dataset alone, by the functions that score runs.
    """
    specs = [
        (name, method.id, spec.metric)
        for name, dataset in blueprint.datasets.items()
        for method in dataset.methods
        for spec in method.metrics
    ]
    rows = [(model, *spec, 100.0 * (model == spec[0])) for model, spec in product(blueprint.datasets, specs)]
    columns = ["model", "dataset", "method", "metric", "normalized_0_100"]
    normalized = pl.DataFrame(rows, schema=columns, orient="row").with_columns(setting=pl.lit("base"), n_scored=1, n_total=1)
    nodes = aggregate_scores(normalized, tree_tables(blueprint)).nodes
    mains = nodes.filter(pl.col("parent").is_null()).rename({"node": "ability"})
    shares = {(model, ability): score for model, ability, score in mains.select("model", "ability", "score_0_100").iter_rows()}
    totals = total_scores(mains.drop("weight"), blueprint).select("model", "total_before_veto")
    return shares, dict(totals.iter_rows())
