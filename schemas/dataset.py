"""A catalogue entry: where a dataset comes from and how its records become items."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.base import Frozen
from schemas.context import SampleBuilder
from schemas.item import Adapter, RecordJoin
from schemas.question_types import QuestionType
from schemas.vocabulary import Language, LongTask

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
RecordFormat = Literal["csv", "tsv", "tsv_plain", "lines", "jsonl", "json", "json_object", "parquet"]
"""How a file holds records.

`tsv_plain`: tab-separated, quotes are ordinary characters. `lines`: one record per line, field `line`. `json`: an array of
objects. `json_object`: one record per top-level key, fields `key` and `value`.
"""


class PinnedFile(Frozen):
    """One file of a public repository, pinned to its content."""

    repository: str = Field(description="host/owner/name, also the folder in a mirror", pattern=r"^[^/\s]+/[^/\s]+/[^/\s]+$")
    revision: str = Field(description="commit or tag", min_length=7)
    path: str = Field(description="path inside the repository")
    sha256: Sha256 | None = Field(description="hash of the file's bytes; null if the file could not be had for the entry")
    md5: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$", description="its authors' own hash, where no other is known")
    member: str | None = Field(default=None, description="path inside the archive that `path` is; the hash is the archive's")
    record_format: RecordFormat | None = Field(default=None, description="of this file, where it is not the entry's")


class BundledFile(Frozen):
    """One of our own files under data/bundled."""

    name: str = Field(pattern=r"^[a-z0-9_]+\.jsonl$")


class LocalFile(Frozen):
    """A user's own file in item format, named in a blueprint."""

    path: Path
    sha256: Sha256 | None = Field(default=None, description="if given, the file must have this hash")


SourceFile = PinnedFile | BundledFile | LocalFile


@dataclass(frozen=True)
class DatasetSpec:
    """One dataset: source, reader, adapter and what is known about it.

    `columns` names the fields of files without a header, in order. `required` lists the fields each record must have.
    """

    id: str
    title: str
    files: tuple[SourceFile, ...]
    record_format: RecordFormat
    licence: str
    paper: str
    required: tuple[str, ...]
    evaluation_version: str = "1.0"
    """Bumped when the meaning of an item changes (adapter, gold, order of options)."""

    question_types: tuple[QuestionType, ...] = ("single_choice",)
    languages: tuple[Language, ...] = ("en",)

    adapter: Adapter | None = None
    """Makes the items of one record; null = `sample_builder` builds them."""

    columns: tuple[str, ...] | None = None
    expected_rows: int | None = None
    """Rows read from all files of the pinned revision."""

    join_records: RecordJoin | None = None
    """Turns the records of all files into those the adapter reads: joins, groups; null = they are the same."""

    sample_builder: SampleBuilder | None = None
    """Builds items with a long context, in place of `adapter`; null = the adapter makes the items, which have none."""

    long_task: LongTask | None = None
    """Task of LongEmotion that its items belong to; null = they have no long context."""

    alternative: "DatasetSpec | None" = None
    """The same dataset from another source, used where these files are not here."""

    canary: str | None = None
    """String the authors ask to be kept with the data, so that training sets can be cleaned of it."""

    redistributable: bool = False
    """Whether the licence allows texts of the dataset in a report that is passed on: not unless the entry says so.

    True for verified open licences (MIT, Apache, BSD, AFL, CC0, CC BY and its SA, NC and NC-SA forms), whose conditions the
    report's reader has to keep, and for the user's own files. False for licences that are not stated, not verified, given on
    request, or for research or academic use only, be it for a part of the texts.
    """

    ambiguous: tuple[str, ...] = ()
    """Items whose own labels contradict each other, which keeps the highest reachable score below 100."""

    differences: tuple[str, ...] = field(default=())
    """Where we differ from the paper or from its released code, and why."""

    def __post_init__(self) -> None:
        """Refuse an entry with both or none of adapter and sample builder, and long items of no task.

        Raises:
            ValueError: the fields contradict each other.
        """
        if (self.sample_builder is None) == (self.adapter is None) or (self.sample_builder is None) != (self.long_task is None):
            raise ValueError(
                f"dataset {self.id}: give an adapter, or a sample builder and its long_task; got "
                f"{'an' if self.adapter else 'no'} adapter, {'a' if self.sample_builder else 'no'} sample builder, "
                f"long_task {self.long_task}"
            )
