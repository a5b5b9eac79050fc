"""Build the score tree of a report: from a total down to datasets and example rows, each with what it adds to the one above.

Scores, weights and shares are those of tasks.runs.score_tree; intervals between dataset and total are computed here, from the
standard errors of the metrics below.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schemas.blueprint import Ability, Blueprint
from schemas.documents.leaderboard import JudgedTotal
from schemas.documents.run_scores import AbilityScore
from schemas.documents.score_part import MetricPart, ScorePart
from schemas.metrics import METRICS, CentredNormalisation
from schemas.table import Interval
from schemas.vocabulary import Level
from tasks.reporting.content.caveats import MissingScores
from tasks.reporting.content.tables import RawRow, has_levels, rescale_interval
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.content.weaknesses import Example, Weakness
from tasks.runs.baselines import no_better
from tasks.runs.run_tables import ReportData
from tasks.runs.score_tree import Scores, explain_ability, explain_total
from tasks.runs.verdict import name_score
from tasks.scoring.label_scores import FOLDED
from tasks.scoring.normalisation import raw_bounds, slope
from tasks.statistics.intervals import Term, addend_of, stored_spread, sum_limits

LETTERS = {"ability": "a", "sub_ability": "a", "level": "l", "task": "t", "dataset": "d"}
"""What the anchor of each kind of part begins with."""

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
    interval: Interval | None
    in_total: float | None
    reason: str | None
    children: tuple["Node", ...] = ()
    numbers: tuple[RawRow, ...] = ()
    advice: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()

    @property
    def constant_said(self) -> str:
        """That it is no better than constant answers; empty = it is, or that is not known."""
        return no_better(self.part.score, self.part.constant, digits=1)

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
    return Node(
        anchor=f"{source.anchor}-total",
        kind="total",
        title=name_score(verdict.verdict),
        part=replace(total, datasets_total=verdict.datasets_total),
        interval=Interval.of(verdict.ci_low, verdict.ci_high),
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
    return {
        "model": row.model,
        "setting": row.setting,
        "id": part.id,
        "title": part.title,
        "score": part.score,
        "constant": part.constant,
        **limits,
    }


def interval_of(part: ScorePart) -> Interval | None:
    """Return the interval of a score by the metrics below it, as that of a total; null if one that counts has none.

    Metrics of a dataset rest on the same items. How they vary together is not stored, so they are taken to vary alike.
    """
    leaves = list(_leaves(part)) if part.score is not None else []
    if len(leaves) < 2:  # noqa: PLR2004 (one metric alone keeps its interval)
        return next((rescale_interval(leaf.normalisation, leaf.ci_low, leaf.ci_high) for leaf, _ in leaves), None)
    terms: dict[str, list[Term]] = {}
    for leaf, share in leaves:
        terms.setdefault(leaf.dataset, []).append(_term(leaf, share))
    folds = any(leaf.metric in FOLDED or isinstance(leaf.normalisation, CentredNormalisation) for leaf, _ in leaves)
    low, high = sum_limits(np.array([part.score]), [addend_of(each) for each in terms.values()], folds=folds)
    return None if np.isnan(low[0]) else Interval(float(low[0]), float(high[0]))


def _leaves(part: ScorePart, share: float = 1.0) -> Iterator[tuple[MetricPart, float]]:
    """Yield the metrics that count for a score, with what each has of it."""
    if part.measured:
        yield part.measured, share
    for below in part.parts:
        if below.share:
            yield from _leaves(below, share * below.share)


def _term(leaf: MetricPart, share: float) -> Term:
    bounds, rule = METRICS[leaf.metric].bounds, leaf.normalisation
    value = np.array([leaf.raw], dtype=np.float64)
    points = share * np.abs(slope(value, bounds or (0.0, 1.0), rule.type, *raw_bounds(rule)))
    return Term(points, stored_spread(value, bounds, leaf.standard_error, leaf.n_clusters))
