"""List the runs of a lake, each with the total of its best model.

A verdict rests on every reply of a run, which takes long to read. It is kept in one file, which may be deleted at any time.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from pydantic import TypeAdapter

from schemas.documents.leaderboard import JudgedTotal
from schemas.documents.run_list import BestTotal, ListedRun, RunList
from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.printing import tell
from tasks.lake.files import replace_file
from tasks.lake.local_state import state_folder
from tasks.lake.manifest import read_all_changes, read_code_version, read_manifests, run_number

TOTALS = "run-totals.json"


def describe_runs(folder: Folder) -> RunList:
    """Describe the runs of a lake, newest first; one that cannot be read is named on standard error and left out."""
    manifests = list(read_manifests(folder))
    changes, damaged = read_all_changes(folder, [manifest.run for manifest in manifests])
    totals = _best_totals(folder, manifests)
    return RunList(
        runs=tuple(
            ListedRun(
                run=manifest.run,
                number=run_number(manifest.run),
                benchmark=manifest.benchmark,
                models=tuple(model["name"] for model in manifest.plan.get("models", ())),
                started_at=manifest.started_at,
                finished_at=manifest.finished_at,
                partitions=len(manifest.partitions),
                missing=len(manifest.missing),
                calls_sent=manifest.calls.sent,
                best=totals.get(manifest.run),
                report=str(folder / manifest.report) if manifest.report else None,
                state="damaged" if manifest.run in damaged else change.state if (change := changes.get(manifest.run)) else None,
            )
            for manifest in manifests
        )
    )


def keep_total(manifest: RunManifest, folder: Folder, judged: Sequence[JudgedTotal]) -> None:
    """Keep the total of a run whose systems were judged just now, so that no list of runs has to judge them."""
    kept = _read_kept(folder)
    _write_kept(folder, {**kept, _key(manifest): best_of(judged)})


def best_of(judged: Sequence[JudgedTotal]) -> BestTotal:
    """Return the highest of judged totals, in the order of the leaderboard."""
    best = max(judged, key=lambda row: -1 if row.total is None else row.total)
    return BestTotal(**{name: getattr(best, name) for name in BestTotal.model_fields})


def _best_totals(folder: Folder, manifests: Sequence[RunManifest]) -> dict[str, BestTotal]:
    """Return the total of the best model of each run; one whose scores cannot be read is named on standard error."""
    kept, totals, now = _read_kept(folder), dict[str, BestTotal](), dict[str, BestTotal]()
    for manifest in manifests:
        key = _key(manifest)
        try:
            totals[manifest.run] = now[key] = kept.get(key) or _judge(manifest, folder)
        except LakeError as error:
            tell(f"the total of run {manifest.run} cannot be read: {error.what} ({error.where})")
    if now.keys() - kept.keys():
        _write_kept(folder, now)
    return totals


def _key(manifest: RunManifest) -> str:
    code = read_code_version()
    return f"{manifest.run} {manifest.partition('totals').identity} {code.package} {code.git_commit}"


def _read_kept(folder: Folder) -> dict[str, BestTotal]:
    with suppress(OSError, ValueError):  # there is none, or it is damaged
        return _kept().validate_json((state_folder(folder) / TOTALS).read_bytes())
    return {}


def _write_kept(folder: Folder, totals: dict[str, BestTotal]) -> None:
    with suppress(OSError):  # a lake that cannot be written: the next command judges them again
        replace_file(state_folder(folder) / TOTALS, _kept().dump_json(totals, indent=1))


@cache
def _kept() -> TypeAdapter[dict[str, BestTotal]]:
    return TypeAdapter(dict[str, BestTotal])


def _judge(manifest: RunManifest, folder: Folder) -> BestTotal:
    from tasks.runs.verdict import best_total  # noqa: PLC0415  reads the layers of a run, which is rarely needed

    return best_total(manifest, folder)
