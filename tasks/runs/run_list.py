"""List the runs of a lake, each with the total of its best model.

A verdict rests on every reply of a run, which takes long to read. It is kept in one file, which may be deleted at any time.
"""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import TypeAdapter

from schemas.documents.run import BestTotal, ListedRun, RunList
from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.printing import tell
from tasks.lake.files import replace_file
from tasks.lake.lake import Lake
from tasks.lake.local_state import state_folder
from tasks.lake.manifest import read_all_changes, read_code_version, read_manifests, run_number
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_tables import ordered
from tasks.runs.verdict import judge_totals, total_of

TOTALS = "run-totals.json"
KEPT = TypeAdapter(dict[str, BestTotal])


def describe_runs(folder: Folder) -> RunList:
    """Describe the runs of a lake, newest first; one that cannot be read is named on standard error and left out."""
    manifests = list(read_manifests(folder))
    changes, damaged = read_all_changes(folder, [manifest.run for manifest in manifests])
    totals = _best_totals(Lake(folder, read_code_version()), manifests)
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


def _best_totals(lake: Lake, manifests: Sequence[RunManifest]) -> dict[str, BestTotal]:
    """Return the total of the best model of each run; one whose scores cannot be read is named on standard error."""
    path, kept = state_folder(lake.root) / TOTALS, dict[str, BestTotal]()
    with suppress(OSError, ValueError):  # there is none, or it is damaged
        kept = KEPT.validate_json(path.read_bytes())
    totals, now = dict[str, BestTotal](), dict[str, BestTotal]()
    for manifest in manifests:
        key = f"{manifest.run} {manifest.partition('totals').identity} {lake.code.package} {lake.code.git_commit}"
        try:
            totals[manifest.run] = now[key] = kept.get(key) or _best_total(past_run(manifest, lake))
        except LakeError as error:
            tell(f"the total of run {manifest.run} cannot be read: {error.what} ({error.where})")
    if now.keys() - kept.keys():
        with suppress(OSError):  # a lake that cannot be written: the next command judges them again
            replace_file(path, KEPT.dump_json(now, indent=1))
    return totals


def _best_total(run: PastRun) -> BestTotal:
    judged = [total_of(row) for row in ordered(judge_totals(run.read("totals"), run.blueprint, {"": run}))]
    best = max(judged, key=lambda row: -1 if row.total is None else row.total)
    return BestTotal(**{name: getattr(best, name) for name in BestTotal.model_fields})
