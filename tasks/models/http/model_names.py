"""Whether the name a server gives its model is that of the model that was asked."""

import re
from functools import lru_cache

VERSION = re.compile(
    r"(?P<stem>.+?)[-_.@]"
    r"(?P<version>latest|v\d+(?:\.\d+)*|\d{4}-\d{2}-\d{2}|(?:preview-)?\d{2}-\d{2}(?:-\d{4})?|\d{8}|\d{6}|\d{4}|\d{3})"
)
"""A name and the date or version after it: gpt-4o-2024-08-06, doubao-pro-32k-240615, gpt-4-0613, gemini-1.5-pro-002."""

LATEST = "latest"
ROUTES = re.compile(r":(?:latest|free|nitro|floor|exacto|extended)$")
"""Tags that choose a server and not a model; others, such as `llama3:8b`, are part of the name."""

FILE = re.compile(r"(?:-\d{5}-of-\d{5})?\.gguf$")
ARK_ENDPOINT = re.compile(r"ep-\d{8,14}-\w+")


@lru_cache(maxsize=256)  # the same two names come with every answer of a run
def is_same_model(asked: str, named: str) -> bool:
    """Whether two names mean the same model, as far as names can tell.

    Case does not count, nor do tags that choose a server, nor the ending of a file. A path or a provider's prefix may stand
    before either name (`openai/gpt-4o`, `/models/qwen.gguf`); if both have one, the shorter must be the end of the longer. One
    name may say which date or version it is and the other not, or `latest`; two different versions are two models. An endpoint
    of Ark (`ep-...`) is an alias that can stand for any model, so nothing contradicts it.

    Args:
        asked: name sent to the server.
        named: name in its answer.
    """
    if ARK_ENDPOINT.fullmatch(asked):
        return True
    ours, theirs = _path(asked), _path(named)
    shared = min(len(ours), len(theirs))
    if ours[-shared:-1] != theirs[-shared:-1]:
        return False
    if ours[-1] == theirs[-1]:
        return True
    (stem, version), (other_stem, other_version) = _split(ours[-1]), _split(theirs[-1])
    if stem == other_stem:
        return version == other_version or {version, other_version} & {None, LATEST} != set()
    # What looks like a version may be a part of the name that the other name, too, goes on after.
    return stem == theirs[-1] or other_stem == ours[-1]


def _path(name: str) -> list[str]:
    bare = FILE.sub("", ROUTES.sub("", name.strip().casefold()))
    return [part for part in re.split(r"[/\\]", bare) if part] or [bare]


def _split(name: str) -> tuple[str, str | None]:
    match = VERSION.fullmatch(name)
    return (match["stem"], match["version"]) if match else (name, None)
