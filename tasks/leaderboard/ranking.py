"""Rank the models of one run, of several, of the whole lake, or of a paper together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import polars as pl

from schemas.blueprint import Blueprint
from schemas.certificates import CoveredDataset
from schemas.documents.leaderboard import Chosen, Group, PublishedRow, StoredRow, SystemRow
from schemas.errors import UsageError, try_each
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.model_description import ModelDescription
from schemas.paper import Comparability
from schemas.tables.layers import LAYERS
from schemas.tables.scores import DimensionScores
from schemas.vocabulary import Profile
from tasks.certificates.lookup import covered_datasets, find_certificates, say_judges
from tasks.judging.answers import GOLD
from tasks.lake.lake import Lake
from tasks.lake.manifest import newest_first, read_all_changes, read_code_version, read_listed, read_manifests, resolve_run
from tasks.runs.comparability import compare_run
from tasks.runs.comparable_runs import group_runs
from tasks.runs.exhibits import RankedModels
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_tables import System, ordered
from tasks.runs.verdict import judge_run, judge_totals
from tasks.scoring.aggregation import rank_models
from tasks.scoring.blueprints import load_blueprint, profiled_blueprint
from tasks.scoring.breakdowns import judges_first
from tasks.scoring.published import (
    LANGUAGE,
    paper_of,
    papers,
    published_abilities,
    published_descriptions,
    published_of,
    score_published,
)
from tasks.solvers.registry import setting_order

RUN = "run"
"""Column that says where a row of `totals` comes from."""

GROUP = "group"
"""Column with the number of the group that a row is ranked in."""

RowT = TypeVar("RowT", bound=SystemRow)
Records = Mapping[str | None, Mapping[System, Comparability]]
Descriptions = Mapping[str | None, Mapping[str, ModelDescription]]


@dataclass(frozen=True, eq=False)
class LeaderboardData:
    """Models ranked together, and what a page shows besides: there the history, manifests and links are those of all runs.

    `totals`: rows of `totals`, ranked in their groups, with the run of each in column `run` unless they are a paper's, and
    `fuller_run`, an earlier run of its group with more items scored. `abilities`: rows of `ability_scores` of the same models.
    `history`: rows of `totals` of every run of the benchmark, with columns `run` and `group`, numbered among all of them. Totals
    are judged (`judge_totals`). `manifests`: of these runs, newest first. `links`: address of a run's report, where there is one.
    `scores`: where the score of a run's model and setting is explained, in pages of a server.
    """

    blueprint: Blueprint
    totals: pl.DataFrame
    abilities: pl.DataFrame
    history: pl.DataFrame
    manifests: tuple[RunManifest, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    is_published: bool = False
    groups: tuple[Group, ...] = ()
    regressed: frozenset[tuple[str, str, str]] = frozenset()
    """Run, model and setting of what regressed against the run before, of all manifests."""

    records: Records = field(default_factory=dict)
    """By run: how far its numbers may be set beside the paper's."""

    damaged: frozenset[str] = frozenset()
    """Runs of the manifests of which it cannot be read what changed."""

    dimensions: pl.DataFrame = field(default_factory=DimensionScores.create_empty)
    """Rows of `dimension_scores` of the same models and runs, and of the gold replies that were rated there."""

    runs: Mapping[str, PastRun] = field(default_factory=dict)
    """By name: those behind the ranked models."""

    beside: tuple[PublishedRow, ...] = ()
    """A paper's models that stand beside one's own."""

    about: Descriptions = field(default_factory=dict)
    """By run: what is said of its models."""

    chosen: Chosen = field(default_factory=Chosen)

    judges: Mapping[str, tuple[CoveredDataset, ...]] = field(default_factory=dict)
    """By run: whose ratings count there, and which certificate covers them."""

    @property
    def rows(self) -> list[StoredRow | PublishedRow]:
        """One row per model and setting, ranked ones first, in the groups that were chosen."""
        kind: type[StoredRow | PublishedRow] = PublishedRow if self.is_published else StoredRow
        rows, field = _leaderboard_rows(kind, self.totals, self.abilities, self.records, self.about), self.chosen.group_by
        return sorted(rows, key=lambda row: (row.group or 0, row.said(field) is None, row.said(field) or ""))

    @property
    def models(self) -> RankedModels:
        """What its exhibits are about."""
        return RankedModels(self.blueprint, (*self.rows, *self.beside), paper_of(self.blueprint), self.runs)


def judges_said(data: LeaderboardData) -> tuple[str, ...]:
    """Say of the judges behind the rows what their certificates let them do."""
    runs = dict.fromkeys(row.run or "" for row in data.rows)
    return tuple(say_judges(each for run in runs for each in data.judges.get(run, ())))


