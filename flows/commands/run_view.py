"""Lay out a run for a terminal: what came out, in one screen."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import rich.table
from rich.bar import Bar
from rich.console import Group, RenderableType

from flows.commands.console import MOST_TOLD, bold, count_rest, first_lines, terminal_table
from flows.commands.run_notes import run_notes, usage_view
from flows.commands.screen import FirstFit, Screen
from schemas.documents.leaderboard import SystemRow
from schemas.documents.run import RunDocument
from schemas.folders import DEFAULT_LAKE
from schemas.roles import PEOPLE
from schemas.table import Column, Table, columns
from schemas.tables.comparisons import OF_ALL
from tasks.certificates.lookup import marked
from tasks.judging.rubrics import order_dimensions, title_dimension
from tasks.lake.manifest import list_runs, read_changes, run_number
from tasks.reporting.content.verdicts import state_said
from tasks.runs.baselines import no_better, tell_no_better
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.verdict import BEST, label_of
from tasks.text.number_format import bracketed, count, number

MANY, MOST_SYSTEMS = 10, 18
"""Systems of which one sentence is told at most, and that are listed."""

MOST_DATASETS = 12
BAR, SHORT_BAR = 20, 10


class Score(NamedTuple):
    """A score on 0-100 with its 95 % interval, and what to say beside it."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def words(self) -> str:
        """Return the score and its interval."""
        return f"{number(self.value)}{bracketed(self.low, self.high)}"


Scores = dict[str, dict[System, Score]]
"""Scores by their titles and systems."""


def run_view(document: RunDocument, run: PastRun, *ends: str, next_steps: bool = True) -> list[RenderableType]:
    """Return a run for a terminal; `ends`: its last lines, before the next steps."""
    rows = document.models
    labels = {System(row.model, row.setting): label for row, label in zip(rows, label_systems(rows), strict=True)}
    told = rows if len(rows) <= MOST_TOLD else [row for row in rows if row.unranked]
    blocks = dict(_blocks(document, run))
    # With fewer, the weakest ones say no more than the abilities do.
    has_tasks = len([*run.blueprint.tasks()]) > MOST_TOLD
    above: list[RenderableType] = [
        bold(run.blueprint.title, f" ({document.benchmark})"),
        *first_lines([row.headline for row in told], MOST_TOLD if len(rows) < MANY else 1),
        *first_lines([*_no_better(document)]),
        "",
    ]
    between: list[RenderableType] = []
    # Where few datasets are scored, or some were chosen, each stands for itself.
    if run.manifest.plan.get("datasets") is not None or any(row.verdict == "too little scored" for row in rows):
        above.append(_dataset_table(document))
    elif len(rows) == 1:
        weakest = ", ".join(f"{row.title} {number(row.score)}" for row in document.weakest_tasks)
        above += [_bars(blocks, *labels), *([f"Weakest tasks: {weakest}"] if weakest and has_tasks else [])]
    else:
        above += [_ranking(document, labels, has_tasks=has_tasks)]
        between = [_columns(title, scores, labels) for title, scores in blocks.items()]
    changes = read_changes(run.lake.root, run.name)
    state = (
        [f"{changes.state}: {state_said(changes)}"]
        if changes and (changes.previous or changes.unwatched or changes.state != "Completed")
        else []
    )
    ends = (*state, f"Report of run {document.number or document.run}: {document.report or 'none was written'}", *ends)
    steps = _next_steps(document, run) if next_steps else ()
    return [Screen(above, between, ["", *run_notes(document, run), *usage_view(document.cost), *ends, *steps])]


def label_systems(rows: Sequence[SystemRow]) -> list[str]:
    """Return the name of each row's system: that of its model where all are in one setting."""
    alike = len({row.setting for row in rows}) == 1
    return [row.model if alike else label_of(row) for row in rows]


