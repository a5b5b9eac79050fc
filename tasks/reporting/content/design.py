"""How the benchmark is built: counts per sub-ability, ratios and languages (Table 1 of MoodBench 1.0)."""

from dataclasses import dataclass

import polars as pl

from tasks.analysis.number_format import share_of
from tasks.analysis.run_tables import ReportData
from tasks.reporting.content.blueprint_paths import task_places


@dataclass(frozen=True)
class DesignRow:
    """Counts of one ability that has tasks."""

    ability: str
    sub_ability: str
    tasks: int
    datasets: int
    methods: int


@dataclass(frozen=True)
class Design:
    """Counts per ability and the shares of languages among the datasets that were built for this run."""

    rows: tuple[DesignRow, ...]
    built: int
    english: int
    chinese: int
    bilingual: int

    @property
    def tasks(self) -> int:
        """Tasks of the blueprint."""
        return sum(row.tasks for row in self.rows)

    @property
    def datasets(self) -> int:
        """Datasets of the blueprint."""
        return sum(row.datasets for row in self.rows)

    @property
    def methods(self) -> int:
        """Methods of all datasets."""
        return sum(row.methods for row in self.rows)

    @property
    def ratios(self) -> tuple[tuple[str, float | None, float], ...]:
        """Name, how many of the second come on one of the first, and the paper's target."""
        return (
            ("sub-ability : task", share_of(self.tasks, len(self.rows)), 3.0),
            ("task : dataset", share_of(self.datasets, self.tasks), 2.0),
            ("dataset : method", share_of(self.methods, self.datasets), 1.0),
        )


def describe_design(data: ReportData) -> Design:
    """Count what the blueprint names and which languages the built items are in."""
    rows: dict[str, DesignRow] = {}
    for place in task_places(data.blueprint):
        old = rows.get(place.parent.id, DesignRow(place.main.title, place.parent.title, 0, 0, 0))
        names = [entry.id for entry in place.task.datasets]
        methods = sum(len(data.blueprint.datasets[name].methods) for name in names)
        rows[place.parent.id] = DesignRow(
            old.ability, old.sub_ability, old.tasks + 1, old.datasets + len(names), old.methods + methods
        )
    languages = data.items.group_by("dataset").agg(pl.col("language").cast(pl.String).unique().sort())
    spoken = [tuple(found) for found in languages["language"]]
    return Design(tuple(rows.values()), len(spoken), spoken.count(("en",)), spoken.count(("zh",)), spoken.count(("en", "zh")))