def run_rows(run: PastRun, totals: pl.DataFrame | None = None) -> list[SystemRow]:
    """Return one row per model and setting of a run, by setting, ranked ones first.

    `totals`: its judged ones with what else is known of them; null = them alone.
    """
    about: Descriptions = {None: run.manifest.descriptions}
    totals = judge_run(run) if totals is None else totals
    return _leaderboard_rows(SystemRow, totals, run.layers["ability_scores"], {None: compare_run(run)}, about)


def _leaderboard_rows(
    kind: type[RowT], totals: pl.DataFrame, abilities: pl.DataFrame, records: Records, about: Descriptions
) -> list[RowT]:
    """Return one row per model and setting, by group and setting, ranked ones first.

    `totals`: judged, with what else a row of this kind has. `abilities`: rows of `ability_scores`, with the columns of `totals`
    that tell apart rows of one system. `records` and `about`: by run, null where rows have none.
    """
    key = [name for name in ("model", "setting", RUN, LANGUAGE) if name in abilities.columns]
    scores = abilities.rows_by_key(key, named=True)
    rows = []
    for row in sorted(ordered(totals), key=lambda row: (row.get(GROUP, 0), setting_order(row["setting"]))):
        own = {each["ability"]: each["score_0_100"] for each in scores.get(tuple(row[name] for name in key), ())}
        record = records.get(row.get(RUN), {}).get(System(row["model"], row["setting"]))
        said = about.get(row.get(RUN), {}).get(row["model"])
        rows.append(kind.model_validate(row | {"abilities": own, "comparability": record, "about": said}))
    return rows


def rank_stored_systems(benchmark: str, folder: Folder, runs: Sequence[str], profile: Profile) -> LeaderboardData:
    """Return the newest result of each model and setting in these runs, or in all runs of the benchmark if none is named.

    Runs with another sample, seed, judge or whatever else moves a total are another group, with ranks of its own. A model has
    its newest result in each group it is in. UsageError: the lake holds no such run, or one of them is of another benchmark.
    """
    lake, blueprint = Lake(folder, read_code_version()), profiled_blueprint(benchmark, profile)
    names = newest_first(try_each(partial(resolve_run, folder), runs))
    manifests = tuple(read_listed(folder, name) for name in names) or manifests_of(blueprint, folder)
    if not manifests:
        raise UsageError(
            f"the lake has no run of {blueprint.name}",
            where=str(folder),
            next_step=f"moodflow run {benchmark} --model NAME, or --published for the paper's table",
        )
    for manifest in (manifest for manifest in manifests if manifest.benchmark != blueprint.name):
        raise UsageError(
            f"run {manifest.run} belongs to another benchmark",
            where="--run",
            expected=f"a run of {blueprint.name}",
            got=manifest.benchmark,
            next_step=f"moodflow leaderboard {manifest.benchmark} --run {manifest.run}",
        )
    groups, every = in_groups(manifests, lake)
    totals = _newest(every)
    manifests = tuple(manifest for manifest in manifests if manifest.run in totals[RUN])
    abilities = _read(manifests, "ability_scores", lake)
    regressed, damaged = find_regressed(folder, manifests)
    opened, certificates = {manifest.run: past_run(manifest, lake) for manifest in manifests}, find_certificates(lake)
    judges = {name: covered_datasets(run, certificates) for name, run in opened.items()}
    certified = {name: all(each.may_rank for each in covered) if covered else None for name, covered in judges.items()}
    totals = totals.with_columns(certified=pl.col(RUN).replace_strict(certified, return_dtype=pl.Boolean))
    return LeaderboardData(
        blueprint,
        judge_totals(rank_models(totals, blueprint, within=("setting", GROUP)), blueprint, opened),
        abilities.join(totals, on=["model", "setting", RUN], how="semi", maintain_order="left"),
        history=every.clear(),
        manifests=manifests,
        groups=groups,
        regressed=regressed,
        records={name: compare_run(run) for name, run in opened.items()},
        about={manifest.run: manifest.descriptions for manifest in manifests},
        damaged=damaged,
        dimensions=_read_dimensions(manifests, totals, lake),
        runs=opened,
        judges=judges,
    )


def _read_dimensions(manifests: Sequence[RunManifest], totals: pl.DataFrame, lake: Lake) -> pl.DataFrame:
    """Read what judges gave these rows of `totals` by dimension, with the run of each."""
    judged = [manifest for manifest in manifests if any(ref.layer == "dimension_scores" for ref in manifest.partitions)]
    if not judged:
        return DimensionScores.create_empty().with_columns(pl.lit("").alias(RUN))
    scores = judges_first(_read(judged, "dimension_scores", lake))
    gold = scores.filter(pl.col(RUN).is_in(totals[RUN].implode()), setting=GOLD)
    return pl.concat([scores.join(totals, on=["model", "setting", RUN], how="semi", maintain_order="left"), gold])


