"""A progress listener that shows nothing."""


class Silent:
    """Is told of every reply and does nothing."""

    def expect(self, calls: int) -> None:
        """More calls are coming."""

    def on_reply(self, reply: object) -> None:
        """One call ended."""
