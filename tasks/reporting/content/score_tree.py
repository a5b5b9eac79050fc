"""The drill-down: a total as a tree down to datasets and example rows, each node with what it adds to the one above."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from schemas.blueprint import Ability, Task
from schemas.vocabulary import LEVELS, Level
from tasks.analysis.run_tables import ReportData, System
from tasks.reporting.content.advice import Advice
from tasks.reporting.content.benchmark import has_levels, metric_places
from tasks.reporting.content.caveats import MissingScores
from tasks.reporting.content.spans import IntervalPart, ScoreInterval, join_spans, rescale_span
from tasks.reporting.content.tables import NOT_EVALUATED, RawRow
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.reporting.content.weaknesses import Example, Weakness

Kind = Literal["total", "ability", "gate", "sub-ability", "level", "task", "dataset"]
COUNTS = ("datasets_scored", "datasets_total", "n_scored", "n_total")


@dataclass(frozen=True)
class Node:
    """One number of the tree, and those it is the weighted mean of.

    `share`: of the number above, among what was scored beside it; 0 if it does not count, null if it has no score. `points`:
    share x score, what it adds to the number above. `in_total`: what it adds to the total before the veto.
    """

    anchor: str
    kind: Kind
    title: str
    score: float | None
    span: ScoreInterval | None
    weight: float
    datasets_scored: int
    datasets_total: int
    n_scored: int
    n_total: int
    reason: str | None
    children: tuple["Node", ...] = ()
    numbers: tuple[RawRow, ...] = ()
    advice: tuple[Advice, ...] = ()
    examples: tuple[Example, ...] = ()
    share: float | None = None
    in_total: float | None = None

    @property
    def points(self) -> float | None:
        """What it adds to the number above, in points."""
        return None if self.share is None or self.score is None else self.share * self.score

    def walk(self) -> Iterator["Node"]:
        """This node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class NodePath:
    """What a tree is made of: whose it is, where it stands in the page, and what is known about its tasks."""

    data: ReportData
    system: System
    anchor: str
    gaps: MissingScores
    findings: dict[str, Weakness]

    def rows(self, layer: str, key: str) -> dict[str, dict[str, Any]]:
        """Rows of a layer about this system by the name in one of its columns."""
        return {row[key]: row for row in self.system.rows(getattr(self.data, layer))}


def drill_down(place: NodePath, verdict: TotalVerdict) -> Node:
    """The tree of one system: total, abilities, sub-abilities, levels (where tasks have several), tasks, datasets."""
    blueprint = place.data.blueprint
    gate = blueprint.gate.ability if blueprint.gate else None
    children = _ability_nodes(place, blueprint.abilities, gate)
    bounds = None
    if verdict.ci_low is not None and verdict.ci_high is not None:
        bounds = ScoreInterval(verdict.ci_low, verdict.ci_high, approximate=False)
    root = Node(
        anchor=f"{place.anchor}-total",
        kind="total",
        title="Total before the veto" if verdict.state == "vetoed" else "Total",
        score=verdict.before_veto,
        span=bounds,
        weight=1.0,
        datasets_scored=verdict.datasets_scored,
        datasets_total=verdict.datasets_total,
        n_scored=verdict.n_scored,
        n_total=verdict.n_total,
        reason=None,
        children=children,
        share=None if verdict.before_veto is None else 1.0,
    )
    return _say_in_total(root, 1.0)


def _say_in_total(node: Node, factor: float | None) -> Node:
    """The tree with what each node adds to the total; what stands under the gate adds nothing and says nothing."""
    inner = None if factor is None or node.share is None or node.kind == "gate" else factor * node.share
    added = None if inner is None or node.score is None else inner * node.score
    return replace(node, in_total=added, children=tuple(_say_in_total(child, inner) for child in node.children))


def _share_out(children: Sequence[Node]) -> tuple[Node, ...]:
    """Each child's share of the weighted mean over what has a score."""
    whole = sum(child.weight for child in children if child.score is not None)
    return tuple(
        child if child.score is None else replace(child, share=child.weight / whole if whole else 0.0) for child in children
    )


def _join(children: Sequence[Node], *, same_items: bool = False) -> ScoreInterval | None:
    parts = [IntervalPart(c.share, c.score, c.span) for c in children if c.share is not None and c.score is not None]
    return join_spans(parts, same_items=same_items)


