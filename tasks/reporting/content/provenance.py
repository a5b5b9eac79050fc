"""Data and licences: what the report holds of whose texts, and the strings by which its data can be found again."""

from dataclasses import dataclass

from schemas.lineage import DatasetNotice
from tasks.analysis.number_format import counted, listed
from tasks.analysis.redaction import restricted_notices
from tasks.analysis.run_tables import ReportData


@dataclass(frozen=True)
class Provenance:
    """The datasets of the run with their licences.

    `note` names those whose texts may not be passed on, `short_note` counts them; null if all may be.
    """

    notices: tuple[DatasetNotice, ...]
    note: str | None
    short_note: str | None

    @property
    def canaries(self) -> tuple[str, ...]:
        """Strings the authors ask to be kept with the data, each once."""
        return tuple(dict.fromkeys(notice.canary for notice in self.notices if notice.canary))


def describe_provenance(data: ReportData) -> Provenance:
    """What the manifest says about the datasets, and what follows for passing the report on."""
    restricted, redacted = [notice.title for notice in restricted_notices(data)], data.manifest.redacted
    if not restricted:
        return Provenance(data.manifest.datasets, None, None)
    say = _say_withheld if redacted else _say_quoted
    return Provenance(data.manifest.datasets, say(listed(restricted)), say(counted(len(restricted), "dataset")))


def _say_withheld(of: str) -> str:
    return f"Texts of {of} and the replies to them are withheld: the licence does not allow passing them on."


def _say_quoted(of: str) -> str:
    return (
        f"This report may quote texts of {of} whose licence does not allow passing them on. Before you share it, write it again "
        "with --redact."
    )
