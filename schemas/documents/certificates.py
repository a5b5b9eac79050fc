"""How far judges agree with people, and what a certificate says a judge may be used for."""

from pydantic import Field

from schemas.base import Frozen
from schemas.certificates import CertificateHead, CertificateSummary
from schemas.documents.document import Document
from schemas.documents.models import RefusedRating
from schemas.documents.plan import RunForecast
from schemas.documents.run import Cost
from schemas.lineage import CallCounts
from schemas.tables.ratings import CertificateVerdict
from schemas.usage import Usage


class RaterAgreement(Frozen):
    """A statistic of a judge, or of a text metric, and people. What is undefined is null."""

    source: str = Field(description="dataset")
    judge: str = Field(description="a judge, a text metric, or `people`")
    rubric: str = Field(description="empty for text metrics and people")
    dimension: str = Field(description="of the judge; empty for a text metric across criteria")
    statistic: str = Field(description="such as kappa, tau or alpha")
    level: str = Field(description="pooled, by_item or by_system")
    value: float | None = Field(description="of the judge with people")
    value_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = no interval")
    value_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = no interval")
    value_undefined_draws: int | None = Field(default=None, description="resamples without a value")
    undefined_because: str | None = Field(description="why there is no value; null = there is one")
    n_units: int | None = Field(default=None, description="answers that the judge and people rated; null = a mean of dimensions")
    n_items_left_out: int | None = Field(
        default=None, description="at level by_item items without three unlike systems; of an ICC units that not all raters rated"
    )


class CriterionAgreement(RaterAgreement):
    """A correlation of a judged dimension with a criterion of people, whatever the names of the two."""

    criterion: str = Field(description="by which people rate, or the mean of all")


class JudgeAgreement(RaterAgreement):
    """A statistic of the ratings of one dimension, or its mean over dimensions. What is undefined is null.

    It is of a judge and people; of the judge `people`, it is of people among each other.
    """

    human_value: float | None = Field(default=None, description="of each person with the others")
    human_value_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = no interval")
    human_value_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = no interval")
    human_value_undefined_draws: int | None = Field(default=None, description="resamples without a value")
    human_undefined_because: str | None = Field(default=None, description="why people have no value; null = they have one")
    human_method: str | None = Field(default=None, description="who is compared: pairs, or each with the mean of the others")
    same_targets_value: float | None = Field(default=None, description="of the judge with those other people")
    constant_value: float | None = Field(default=None, description="of the best constant with people")
    gain: float | None = Field(default=None, description="by how much the judge is better than that constant; of exact and mae")
    gain_low: float | None = Field(default=None, description="lower end of its 95 % interval; null = no interval")
    gain_high: float | None = Field(default=None, description="upper end of its 95 % interval; null = no interval")
    n_pairs: int | None = Field(default=None, description="ratings by people of these answers")
    n_clusters: int | None = Field(default=None, description="clusters of these answers")
    design_effect: float | None = Field(default=None, description="variance of the value over that of answers drawn alone")
    margin: float | None = Field(default=None, description="number in the rule of the verdict; null = it enters no rule")
    passed: bool | None = Field(default=None, description="whether it keeps that rule; null = no rule, or undefined")


class JudgeCheck(Document):
    """Ratings by people beside those of a run's judges."""

    run: str = Field(description="its name")
    human: str = Field(description="file of ratings by people")
    read: int = Field(description="rows of the file")
    good: int = Field(description="rows that keep every rule")
    refused: int = Field(description="rows that break one")
    refused_by_rule: dict[str, int] = Field(description="rows by the first rule they break")
    refused_rows: tuple[RefusedRating, ...] = Field(default=(), description="each of them")
    left_out: dict[str, int] = Field(description="good ratings that were not used, by reason")
    agreements: tuple[JudgeAgreement, ...]
    across: tuple[CriterionAgreement, ...] = Field(
        description="each dimension with each criterion of people; empty = not asked for"
    )


class CheckFigure(Frozen):
    """What a change of the text, of the order or of the instruction does to a judge's ratings of a dimension."""

    check: str = Field(description="name of the check, such as injection")
    variant: str = Field(default="", description="which of its changes; empty = all together")
    dimension: str = Field(description="of the rubric")
    figure: str = Field(description="what is measured, such as `share with d >= 1`")
    value: float | None = Field(description="null = undefined")
    ci_low: float | None = Field(default=None, description="lower end of its interval; null = no interval")
    ci_high: float | None = Field(default=None, description="upper end of its interval; null = no interval")
    n: int = Field(description="pairs of ratings, or ratings, that the figure rests on")
    limit: str = Field(default="", description="rule that it must keep, in words; empty = it enters no verdict")
    margin: float | None = Field(default=None, description="number in that rule; null = no rule")
    passed: bool | None = Field(default=None, description="null = no rule, or undefined")
    undefined_because: str | None = Field(default=None, description="why there is no value, or why a rule cannot decide")


class CertifiedDimension(Frozen):
    """The verdict on a judge in one dimension: judge with people, people with each other, and the best constant."""

    dimension: str
    verdict: CertificateVerdict
    rule: str = Field(description="which rule decided, with its numbers")
    spearman: float | None = Field(description="of the judge and the mean of the people")
    same_targets: float | None = Field(description="Spearman, against the targets of `ceiling`")
    ceiling: float | None = Field(description="Spearman of each person and the mean of the others, averaged")
    alpha: float | None = Field(description="Krippendorff's, ordinal or of names nominal, of the people")
    alpha_low: float | None = Field(description="lower end of its 95 % interval")
    mae: float | None = Field(description="mean distance from the mean of the people")
    constant_mae: float | None = Field(description="the same of the best constant")
    bias_steps: float | None = Field(description="judge - people, in steps of the scale")
    by_system: float | None = Field(description="Spearman over the means of systems; null = fewer than five systems")
    n_units: int
    n_clusters: int
    failed_checks: tuple[str, ...] = ()
    missing_checks: tuple[str, ...] = Field(default=(), description="that were not tried, or could not be")


class Certificate(CertificateHead, Document):
    """How far a judge can be trusted with a rubric: next to people, to people among each other, and to a constant."""

    dimensions: tuple[CertifiedDimension, ...]
    checks: tuple[CheckFigure, ...]
    agreements: tuple[JudgeAgreement, ...]
    ratings: int = Field(description="by people, of these texts")
    refused: int = Field(description="rows of the ratings that break a rule")
    refused_rows: tuple[RefusedRating, ...] = Field(default=(), description="each of them, by the rules it breaks")
    left_out: dict[str, int] = Field(description="good ratings that were not used, by reason")
    not_rated: tuple[str, ...] = Field(default=(), description="dimensions of the rubric that people did not rate")
    not_asked: tuple[str, ...] = Field(default=(), description="dimensions that people rated and the rubric does not have")
    unread: int = Field(description="ratings of the judge that are missing: its reply could not be read, or none came")
    calls: CallCounts
    usage: tuple[Usage, ...] = ()
    cost: Cost
    files: tuple[str, ...] = Field(default=(), description="rows, page and document")


class CertificateList(Document):
    """The certificates of a lake."""

    certificates: tuple[CertificateSummary, ...]


AnyCertificate = Certificate | RunForecast