def _node(place: NodePath, row: dict[str, Any] | None, datasets: list[str], **fields: Any) -> Node:
    """A node from its row in a layer; what has no row was not scored."""
    score = row["score_0_100"] if row else None
    counts = {name: row[name] for name in COUNTS} if row else dict.fromkeys(COUNTS, 0) | {"datasets_total": len(datasets)}
    reason = place.gaps.reasons(place.system, datasets) if score is None and datasets else None
    span = _join(fields.get("children", ())) if score is not None else None
    return Node(**{"score": score, "span": span, "reason": reason, **counts, **fields})


def _ability_nodes(place: NodePath, abilities: Sequence[Ability], gate: str | None, tier: int = 1) -> tuple[Node, ...]:
    rows = place.rows("ability", "ability") if tier == 1 else place.rows("sub_ability", "sub_ability")
    nodes = []
    for ability in abilities:
        children = _ability_nodes(place, ability.children, None, tier + 1) or _level_nodes(place, ability)
        is_gate = ability.id == gate
        kind: Kind = "gate" if is_gate else "ability" if tier == 1 else "sub-ability"
        names = [entry.id for _, node in ability.walk() for task in node.tasks for entry in task.datasets]
        node = _node(
            place,
            rows.get(ability.id),
            names,
            anchor=f"{place.anchor}-a-{ability.id}",
            kind=kind,
            title=ability.title,
            weight=0.0 if is_gate else ability.weight,
            children=children,
        )
        nodes.append(node if ability.evaluated else replace(node, reason=NOT_EVALUATED))
    return _share_out(nodes)


def _level_nodes(place: NodePath, ability: Ability) -> tuple[Node, ...]:
    """The levels of an ability that has tasks; its tasks where the benchmark has one level only."""
    if not has_levels(place.data.blueprint):
        return _task_nodes(place, ability.tasks)
    found = {row["level"]: row for row in place.system.rows(place.data.level) if row["sub_ability"] == ability.id}
    present = frozenset(level for level, row in found.items() if row["score_0_100"] is not None)
    weights: dict[Level, float] = {}
    for rule in place.data.blueprint.level_rules:
        if frozenset(rule.weights) == present:
            weights = dict(rule.weights)
    nodes = []
    for level in LEVELS:
        tasks = tuple(task for task in ability.tasks if task.level == level)
        if tasks:
            node = _node(
                place,
                found.get(level),
                [entry.id for task in tasks for entry in task.datasets],
                anchor=f"{place.anchor}-l-{ability.id}-{level}",
                kind="level",
                title=f"{level.capitalize()} level",
                weight=weights.get(level, 0.0),
                children=_task_nodes(place, tasks),
            )
            nodes.append(node)
    return _share_out(nodes)


def _task_nodes(place: NodePath, tasks: Sequence[Task]) -> tuple[Node, ...]:
    rows = place.rows("task", "task")
    nodes = [
        _node(
            place,
            rows.get(task.id),
            [entry.id for entry in task.datasets],
            anchor=f"{place.anchor}-t-{task.id}",
            kind="task",
            title=task.title,
            weight=task.weight,
            children=_dataset_nodes(place, task),
            advice=place.findings[task.id].advice,
        )
        for task in tasks
    ]
    return _share_out(nodes)


def _dataset_nodes(place: NodePath, task: Task) -> tuple[Node, ...]:
    rows, finding = place.rows("dataset", "dataset"), place.findings[task.id]
    nodes = []
    for entry in task.datasets:
        node = _node(
            place,
            rows.get(entry.id),
            [entry.id],
            anchor=f"{place.anchor}-d-{entry.id}",
            kind="dataset",
            title=place.data.blueprint.datasets[entry.id].title,
            weight=entry.weight,
            numbers=tuple(row for row in finding.numbers if row.dataset == entry.id),
            examples=tuple(example for example in finding.shown if example.dataset == entry.id),
        )
        nodes.append(replace(node, span=_span_of_dataset(place, entry.id, finding.numbers)))
    return _share_out(nodes)


def _span_of_dataset(place: NodePath, dataset: str, numbers: Sequence[RawRow]) -> ScoreInterval | None:
    found = {(row.method, row.metric): row for row in numbers if row.dataset == dataset}
    counted = []
    for metric in metric_places(place.data.blueprint):
        row = found.get((metric.method.id, metric.spec.metric))
        if metric.dataset == dataset and row is not None and row.normalized_0_100 is not None and metric.spec.weight:
            span = rescale_span(metric.spec.normalisation, row.ci_low, row.ci_high)
            counted.append((metric.spec.weight, row.normalized_0_100, span))
    whole = sum(weight for weight, _, _ in counted)
    # All metrics of a dataset rest on the same items.
    return join_spans((IntervalPart(weight / whole, score, span) for weight, score, span in counted), same_items=True)
