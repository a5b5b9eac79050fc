"""Build the score tree of a report: from a total down to datasets and example rows, each with what it adds to the one above.

Scores, weights and shares are those of tasks.runs.score_tree; intervals between dataset and total, for which no bootstrap was
run, are put together from those of their parts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

from schemas.blueprint import Ability, Blueprint
from schemas.documents.leaderboard import JudgedTotal
from schemas.documents.run_scores import AbilityScore
from schemas.documents.score_part import ScorePart
from schemas.vocabulary import Level
from tasks.reporting.content.caveats import MissingScores
from tasks.reporting.content.tables import HIGHEST, RawRow, ScoreInterval, has_levels, rescale_interval
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.content.weaknesses import Example, Weakness
from tasks.runs.run_tables import ReportData
from tasks.runs.score_tree import Scores, explain_ability, explain_total
from tasks.runs.verdict import name_score

LETTERS = {"ability": "a", "sub_ability": "a", "level": "l", "task": "t", "dataset": "d"}
"""What the anchor of each kind of part begins with."""

LOWEST = 0.0
NOT_EVALUATED = "not evaluated in this version"


@dataclass(frozen=True)
class Node:
    """One number of the tree, and those it is the weighted mean of.

    `part`: its score, weight and share of the number above. `in_total`: what it adds to the total before the veto, null under the
    gate and without a score. `numbers` and `examples`: of datasets; `advice`: of tasks.
    """

    anchor: str
    kind: str
    title: str
    part: ScorePart
    interval: ScoreInterval | None
    in_total: float | None
    reason: str | None
    children: tuple["Node", ...] = ()
    numbers: tuple[RawRow, ...] = ()
    advice: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def level(self, name: Level) -> "Node | None":
        """Return the level of this name right below; null if it has no tasks there."""
        return next((child for child in self.children if child.kind == "level" and child.part.id == name), None)


@dataclass(frozen=True)
class TreeSource:
    """What a tree is built from: a system, its scores, where it stands in the page, and what is known about its tasks."""

    data: ReportData
    scores: Scores
    anchor: str
    missing: MissingScores
    findings: Mapping[str, Weakness]


def build_tree(source: TreeSource, verdict: TotalVerdict) -> Node:
    """Build the tree of one system: total, abilities, sub-abilities, levels (where tasks have several), tasks, datasets."""
    total = explain_total(source.scores, source.data.blueprint)
    counted = {part.id: part for part in total.parts}
    bounds = None
    if verdict.ci_low is not None and verdict.ci_high is not None:
        bounds = ScoreInterval(verdict.ci_low, verdict.ci_high, approximate=False)
    return Node(
        anchor=f"{source.anchor}-total",
        kind="total",
        title=name_score(verdict.verdict),
        part=replace(total, datasets_total=verdict.datasets_total),
        interval=bounds,
        in_total=total.score,
        reason=None,
        children=tuple(_main_ability(source, main, counted) for main in source.data.blueprint.abilities),
    )


def _main_ability(source: TreeSource, main: Ability, counted: Mapping[str, ScorePart]) -> Node:
    if main.id in counted:
        return _node(source, counted[main.id], 1.0)
    node = _node(source, replace(explain_ability(source.scores, main, source.data.blueprint), weight=0.0), None)
    return replace(node, kind="gate") if main.evaluated else replace(node, reason=NOT_EVALUATED)


def _node(source: TreeSource, part: ScorePart, factor: float | None, above: str = "") -> Node:
    """Build a part's node. `factor`: share of the part above in the total, null where it adds nothing. `above`: its id."""
    inner = None if factor is None or part.share is None else factor * part.share
    names = [below.id for below in part.walk() if below.kind == "dataset"]
    children = tuple(_node(source, child, inner, part.id) for child in _parts_shown(source, part))
    node = Node(
        anchor=f"{source.anchor}-{LETTERS[part.kind]}-{f'{above}-' if part.kind == 'level' else ''}{part.id}",
        kind=part.kind.replace("_", "-"),
        title=part.title.capitalize() if part.kind == "level" else part.title,
        part=part,
        interval=interval_of(part),
        in_total=None if inner is None or part.score is None else inner * part.score,
        reason=source.missing.reasons(source.scores.system, names) if part.score is None and names else None,
        children=children,
    )
    if part.kind == "task":
        return replace(node, advice=source.findings[part.id].advice)
    if part.kind == "dataset":
        numbers = (row for row in source.findings[above].numbers if row.path.dataset == part.id)
        examples = (example for example in source.findings[above].examples if example.dataset == part.id)
        return replace(node, numbers=tuple(numbers), examples=tuple(examples))
    return node


