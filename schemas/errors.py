"""Every error MoodFlow raises on purpose; each ends a command with exit status 2 and one message."""


class MoodflowError(Exception):
    """A failure the user can act on.

    Args:
        what: what went wrong, one sentence.
        where: file, row, option or URL it happened at.
        expected: what would have been right.
        got: what was there instead.
        next_step: what the user can do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.next_step = next_step
        super().__init__(what)

    def __str__(self) -> str:
        parts = [("where", self.where), ("expected", self.expected), ("got", self.got), ("next step", self.next_step)]
        return "\n".join([self.what, *(f"  {name}: {text}" for name, text in parts if text)])

    def __reduce__(self) -> tuple[object, ...]:
        # Prefect pickles exceptions that leave a task; keyword-only arguments need this.
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(kind: type[MoodflowError], fields: dict[str, str | None]) -> MoodflowError:
    what = fields.pop("what") or ""
    return kind(what, **fields)


class UsageError(MoodflowError):
    """An option, a name or a configuration file is wrong."""


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


class LakeError(MoodflowError):
    """A Parquet partition cannot be written, read or trusted."""


class EndpointError(MoodflowError):
    """A model server cannot be reached or used as configured."""


class ClusterError(MoodflowError):
    """A Dask or Ray cluster cannot be reached or used as it is."""


class ScoringError(MoodflowError):
    """A number lies outside what its method allows."""