def find_regressed(folder: Folder, manifests: Iterable[RunManifest]) -> tuple[frozenset[tuple[str, str, str]], frozenset[str]]:
    """Return run, model and setting of every system that regressed against the run before; and runs that cannot tell."""
    changes, damaged = read_all_changes(folder, [manifest.run for manifest in manifests])
    return frozenset((run, system.model, system.setting) for run, own in changes.items() for system in own.regressed), damaged


def in_groups(manifests: Sequence[RunManifest], lake: Lake) -> tuple[tuple[Group, ...], pl.DataFrame]:
    """Return the groups of these runs, and their rows of `totals` with columns `run` and `group`."""
    every = _read(manifests, "totals", lake)
    groups = group_runs(manifests, dict(every.group_by(RUN).agg(pl.col("n_scored").max()).iter_rows()))
    numbers = {run: group.number for group in groups for run in group.runs}
    return groups, every.with_columns(pl.col(RUN).replace_strict(numbers, return_dtype=pl.Int64).alias(GROUP))


def _newest(totals: pl.DataFrame) -> pl.DataFrame:
    """Return the first row of each model and setting in its group, with the run of a later row that has more items scored."""
    system = ["model", "setting", GROUP]
    most = totals.sort("n_scored", descending=True, maintain_order=True).unique(system, keep="first", maintain_order=True)
    most = most.select(*system, most=pl.col("n_scored"), fuller_run=pl.col(RUN))
    newest = totals.unique(system, keep="first", maintain_order=True).join(most, on=system, how="left", maintain_order="left")
    return newest.with_columns(pl.when(pl.col("most") > pl.col("n_scored")).then("fuller_run").alias("fuller_run")).drop("most")


def manifests_of(blueprint: Blueprint, folder: Folder) -> tuple[RunManifest, ...]:
    """Return the manifests of all runs of a benchmark, newest first."""
    return tuple(manifest for manifest in read_manifests(folder) if manifest.benchmark == blueprint.name)


def _read(manifests: Sequence[RunManifest], layer: str, lake: Lake) -> pl.DataFrame:
    """Read a layer of these runs, newest run first, with column `run`."""
    refs = [manifest.partition(layer) for manifest in manifests]
    runs = [manifest.run for manifest, ref in zip(manifests, refs, strict=True) for _ in range(ref.rows)]
    return lake.read_all(refs, LAYERS[layer].schema).with_columns(pl.Series(RUN, runs, pl.String))


def published_leaderboard(benchmark: str) -> LeaderboardData:
    """Return a paper's models through the aggregation and veto the runs use; UsageError: no paper has scores of its abilities."""
    blueprint = load_blueprint(benchmark)
    published = published_of(blueprint)
    if published is None:
        raise UsageError(
            f"there is no published table for {blueprint.name}",
            expected=f"one of {', '.join(sorted(name for paper in papers() for name in paper.blueprints))}",
            got=f"the main abilities {', '.join(ability.id for ability in blueprint.abilities)}",
            next_step="leave out --published and --with-published to see your own runs",
        )
    by_language = LANGUAGE in published.columns
    totals, groups = _by_language(published, blueprint) if by_language else (score_published(published, blueprint), ())
    return LeaderboardData(
        blueprint=blueprint,
        totals=judge_totals(totals, blueprint, {}),
        abilities=published_abilities(published),
        history=totals.clear(),
        is_published=True,
        groups=groups,
        about={None: published_descriptions(blueprint)},
    )


def with_published(ranked: LeaderboardData, published: LeaderboardData) -> LeaderboardData:
    """Return a leaderboard of runs with a paper's models beside."""
    return replace(ranked, beside=tuple(row for row in published.rows if isinstance(row, PublishedRow)))


def _by_language(published: pl.DataFrame, blueprint: Blueprint) -> tuple[pl.DataFrame, tuple[Group, ...]]:
    """Return a paper's totals, ranked within each language over the abilities that have a number in it, and these groups."""
    totals, groups = [], []
    for number, part in enumerate(published.partition_by(LANGUAGE, maintain_order=True), start=1):
        scored = tuple(main for main in blueprint.abilities if main.id in part.columns and part[main.id].count())
        of_part = score_published(part, blueprint.model_copy(update={"abilities": scored}))
        beside = part.drop(main.id for main in blueprint.abilities if main.id in part.columns)
        totals.append(of_part.join(beside, on=["model", "setting"]).with_columns(pl.lit(number).alias(GROUP)))
        groups.append(Group(number=number, runs=(), basis={LANGUAGE: part[LANGUAGE][0]}))
    return pl.concat(totals), tuple(groups)
