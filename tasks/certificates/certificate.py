"""Build a certificate from a judge's ratings of what people rated: agreement, checks, a verdict per dimension, all rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import dataframely as dy
import polars as pl

from schemas.documents.certificates import Certificate, CertifiedDimension, CheckFigure, JudgeAgreement
from schemas.documents.models import RefusedRating
from schemas.documents.run import Cost
from schemas.errors import ScoringError
from schemas.lineage import CallCounts, PartitionKey, PartitionRef
from schemas.roles import PEOPLE
from schemas.tables.ratings import UNIT, CertificateRatings, Certificates
from schemas.usage import Usage
from tasks.certificates.agreement import certificates
from tasks.certificates.asking import CertifyJob
from tasks.certificates.checks import BY_JUDGES, check_figures
from tasks.certificates.joining import JUDGED, JoinedRatings
from tasks.certificates.lookup import subject_of
from tasks.certificates.perturbations import load_perturbations
from tasks.certificates.sides import NOMINAL
from tasks.certificates.verdict import ITEMS, certify_dimension, hold, worst
from tasks.lake.partitions import partition_key
from tasks.statistics.resampling import RESAMPLES, Resampling

CERTIFICATES_VERSION = "1"
"""Bumped when a statistic, a check or a rule of the verdict changes meaning."""


class Spent(NamedTuple):
    """When a judge was asked, and what that took."""

    certified_at: str
    calls: CallCounts
    usage: tuple[Usage, ...]
    cost: Cost


def certificate_key(job: CertifyJob, ratings: PartitionRef) -> PartitionKey:
    """Return the key of the rows of a certificate."""
    settings = {"source_sha256": job.source.sha256, "checks": list(job.checks), "seed": job.seed}
    return partition_key("certificates", job.place, settings, [ratings.identity], CERTIFICATES_VERSION)


def build_certificate(job: CertifyJob, given: dy.DataFrame[CertificateRatings], spent: Spent) -> Certificate:
    """Compare a judge with the people of a source, in all dimensions that both rated. ScoringError: the judge rated no text."""
    if given["rating"].null_count() == given.height:
        raise _rated_nothing(job, given, unsent=spent.calls.unsent > 0)
    joined = join_judges(job, given)
    scales = joined.people.select("dimension", "scale").unique("dimension").iter_rows()
    steps = {name: (scale[-1] - scale[0]) / (len(scale) - 1) for name, scale in scales}
    table = certificates(joined, Resampling(RESAMPLES, job.seed))
    nominal = {*table.filter(undefined_because=NOMINAL)["dimension"]}
    steps_of = {(judge, name): step for judge in (job.judge.name, PEOPLE) for name, step in steps.items()}
    rows = [JudgeAgreement(**row) for row in table.iter_rows(named=True)]
    agreements = [hold(row, steps_of.get((row.judge, row.dimension)), nominal=row.dimension in nominal) for row in rows]
    figures = check_figures(given, job.source, job.rubric, job.checks, job.judge.name, job.applicable)
    dimensions = tuple(_certify(job, joined.people, agreements, figures, steps))
    return Certificate(
        **dict(subject_of(job.judge, job.rubric)),
        source=job.source.name,
        verdict=worst([each.verdict for each in dimensions]),
        dimensions=dimensions,
        checks=tuple(figures),
        agreements=tuple(agreements),
        texts=job.source.texts.height,
        ratings=joined.people.height,
        refused=len({row.line for row in job.source.refused}),
        refused_rows=tuple(RefusedRating(file=job.source.name, **row._asdict()) for row in job.source.refused),
        left_out=dict(job.left_out),
        not_rated=tuple(name for name in job.rubric.names if name not in steps),
        not_asked=job.not_asked,
        unread=given["rating"].null_count(),
        **spent._asdict(),
    )


def _rated_nothing(job: CertifyJob, given: dy.DataFrame[CertificateRatings], *, unsent: bool) -> ScoringError:
    """Return the error of a judge without ratings; `unsent`: the budget was spent before all calls were sent."""
    failed = given["parse_status"] == "failed"
    mostly = bool(2 * failed.sum() > given.height)
    cause, next_step = "its replies could not be read", "ask another model, or make the rubric easier to answer"
    if mostly:
        cause = "the budget was spent" if unsent else "its calls failed"
        next_step = f"{'raise the budget' if unsent else 'check its server'}, then run the same command again"
    got = f"{given.height} ratings that are missing: {''.join(given.filter(failed == mostly)['error'].drop_nulls()[:1])}"
    return ScoringError(
        f"the judge rated no text: {cause}", where=job.title, expected="replies with ratings", got=got, next_step=next_step
    )


def join_judges(job: CertifyJob, given: dy.DataFrame[CertificateRatings]) -> JoinedRatings:
    """Return the ratings of people, of the judge and of other judges of the source, and the means of all these judges.

    Only the judge's first rating of a text as people saw it counts, as in a run. Its scale is matched with people's in order.
    """
    ratings = job.source.ratings
    people = ratings.filter(~BY_JUDGES)
    scales = ratings.select("dimension", "scale").unique("dimension")
    ends = {"lowest": pl.col("scale").list.first(), "highest": pl.col("scale").list.last()}
    own = given.filter(perturbation="", repetition=0).drop_nulls("rating").join(scales, on="dimension")
    place = pl.col("rating") - pl.col("lowest")
    rated = own.with_columns(value=pl.col("scale").list.get(place)).with_columns(**ends)
    others = ratings.filter(BY_JUDGES).with_columns(**ends, judge=pl.col("rater"), rubric=pl.lit("")).rename({"rating": "value"})
    names = {"judge": pl.lit(job.judge.name), "rubric": pl.lit(job.rubric.id)}
    judges = pl.concat([frame.select(JUDGED.names()).cast(JUDGED) for frame in (rated.with_columns(**names), others)])
    if (count := judges.select("judge", "rubric").n_unique()) > 1:
        mean = judges.group_by(*UNIT, "dimension").agg(pl.col("value", "lowest", "highest").mean(), pl.len())
        panel = mean.filter(pl.col("len") == count).with_columns(judge=pl.lit(f"mean of {count} judges"), rubric=pl.lit(""))
        judges = pl.concat([judges, panel.select(JUDGED.names())])
    return JoinedRatings(people, judges, job.left_out)


def _certify(
    job: CertifyJob,
    people: pl.DataFrame,
    agreements: Sequence[JudgeAgreement],
    figures: Sequence[CheckFigure],
    steps: Mapping[str, float],
) -> Iterator[CertifiedDimension]:
    persons = people.filter(pl.col("rater_kind") != "aggregate").group_by("dimension", *UNIT).len()
    raters = dict(persons.group_by("dimension").agg(pl.col("len").max()).iter_rows())
    of_whole = [name for name, check in load_perturbations().checks.items() if not check.by_dimension]
    for name in job.rubric.names:
        of_name = (row for row in agreements if row.dimension == name and row.judge in {job.judge.name, PEOPLE})
        rows = {(row.statistic, row.level): row for row in of_name}
        if ITEMS in rows:
            own = [figure for figure in figures if figure.dimension == name or figure.check in of_whole]
            yield certify_dimension(rows, raters.get(name, 1), steps[name], own, job.applicable)


def certificate_rows(certificate: Certificate) -> pl.DataFrame:
    """Return all figures of a certificate as rows of the layer `certificates`."""
    verdicts = {each.dimension: each.verdict for each in certificate.dimensions}
    of = {name: getattr(certificate, name) for name in ("source", "judge", "rubric")}
    rows = list[dict[str, object]]()
    for each in certificate.agreements:
        method = f"{each.statistic}, percentiles over draws of clusters"
        rows.append({**dict(each), "ci_low": each.value_low, "ci_high": each.value_high, "method": method})
    for figure in certificate.checks:
        statistic = ": ".join(filter(None, (figure.check, figure.variant, figure.figure)))
        rows.append({**of, **dict(figure), "statistic": statistic, "level": "check", "n_pairs": figure.n, "method": figure.limit})
    for row in rows:
        row["verdict"] = verdicts.get(str(row["dimension"])) if row["judge"] == certificate.judge else None
    return pl.DataFrame(rows, schema=Certificates.create_empty().schema)
