"""What a command that only reads prints, and how it ends."""

from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType


@dataclass(frozen=True)
class ReadResult:
    """Exit status, the JSON document, and the same for a terminal."""

    status: int
    document: dict[str, Any]
    shown: list[RenderableType]
