"""What the page of a leaderboard shows besides the ranking: the totals of all runs, and where their reports are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import environ
from os.path import relpath
from pathlib import Path

from schemas.addresses import REPORTS_URL
from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version
from tasks.leaderboard.ranking import LeaderboardData, find_regressed, in_groups, manifests_of
from tasks.runs.past_run import past_run
from tasks.runs.verdict import judge_totals


def stored_leaderboard(folder: Folder, ranked: LeaderboardData, page: Path) -> LeaderboardData:
    """Return what the page of stored models shows: the ranked, and the totals of all runs of the benchmark as history.

    Links to reports start at the page's file.
    """
    manifests, lake = manifests_of(ranked.blueprint, folder), Lake(folder, read_code_version())
    opened = {manifest.run: past_run(manifest, lake) for manifest in manifests}
    ranked_runs = {manifest.run for manifest in ranked.manifests}
    regressed, damaged = find_regressed(folder, (manifest for manifest in manifests if manifest.run not in ranked_runs))
    return replace(
        ranked,
        history=judge_totals(in_groups(manifests, lake)[1], ranked.blueprint, opened),
        manifests=manifests,
        links=report_links(manifests, folder, page),
        regressed=ranked.regressed | regressed,
        damaged=ranked.damaged | damaged,
    )


def report_links(manifests: Sequence[RunManifest], folder: Folder, page: Path) -> Mapping[str, str]:
    """Return each report's address: where reports are served, else its file as seen from the page, if that is on this disk."""
    reports = {manifest.run: manifest.report for manifest in manifests if manifest.report is not None}
    if served := environ.get(REPORTS_URL):
        return {run: f"{served.rstrip('/')}/{run}/{Path(report).name}" for run, report in reports.items()}
    if not isinstance(folder, Path):
        return {}
    return {run: Path(relpath(folder / report, page.resolve().parent)).as_posix() for run, report in reports.items()}
