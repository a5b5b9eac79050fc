"""Compare the scores of the same stored replies in both profiles, side by side. Never calls a model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl
from rich.markup import escape
from rich.table import Table

from flows.commands.console import CommandResult, decimal, folded, label_system, numbers, text_table
from flows.planning.jobs import scorable
from flows.planning.resolve import obstacles, resolve
from flows.runtime.prefect_server import on_server
from flows.score import nothing_to_score, score, without_replies
from schemas.lineage import Missing, StageResult
from schemas.plan import Plan
from schemas.tables.layers import LAYERS
from schemas.vocabulary import Profile
from tasks.analysis.number_format import signed
from tasks.analysis.run_tables import Row, System
from tasks.scoring.blueprints import profiled_blueprint

READ = ("dataset_scores", "ability_scores", "totals")


class ProfileScores(NamedTuple):
    """Scores of one profile. `layers` are those of READ by name, without rows where nothing can be scored."""

    layers: Mapping[str, pl.DataFrame]
    missing: tuple[Missing, ...] = ()

    @property
    def scored(self) -> frozenset[str]:
        """Datasets with a score, of one model at least."""
        return frozenset(self.layers["dataset_scores"].drop_nulls("score_0_100")["dataset"])


class ProfilePair(NamedTuple):
    """Both profiles."""

    corrected: ProfileScores
    reference: ProfileScores

    def rows(self, layer: str, name: str | None = None) -> Iterator[tuple[System, str, Row, Row]]:
        """Rows of a layer that belong together: system, name, row of each profile; empty where it has none."""
        found = (side.layers[layer].iter_rows(named=True) for side in self)
        left, right = ({(System(row["model"], row["setting"]), row[name] if name else ""): row for row in rows} for rows in found)
        for system, one in dict.fromkeys([*left, *right]):
            yield system, one, left.get((system, one), {}), right.get((system, one), {})


Comparison = tuple[ProfilePair, ProfilePair]
"""Both profiles, over every dataset that each of them can score and over the common ones, which both can."""


async def run_compare(plan: Plan) -> CommandResult:
    """Score the plan's stored replies in both profiles and show them side by side; the plan's own profile does not matter."""
    resolve(plan.model_copy(update={"datasets": None})).lake.require_writable()
    return compare_result(plan, await on_server(lambda: compare_profiles(plan)))


async def compare_profiles(plan: Plan) -> Comparison:
    """Score in both profiles, then over the datasets both have scored: means over different datasets cannot be compared.

    Raises:
        UsageError: if none of the plan's replies are in the lake.
    """
    every = ProfilePair(await score_side(plan, "corrected"), await score_side(plan, "reference"))
    if all(side.layers["totals"].is_empty() for side in every):
        raise nothing_to_score(plan)
    common = every.corrected.scored & every.reference.scored
    shared = plan.model_copy(update={"datasets": tuple(sorted(common)), "bootstrap": 0})
    corrected = every.corrected if every.corrected.scored == common else await score_side(shared, "corrected")
    reference = every.reference if every.reference.scored == common else await score_side(shared, "reference")
    return every, ProfilePair(corrected, reference)


async def score_side(plan: Plan, profile: Profile) -> ProfileScores:
    """Score a plan in one profile; a dataset it names that the profile cannot score is missing there, not an error."""
    plan = plan.model_copy(update={"profile": profile})
    gaps = obstacles(plan)
    named = profiled_blueprint(plan.benchmark, profile).datasets if plan.datasets is None else plan.datasets
    possible = plan.model_copy(update={"datasets": tuple(name for name in named if name not in gaps)})
    resolved = resolve(possible)
    lake = resolved.lake
    if not scorable(resolved.jobs):
        unasked = [without_replies(job) for job in resolved.jobs]
        empty = {layer: LAYERS[layer].create_empty() for layer in READ}
        return ProfileScores(empty, (*gaps.values(), *unasked))
    result: StageResult = await score(possible)
    layers = {ref.layer: lake.read(ref, LAYERS[ref.layer]) for ref in result.refs if ref.layer in READ}
    return ProfileScores(layers, (*gaps.values(), *result.missing))


def compare_result(plan: Plan, comparison: Comparison) -> CommandResult:
    """What `moodflow compare` prints; status 1 if a dataset of the plan has no corrected score."""
    rows, (every, _) = compare_rows(comparison), comparison
    document = {
        "benchmark": plan.benchmark,
        "rows": rows,
        "common_datasets": sorted(every.corrected.scored & every.reference.scored),
        "missing": {
            "corrected": [gap.model_dump() for gap in every.corrected.missing],
            "reference": [gap.model_dump() for gap in every.reference.missing],
        },
    }
    return CommandResult(int(bool(every.corrected.missing)), document, [compare_table(rows)])


def compare_rows(comparison: Comparison) -> list[Row]:
    """One JSON object per system and thing compared.

    Each has `model`, `setting`, `kind` (`total`, `ability`, `dataset`), `name`, `over` (`every` dataset each profile can score,
    or the `common` ones), `corrected`, `reference` and `difference` (reference - corrected; null if one of them is) on 0-100, and
    `why`: why one of them is missing or vetoed, or over how many datasets each was computed.
    """
    every, common = comparison
    rows = [(row, "every") for row in (*_totals(every), *_abilities(every))]
    rows += [(row, "common") for row in (*_totals(common), *_abilities(common))]
    rows += [(row, "every") for row in _datasets(every)]
    return [{**row, "over": over} for row, over in rows]


def _totals(pair: ProfilePair) -> Iterator[Row]:
    for system, _, ours, theirs in pair.rows("totals"):
        for name in ("total_before_veto", "total"):
            vetoes = {"corrected": ours.get("veto_reason"), "reference": theirs.get("veto_reason")}
            why = [f"{profile}: {reason}" for profile, reason in vetoes.items() if reason and name == "total"]
            yield _row(system, ("total", name), (ours.get(name), theirs.get(name)), why)


def _abilities(pair: ProfilePair) -> Iterator[Row]:
    for system, name, ours, theirs in pair.rows("ability_scores", "ability"):
        corrected, reference = (row.get("datasets_scored", 0) for row in (ours, theirs))
        why = [f"over {corrected} datasets corrected, {reference} reference"] if corrected != reference else []
        yield _row(system, ("ability", name), (ours.get("score_0_100"), theirs.get("score_0_100")), why)


def _datasets(pair: ProfilePair) -> Iterator[Row]:
    gaps = [{gap.dataset: gap.reason for gap in side.missing} for side in pair]
    for system, name, ours, theirs in pair.rows("dataset_scores", "dataset"):
        values = (ours.get("score_0_100"), theirs.get("score_0_100"))
        lacking = [gap[name] for gap, value in zip(gaps, values, strict=True) if value is None and name in gap]
        if values != (None, None) or lacking:  # else it was not asked for
            yield _row(system, ("dataset", name), values, list(dict.fromkeys(lacking)))


def _row(system: System, what: tuple[str, str], values: tuple[float | None, float | None], why: list[str]) -> Row:
    corrected, reference = values
    difference = None if corrected is None or reference is None else reference - corrected
    scores = {"corrected": corrected, "reference": reference, "difference": difference}
    return {**system._asdict(), "kind": what[0], "name": what[1], **scores, "why": why}


def compare_table(rows: Sequence[Row]) -> Table:
    """Return the comparison for a terminal: totals and abilities over all that each profile can score and over what both can."""
    table = text_table("Model", "Score", "Datasets", *numbers("Corrected", "Reference", "Difference"), folded("Why"))
    for row in rows:
        values = (decimal(row["corrected"]), decimal(row["reference"]), signed(row["difference"], 2))
        table.add_row(escape(label_system(row)), row["name"], row["over"], *values, escape(" ".join(row["why"])))
    return table
