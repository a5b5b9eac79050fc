"""A benchmark as one row: the rows it adds to the registries, by entry points of the group `moodflow.benchmarks`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

from pydantic_core import PydanticCustomError

from schemas.errors import UsageError

GROUP = "moodflow.benchmarks"
RowT = TypeVar("RowT")


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark adds to the registries.

    All other fields are tuples of rows, named as `module:NAME` and imported when their registry is first read, so that
    a command pays for what it uses; null = none.

    Attributes:
        name: for messages.
        place: in the order of benchmarks, in which datasets, settings and metrics are listed; those of one place go by name.
        datasets: its entries in the catalogue, of type schemas.dataset.DatasetSpec.
        solvers: its settings, of type tasks.solvers.registry.Solver.
        context_solvers: how the general settings ask items with contexts of its own, tasks.solvers.registry.ContextSolver.
        question_types: of its own, of type schemas.question_types.QuestionTypeRow.
        metrics: of its own, of type tasks.metrics.metric.Metric.
        layers: of gold of its own, of type schemas.tables.layers.Layer.
        profiles: other ways to read replies, of type tasks.metrics.metric.ScoringProfile.
        rubrics: folders of rubrics, of type Path.
        blueprints: folders of blueprints, of type Path, each found by the name of its file.
        papers: files of papers with a table of models, of type Path; what they hold is schemas.paper.Paper.
        sections: what is found out about a run besides scores, of type tasks.runs.sections.RunSection.
        exhibits: figures and tables of its paper for any models, of type tasks.runs.exhibits.Exhibit.
        exchanges: files of other programs about its items, of type tasks.runs.sections.FileExchange.
        card_pipelines: how it builds role cards, of type tasks.judging.cards.CardPipeline.
    """

    name: str
    datasets: str | None = None
    solvers: str | None = None
    context_solvers: str | None = None
    question_types: str | None = None
    metrics: str | None = None
    layers: str | None = None
    profiles: str | None = None
    rubrics: str | None = None
    blueprints: str | None = None
    papers: str | None = None
    sections: str | None = None
    exhibits: str | None = None
    exchanges: str | None = None
    card_pipelines: str | None = None
    place: int = 100


GENERAL = Benchmark(
    "general",
    place=0,
    datasets="tasks.ratings.public:ENTRIES",
    solvers="tasks.solvers.plain:SOLVERS",
    question_types="schemas.question_types:GENERAL",
    metrics="tasks.metrics.general:METRICS",
    layers="schemas.tables.layers:GENERAL",
    exhibits="tasks.runs.model_figures:EXHIBITS",
)


@cache
def benchmarks() -> tuple[tuple[EntryPoint, Benchmark], ...]:
    """Return the benchmarks of this install with their entry points; raise UsageError if one cannot be loaded or is none."""
    loaded = [(point, load_named(point.value, Benchmark, _where(point))) for point in entry_points(group=GROUP)]
    if not any(benchmark is GENERAL for _, benchmark in loaded):
        step = "install it again: pip install -e . in a checkout"
        raise UsageError("moodflow is not installed with its benchmarks", where=f"entry points of group {GROUP}", next_step=step)
    return tuple(sorted(loaded, key=lambda pair: (pair[1].place, pair[0].name)))


def rows(registry: str, kind: type[RowT]) -> tuple[RowT, ...]:
    """Return the rows that all benchmarks add to a registry; raise UsageError if one cannot be loaded or is of another type."""
    all_rows: list[RowT] = []
    for point, benchmark in benchmarks():
        if (reference := getattr(benchmark, registry)) is not None:
            entries = load_named(reference, tuple, _where(point))
            all_rows += [_require(row, kind, reference, _where(point)) for row in entries]
    return tuple(all_rows)


def files_by_name(registry: str, folder: Path) -> dict[str, Path]:
    """Return the YAML files of a folder of ours and of those that benchmarks add, by name; raise UsageError if two have one."""
    files: dict[str, Path] = {}
    for file in (file for source in (folder, *rows(registry, Path)) for file in source.glob("*.yaml")):
        if file.stem in files:
            raise _named_twice(registry, file.stem, f"{files[file.stem]}, {file}")
        files[file.stem] = file
    return files


def _named_twice(registry: str, name: str, got: str) -> UsageError:
    step = "rename the one of the installed package"
    return UsageError(f"two {registry} have the name {name}", got=got, next_step=step)


class Rows(Mapping[str, RowT]):
    """The rows of a registry by name, in order; imported when one is first asked for."""

    def __init__(self, registry: str, kind: type[RowT], name: str = "name", check: Callable[[RowT], None] | None = None) -> None:
        self.registry, self.kind, self.name, self.check = registry, kind, name, check

    @cached_property
    def by_name(self) -> dict[str, RowT]:
        """Read all rows; raise UsageError if one cannot be loaded or two have one name. A row may have several."""
        row_of: dict[str, RowT] = {}
        for row in rows(self.registry, self.kind):
            if self.check:
                self.check(row)
            names = getattr(row, self.name)
            for name in (names,) if isinstance(names, str) else names:
                if name in row_of:
                    raise _named_twice(self.registry, name, name)
                row_of[name] = row
        return row_of

    def __getitem__(self, name: str) -> RowT:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)


def require_name(name: str, registry: Rows[RowT], without_row: str | None = None) -> str:
    """Return a name as it is; raise what pydantic raises of a value that is none of a list, if the registry has no such row.

    `without_row`: a name that needs none.
    """
    if name != without_row and name not in registry:
        *others, last = map(repr, [*([without_row] if without_row else []), *registry])
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": f"{', '.join(others)} or {last}"})
    return name


def load_named(reference: str, kind: type[RowT], where: str) -> RowT:
    """Import what a row names as `module:NAME`; raise UsageError if it cannot be imported or is of another type."""
    try:
        row = resolve_name(reference)
    except UsageError:  # of another row, which it names
        raise
    except Exception as error:
        step = f"correct or remove the package that has {reference}"
        raise UsageError(f"{reference} cannot be loaded", where=where, got=repr(error), next_step=step) from error
    return _require(row, kind, reference, where)


def _require(row: object, kind: type[RowT], reference: str, where: str) -> RowT:
    if not isinstance(row, kind):
        raise UsageError(
            f"{reference} has the wrong type",
            where=where,
            expected=kind.__name__,
            got=type(row).__name__,
            next_step=f"correct or remove the package that has {reference}",
        )
    return row


def _where(point: EntryPoint) -> str:
    return f"entry point {point.name} of group {point.group}"
