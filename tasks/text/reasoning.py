"""Take what a model thought out of its reply."""

import re

_THOUGHT = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_CLOSED_THOUGHT = re.compile(rf"<({_THOUGHT})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_LOST_OPENING = re.compile(rf"^.*</(?:{_THOUGHT})>", re.DOTALL | re.IGNORECASE)
_LOST_CLOSING = re.compile(rf"<(?:{_THOUGHT})>.*$", re.DOTALL | re.IGNORECASE)


def strip_reasoning(reply: str) -> str:
    """Return the reply without what the model thought before it.

    A block that is closed but never opened is taken from the start of the reply (chat templates may swallow the opening tag);
    one that is never closed takes the rest with it: what follows is thought, not answer.
    """
    rest = _CLOSED_THOUGHT.sub("", reply)
    rest = _LOST_OPENING.sub("", rest)
    return _LOST_CLOSING.sub("", rest).strip()
