"""Every error MoodFlow raises on purpose; each ends a command with exit status 2 and one message."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

ValueT = TypeVar("ValueT")
ResultT = TypeVar("ResultT")

PARTS = ("what", "where", "expected", "got", "next_step")

LONGEST = 2000
"""Characters of each part of a message that are shown."""


class MoodflowError(Exception):
    """A failure the user can act on: what went wrong, where, what was expected and what was there, and what can be done."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
    ) -> None:
        self.what, self.where, self.expected, self.got, self.next_step = what, where, expected, got, next_step
        super().__init__(what)

    def __str__(self) -> str:
        parts = {name.replace("_", " "): getattr(self, name) for name in PARTS[1:]}
        return "\n".join([_cut(self.what), *(f"  {name}: {_cut(text)}" for name, text in parts.items() if text)])

    def __reduce__(self) -> tuple[object, ...]:
        # Prefect pickles exceptions that leave a task; keyword-only arguments need this.
        return (partial(type(self), **self.__dict__), ())


def _cut(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} [... {len(text) - LONGEST:,} more characters ...] {text[-half:]}"


def summarize(error: Exception) -> str:
    """Return the message of an exception on one line; of a value that breaks rules, each place and what is wrong there."""
    if isinstance(error, ValidationError):
        return "; ".join(
            ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, "))))
            for fault in error.errors()
        )
    return " ".join(str(error).split())


class UsageError(MoodflowError):
    """An option, a name or a configuration file is wrong."""


def suggest(name: str, names: Iterable[str], otherwise: str = "", most: int = 1, cutoff: float = 0.4) -> str:
    """Return `did you mean ...?` with the known names most like this one, or what to do (`otherwise`) if none is like it.

    `most`: names suggested. `cutoff`: least similarity of a suggestion, from 0 to 1.
    """
    nearest = get_close_matches(name, list(names), most, cutoff)
    return f"did you mean {' or '.join(nearest)}?" if nearest else otherwise


def unknown_name(what: str, got: str, choices: Iterable[str], where: str, otherwise: str) -> UsageError:
    """Return the error about a name that none of the known ones is; `otherwise` as in `suggest`."""
    names = list(choices)
    step, expected = suggest(got, names, otherwise), f"one of {', '.join(names)}" if names else None
    return UsageError(f"there is no {what} {got}", where=where, expected=expected, got=got, next_step=step)


def try_each(function: Callable[[ValueT], ResultT], values: Iterable[ValueT]) -> list[ResultT]:
    """Return what a function returns for each value; its UsageErrors are raised as one, which says each part once.

    Where next steps differ, each begins with the value that it is about.
    """
    results, errors = [], []
    for value in values:
        try:
            results.append(function(value))
        except UsageError as error:
            errors.append(error)
    if len({error.next_step for error in errors}) > 1:
        for failed in errors:
            failed.next_step = f"{failed.got}: {failed.next_step}" if failed.got and failed.next_step else failed.next_step
    if errors:
        told = {part: dict.fromkeys(filter(None, (getattr(error, part) for error in errors))) for part in PARTS}
        raise UsageError(**{part: "; ".join(texts).replace("?; ", "? ") for part, texts in told.items()})
    return results


class BlueprintError(MoodflowError):
    """A blueprint breaks one of its rules."""


class SourceError(MoodflowError):
    """An input file is missing, unreadable or malformed."""


class SourceMissingError(SourceError):
    """No mirror, cache or download holds the file."""


class ChecksumError(SourceError):
    """The file is not the pinned one."""


class RecordError(SourceError):
    """One record cannot be read."""


class LayoutError(SourceError):
    """So many rows of a dataset break a rule that its files have another layout than its adapter reads."""


class LakeError(MoodflowError):
    """A Parquet partition cannot be written, read or trusted."""


class EndpointError(MoodflowError):
    """A model server cannot be reached or used as configured."""


class ClusterError(MoodflowError):
    """A Dask cluster cannot be reached or used as it is."""


class ScoringError(MoodflowError):
    """A number lies outside what its method allows."""