def _parts_shown(source: TreeSource, part: ScorePart) -> tuple[ScorePart, ...]:
    """Return the parts below one; those of its only level where a benchmark has no others, none of a dataset."""
    if part.kind == "dataset":
        return ()
    if has_levels(source.data.blueprint) or not all(below.kind == "level" for below in part.parts):
        return part.parts
    return tuple(task for level in part.parts for task in level.parts)


def ability_scores(row: JudgedTotal, scores: Scores, blueprint: Blueprint) -> Iterator[AbilityScore]:
    """Yield the scores of a system's main abilities; the interval of a gate is that of its total's row."""
    for main in (main for main in blueprint.abilities if main.dataset_ids):
        gate = blueprint.gate if blueprint.gate and blueprint.gate.ability == main.id else None
        fields = part_fields(row, explain_ability(scores, main, blueprint))
        ends = {"ci_low": row.gate_ci_low, "ci_high": row.gate_ci_high} if gate else {}
        yield AbilityScore(**fields | ends, threshold=gate.threshold if gate else None)


def part_fields(row: JudgedTotal, part: ScorePart) -> dict[str, Any]:
    """Return the fields of a PartScore."""
    ends = interval_of(part)
    limits = {"ci_low": ends and ends.low, "ci_high": ends and ends.high}
    return {"model": row.model, "setting": row.setting, "id": part.id, "title": part.title, "score": part.score, **limits}


def interval_of(part: ScorePart) -> ScoreInterval | None:
    """Return the interval of a score from those of the metrics below it; null if one that counts has none."""
    if part.score is None:
        return None
    if measured := part.measured:
        return rescale_interval(measured.normalisation, measured.ci_low, measured.ci_high)
    # All metrics of a dataset rest on the same items.
    return join_intervals(((below, interval_of(below)) for below in part.parts), same_items=part.kind == "dataset")


def join_intervals(parts: Iterable[tuple[ScorePart, ScoreInterval | None]], *, same_items: bool = False) -> ScoreInterval | None:
    """Return interval of a weighted mean from those of its parts; null if a part that counts has none.

    Distances of the ends from the scores are added up: in squares where the parts rest on different items and so vary on their
    own, plainly where they rest on the same ones. One part alone keeps its interval.

    Args:
        parts: with the interval of each, null = none known. Those without a share count for nothing.
        same_items: whether all parts are measured on the same items.

    Source: Zou and Donner 2008 (MOVER), for sums with positive weights.
    """
    counted = [(part.share, part.score, interval) for part, interval in parts if part.share and part.score is not None]
    bounded = [(share, score, interval) for share, score, interval in counted if interval is not None]
    if not counted or len(bounded) < len(counted):
        return None
    if len(bounded) == 1:
        return bounded[0][2]
    score = sum(share * score for share, score, _ in bounded)
    below = [share * (score - interval.low) for share, score, interval in bounded]
    above = [share * (interval.high - score) for share, score, interval in bounded]
    down, up = (sum(below), sum(above)) if same_items else (_root(below), _root(above))
    return ScoreInterval(max(LOWEST, score - down), min(HIGHEST, score + up), approximate=True)


def _root(distances: list[float]) -> float:
    return sqrt(sum(distance**2 for distance in distances))
