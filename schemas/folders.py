"""Where files are: the data that comes with MoodFlow, and the folder of a lake, local or in an object store."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Protocol, Self, cast

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from schemas.errors import UsageError

DATA_FOLDER = Path(__file__).resolve().parents[1] / "data"
"""Blueprints, prompts, bundled items and published scores that come with MoodFlow."""

ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?P<prefix>(?:/[^/?#@]+)*)/?")
"""A bucket, and where in it; never a user name, a password or a query: the address is written into every manifest."""

DEFAULT_LAKE = Path("parquet")
"""Folder of the lake unless another is named."""

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class Stat(Protocol):
    """What is known of a file without reading it."""

    @property
    def st_size(self) -> int:
        """Bytes."""

    @property
    def st_mtime_ns(self) -> int:
        """When it was written; an object store knows whole seconds only."""


class Folder(Protocol):
    """What code may do with a lake's folder or a file in it: every `Path` can, and so can every object."""

    @property
    def name(self) -> str:
        """Last part."""

    @property
    def suffix(self) -> str:
        """Last part from its last dot on."""

    @property
    def parent(self) -> Self:
        """All parts but the last."""

    def __truediv__(self, key: str, /) -> Self: ...

    def exists(self) -> bool:
        """Whether there is a file or folder."""

    def is_file(self) -> bool:
        """Whether there is a file."""

    def is_dir(self) -> bool:
        """Whether there is a folder; in an object store, whether anything is below."""

    def glob(self, pattern: str, /) -> Iterator[Self]:
        """Files and folders below that match, in no order."""

    def iterdir(self) -> Iterator[Self]:
        """Files and folders right below, in no order."""

    def read_bytes(self) -> bytes:
        """The file's content."""

    def read_text(self, encoding: str) -> str:
        """The file's content as text."""

    def unlink(self) -> None:
        """Remove the file."""

    def stat(self) -> Stat:
        """What is known of it without reading it."""


def parse_folder(value: Any) -> Folder:
    """A local folder, or an address such as `s3://bucket/prefix`; nothing is asked of a store yet.

    Raises:
        UsageError: it is neither, or the package that speaks to object stores is not installed.
    """
    if not isinstance(value, str):
        if isinstance(value, Path) or type(value).__module__.startswith("upath."):
            return cast("Folder", value)
        raise _refused(f"a value of type {type(value).__name__}")
    if not SCHEME.match(value):
        if not value:
            raise _refused("nothing")
        return Path(value)
    if not (found := ADDRESS.fullmatch(value)):
        # Not repeated: it may hold a password.
        raise _refused(f"an address that begins with {value.partition(':')[0]}:")
    return _in_store(f"s3://{found['bucket']}{found['prefix']}")


def _in_store(address: str) -> Folder:
    if find_spec("s3fs") is None:
        raise UsageError(
            "a lake in an object store needs a package that is not installed",
            where=f"--lake {address}",
            expected="the package s3fs",
            next_step='pip install "moodflow[s3]"',
        )
    from upath import UPath  # noqa: PLC0415  a local lake need not wait for it

    return cast("Folder", UPath(address))


def _refused(got: str) -> UsageError:
    return UsageError(
        "this cannot be the folder of a lake",
        where="--lake",
        expected="a local folder, s3://BUCKET or s3://BUCKET/PREFIX, the credentials in the environment and not in the address",
        got=got,
        next_step="moodflow run --help says more",
    )


LakeAddress = Annotated[
    Folder,
    PlainValidator(parse_folder, json_schema_input_type=str),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "path"}),
]
"""The field of a plan; its JSON form is the text as given, without a slash at the end of an address."""
