"""Say what a certificate is of, find the one that covers the ratings of a run's judges, and say what it lets them do."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from schemas.certificates import USABLE, CertificateHead, CertificateSubject, CertificateSummary, CoveredDataset
from schemas.chat import ModelEntry
from schemas.documents.certificates import Certificate
from schemas.errors import LakeError
from schemas.printing import tell
from schemas.roles import PEOPLE
from tasks.judging.executor import JUDGEMENTS_VERSION, judge_settings
from tasks.judging.rubrics import Rubric
from tasks.lake.files import unreadable_document
from tasks.lake.lake import Lake
from tasks.lake.partitions import hash_settings, relative
from tasks.runs.past_run import PastRun
from tasks.scoring.breakdowns import judges_first
from tasks.text.number_format import counted

MARK = "†"
"""Stands at scores that rest on a judge whose certificate does not allow for it, or who has none."""


def subject_of(judge: ModelEntry, rubric: Rubric) -> CertificateSubject:
    """Name a judge of a resolved plan, whose API capabilities are known, with its rubric."""
    settings = {**judge_settings(judge, rubric.sha256), "evaluation_version": JUDGEMENTS_VERSION}
    return _subject(settings, judge.name, rubric.id)


def _subject(settings: Mapping[str, Any], judge: str, rubric: str) -> CertificateSubject:
    """Name a judge by the settings in the footer of a stored partition of its judgements.

    How often it rates an answer changes nothing. A change of model, server, sampling, rubric or prompt yields another hash.
    """
    identity = hash_settings({name: value for name, value in settings.items() if name != "repetitions"})
    return CertificateSubject(judge=judge, rubric=rubric, rubric_sha256=settings["rubric_sha256"], identity=identity)


def find_certificates(lake: Lake) -> list[CertificateSummary]:
    """Read the certificates of a lake, newest first; one that cannot be read is named on standard error and passed over."""
    found = []
    for path in lake.root.glob("certificates/*/*/*/*.json"):
        try:
            with unreadable_document("a certificate of a judge", path, "move the file away, or certify the judge again"):
                whole = Certificate.model_validate_json(path.read_bytes())
        except LakeError as error:
            tell(f"a certificate is passed over: {error.what} ({error.where}: {error.got})")
            continue
        verdicts = {row.dimension: row.verdict for row in whole.dimensions}
        head = {name: getattr(whole, name) for name in CertificateHead.model_fields}
        found.append(CertificateSummary(**head, verdicts=verdicts, file=relative(path, lake.root)))
    return sorted(found, key=lambda each: (each.certified_at, each.file), reverse=True)


def covering(subject: CertificateSubject, certificates: Iterable[CertificateSummary]) -> CertificateSummary | None:
    """Return the certificate of a judge and rubric as they are used that rests on most texts; `certificates`: newest first."""
    own = (each for each in certificates if each.identity == subject.identity)
    return max(own, key=lambda each: each.texts, default=None)


def covered_datasets(run: PastRun, certificates: Sequence[CertificateSummary] | None = None) -> tuple[CoveredDataset, ...]:
    """Return which certificate covers the judge whose ratings count, by judged dataset; ratings by people need none.

    `certificates`: of the run's lake, newest first; null = they are read. A partition of ratings whose settings have another hash
    than a certificate, since judge, rubric or prompt changed, is not covered by it.
    """
    counted = judges_first(run.dimension_scores).select("dataset", "judge", "rubric").unique().sort("dataset", "judge", "rubric")
    rated, covered = counted.filter(pl.col("judge") != PEOPLE).to_dicts(), []
    known = find_certificates(run.lake) if certificates is None and rated else certificates
    for row in rated:
        refs = run.partitions("judgements", **row)[:1] if known else ()
        subjects = (_subject(run.lake.read_footer(ref).settings, row["judge"], row["rubric"]) for ref in refs)
        covered.append(CoveredDataset(**row, certificate=next((covering(each, known or ()) for each in subjects), None)))
    return tuple(covered)


def marked(title: str, covered: Iterable[CoveredDataset], datasets: Collection[str] | None = None) -> str:
    """Return a title with MARK if the judge of one of these datasets may not even rank systems; null = of any dataset."""
    doubtful = any(not each.may_rank for each in covered if datasets is None or each.dataset in datasets)
    return f"{title} {MARK}" if doubtful else title


def say_judges(covered: Iterable[CoveredDataset]) -> Iterator[str]:
    """Yield a line for each judge and verdict: what its certificates let it do, or how to get one."""
    groups: dict[tuple[str, str | None, str], dict[str, None]] = {}
    for each in covered:
        own = each.certificate
        says = (own.verdict, f" ({counted(own.texts, 'text')} of {own.source})") if own else (None, "")
        groups.setdefault((each.judge, *says), {})[each.rubric] = None
    for (judge, verdict, on), (first, *more) in groups.items():
        by = f"rubric {first}{f' and {len(more)} more' if more else ''}"
        if verdict is None:
            yield f"{MARK} judged by {judge}, which has no certificate for {by}: {certify_command(judge, first)}"
        elif verdict in USABLE:
            use = "score single answers" if verdict == "items" else "rank systems, not to score single answers,"
            yield f"Judge {judge} is certified to {use} by {by}{on}"
        else:
            yield f"{MARK} judged by {judge}; its certificate for {by} says: {verdict}{on}"


def certify_command(judge: str, rubric: str) -> str:
    """Return the command that makes a certificate."""
    return f"moodflow judges certify --judge {judge} --rubric {rubric} --ratings SOURCE"
