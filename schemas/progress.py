"""Who wants to know of replies as they come."""

from typing import Protocol

from schemas.chat import ChatReply


class ProgressListener(Protocol):
    """Somebody who wants to know of every reply, such as a progress bar."""

    def expect(self, calls: int) -> None:
        """More calls are coming."""
        ...

    def on_reply(self, reply: ChatReply) -> None:
        """One call ended."""
        ...
