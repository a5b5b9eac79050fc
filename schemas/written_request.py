"""A call whose body is given as JSON."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.chat import ChatRequest


@dataclass(frozen=True)
class WrittenRequest(ChatRequest):
    """A call whose body is given as JSON: it has no parameter that is not named there."""

    written: str = "{}"

    def _meant(self, messages: list[dict[str, str]]) -> dict[str, Any]:  # noqa: ARG002  they are in what is written
        body: dict[str, Any] = json.loads(self.written)
        return body

    @cached_property
    def _meant_json(self) -> str:
        return json.dumps(self.meant(), ensure_ascii=False, sort_keys=True)
