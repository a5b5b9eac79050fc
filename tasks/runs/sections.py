"""What benchmarks find out about a run besides scores, and the files they exchange runs by: rows of two registries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import PydanticSerializationError, to_jsonable_python

from schemas.benchmark import Rows
from schemas.chart import Chart
from schemas.documents.run import RunDocument
from schemas.errors import UsageError
from schemas.table import Cell, Table
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row
from tasks.solvers.infer_job import InferJob


@dataclass(frozen=True)
class RunSection:
    """A key of the document of a run.

    Attributes:
        name: the key, and the section's anchor in the report.
        read: returns its rows; none where the run has no such items. They quote no item and no reply, since a redacted report
            shows them too.
        title: of the section in the report.
        lay_out: returns the blocks of that section, from the rows; null = the report has none.
    """

    name: str
    read: Callable[[PastRun], tuple[Row, ...]]
    title: str = ""
    lay_out: "Callable[[ReportData, tuple[Row, ...]], Iterable[Block]] | None" = None


@dataclass(frozen=True)
class Block:
    """A part of a section: a title, words, warnings, figures, tables and links; one that folds hides them."""

    title: str = ""
    words: str = ""
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    folds: bool = False
    warnings: tuple[str, ...] = ()
    links: tuple[Cell, ...] = ()


Section = tuple[str, str, Iterable[Block]]
"""A section of a page: its anchor, its title and its blocks."""


def shown_sections(*sections: Section) -> tuple[Section, ...]:
    """Return the sections that have blocks."""
    laid_out = ((anchor, title, tuple(blocks)) for anchor, title, blocks in sections)
    return tuple(section for section in laid_out if section[-1])


@dataclass(frozen=True)
class ForeignReplies:
    """Replies that a file of another program holds, by item and step, and whether a job asks for them."""

    replies: Mapping[tuple[str, str], str]
    is_asked: Callable[[InferJob], bool]


@dataclass(frozen=True)
class FileExchange:
    """Files of another program about the items of a setting.

    `export` writes a run as such files into a folder and returns their paths; `read` reads the replies of a folder of them.
    """

    setting: str
    export: Callable[[PastRun, Path], list[Path]]
    read: Callable[[Path], Iterable[ForeignReplies]]


def _require_free(section: RunSection) -> None:
    """Raise UsageError if every document of a run has a key of the section's name."""
    if section.name in RunDocument.model_fields:
        step = "give the section of the installed package another name"
        raise UsageError(f"a section has the name {section.name}, which the document of a run has", next_step=step)


SECTIONS = Rows("sections", RunSection, check=_require_free)
EXCHANGES = Rows("exchanges", FileExchange, "setting")


def read_sections(run: PastRun) -> dict[str, tuple[Row, ...]]:
    """Return what the benchmarks find out about a run, by the names of their sections."""
    return {name: _as_json(name, section.read(run)) for name, section in SECTIONS.items()}


def _as_json(name: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    try:
        return tuple(to_jsonable_python(rows, inf_nan_mode="null"))
    except PydanticSerializationError as error:
        step = "correct the section of the installed package"
        raise UsageError(f"rows of the section {name} are no JSON", got=str(error), next_step=step) from error


def lay_out_sections(data: ReportData) -> Iterator[Section]:
    """Yield each section that a benchmark adds to the report of a run."""
    for name, section in SECTIONS.items():
        if section.lay_out and data.sections.get(name):
            yield name, section.title, section.lay_out(data, data.sections[name])
