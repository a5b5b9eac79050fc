"""Rank the models of one run, of several, of the whole lake, or of a paper together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import environ
from os.path import relpath
from pathlib import Path
from typing import Any

import polars as pl

from schemas.addresses import REPORTS_URL
from schemas.blueprint import Blueprint
from schemas.errors import UsageError
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.tables.layers import LAYERS
from schemas.vocabulary import Profile
from tasks.analysis.past_run import refuse_ablation
from tasks.analysis.published_tables import PublishedTable, read_table
from tasks.analysis.run_tables import ordered
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version, read_manifest, read_manifests
from tasks.metrics.reference.methods import reference_blueprint
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import backdrop_of, published_abilities, published_of, score_published
from tasks.scoring.veto import rank_models

RUN = "run"
"""Column that says where a row of `totals` comes from."""


@dataclass(frozen=True, eq=False)
class LeaderboardData:
    """Models ranked together, and what a page shows besides: there the history, manifests and links are those of all runs.

    `totals`: rows of `totals`, ranked, with the run of each in column `run` unless they are a paper's. `abilities`: rows of
    `ability_scores` of the same models. `history`: rows of `totals` of every run of the benchmark, with column `run`.
    `manifests`: of these runs, newest first. `links`: address of a run's report, where there is one.
    """

    blueprint: Blueprint
    totals: pl.DataFrame
    abilities: pl.DataFrame
    history: pl.DataFrame
    manifests: tuple[RunManifest, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    published: pl.DataFrame | None = None
    is_published: bool = False

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON object per model and setting, ranked ones first."""
        return leaderboard_rows(self.totals, self.abilities)

    @cached_property
    def paper(self) -> PublishedTable:
        """The paper's table in one form."""
        return read_table(self.published)


def leaderboard_rows(totals: pl.DataFrame, abilities: pl.DataFrame) -> list[dict[str, Any]]:
    """Return one JSON object per (model, setting), ranked ones first.

    Args:
        totals: rows of `totals`, with the run of each in column `run` where it is known.
        abilities: rows of `ability_scores`.
    """
    by_system = abilities.rows_by_key(["model", "setting"], named=True)
    shown = [
        *("model", "setting", "total", "ci_low", "ci_high", "total_before_veto"),
        *("gate_score", "vetoed", "veto_reason", "rank", "coverage"),
    ]
    return [
        {name: row[name] for name in shown}
        | {"abilities": {each["ability"]: each["score_0_100"] for each in by_system.get((row["model"], row["setting"]), ())}}
        | ({RUN: row[RUN]} if RUN in row else {})
        for row in ordered(totals)
    ]


def rank_stored_systems(benchmark: str, folder: Folder, runs: Sequence[str], profile: Profile) -> LeaderboardData:
    """Return the newest result of each model and setting in these runs, or in all runs of the benchmark, ranked together.

    Runs scored in one profile and in the other are never ranked together.

    Args:
        benchmark: name or file of a blueprint.
        folder: the lake.
        runs: names; none = all of the benchmark.
        profile: how the runs were scored.

    Raises:
        UsageError: if the lake holds no such run, or one of them is of another benchmark or an ablation.
    """
    lake, blueprint = Lake(folder, read_code_version()), _blueprint(benchmark, profile)
    named = tuple(read_manifest(folder, name) for name in sorted(set(runs), reverse=True))
    manifests = named or _manifests_of(blueprint, folder)
    if not manifests:
        raise UsageError(
            f"no run of {blueprint.name} is in the lake",
            where=str(folder),
            next_step=f"moodflow run {benchmark} --model NAME makes one, or show the paper's table with --published",
        )
    for manifest in manifests:
        _require_totals(manifest, blueprint)
    every = _read(manifests, "totals", lake)
    totals = every.unique(["model", "setting"], keep="first", maintain_order=True)
    abilities = _read(manifests, "ability_scores", lake)
    used = set(totals[RUN])
    return LeaderboardData(
        blueprint,
        rank_models(totals, blueprint),
        abilities.join(totals, on=["model", "setting", RUN], how="semi", maintain_order="left").drop(RUN),
        history=every.clear(),
        manifests=tuple(manifest for manifest in manifests if manifest.run in used),
    )


def _blueprint(benchmark: str, profile: Profile) -> Blueprint:
    blueprint = load_blueprint(benchmark)
    return reference_blueprint(blueprint) if profile == "reference" else blueprint


def _manifests_of(blueprint: Blueprint, folder: Folder) -> tuple[RunManifest, ...]:
    return tuple(one for one in read_manifests(folder) if one.benchmark == blueprint.name and one.ablation is None)


def _require_totals(manifest: RunManifest, blueprint: Blueprint) -> None:
    refuse_ablation(manifest, "--run")
    if manifest.benchmark != blueprint.name:
        raise UsageError(
            f"run {manifest.run} is of another benchmark",
            where="--run",
            expected=f"a run of {blueprint.name}",
            got=manifest.benchmark,
            next_step=f"moodflow leaderboard {manifest.benchmark} --run {manifest.run}",
        )


def _read(manifests: Sequence[RunManifest], layer: str, lake: Lake) -> pl.DataFrame:
    """Read a layer of all runs, newest run first, with column `run`."""
    frames = [(manifest.run, lake.read(manifest.partition(layer), LAYERS[layer])) for manifest in manifests]
    return pl.concat([frame.with_columns(pl.lit(run).alias(RUN)) for run, frame in frames])


def stored_leaderboard(folder: Folder, ranked: LeaderboardData, page: Path) -> LeaderboardData:
    """Return what the page of stored models shows: the ranked, and the totals of all runs of the benchmark as history.

    Args:
        folder: the lake.
        ranked: rows of the ranking.
        page: file it is written to; links to reports start there.
    """
    manifests = _manifests_of(ranked.blueprint, folder)
    return replace(
        ranked,
        history=_read(manifests, "totals", Lake(folder, read_code_version())),
        manifests=manifests,
        links=report_links(manifests, folder, page),
        published=backdrop_of(ranked.blueprint),
    )


def published_leaderboard(benchmark: str) -> LeaderboardData:
    """Return a paper's models through the aggregation and veto the runs use; rows of all settings are ranked together.

    Raises:
        UsageError: if no paper has published scores of the benchmark's abilities.
    """
    blueprint = load_blueprint(benchmark)
    published = published_of(blueprint)
    if published is None:
        raise UsageError(
            f"there is no published table for {blueprint.name}",
            expected="a benchmark of a paper, such as moodbench or longemotion",
            got=f"the main abilities {', '.join(ability.id for ability in blueprint.abilities)}",
            next_step="leave out --published to see your own runs",
        )
    totals = score_published(published, blueprint)
    return LeaderboardData(
        blueprint=blueprint,
        totals=totals,
        abilities=published_abilities(published),
        history=totals.clear(),
        published=backdrop_of(blueprint),
        is_published=True,
    )


def report_links(manifests: Sequence[RunManifest], folder: Folder, page: Path) -> Mapping[str, str]:
    """Return each report's address: where reports are served, else its file as seen from the page, if that is on this disk."""
    served = environ.get(REPORTS_URL)
    found = {}
    for manifest in manifests:
        if manifest.report is None:
            continue
        if served:
            found[manifest.run] = f"{served.rstrip('/')}/{manifest.run}/{Path(manifest.report).name}"
        elif isinstance(folder, Path):
            found[manifest.run] = Path(relpath(folder / manifest.report, page.resolve().parent)).as_posix()
    return found
