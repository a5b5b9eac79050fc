"""Compare the scores of the same stored replies in both profiles, side by side. Never calls a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table

from flows.commands.console import CommandResult
from flows.planning.jobs import eval_jobs, find_ready
from flows.planning.resolve import obstacles, resolve
from flows.runtime.prefect_flows import leave_soon_when_interrupted, on_server, run_to_end, silence_console
from flows.score import nothing_to_score, score, without_replies
from schemas.lineage import Missing, StageResult
from schemas.plan import Plan
from schemas.tables.layers import LAYERS
from schemas.vocabulary import Profile
from tasks.scoring.blueprints import profiled_blueprint

READ = ("dataset_scores", "ability_scores", "totals")
SAME = 0.005
"""Smaller differences are none: scores are shown with two decimals."""

Row = dict[str, Any]
SystemKey = tuple[str, str]
"""Model and setting."""


@dataclass(frozen=True)
class ProfileScores:
    """Scores of one profile. `layers` are those of READ by name, without rows where nothing can be scored."""

    layers: Mapping[str, pl.DataFrame]
    missing: tuple[Missing, ...] = ()

    @property
    def scored(self) -> frozenset[str]:
        """Datasets with a score, of one model at least."""
        known = self.layers["dataset_scores"].filter(pl.col("score_0_100").is_not_null())
        return frozenset(known["dataset"])

    def rows(self, layer: str, name: str | None = None) -> dict[tuple[SystemKey, str], Row]:
        """Rows of a layer by system and the column `name`; "" where there is none."""
        found = self.layers[layer].iter_rows(named=True)
        return {((row["model"], row["setting"]), row[name] if name else ""): row for row in found}


@dataclass(frozen=True)
class ProfilePair:
    """Both profiles."""

    corrected: ProfileScores
    reference: ProfileScores


@dataclass(frozen=True)
class Comparison:
    """Both profiles, over all that each of them can score and over the datasets that both can."""

    every: ProfilePair
    common: ProfilePair
    common_datasets: tuple[str, ...]


def run_compare(plan: Plan) -> CommandResult:
    """Score the plan's stored replies in both profiles and show them side by side; the plan's own profile does not matter.

    Raises:
        UsageError: if none of the plan's replies are in the lake.
        MoodflowError: if something else the user can mend is wrong.
    """
    silence_console()
    leave_soon_when_interrupted()
    return run_to_end(_run(plan))


async def _run(plan: Plan) -> CommandResult:
    resolve(plan.model_copy(update={"datasets": None})).lake.require_writable()

    async def compared() -> CommandResult:
        return compare_result(plan, await compare_profiles(plan))

    return await on_server(compared)


async def compare_profiles(plan: Plan) -> Comparison:
    """Score in both profiles, then over the datasets both have scored: means over different datasets cannot be compared.

    Raises:
        UsageError: if none of the plan's replies are in the lake.
    """
    every = ProfilePair(await score_side(plan, "corrected"), await score_side(plan, "reference"))
    if not every.corrected.rows("totals") and not every.reference.rows("totals"):
        raise nothing_to_score(plan)
    common = every.corrected.scored & every.reference.scored
    shared = plan.model_copy(update={"datasets": tuple(sorted(common)), "bootstrap": 0})
    corrected = every.corrected if every.corrected.scored == common else await score_side(shared, "corrected")
    reference = every.reference if every.reference.scored == common else await score_side(shared, "reference")
    return Comparison(every, ProfilePair(corrected, reference), tuple(sorted(common)))


async def score_side(plan: Plan, profile: Profile) -> ProfileScores:
    """Score a plan in one profile; a dataset it names that the profile cannot score is missing there, not an error."""
    plan = plan.model_copy(update={"profile": profile})
    gaps = obstacles(plan)
    named = profiled_blueprint(plan).datasets if plan.datasets is None else plan.datasets
    possible = plan.model_copy(update={"datasets": tuple(name for name in named if name not in gaps)})
    resolved = resolve(possible)
    wanted, lake = list(eval_jobs(resolved)), resolved.lake
    if not any(find_ready(resolved, job) for job in wanted):
        unasked = [without_replies(job) for job in wanted]
        empty = {layer: LAYERS[layer].create_empty() for layer in READ}
        return ProfileScores(empty, (*gaps.values(), *unasked))
    result: StageResult = await score(possible)
    layers = {ref.layer: lake.read(ref, LAYERS[ref.layer]) for ref in result.refs if ref.layer in READ}
    return ProfileScores(layers, (*gaps.values(), *result.missing))


def compare_result(plan: Plan, comparison: Comparison) -> CommandResult:
    """What `moodflow compare` prints; status 1 if a dataset of the plan has no corrected score."""
    rows = compare_rows(comparison)
    missing = {"corrected": comparison.every.corrected.missing, "reference": comparison.every.reference.missing}
    document = {
        "benchmark": plan.benchmark,
        "rows": rows,
        "common_datasets": list(comparison.common_datasets),
        "missing": {profile: [gap.model_dump() for gap in gaps] for profile, gaps in missing.items()},
    }
    systems = dict.fromkeys((row["model"], row["setting"]) for row in rows)
    view: list[RenderableType] = [compare_table(system, rows) for system in systems]
    return CommandResult(int(bool(missing["corrected"])), document, view)


def compare_rows(comparison: Comparison) -> list[Row]:
    """One JSON object per system and thing compared.

    Each has `model`, `setting`, `kind` (`total`, `ability`, `dataset`), `name`, `over` (`every` dataset each profile can score,
    or the `common` ones), `corrected`, `reference` and `difference` (reference - corrected; null if one of them is) on 0-100, and
    `why`: why one of them is missing or vetoed, or over how many datasets each was computed.
    """
    rows = []
    for over, pair in (("every", comparison.every), ("common", comparison.common)):
        rows += [row for kind in (_totals(pair), _abilities(pair)) for row in _over(kind, over)]
    return [*rows, *_over(_datasets(comparison.every), "every")]


def _over(rows: Iterator[Row], over: str) -> Iterator[Row]:
    for row in rows:
        difference = None if None in scores_of(row) else row["reference"] - row["corrected"]
        yield {**row, "over": over, "difference": difference}


def _totals(pair: ProfilePair) -> Iterator[Row]:
    left, right = pair.corrected.rows("totals"), pair.reference.rows("totals")
    for system in _keys(left, right):
        ours, theirs = left.get(system, {}), right.get(system, {})
        for name in ("total_before_veto", "total"):
            vetoes = {"corrected": ours.get("veto_reason"), "reference": theirs.get("veto_reason")}
            why = [f"{profile}: {reason}" for profile, reason in vetoes.items() if reason and name == "total"]
            yield _row(system, "total", name, (ours.get(name), theirs.get(name)), why)


def _abilities(pair: ProfilePair) -> Iterator[Row]:
    left, right = pair.corrected.rows("ability_scores", "ability"), pair.reference.rows("ability_scores", "ability")
    for key in _keys(left, right):
        values = _score(left.get(key)), _score(right.get(key))
        counts = [row["datasets_scored"] if row else 0 for row in (left.get(key), right.get(key))]
        why = [f"over {counts[0]} datasets corrected, {counts[1]} reference"] if counts[0] != counts[1] else []
        yield _row(key, "ability", key[1], values, why)


def _datasets(pair: ProfilePair) -> Iterator[Row]:
    left, right = pair.corrected.rows("dataset_scores", "dataset"), pair.reference.rows("dataset_scores", "dataset")
    gaps = [{gap.dataset: gap.reason for gap in side.missing} for side in (pair.corrected, pair.reference)]
    for key in _keys(left, right):
        values = _score(left.get(key)), _score(right.get(key))
        lacking = [gap[key[1]] for gap, value in zip(gaps, values, strict=True) if value is None and key[1] in gap]
        if values == (None, None) and not lacking:
            continue  # not asked for
        yield _row(key, "dataset", key[1], values, list(dict.fromkeys(lacking)))


def _keys(*sides: Mapping[tuple[SystemKey, str], Row]) -> list[tuple[SystemKey, str]]:
    return list(dict.fromkeys(key for side in sides for key in side))


def _score(row: Row | None) -> float | None:
    return row["score_0_100"] if row else None


def _row(key: tuple[SystemKey, str], kind: str, name: str, values: tuple[float | None, float | None], why: Sequence[str]) -> Row:
    (model, setting), _ = key
    corrected, reference = values
    named = {"model": model, "setting": setting, "kind": kind, "name": name}
    return {**named, "corrected": corrected, "reference": reference, "why": list(why)}


def compare_table(system: SystemKey, rows: Sequence[Row]) -> Table:
    """The comparison of one model and setting for a terminal: totals, abilities, datasets; reasons where a score is missing."""
    model, setting = system
    title = model if setting == "base" else f"{model} ({setting})"
    table = Table("", "Corrected", "Reference", "Difference", Column("Why", overflow="fold"), title=escape(title), box=SIMPLE)
    own = [row for row in rows if (row["model"], row["setting"]) == system]
    every, common = ([row for row in own if row["over"] == over and row["kind"] != "dataset"] for over in ("every", "common"))
    table.add_row("[bold]All that each profile can score[/bold]")
    _add_rows(table, every)
    if common and [scores_of(row) for row in common] != [scores_of(row) for row in every]:
        table.add_row("[bold]Datasets both can score[/bold]")
        _add_rows(table, common)
    table.add_row("[bold]Datasets[/bold]")
    _add_rows(table, [row for row in own if row["kind"] == "dataset"])
    return table


def scores_of(row: Row) -> tuple[float | None, float | None]:
    """Corrected and reference score of a row."""
    return row["corrected"], row["reference"]


def _add_rows(table: Table, rows: Sequence[Row]) -> None:
    for row in rows:
        difference = row["difference"]
        differs = difference is None or abs(difference) >= SAME
        change = "-" if difference is None else f"{difference:+.2f}" if differs else "0"
        why = escape(" ".join(row["why"])) if differs else ""
        scores = ["-" if score is None else f"{score:.2f}" for score in scores_of(row)]
        table.add_row(row["name"], *scores, change, why)