def _no_better(document: RunDocument) -> Iterator[str]:
    """Yield the totals and abilities that are no better than constant answers."""
    for row in document.models:
        named = [("Its total", row.total_before_veto, row.constant)]
        named += [(each.title, each.score, each.constant) for each in document.abilities if label_of(each) == label_of(row)]
        if told := [said for scores in named for said in tell_no_better(*scores)]:
            yield f"{label_of(row)}: {'; '.join(told)}."


def _blocks(document: RunDocument, run: PastRun) -> Iterator[tuple[str, Scores]]:
    """Yield abilities, then what a report leads with of a dataset, then dimensions where each dataset is rated."""
    abilities: Scores = {}
    for row in document.abilities:
        gate = f"gate: at least {row.threshold:g}" if row.threshold is not None else ""
        score = Score(row.score, row.ci_low, row.ci_high, gate)
        datasets = next((main.dataset_ids for main in run.blueprint.abilities if main.id == row.id), ())
        abilities.setdefault(marked(row.title, document.judges, datasets), {})[System(row.model, row.setting)] = score
    if len(abilities) > 1 or not document.headlines:
        yield f"{run.blueprint.ability_word[:-1].capitalize()}ies", abilities
    for entry in document.headlines:
        scores: Scores = {name: {} for name in entry.metrics}
        for each in entry.scores:
            scores[each.headline][System(each.model, each.setting)] = Score(each.score, each.ci_low, each.ci_high)
        title = entry.dataset if len(document.headlines) > 1 else "Scores"
        ids = {name for name, dataset in run.blueprint.datasets.items() if dataset.title == entry.dataset}
        yield marked(title, document.judges, ids), scores
    if {row.dataset for row in document.dimension_scores} == set(run.blueprint.datasets):
        yield from _dimensions(document, run)


def _dimensions(document: RunDocument, run: PastRun) -> Iterator[tuple[str, Scores]]:
    """Yield the rated dimensions of each dataset, put on 0-100; people's ratings where no judge rated."""
    rated = sorted(document.dimension_scores, key=lambda row: (row.dataset, row.rubric, row.judge == PEOPLE))
    for (dataset, rubric), rows in groupby(rated, key=attrgetter("dataset", "rubric")):
        scores: Scores = {}
        for row in rows:
            least, span = row.scale_min, row.scale_max - row.scale_min
            points = (row.mean, row.ci_low, row.ci_high)
            mean, low, high = (None if value is None else BEST * (value - least) / span for value in points)
            scores.setdefault(row.dimension, {}).setdefault(System(row.model, row.setting), Score(mean, low, high))
        order = order_dimensions(rubric, scores, run.blueprint.own_rubrics)
        title = marked(run.blueprint.datasets[dataset].title, document.judges, {dataset})
        own = run.blueprint.own_rubrics
        yield title, {title_dimension(rubric, name, own).capitalize(): scores[name] for name in order}


def _bars(blocks: Mapping[str, Scores], system: System) -> rich.table.Table:
    first, *_ = blocks
    grid = rich.table.Table(first, "95 % interval", "", "", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, scores in blocks.items():
        if title != first:
            grid.add_row(bold(title))
        for name, of in scores.items():
            score = of.get(system, Score())
            grid.add_row(name, score.words, Bar(BEST, 0, score.value or 0.0, width=BAR), score.note)
    return grid


def _ranking(document: RunDocument, labels: Mapping[System, str], *, has_tasks: bool) -> rich.table.Table:
    """Return systems by rank with a bar of their total, what a setting gains, and the task in which each is weakest."""
    gains = {System(row.model, row.setting): row for row in document.gains if row.scope == OF_ALL}
    weakest = {System(row.model, row.setting): row for row in reversed(document.weakest_tasks)}
    grid = rich.table.Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, expand=True)
    for title in ("#", "Model", "Total, 95 % interval", "Gain over Base" if gains else ""):
        grid.add_column(title, no_wrap=title != "Model", overflow="fold")
    grid.add_column("Weakest task" if has_tasks else "", ratio=1, no_wrap=True, overflow="ellipsis")
    for row in document.models[:MOST_SYSTEMS]:
        system = System(row.model, row.setting)
        gain, task = gains.get(system), weakest.get(system)
        total = number(row.total)
        beside: RenderableType = row.verdict
        if row.verdict == "scored":
            total = Score(row.total, row.ci_low, row.ci_high).words
            gained = f"{gain.gain:+.1f}{bracketed(gain.ci_low, gain.ci_high)}" if gain else ""
            beside = gained if gains else Bar(BEST, 0, row.total or 0.0, width=SHORT_BAR)
        lowest = f"{number(task.score)} {task.title}" if task and has_tasks else ""
        rank = f"{count(row.rank)} ({row.rank_range})" if row.rank_range else count(row.rank)
        grid.add_row(rank, labels[system], total, beside, lowest)
    for line in count_rest(len(document.models) - MOST_SYSTEMS):
        grid.add_row("", line)
    return grid


