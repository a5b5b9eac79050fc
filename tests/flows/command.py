"""The command line as a user meets it, run inside the test process so that it finds the test's Prefect server."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from flows.commands.app import COMMANDS, app, guarded, load_command
from flows.runtime.local_server import INTERRUPTED
from schemas.documents.document import DOCUMENTS, json_schema


def leaves(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the words and the object of every command that has none below it."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, *path, name)
    if not hasattr(command, "commands"):
        yield path, command


def all_commands() -> list[tuple[tuple[str, ...], Any]]:
    """Return the words and the object of every command."""
    return [leaf for name in COMMANDS for leaf in leaves(load_command(name), name)]


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
    """Run `moodflow` with these arguments, also where no test captures what is printed. A document has to keep its schema."""
    out, err, texts = StringIO(), StringIO(), [str(argument) for argument in arguments]
    with redirect_stdout(out), redirect_stderr(err):
        status = guarded(lambda: app(texts))
    if status == INTERRUPTED:
        raise KeyboardInterrupt  # the tests end, as the command did
    if status in (0, 1) and "--json" in texts and out.getvalue():
        assert_schema(texts, json.loads(out.getvalue()))
    return Ended(status, out.getvalue(), err.getvalue())


def assert_schema(arguments: list[str], document: Any) -> None:
    """Assert that the document of a command keeps the schema that `moodflow schema` prints for it."""
    name = next(name for name in (" ".join(arguments[:2]), arguments[0]) if name in DOCUMENTS)
    fault = best_match(validator_of(name).iter_errors(document))
    assert fault is None, f"moodflow {name}: {fault.json_path}: {fault.message[:500]}"


@cache
def validator_of(name: str) -> Draft202012Validator:
    """Return what checks documents of a command."""
    return Draft202012Validator(json_schema(name))


def ask_mini(stage: str, url: str, lake: str | Path, datasets: Iterable[str], *more: str | Path) -> Ended:
    """Run a stage over datasets of moodbench-mini: the model `m` and its judge `j`, both at one address."""
    models = ("--model", "m", "--base-url", url, "--judge", "j", "--judge-base-url", url)
    return ended(stage, "moodbench-mini", *models, "--datasets", ",".join(datasets), "--lake", lake, *more)


def ask_all(*options: str | Path) -> Ended:
    """Ask all that `moodflow run` asks with these options, ratings included; scores and report take most of a run's time."""
    built = ended("build", *options)
    assert built.status in (0, 1), built.err
    return ended("infer", *options)


def assert_one_message(done: Ended, *parts: str) -> None:
    """A command refused what it was given; notes may stand before the message, and nothing after it."""
    assert (done.status, done.out) == (2, "")
    notes, message = re.split(r"^Error: ", done.err, flags=re.MULTILINE)
    assert all(note.startswith("moodflow: ") for note in notes.splitlines())
    assert (message.count("next step: "), "Traceback" in message) == (1, False)
    for part in parts:
        assert part in done.err
