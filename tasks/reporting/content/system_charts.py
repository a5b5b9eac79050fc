"""Describe figures of systems that are shown together: totals beside the gate, abilities, and the map of tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from schemas.blueprint import Blueprint
from schemas.chart import Beside, Chart, Point
from schemas.documents.leaderboard import JudgedTotal, SystemRow
from schemas.paper import LIKENESS, Comparability
from schemas.table import Column, Interval, Table, Value, columns
from tasks.reporting.content.score_tree import LETTERS, ability_scores
from tasks.reporting.content.tables import metric_paths, rescale_interval, task_paths
from tasks.reporting.content.verdicts import TotalVerdict
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System
from tasks.runs.score_tree import Scores, scores_of
from tasks.scoring.published import TOTAL, PublishedTable, as_table, published_of
from tasks.text.number_format import interval, listed, number, say_ends

MOST = 24
"""Rows of a figure; more cannot be told apart, and make a page heavy."""


@dataclass(frozen=True, eq=False)
class ShownSystem:
    """A system in a figure.

    `paper`: what it stands beside as far as it is comparable. `constants`: what constant answers earn on the same items.
    `anchor`: its place in the page.
    """

    total: JudgedTotal
    record: Comparability | None
    scores: Scores
    paper: PublishedTable
    constants: Mapping[str, float]
    anchor: str = ""
    name: str = ""

    @property
    def stands(self) -> bool:
        """Whether it has a total that no veto made 0."""
        return self.total.has_total and self.total.verdict != "vetoed"

    def point_at(self, part: str) -> str:
        """Return the anchor of a part of its score tree, empty outside of a page."""
        return f"{self.anchor}-{part}" if self.anchor else ""


def show_systems(
    run: PastRun | ReportData,
    rows: Sequence[SystemRow | TotalVerdict],
    constants: Mapping[str, float],
    anchors: Sequence[str] = (),
) -> list[ShownSystem]:
    """Return these systems of a run. `anchors`: of each in the page."""
    layers, paper = run.layers, run.paper if isinstance(run, ReportData) else as_table(published_of(run.blueprint))
    return [
        ShownSystem(row, row.comparability, scores_of(layers, System(row.model, row.setting)), paper, constants, anchor)
        for row, anchor in zip(rows, anchors or [""] * len(rows), strict=True)
    ]


def chart_systems(systems: Sequence[ShownSystem], blueprint: Blueprint) -> dict[str, Chart]:
    """Return the figures of systems that are shown together, by name; none where nothing was scored.

    The highest total stands first; vetoed systems, then those without a total, stand last. Of one system its abilities are in
    the headline.
    """
    is_plain = len({each.total.setting for each in systems}) == 1  # what all have in common is not said
    ranked = [replace(each, name=each.total.model if is_plain else each.scores.system.label) for each in systems]
    ranked.sort(key=lambda each: (not each.stands, each.total.verdict != "vetoed", -(each.total.total_before_veto or 0.0)))
    charts = {"headline": _chart_headline, "abilities": _chart_abilities, "map": _chart_map}
    few = f" The first {MOST} of {len(ranked)} are shown." if len(ranked) > MOST else ""
    drawn = {name: draw(ranked[:MOST], blueprint) for name, draw in charts.items()} if systems else {}
    shown = {name: replace(chart, note=f"{chart.note}{few}".strip()) for name, chart in drawn.items()}
    return {name: chart for name, chart in shown.items() if any(point.value is not None for point in chart.points)}


def _chart_headline(systems: Sequence[ShownSystem], blueprint: Blueprint) -> Chart:
    """Return the totals, ranked, and what the gate requires; of one system its abilities stand below its total."""
    points = [_total_point(each) for each in systems]
    abilities = [point for each in systems for point in _ability_points(each, blueprint)]
    points += [point for point in abilities if len(systems) == 1 or point.beside.threshold is not None]
    title = f"Total of {systems[0].name}" if len(systems) == 1 else "Totals"
    return _dots(title, _say_totals(systems), points)


def _chart_abilities(systems: Sequence[ShownSystem], blueprint: Blueprint) -> Chart:
    """Return the main abilities; of a benchmark with one of these, the scores that lead its report."""
    by_ability = [*zip(*(_ability_points(each, blueprint) for each in systems), strict=True)]
    points = [point for same in by_ability for point in same]
    if len(by_ability) == 1:
        points = [*_headline_points(systems, blueprint)] or points
    return _dots("Abilities", _say_means(systems, [(point.series, point.value) for point in points]), points)


def _chart_map(systems: Sequence[ShownSystem], blueprint: Blueprint) -> Chart:
    """Return the score of each system on each task, below the ability that the task belongs to."""
    points, lines = list[Point](), list[Sequence[Value]]()
    for path in task_paths(blueprint):
        title, main = path.task.title, path.main.title
        scores = [each.scores.row("task_scores", path.task.id).get("score_0_100") for each in systems]
        above = "" if main == title else main
        points += [Point(each.name, title, above, score) for each, score in zip(systems, scores, strict=True)]
        lines.append((main, title, *scores))
    heads = (*columns("name", "Ability", "Task"), *columns("score", *(each.name for each in systems), digits=1))
    words = _say_means(systems, [(str(point.y), point.value) for point in points])
    return Chart("Tasks by model", words, "grid", tuple(points), Table(heads, lines, "Tasks by model"))


def _say_means(systems: Sequence[ShownSystem], scores: Iterable[tuple[str, float | None]]) -> str:
    """Return which of the scores, by title, are the highest and the lowest."""
    by_title: dict[str, list[float]] = {}
    for title, score in scores:
        if score is not None:
            by_title.setdefault(title, []).append(score)
    means = {title: fmean(values) for title, values in by_title.items()}
    return say_ends("The score" if len(systems) == 1 else "The mean score", means) if means else "Nothing was scored."


def _dots(title: str, words: str, points: Sequence[Point]) -> Chart:
    heads = (*columns("name", "Score of", "Model"), Column("Score", "score"), Column("95 % interval", "interval"))
    beside = (*columns("score", "Constant answer", "Gate"), Column("Published", "interval"))
    rows = [(point.series, point.y, point.value, Interval.of(point.low, point.high), point.x, *point.beside) for point in points]
    numbers = Table((*heads, Column("Remark"), *beside), rows, title)
    numbers = numbers.without_empty("Remark", *(head.title for head in beside))
    return Chart(title, words, "dots", tuple(points), numbers, note=_note(points))


def _total_point(shown: ShownSystem) -> Point:
    total, verdict = shown.total, shown.total.verdict
    remark = "" if verdict == "scored" else "veto undecided" if verdict == "undecided" else verdict
    likeness = shown.record.verdict if shown.record else LIKENESS[-1]
    beside = Beside(shown.constants.get(TOTAL), None, _published(shown, TOTAL, likeness))
    score, anchor = (total.total_before_veto, total.ci_low, total.ci_high), shown.point_at("total")
    return Point(remark, shown.name, "Total", *score, is_hollow=not shown.stands, beside=beside, anchor=anchor)


def _ability_points(shown: ShownSystem, blueprint: Blueprint) -> list[Point]:
    points = []
    for ability in ability_scores(shown.total, shown.scores, blueprint):
        gate = "" if ability.threshold is None else f" (gate: {number(ability.threshold, 0)})"
        likeness = shown.record.abilities.get(ability.id, LIKENESS[-1]) if shown.record else LIKENESS[-1]
        published = _published(shown, ability.id, likeness)
        beside = Beside(shown.constants.get(ability.id), ability.threshold, published)
        score = (ability.score, ability.ci_low, ability.ci_high)
        anchor = shown.point_at(f"{LETTERS['ability']}-{ability.id}")
        points.append(Point("", shown.name, f"{ability.title}{gate}", *score, beside=beside, anchor=anchor))
    return points


def _published(shown: ShownSystem, name: str, likeness: str) -> Interval | None:
    """Return where published scores lie, unless the score may not be set beside them."""
    return None if likeness == LIKENESS[-1] else shown.paper.range_of(name, shown.total.setting)


def _headline_points(systems: Sequence[ShownSystem], blueprint: Blueprint) -> Iterator[Point]:
    """Yield the scores that lead a report, by title."""
    for path in metric_paths(blueprint):
        for each in systems if path.spec.headline else ():
            row = each.scores.row("normalized_scores", *path.key) | each.scores.row("raw_scores", *path.key)
            ends = rescale_interval(path.spec.normalisation, row.get("ci_low"), row.get("ci_high"))
            low, high = (ends.low, ends.high) if ends else (None, None)
            yield Point("", each.name, path.spec.headline or "", row.get("normalized_0_100"), low, high)


def _say_totals(systems: Sequence[ShownSystem]) -> str:
    if len(systems) == 1:
        return systems[0].total.headline
    first, verdicts = systems[0].total, [each.total for each in systems]
    best = f"{systems[0].name} has the highest total, {number(first.total)}" if systems[0].stands else "No total stands"
    ends = f" (95 % interval {interval(first.ci_low, first.ci_high)})" if systems[0].stands and first.ci_low is not None else ""
    counts = {
        "Vetoed": sum(total.verdict == "vetoed" for total in verdicts),
        "Without a total": sum(not total.has_total for total in verdicts),
    }
    return " ".join((f"{best}{ends}.", *(f"{what}: {n} of {len(systems)}." for what, n in counts.items() if n)))


def _note(points: Sequence[Point]) -> str:
    """Return how to read the figure, and which of its scores no constant answer has."""
    sides = zip(*(point.beside for point in points), strict=True)
    constants, gates, published = (any(each is not None for each in side) for side in sides)
    signs = {
        "Line: 95 % interval.": any(point.low is not None for point in points),
        "Hollow: the score before the veto, or of a run without a total.": any(point.is_hollow for point in points),
        "Dark tick: best constant answer.": constants,
        "Brown tick: gate.": gates,
        "Grey band: published models.": published,
    }
    known = {point.series: point.beside.constant is not None for point in points}
    lacking = [title for title, is_known in known.items() if not is_known]
    of = f" for {listed(lacking)}" if 0 < len(lacking) < len(known) else ""
    without = f"No constant answer{of}: not every dataset is multiple choice." if lacking else ""
    return " ".join(filter(None, (*(sign for sign, is_there in signs.items() if is_there), without)))
