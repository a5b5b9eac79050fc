"""Turn the first fault that pydantic found into one message for the user."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from schemas.addresses import hide_credentials
from schemas.errors import UsageError


def refused(error: ValidationError, command: str = "run") -> UsageError:
    """Return the first fault of a plan or an entry as one message, which repeats no key that was put in a wrong place."""
    first = error.errors()[0]
    return UsageError(
        f"a setting is refused: {first['msg'].removeprefix('Value error, ')}",
        # As it may be written: a role's only model needs neither `roles` nor `default`.
        where=re.sub(r"^roles\.(\w+)\.default(\.0)?", r"\1", ".".join(str(part) for part in first["loc"])),
        got=None if first["type"] == "extra_forbidden" else _shown(first["input"]),
        next_step=f"moodflow {command} --help lists the options, moodflow options every field of a plan",
    )


def _shown(value: Any) -> str:
    text = f"a mapping with {', '.join(map(str, value)) or 'nothing'}" if isinstance(value, Mapping) else str(value)
    return hide_credentials(text)[:200] or "nothing"
