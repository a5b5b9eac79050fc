"""What providers allow of a batch, and how calls are split into jobs that keep to it."""

import os
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from schemas.base import Frozen
from schemas.chat import ChatRequest
from schemas.errors import UsageError, summarize
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml

LIMITS_FILE = "MOODFLOW_BATCH_APIS"
"""Environment variable: file of providers' batch limits, in place of `data/batch_apis.yaml`."""

FRAME_BYTES = 200
"""More than a line has around the body of a call: key, method and address."""


class BatchLimits(Frozen):
    """A provider's batches."""

    id: str
    form: Literal["openai", "anthropic"] = Field(description="of its addresses, lines and answers")
    base_urls: tuple[str, ...]
    most_calls: int = Field(description="of one job")
    most_bytes: int = Field(description="of one job")
    most_line_bytes: int | None = Field(default=None, description="of one call; null = no limit of its own")
    window: str = Field(description="within which calls are answered, as the provider writes it")
    labels: bool = Field(description="whether a job carries our name for it, by which it is found again")
    path: str = Field(default="/v1/chat/completions", description="address of each call, as lines state it")
    source: str
    read: date = Field(description="when the source was read")


@cache
def _load(file: Path) -> tuple[BatchLimits, ...]:
    form = TypeAdapter(Annotated[tuple[BatchLimits, ...], Field(min_length=1)])
    try:
        return form.validate_python(read_yaml(read_text(file)))
    except (OSError, ValueError) as error:
        raise UsageError(
            "the limits of batches cannot be read",
            where=str(file),
            expected="a list in the form of data/batch_apis.yaml",
            got=summarize(error),
            next_step="correct the file, or unset MOODFLOW_BATCH_APIS",
        ) from error


def limits_at(base_url: str | None) -> BatchLimits:
    """Return the limits at a base URL: of its provider, else those of OpenAI. MOODFLOW_BATCH_APIS names another list.

    UsageError: the list cannot be read.
    """
    listed = _load(Path(os.environ.get(LIMITS_FILE) or DATA_FOLDER / "batch_apis.yaml"))
    here = (base_url or "").rstrip("/")
    return next((limits for limits in listed if here in limits.base_urls), listed[0])


def split(requests: Iterable[ChatRequest], limits: BatchLimits) -> Iterator[list[ChatRequest]]:
    """Yield calls as jobs that are within the limits; a call that is too large for any job makes one of its own."""
    part, size = list[ChatRequest](), 0
    for request in requests:
        length = len(request.body_json.encode()) + FRAME_BYTES
        if part and (len(part) == limits.most_calls or size + length > limits.most_bytes):
            yield part
            part, size = [], 0
        part.append(request)
        size += length
    if part:
        yield part


def is_too_large(request: ChatRequest, limits: BatchLimits) -> bool:
    """Return whether no job may hold the call."""
    most = min(limits.most_line_bytes or limits.most_bytes, limits.most_bytes)
    return len(request.body_json.encode()) + FRAME_BYTES > most
