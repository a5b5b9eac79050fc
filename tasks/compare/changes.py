"""Compare a run with earlier runs of the lake."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from schemas.blueprint import Blueprint
from schemas.changes import NOT_COMPARABLE, TOTAL, RunChanges, RunState, ScoreDifference, SystemChanges
from schemas.errors import LakeError
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.layers import LAYERS
from schemas.tables.responses import Judgements
from tasks.compare.regression import SystemScores, find_regressions, find_warnings
from tasks.compare.scores import dimension_changes, score_changes
from tasks.lake.lake import Lake
from tasks.lake.manifest import list_runs, read_listed, run_order
from tasks.runs.comparable_runs import difference, systems_of
from tasks.runs.failures import find_lost, name_role
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System

LOOKED_BACK = 100
"""Earlier runs looked through for one that can be compared: reading more manifests would take longer than the comparison."""


def find_earlier(run: RunManifest, lake: Lake) -> tuple[dict[System, RunManifest | str], tuple[str, ...]]:
    """Return the newest earlier run that can be compared, for every model and setting of a run, or why there is none.

    And remarks on runs that cannot be read. Runs with a lower number are earlier.
    """
    systems, earlier = systems_of(run), dict[System, RunManifest]()
    reasons: dict[System, str] = {}
    remarks: list[str] = []
    names = [name for name in list_runs(lake.root) if run_order(name) < run_order(run.run)]
    for name in names[:LOOKED_BACK]:
        if earlier.keys() == systems.keys():
            break
        try:
            manifest = read_listed(lake.root, name)
        except LakeError as error:
            remarks.append(f"run {name} was passed over: {error.what}")
            continue
        for system in systems.keys() - earlier.keys():
            if (obstacle := difference(run, manifest, system)) is None:
                earlier[system] = manifest
            elif manifest.benchmark == run.benchmark:
                reasons.setdefault(system, f"{NOT_COMPARABLE}; of the newest, {name}: {obstacle}")
    limit = f" among the newest {LOOKED_BACK} in the lake" if len(names) > LOOKED_BACK else ""
    none = f"no earlier run of {run.benchmark}{limit}"
    return {system: earlier.get(system, reasons.get(system, none)) for system in systems}, tuple(remarks)


def changes_since(run: RunManifest, blueprint: Blueprint, lake: Lake) -> RunChanges:
    """Compare every model and setting of a run with the newest earlier run of the lake that it can be compared with.

    LakeError: a partition of this run cannot be read. One of an earlier run that cannot is a reason not to compare.
    """
    (earlier, remarks), now = find_earlier(run, lake), PastRun(run, blueprint, lake)
    manifests = {manifest.run: manifest for manifest in earlier.values() if not isinstance(manifest, str)}
    before = {name: PastRun(manifest, blueprint, lake) for name, manifest in manifests.items()}
    systems = tuple(
        SystemChanges(**system._asdict(), reason=manifest)
        if isinstance(manifest, str)
        else _compare(before[manifest.run], now, system)
        for system, manifest in earlier.items()
    )
    compared = (system.previous for system in systems if system.previous)
    newest = manifests.get(max(compared, key=run_order, default=""))
    return RunChanges(
        run=run.run,
        benchmark=run.benchmark,
        state=_state(run, newest, systems),
        previous=newest.run if newest else None,
        reason=None if newest else next((system.reason for system in systems), None),
        units=systems,
        remarks=(*(canary.message for canary in run.canaries), *remarks),
        canary_calls=sum(canary.asked for canary in run.canaries),
        differences=tuple(f"{canary.model}: {canary.difference}" for canary in run.canaries if canary.difference),
    )


def _state(run: RunManifest, previous: RunManifest | None, systems: Sequence[SystemChanges]) -> RunState:
    # Answers of earlier runs count: which night they came in does not change what the run has.
    if run.calls.failed and all(row.failed + row.unsent == row.calls for row in run.usage):
        return "Failed"
    if any(system.findings for system in systems):
        return "Regressed"
    if any(row.unsent for row in run.usage):
        return "BudgetSpent"
    if any(canary.drifting for canary in run.canaries):
        return "Drifting"
    unchanged = previous is not None and set(run.partitions) <= set(previous.partitions)
    return "UpToDate" if unchanged and not run.calls.sent and not run.calls.failed else "Completed"


def _compare(before: PastRun, after: PastRun, system: System) -> SystemChanges:
    now = _system_scores(after, system)
    try:
        was, changes = _system_scores(before, system), tuple(_changes(before, after, system))
        now = now if now == was else _with_failures(now, after, system)
    except LakeError as error:
        # The run itself is whole: what is broken is a record of an earlier one.
        reason = f"run {before.name} cannot be read: {error.what}, {error.where}"
        return SystemChanges(**system._asdict(), reason=reason)
    return SystemChanges(
        **system._asdict(),
        previous=before.name,
        changes=changes,
        findings=find_regressions(changes, was, now, after.blueprint),
        remarks=find_warnings(was, now, after.blueprint),
    )


def _changes(before: PastRun, after: PastRun, system: System) -> Iterator[ScoreDifference]:
    """Yield changes of scores, and of the dimensions of datasets whose ratings, but not whose items, are other ones."""
    was, now = (_contents(run.partitions("item_scores", **system._asdict())) for run in (before, after))
    changed = _changed_items(before, after)
    if was == now:
        yield from _unchanged(after, system)
    else:
        earlier, later = (run.read("item_scores", **system._asdict()) for run in (before, after))
        yield from score_changes(earlier, later, after.blueprint, changed)
    old, new = before.counted_judgements(system), after.counted_judgements(system)
    for dataset in sorted(new.keys() & old.keys() - changed):
        if old[dataset].content_sha256 != new[dataset].content_sha256:
            earlier, later = (after.lake.read(refs[dataset], Judgements) for refs in (old, new))
            yield from dimension_changes(earlier, later, after.read("items", dataset=dataset), after.blueprint.own_rubrics)


def _unchanged(run: PastRun, system: System) -> Iterator[ScoreDifference]:
    """Return changes of nothing: the same item scores give the same scores, and nothing needs to be computed to know it."""
    (total,) = system.rows(run.layers["totals"])
    scores = [(TOTAL, total["total_before_veto"], total["n_scored"])]
    scores += system.of(run.layers["ability_scores"]).select("ability", "score_0_100", "n_scored").rows()
    for what, score, items in scores:
        if score is not None:
            yield ScoreDifference(what=what, before=score, after=score, change=0.0, n_items=items, note="the same replies")


def _system_scores(run: PastRun, system: System) -> SystemScores:
    (row,) = system.rows(run.layers["totals"])
    scored = system.of(run.layers["dataset_scores"]).drop_nulls("score_0_100")["dataset"]
    return SystemScores(row["vetoed"], row["coverage"], row["item_coverage"], frozenset(scored))


def _with_failures(scores: SystemScores, run: PastRun, system: System) -> SystemScores:
    """Add whose failures cost items."""
    (row,) = system.rows(run.layers["totals"])
    roles_of, of_others = find_lost(*(run.read(layer, **system._asdict()) for layer in ("item_scores", "answers")))
    failed = {
        dataset: frozenset(name_role(run.manifest, role, system.model) for role in roles) for dataset, roles in roles_of.items()
    }
    return replace(scores, failed=failed, lost_by_others=of_others / max(row["n_total"], 1))


def _contents(refs: Sequence[PartitionRef]) -> set[tuple[str, str]]:
    return {(ref.key("dataset"), ref.content_sha256) for ref in refs}


def _changed_items(before: PastRun, after: PastRun) -> frozenset[str]:
    """Return datasets of both runs whose items, what is known of their contexts, or whose gold are not the same."""
    built = [layer for layer, row in LAYERS.items() if row.written_by == "build"]
    was, now = ({(layer, *pair) for layer in built for pair in _contents(run.partitions(layer))} for run in (before, after))
    in_both = {dataset for _, dataset, _ in now} & {dataset for _, dataset, _ in was}
    return frozenset(dataset for _, dataset, _ in now ^ was if dataset in in_both)
