"""Where files are: the data that comes with MoodFlow, and the folder of a lake, local or in an object store."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from schemas.errors import UsageError
from schemas.extras import require_extra

DATA_FOLDER = Path(__file__).resolve().parents[1] / "data"
"""Blueprints, prompts, bundled items and published scores that come with MoodFlow."""

ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?P<prefix>(?:/[^/?#@]+)*)/?")
"""A bucket, and where in it; never a user name, a password or a query: the address is written into every manifest."""

DEFAULT_LAKE = Path("parquet")

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

if TYPE_CHECKING:
    from upath import UPath

    Folder = Path | UPath
    """A lake's folder or a file in it: on a disk, or an object of a store, which has all methods of a path that are used here."""
else:
    Folder = object  # a local lake need not wait for the import


def parse_folder(value: Any) -> Folder:
    """A local folder, or an address such as `s3://bucket/prefix`, else a UsageError; nothing is asked of a store yet."""
    if not isinstance(value, str):
        if isinstance(value, Path) or type(value).__module__.startswith("upath."):
            return cast("Folder", value)
        raise _refused(f"a value of type {type(value).__name__}")
    if not SCHEME.match(value):
        if not value:
            raise _refused("nothing")
        return Path(value)
    if not (match := ADDRESS.fullmatch(value)):
        # Not repeated: it may hold a password.
        raise _refused(f"an address that begins with {value.partition(':')[0]}:")
    return _in_store(f"s3://{match['bucket']}{match['prefix']}")


def _in_store(address: str) -> Folder:
    require_extra("s3", "a lake in an object store", f"--lake {address}")
    from upath import UPath  # noqa: PLC0415  a local lake need not wait for it

    return cast("Folder", UPath(address))


def _refused(got: str) -> UsageError:
    return UsageError(
        "not a valid lake address",
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