def _columns(title: str, scores: Scores, labels: Mapping[System, str]) -> RenderableType:
    """Return scores with a column or else a row for each system, with intervals if these fit; nothing if it is too wide."""
    forms = []
    for told in (lambda score: score.words, lambda score: number(score.value)):
        cells = {name: [told(of.get(system, Score())) for system in labels] for name, of in scores.items()}
        by_score = [(name, *row) for name, row in cells.items()]
        by_system = list(zip(labels.values(), *cells.values(), strict=True))
        forms.append(Table((Column(title, "name"), *columns("number", *labels.values())), by_score))
        forms.append(Table((Column(title), *columns("score", *cells)), by_system))
    return FirstFit(*map(terminal_table, forms), Group())


def _next_steps(document: RunDocument, run: PastRun) -> Iterator[str]:
    """Yield commands that lead on: to how the total came about, to replies of the weakest task, to all, to other runs."""
    newest, *_ = list_runs(run.lake.root)

    def handle(name: str) -> str:
        return "latest" if name == newest else str(run_number(name) or name)

    own, where = handle(run.name), "" if str(run.lake.root) == str(DEFAULT_LAKE) else f" --lake {run.lake.root}"
    if document.failures:
        yield "moodflow docs failures"
    yield f"moodflow explain {own}{where}"
    for task in sorted(document.weakest_tasks, key=attrgetter("score"))[:1]:
        options = "".join(f" {word}" for word in run.options(System(task.model, task.setting)))
        yield f"moodflow explain {own}{options} --dataset {task.dataset} --worst 5{where}"
    yield f"moodflow view {own}{where}"
    other = f"compare {handle(document.previous)} {own}" if document.previous else f"leaderboard {document.benchmark}"
    yield f"moodflow {other}{where}"


def _dataset_table(document: RunDocument) -> RenderableType:
    """Return each score of a dataset with its interval, unreadable replies, and what the best constant answer earns."""
    numbers = columns("number", "Score, 95 % interval", "Items", "Unread", "Constant answer")
    metrics = Counter((row.dataset, row.model, row.setting) for row in document.raw_scores)
    rows = []
    for row in document.raw_scores[:MOST_DATASETS]:
        beside = no_better(row.value, row.constant, row.constant_answer)
        always = beside or (f"{number(row.constant, 3)}, always {row.constant_answer}" if row.constant_answer else None)
        several = metrics[row.dataset, row.model, row.setting] > 1
        name = marked(f"{row.dataset} ({row.metric})" if several else row.dataset, document.judges, {row.dataset})
        score = f"{number(row.value, 3)}{bracketed(row.ci_low, row.ci_high, 3)}"
        scored = count(row.n_total) if row.n_scored == row.n_total else f"{count(row.n_scored)} of {count(row.n_total)}"
        rows.append((name, label_of(row), score, scored, row.n_unparsed, always))
    table = Table((*columns("text", "Dataset", "Model"), *numbers), rows).without_constant("Model")
    return Group(terminal_table(table), *count_rest(len(document.raw_scores) - MOST_DATASETS))
