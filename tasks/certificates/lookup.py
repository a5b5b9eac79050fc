"""Find which certificate covers the ratings of a run's judges, and say in a line what it lets them do."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from schemas.certificates import CertificateSubject, CertificateSummary, CoveredDataset
from schemas.documents.certificates import Certificate
from schemas.errors import LakeError
from schemas.printing import tell
from schemas.roles import PEOPLE
from tasks.certificates.subject import subject_of_settings
from tasks.lake.files import unreadable_document
from tasks.lake.lake import Lake
from tasks.lake.partitions import relative
from tasks.runs.past_run import PastRun
from tasks.scoring.breakdowns import judges_first
from tasks.text.number_format import listed

MARK = "†"
"""Stands at scores that rest on a judge whose certificate does not allow for it, or who has none."""

MOST_NAMED = 3


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
        named = whole.model_dump(include={*CertificateSummary.model_fields})
        found.append(CertificateSummary(**named, verdicts=verdicts, file=relative(path, lake.root)))
    return sorted(found, key=lambda each: (each.certified_at, each.file), reverse=True)


def covering(subject: CertificateSubject, certificates: Iterable[CertificateSummary]) -> CertificateSummary | None:
    """Return the newest certificate of a judge and rubric as they are used; `certificates`: newest first."""
    return next((each for each in certificates if each.identity == subject.identity), None)


def covered_datasets(run: PastRun, certificates: Sequence[CertificateSummary] | None = None) -> tuple[CoveredDataset, ...]:
    """Return which certificate covers the judge whose ratings count, by judged dataset; ratings by people need none.

    `certificates`: of the run's lake, newest first; null = they are read. A partition of ratings whose settings have another hash
    than a certificate, since judge, rubric or prompt changed, is not covered by it.
    """
    counted = judges_first(run.dimension_scores).select("dataset", "judge", "rubric").unique(maintain_order=True)
    rated = [row for row in counted.iter_rows(named=True) if row["judge"] != PEOPLE]
    known = find_certificates(run.lake) if certificates is None and rated else certificates or ()
    covered = []
    for row in rated:
        of_pair = [each for each in known if (each.judge, each.rubric) == (row["judge"], row["rubric"])]
        certificate = None
        for ref in run.partitions("judgements", **row)[:1] if of_pair else ():
            certificate = covering(subject_of_settings(run.lake.read_footer(ref).settings, row["judge"], row["rubric"]), of_pair)
        covered.append(CoveredDataset(**row, certificate=certificate))
    return tuple(sorted(covered, key=lambda each: (each.dataset, each.judge, each.rubric)))


def mark_of(covered: Iterable[CoveredDataset], datasets: Collection[str] | None = None) -> str:
    """Return MARK if the judge of one of these datasets may not even rank systems, else nothing; null = of any dataset."""
    return MARK if any(not each.may_rank for each in covered if datasets is None or each.dataset in datasets) else ""


def say_judges(covered: Iterable[CoveredDataset]) -> Iterator[str]:
    """Yield a line for each judge and verdict: what its certificates let it do, or how to get one."""
    groups: dict[tuple[str, str | None], list[CoveredDataset]] = {}
    for each in covered:
        groups.setdefault((each.judge, each.certificate.verdict if each.certificate else None), []).append(each)
    for (judge, verdict), alike in groups.items():
        rubrics = [*dict.fromkeys(each.rubric for each in alike)]
        some = rubrics if len(rubrics) <= MOST_NAMED else [*rubrics[:MOST_NAMED], f"{len(rubrics) - MOST_NAMED} more"]
        by = f"rubric{'s' if len(rubrics) > 1 else ''} {listed(some)}"
        if verdict is None:
            command = certify_command(judge, rubrics[0])
            yield f"{MARK} judged by {judge}, which has no certificate for {by}: {command}"
        elif verdict in SAID:
            yield f"Judge {judge} is certified to {SAID[verdict]} by {by}"
        else:
            yield f"{MARK} judged by {judge}; its certificate for {by} says: {verdict}"


SAID: Mapping[str, str] = {"items": "score single answers", "systems only": "rank systems, not to score single answers,"}
"""What a judge may be used for, by verdict."""


def certify_command(judge: str, rubric: str) -> str:
    """Return the command that makes a certificate."""
    return f"moodflow judges certify --judge {judge} --rubric {rubric} --ratings SOURCE"
