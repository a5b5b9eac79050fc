"""The call of a probe: what a model is offered is chosen one by one."""

import json
from dataclasses import dataclass
from typing import Any

from schemas.chat import CallFrame, ChatRequest, frame_call


@dataclass(frozen=True)
class ProbeRequest(ChatRequest):
    """A call with exactly these parameters and no others; `parameters` is JSON."""

    parameters: str = "{}"

    def body(self) -> dict[str, Any]:
        """The JSON body of `POST /chat/completions`."""
        messages = [message.model_dump() for message in self.messages]
        return {"model": self.model, "messages": messages, **json.loads(self.parameters)}

    def _frames(self) -> CallFrame:
        return frame_call(self.body(), self.body(), self.identity, self.repetition)
