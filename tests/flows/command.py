"""The command line as a user meets it, run inside the test process so that it finds the test's Prefect server."""

import json
import re
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from flows.commands.app import app, guarded


class Ended(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document

    @property
    def scores(self) -> tuple[Any, Any]:
        return self.document["models"], self.document["raw_scores"]


def ended(*arguments: str | Path) -> Ended:
    """Run `moodflow` with these arguments, also where no test captures what is printed."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = guarded(lambda: app([str(argument) for argument in arguments]))
    return Ended(status, out.getvalue(), err.getvalue())


def ask_mini(stage: str, url: str, lake: str | Path, datasets: Iterable[str], *more: str | Path) -> Ended:
    """Run a stage over datasets of moodbench-mini: the model `m` and its judge `j`, both at one address."""
    models = ("--model", "m", "--base-url", url, "--judge", "j", "--judge-base-url", url)
    return ended(stage, "moodbench-mini", *models, "--datasets", ",".join(datasets), "--lake", lake, *more)


def assert_one_message(done: Ended, *parts: str) -> None:
    """A command refused what it was given; notes may stand before the message, and nothing after it."""
    assert (done.status, done.out) == (2, "")
    notes, message = re.split(r"^Error: ", done.err, flags=re.MULTILINE)
    assert all(note.startswith("moodflow: ") for note in notes.splitlines())
    assert (message.count("next step: "), "Traceback" in message) == (1, False)
    for part in parts:
        assert part in done.err
