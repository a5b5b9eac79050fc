"""A catalogue entry: where a dataset comes from and how its records become items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints

from schemas.base import Frozen
from schemas.context import SampleBuilder
from schemas.item import Adapter, Annotate, RecordJoin
from schemas.question_types import QuestionType
from schemas.vocabulary import ContextTask, Language

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
RecordFormat = Literal["csv", "tsv", "tsv_plain", "lines", "jsonl", "json", "json_object", "parquet", "folder"]
"""How a file holds records.

`tsv_plain`: tab-separated, quotes are ordinary characters. `lines`: one record per line, field `line`. `json`: an array of
objects. `json_object`: one record per top-level key, fields `key` and `value`. `folder`: one JSON object per file `*.json` of a
folder; a file that holds none is a record with a fault, and not an error.
"""

RECORD_FORMATS: tuple[RecordFormat, ...] = get_args(RecordFormat)


class PinnedFile(Frozen):
    """One file of a public repository, pinned to its content."""

    repository: str = Field(description="host/owner/name, also the folder in a mirror", pattern=r"^[^/\s]+/[^/\s]+/[^/\s]+$")
    revision: str = Field(description="commit or tag", min_length=7)
    path: str = Field(description="path inside the repository")
    sha256: Sha256 | None = Field(description="hash of the file's bytes; null if the file was not available for the entry")
    md5: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$", description="its authors' own hash, where no other is known")
    member: str | None = Field(default=None, description="path inside the archive that `path` is; the hash is the archive's")
    record_format: RecordFormat | None = Field(default=None, description="licence of this file, if not the entry's")


class BundledFile(Frozen):
    """One of our own files under data/bundled."""

    name: str = Field(pattern=r"^[a-z0-9_]+\.jsonl$")


class LocalFile(Frozen):
    """A user's own file in item format, named in a blueprint, or the user's folder of a dataset, named in the plan."""

    path: Path = Field(description="in a blueprint relative to its file")
    sha256: Sha256 | None = Field(default=None, description="if given, the file must have this hash")


class OwnCopy(LocalFile):
    """A file of the user's folder in place of an entry's, whatever it holds; `sha256` is its own."""

    of: PinnedFile
    as_pinned: bool | None = Field(description="whether it has the entry's hash; null = no hash is pinned")
    rows: str | None = Field(default=None, description="number of records in its folder, if not the entry's")


SourceFile = PinnedFile | BundledFile | LocalFile

OPEN_LICENCES = frozenset(
    (
        *("MIT", "Apache-2.0", "AFL-3.0", "CC0-1.0", "CC BY 4.0", "CC BY-SA 4.0"),
        *("CC BY-NC 2.0", "CC BY-NC 4.0", "CC BY-NC-SA 4.0"),
        *("EmoBench: MIT; novel: public domain in the USA", "the user's own"),
    )
)
"""Licences, as entries state them, under which texts of a dataset may be in a report that is passed on.

They are verified and open, or the user's own, and their conditions bind the report's reader. Not so licences that are not stated,
not verified, given on request, or for research or academic use only, be it for a part of the texts.
"""


def format_of_suffix(file: SourceFile) -> RecordFormat | None:
    """Return the format that the suffix of a file's name says; null if it says none."""
    name = file.name if isinstance(file, BundledFile) else file.path
    return next((suffix for suffix in RECORD_FORMATS if PurePath(name).suffix.lower() == f".{suffix}"), None)


@dataclass(frozen=True)
class DatasetSpec:
    """One dataset: source, reader, adapter and what is known about it.

    `columns` names the fields of files without a header, in order.
    """

    id: str
    title: str
    files: tuple[SourceFile, ...]
    licence: str
    paper: str
    evaluation_version: str = "1.0"
    """Bumped when the meaning of an item changes (adapter, gold, order of options)."""

    draws_options: bool = False
    """Whether its adapter draws the order of options, so that a letter says nothing to who does not know the order."""

    question_types: tuple[QuestionType, ...] = ("single_choice",)
    languages: tuple[Language, ...] = ("en",)

    adapter: Adapter | None = None
    """Makes the items of one record; null = `sample_builder` builds them. It trusts the records of files pinned by their hash."""

    file_format: RecordFormat | None = None
    """How its files hold records; null = as the suffix of the first says."""

    columns: tuple[str, ...] | None = None
    required: tuple[str, ...] = ()
    """Fields that each record must have; of files pinned by their hash the adapter knows the fields."""

    expected_rows: int | None = None
    """Rows read from all files of the pinned revision."""

    broken_rows: int = 0
    """Items of them that break a rule, as `differences` say which: no part of the dataset, so that none is missing."""

    join_records: RecordJoin | None = None
    """Turns the records of all files into those the adapter reads: joins, groups; null = they are the same."""

    annotate: Annotate | None = None
    """Makes the rows of the layers `annotation_layers`: what is right where items do not hold it. Infer never opens them."""

    annotation_layers: tuple[str, ...] = ()

    sample_builder: SampleBuilder | None = None
    """Builds items with a long context, in place of `adapter`; null = the adapter makes the items, which have none."""

    ratings: Callable[[Sequence[Path]], Any] | None = None  # a frame, whose library not every reader of entries needs
    """Reads ratings by people out of its files, in their order (see tasks.ratings.reading); null = it has items to ask."""

    task: ContextTask | None = None
    """What is asked of the long contexts of its items; null = they have none."""

    alternative: "DatasetSpec | None" = None
    """The same dataset from another source, used where these files are not here."""

    replaces: tuple[Language, ...] | None = None
    """Of an alternative: the languages of the source that it stands in for."""

    canary: str | None = None
    """String the authors ask to be kept with the data, so that training sets can be cleaned of it."""

    ambiguous: tuple[str, ...] = ()
    """Items whose own labels contradict each other, which keeps the highest reachable score below 100."""

    differences: tuple[str, ...] = field(default=())
    """Where we differ from the paper or from its released code, and why."""

    def with_alternative(self, **changes: Any) -> "DatasetSpec":
        """Return the entry with an alternative that differs from it in these fields."""
        return replace(self, alternative=replace(self, replaces=self.languages, **changes))

    @property
    def record_format(self) -> RecordFormat:
        """How its files hold records, but for one that has a format of its own; ValueError: neither entry nor suffix says so."""
        stated = self.file_format or format_of_suffix(self.files[0])
        if stated is None:
            raise ValueError(f"dataset {self.id}: give its file_format, since the name of its first file has no known suffix")
        return stated

    @property
    def redistributable(self) -> bool:
        """Whether the licence allows texts of the dataset in a report that is passed on."""
        return self.licence in OPEN_LICENCES

    def __post_init__(self) -> None:
        """Raise ValueError for an entry without one way to read it, and for long items of no task."""
        given = [name for name in ("adapter", "sample_builder", "task", "ratings") if getattr(self, name)]
        if given not in (["adapter"], ["sample_builder", "task"], ["ratings"]):
            what = f"dataset {self.id}: give an adapter, or a sample builder and its task, or ratings"
            raise ValueError(f"{what}; got {', '.join(given) or 'none'}")
