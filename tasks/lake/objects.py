"""An object store as the place of a lake: one request per read or write, and one message for whatever goes wrong.

Importing this module imports s3fs, which takes a moment: `tasks.lake.files` does so only for a lake in a store.
Credentials, endpoint, region and profile are those of the standard environment; botocore retries, and nothing here does.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from botocore import exceptions as botocore
from fsspec.asyn import sync_wrapper
from s3fs import S3FileSystem
from s3fs.core import S3_RETRYABLE_ERRORS

from schemas.errors import LakeError

DENIED = {"AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "Forbidden"}
NO_CREDENTIALS = (
    botocore.NoCredentialsError,
    botocore.PartialCredentialsError,
    botocore.ProfileNotFound,
    botocore.CredentialRetrievalError,
    botocore.TokenRetrievalError,
)
BROKEN = S3_RETRYABLE_ERRORS
"""Among them an answer that ends too soon, which neither botocore nor anything here asks for again."""

UNREACHABLE = (botocore.ConnectionError, TimeoutError, *BROKEN)


class ObjectStore(S3FileSystem):  # type: ignore[misc]  # s3fs has no types
    """S3 without cached listings, whose failures are LakeErrors; that an object is not there stays FileNotFoundError."""

    retries = 1
    """s3fs would try five times, each time as often as botocore does."""

    def __init__(self, **options: Any) -> None:
        region = os.environ.get("AWS_REGION")  # botocore knows it as AWS_DEFAULT_REGION only
        region_options = {"region_name": region} if region and not os.environ.get("AWS_DEFAULT_REGION") else {}
        super().__init__(**{"use_listings_cache": False, "client_kwargs": region_options, **options})

    async def _call_s3(self, method: str, *params: Any, **values: Any) -> Any:
        with _told(f"s3://{values.get('Bucket', '')}", values.get("Key")):
            return await super()._call_s3(method, *params, **values)

    call_s3 = sync_wrapper(_call_s3)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        # Read at once: nobody here reads a part, and two requests could see two contents.
        return BytesIO(self.cat_file(path)) if mode == "rb" else super()._open(path, mode, **options)

    async def _cat_file(self, path: str, **options: Any) -> Any:
        # One connection, and so one request: with several, the size is asked first.
        with _told(f"s3://{path}"):
            return await super()._cat_file(path, **{"max_concurrency": 1, **options})

    async def _rm(self, path: str | list[str], recursive: bool = False, **options: Any) -> Any:  # noqa: FBT001, FBT002  as s3fs
        if isinstance(path, str) and not recursive:
            # The request that removes many at once reports a refusal in a list that s3fs does not look at.
            return await self._rm_file(path)
        return await super()._rm(path, recursive=recursive, **options)


@contextmanager
def _told(bucket: str, key: str | None = None) -> Iterator[None]:
    where = f"{bucket}/{key}" if key else bucket
    try:
        yield
    except (OSError, botocore.BotoCoreError, *BROKEN) as error:
        response = getattr(error.__cause__, "response", None)
        code = response["Error"].get("Code") if response else None
        if code in {"PreconditionFailed", "412"}:
            raise FileExistsError(errno.EEXIST, "the object is there already", where) from error
        if isinstance(error, FileNotFoundError) and code != "NoSuchBucket":
            raise
        if code in {"NotImplemented", "501"}:
            raise NotImplementedError(where) from error
        if code == "InvalidRange":
            raise OSError(errno.EINVAL, "the object is empty", where) from error
        raise _lake_error(error, code, bucket, where) from error


def _lake_error(error: BaseException, code: str | None, bucket: str, where: str) -> LakeError:
    got = " ".join(f"{code or type(error).__name__}: {error}".split())[:300]
    if code == "NoSuchBucket":
        next_step = "create the bucket, or correct --lake; AWS_ENDPOINT_URL says which store is asked"
        expected = f"a bucket at {_endpoint()}"
        return LakeError("there is no such bucket", where=bucket, expected=expected, got=got, next_step=next_step)
    if isinstance(error, NO_CREDENTIALS):
        what, expected = "there are no credentials for the object store", "a key in the environment or in a profile"
        next_step = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    elif code in DENIED:
        what, expected = "the object store denies access", "a key that may list the bucket, and read and write below the prefix"
        next_step = "correct the key, or have s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject allowed"
    elif isinstance(error, UNREACHABLE):
        what, expected = "the object store cannot be reached", f"an answer from {_endpoint()}"
        next_step = "check the network and AWS_ENDPOINT_URL, then run again; finished partitions are kept"
    else:
        what, expected = "the object store failed", f"what {_endpoint()} usually answers"
        next_step = "run again; finished partitions are kept"
    return LakeError(what, where=where, expected=expected, got=got, next_step=next_step)


def _endpoint() -> str:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "Amazon S3"
