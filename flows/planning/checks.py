"""Check a resolved plan whether or not anything is left to ask: where its files are kept, and its judges' certificates."""

from collections.abc import Iterator

from flows.planning.jobs import ResolvedPlan
from schemas.certificates import USABLE
from schemas.errors import UsageError
from tasks.certificates.lookup import certify_command, covering, find_certificates, subject_of
from tasks.lake.local_state import network_disk


def kept_here(resolved: ResolvedPlan) -> Iterator[str]:
    """Yield a warning with the local folder of what the lake's object store cannot hold, and one if other machines share it."""
    lake = resolved.lake
    if kind := network_disk(lake.state):
        yield (
            f"{lake.state} is on a network file system ({kind}): runs of two machines at once would damage the journal in it or "
            "pay for the same calls twice; keep to one machine, or name a lake on a disk of its own with --lake"
        )
    if lake.state != lake.root:
        yield (
            f"replies, embeddings and findings about models are kept on this machine, in {lake.state}; "
            "another machine pays for the same calls again, unless it takes replies in with moodflow journal import"
        )


def require_certificates(resolved: ResolvedPlan) -> None:
    """Raise UsageError if the plan wants certified judges and one whose ratings count may not even rank systems."""
    wanted = [subject_of(*job.raters[0]) for job in resolved.jobs if job.judges and resolved.plan.require_certificate]
    known, lacking = find_certificates(resolved.lake) if wanted else [], dict[str, str]()
    for subject in wanted:
        covered = covering(subject, known)
        if covered is None or covered.verdict not in USABLE:
            why = f"its certificate says {covered.verdict}" if covered else "no certificate"
            lacking[f"{subject.judge} with rubric {subject.rubric}: {why}"] = certify_command(subject.judge, subject.rubric)
    if lacking:
        raise UsageError(
            "a judge is not certified for its rubric",
            where="--require-certificate",
            expected=f"certificates of judge, rubric and prompt as they are used, with the verdict {' or '.join(USABLE)}",
            got="; ".join(lacking),
            next_step=next(iter(lacking.values())),
        )
