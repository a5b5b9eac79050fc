"""Which certificate covers a judge: how it is named, what it is of, and its verdict."""

from pydantic import Field

from schemas.base import Frozen
from schemas.tables.ratings import CertificateVerdict

USABLE: tuple[CertificateVerdict, ...] = ("items", "systems only")
"""Verdicts that let a judge rank systems at least."""


class CertificateRequest(Frozen):
    """What a judge is to be certified on."""

    ratings: str = Field(description="ratings by people: an id of the catalogue, a file, or the name of a run")
    rubric: str = Field(description="id of a rubric, or the file of one")
    checks: tuple[str, ...] = Field(description="names of the checks to try")
    checks_sample: int = Field(default=50, ge=1, description="texts that each check is tried on")


class CertificateSubject(Frozen):
    """What a certificate is of: a judge as it is called, with one prompt. A change of any field voids it."""

    judge: str = Field(description="name of the judge")
    rubric: str = Field(description="id of the rubric")
    rubric_sha256: str = Field(description="hash of its content")
    identity: str = Field(description="hash of judge entry, rubric and the version of the prompt")


class CertificateHead(CertificateSubject):
    """What every form of a certificate says."""

    source: str = Field(description="data set of the ratings by people")
    texts: int = Field(description="that the judge was asked about")
    verdict: CertificateVerdict = Field(description="the worst of its dimensions")
    certified_at: str = Field(description="time, ISO 8601")


class CertificateSummary(CertificateHead):
    """A certificate in brief."""

    verdicts: dict[str, CertificateVerdict] = Field(description="by dimension")
    file: str = Field(description="its document, below the lake")


class CoveredDataset(Frozen):
    """Which certificate covers the ratings of a judged dataset of a run."""

    dataset: str
    judge: str
    rubric: str
    certificate: CertificateSummary | None = Field(description="null = none covers judge, prompt and rubric as they were used")

    @property
    def may_rank(self) -> bool:
        """Whether a certificate lets the judge rank systems at least."""
        return self.certificate is not None and self.certificate.verdict in USABLE
