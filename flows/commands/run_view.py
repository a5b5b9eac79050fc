"""Lay out a run for a terminal: what came out, in one screen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import rich.table
from rich.console import Group, RenderableType

from flows.commands.console import bold, label_system
from flows.commands.screen import FirstFit, ScoreBar, Screen, plain_grid
from schemas.documents.leaderboard import SystemRow
from schemas.documents.run import Cost, RunDocument
from schemas.folders import DEFAULT_LAKE
from schemas.lineage import Missing
from schemas.roles import PEOPLE
from schemas.table import Cell, Column, Interval, Table, columns
from schemas.tables.comparisons import OF_ALL
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.compare.regression import list_some
from tasks.judging.rubrics import order_dimensions
from tasks.lake.manifest import list_runs, read_changes, run_number
from tasks.reporting.content.operations import model_costs_table
from tasks.reporting.content.verdicts import state_said
from tasks.runs.baselines import Baselines
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System
from tasks.text.number_format import bracketed, count, counted, number, percent, share_of, signed

MOST_TOLD = 3
"""Systems with a sentence each; of more only those whose total does not simply stand. As many failures, gaps and so on."""

MANY, MOST_SYSTEMS = 10, 18
"""Systems of which one sentence is told at most, and that are listed."""

MOST_DATASETS = 12
BAR, SHORT_BAR = 20, 10
LONGEST_ERROR = 200
"""Characters of a server's own words."""

Scores = dict[str, dict[System, Cell]]
"""Scores by their titles and systems, each with its interval."""


def run_view(document: RunDocument, run: PastRun, *ends: str, next_steps: bool = True) -> list[RenderableType]:
    """Return a run for a terminal; `ends`: its last lines, before the next steps."""
    rows = document.models
    systems = [System(row.model, row.setting) for row in rows]
    told = rows if len(rows) <= MOST_TOLD else [row for row in rows if row.verdict != "scored"]
    blocks = dict(_blocks(document, run))
    above: list[RenderableType] = [
        bold(run.blueprint.title, f" ({document.benchmark})"),
        *told_headlines(told, MOST_TOLD if len(rows) < MANY else 1),
        "",
    ]
    between: list[RenderableType] = []
    # Where few datasets are scored, or some were chosen, each stands for itself.
    if run.manifest.plan.get("datasets") is not None or any(row.verdict == "too little scored" for row in rows):
        above.append(_dataset_table(document, run))
    elif len(systems) == 1:
        above += [_bars(blocks, systems[0]), *_weakest_line(document, run)]
    else:
        labels = label_systems(systems)
        above += [_ranking(document, labels, has_tasks=_has_tasks(run))]
        between = [_columns(title, scores, labels) for title, scores in blocks.items()]
    changes = read_changes(run.lake.root, run.name)
    state = [f"{changes.state}: {state_said(changes)}"] if changes and (changes.previous or changes.state != "Completed") else []
    ends = (*state, f"Run {run_number(run.name) or ''}".rstrip() + f": {document.run}", f"Report: {document.report}", *ends)
    steps = [_next_steps(document, run)] if next_steps else []
    return [Screen(above, between, ["", *_care(document, run), *usage_view(document.cost), *ends, *steps])]


def told_headlines(told: Sequence[SystemRow], most: int = MOST_TOLD) -> Iterator[str]:
    """Yield the headlines of systems, and how many more there are."""
    yield from (row.headline for row in told[:most])
    yield from _more(len(told) - most, "system without a total that stands", "systems without a total that stands")


def _more(n: int, noun: str, plural: str | None = None) -> Iterator[str]:
    if n > 0:
        yield f"and {counted(n, f'more {noun}', plural and f'more {plural}')}: --json lists them"


def _has_tasks(run: PastRun) -> bool:
    """Return whether a benchmark has so many tasks that its weakest ones say more than its abilities do."""
    return len([*run.blueprint.tasks()]) > MOST_TOLD


def label_systems(systems: Sequence[System]) -> dict[System, str]:
    """Return names of the systems: those of their models where all are in one setting."""
    alike = len({system.setting for system in systems}) == 1
    return {system: system.model if alike else system.label for system in systems}


def _blocks(document: RunDocument, run: PastRun) -> Iterator[tuple[str, Scores]]:
    """Yield abilities, then what a report leads with of a dataset, then dimensions where each dataset is rated."""
    abilities: Scores = {}
    for row in document.abilities:
        gate = f"gate: at least {row.threshold:g}" if row.threshold is not None else ""
        cell = Cell(row.score, gate, interval=Interval.of(row.ci_low, row.ci_high))
        abilities.setdefault(row.title, {})[System(row.model, row.setting)] = cell
    if len(abilities) > 1 or not document.headlines:
        yield f"{run.blueprint.ability_word[:-1].capitalize()}ies", abilities
    for entry in document.headlines:
        scores: Scores = {name: {} for name in entry.metrics}
        for row in entry.scores:
            cell = Cell(row.score, interval=Interval.of(row.ci_low, row.ci_high))
            scores[row.headline][System(row.model, row.setting)] = cell
        yield entry.dataset if len(document.headlines) > 1 else "Scores", scores
    if {row.dataset for row in document.dimension_scores} == set(run.blueprint.datasets):
        yield from _dimensions(document, run)


def _dimensions(document: RunDocument, run: PastRun) -> Iterator[tuple[str, Scores]]:
    """Yield the rated dimensions of each dataset, put on 0-100; people's ratings where no judge rated."""
    rated = sorted(document.dimension_scores, key=lambda row: (row.dataset, row.rubric, row.judge == PEOPLE))
    for (dataset, rubric), rows in groupby(rated, key=attrgetter("dataset", "rubric")):
        scores: Scores = {}
        for row in rows:
            low, span = row.scale_min, row.scale_max - row.scale_min
            ends = (row.mean, row.ci_low, row.ci_high)
            mean, *limits = (None if end is None else 100 * (end - low) / span for end in ends)
            cell = Cell(mean, interval=Interval.of(*limits))
            scores.setdefault(row.dimension, {}).setdefault(System(row.model, row.setting), cell)
        order = order_dimensions(rubric, scores, run.blueprint.own_rubrics)
        yield run.blueprint.datasets[dataset].title, {name.replace("_", " ").capitalize(): scores[name] for name in order}


def _number(cell: Cell) -> str:
    return number(cell.value if isinstance(cell.value, float) else None)


def _words(cell: Cell) -> str:
    return f"{_number(cell)}{bracketed(*cell.interval or (None, None))}"


def _bars(blocks: Mapping[str, Scores], system: System) -> rich.table.Table:
    """Return the scores of one system, a line and a bar each."""
    first, *_ = blocks
    grid = rich.table.Table(first, "95 % interval", "", "", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, scores in blocks.items():
        if title != first:
            grid.add_row(bold(title))
        for name, cells in scores.items():
            cell = cells.get(system, Cell(None))
            grid.add_row(name, _words(cell), ScoreBar(cell.value if isinstance(cell.value, float) else 0.0, BAR), cell.note)
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
        bar = ScoreBar(row.total or 0.0, SHORT_BAR) if row.verdict == "scored" else row.verdict
        gained = f"{signed(gain.gain)}{bracketed(gain.ci_low, gain.ci_high)}" if gain else ""
        total = (
            _words(Cell(row.total, interval=Interval.of(row.ci_low, row.ci_high)))
            if row.verdict == "scored"
            else number(row.total)
        )
        lowest = f"{number(task.score)} {task.title}" if task and has_tasks else ""
        grid.add_row(count(row.rank), labels[system], total, gained if gains else bar, lowest)
    if (more := len(document.models) - MOST_SYSTEMS) > 0:
        grid.add_row("", f"and {more} more: --json lists them")
    return grid


def _columns(title: str, scores: Scores, labels: Mapping[System, str]) -> RenderableType:
    """Return scores with a column or else a row for each system, with intervals if these fit; nothing if it is too wide."""
    cells = {name: [of.get(system, Cell(None)) for system in labels] for name, of in scores.items()}
    forms = []
    for told in (_words, _number):
        by_score = [(name, *map(told, row)) for name, row in cells.items()]
        forms.append(Table((Column(title, "name"), *columns("number", *labels.values())), by_score))
        by_system = [(label, *(told(row[n]) for row in cells.values())) for n, label in enumerate(labels.values())]
        forms.append(Table((Column(title), *columns("score", *cells)), by_system))
    return FirstFit(*map(plain_grid, forms), Group())


def _weakest_line(document: RunDocument, run: PastRun) -> Iterator[str]:
    if document.weakest_tasks and _has_tasks(run):
        yield "Weakest tasks: " + ", ".join(f"{row.title} {number(row.score)}" for row in document.weakest_tasks)


def _care(document: RunDocument, run: PastRun) -> Iterator[str]:
    """Yield what to know before one trusts a score: replies, instruments, published numbers, calls, gaps."""
    lacking = [row for row in document.models if row.n_scored < row.n_total or row.datasets_scored < row.datasets_total]
    for row in lacking[:MOST_TOLD]:
        datasets = f"{row.datasets_scored} of {counted(row.datasets_total, 'dataset')}"
        yield f"Scored of {label_system(row)}: {datasets}, {count(row.n_scored)} of {counted(row.n_total, 'item')}"
    yield from _more(len(lacking) - MOST_TOLD, "system with gaps", "systems with gaps")
    unread = sorted((row for row in document.unread if row.unread), key=lambda row: row.unread / row.total, reverse=True)
    for replies in unread[:MOST_TOLD]:
        where = list_some([f"{run.blueprint.datasets[name].title} {n}" for name, n in replies.datasets.items()], MOST_TOLD)
        share = percent(share_of(replies.unread, replies.total))
        yield f"Unread replies of {label_system(replies)}: {count(replies.unread)} of {count(replies.total)} ({share}): {where}"
    yield from _more(len(unread) - MOST_TOLD, "system with unread replies", "systems with unread replies")
    if not unread:
        yield f"Unread replies: none of {count(sum(row.total for row in document.unread))}"
    faults = [row for row in document.instruments if not row.failed and row.instrument != "reader"]
    yield from (f"{label_system(fault)}: {fault.words}" for fault in faults[:MOST_TOLD])
    yield from _more(len(faults) - MOST_TOLD, "fault")
    yield from _published(document.models)
    yield f"Calls: {document.calls.line}"
    for failure in document.failures[:MOST_TOLD]:
        yield f"Failed: {counted(failure.calls, 'call')} of {failure.model}, {failure.what}. What to do: {failure.next_step}"
        if failure.error:  # repr escapes characters that move the cursor or hide others
            yield f"  The first error: {failure.error[:LONGEST_ERROR]!r}"
    yield from _more(len(document.failures) - MOST_TOLD, "kind of failure", "kinds of failure")
    yield from missing_lines(document.missing)


def _published(rows: Sequence[SystemRow]) -> Iterator[str]:
    """Yield how far totals may be compared with the paper's: a line for each verdict."""
    records = [row.comparability for row in rows if row.comparability]
    for verdict, some in groupby(sorted(records, key=attrgetter("verdict")), key=attrgetter("verdict")):
        alike = [*some]
        whose = "" if len(alike) == len(records) else f" of {list_some([label_system(record) for record in alike], MOST_TOLD)}"
        position = f"; {alike[0].position.words}" if len(alike) == 1 and alike[0].position else ""
        reasons = counted(len(alike[0].reasons), "reason")
        yield f"Published numbers of {alike[0].paper}{whose}: {verdict}{position} (moodflow explain gives {reasons})"


def missing_lines(gaps: Iterable[Missing]) -> list[str]:
    """Return lines for a terminal about datasets that have no score, or not over all their rows, one for each reason."""
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for gap in gaps:
        alike.setdefault((gap.reason, gap.next_step), {})[gap.dataset] = None
    lines = [f"Missing: {list_some([*names])}: {reason}; {step}" for (reason, step), names in alike.items()]
    return [
        *lines[:MOST_TOLD],
        *_more(len(lines) - MOST_TOLD, "reason for gaps", "reasons for gaps"),
    ]


def usage_view(cost: Cost) -> list[RenderableType]:
    """Return tokens and cost for a terminal, by model where there are prices, and what has to be known about them."""
    if not cost.models:
        return []
    if cost.currency is None:
        tokens = f"Tokens: {count(cost.total.prompt_tokens)} in prompts, {count(cost.total.completion_tokens)} in replies"
        return [" ".join((f"{tokens}.", *cost.notes[:1])), *cost.notes[1:]]
    table = model_costs_table(cost.models, cost.currency)
    kept = [
        n for n, column in enumerate(table.columns) if not column.title.endswith(("ent", "journal", "sent now", "received now"))
    ]
    rows = [[row[n] for n in kept] for row in table.rows]
    return [plain_grid(Table(tuple(table.columns[n] for n in kept), rows)), *cost.notes]


def _next_steps(document: RunDocument, run: PastRun) -> RenderableType:
    """Return commands that lead on from a run."""
    runs = list_runs(run.lake.root)

    def handle(name: str) -> str:
        return "latest" if name == runs[0] else str(run_number(name) or name)

    where = "" if str(run.lake.root) == str(DEFAULT_LAKE) else f" --lake {run.lake.root}"
    steps = [(f"explain {handle(run.name)}", "how the total came about")]
    if document.weakest_tasks:
        task = document.weakest_tasks[0]
        options = "".join(f" {word}" for word in run.options(System(task.model, task.setting)))
        steps.append((f"explain {handle(run.name)}{options} --dataset {task.dataset} --worst 5", "replies of the weakest task"))
    if document.previous:
        steps.append((f"compare {handle(document.previous)} {handle(run.name)}", "what changed since the run before"))
    else:
        steps.append((f"leaderboard {document.benchmark}", "beside your other runs"))
    grid = rich.table.Table.grid(padding=(0, 2, 0, 0))
    for command, purpose in steps:
        grid.add_row(f"moodflow {command}{where}", purpose)
    return FirstFit(grid, Group(*(f"moodflow {command}{where}" for command, _ in steps)))


def _dataset_table(document: RunDocument, run: PastRun) -> RenderableType:
    """Return each score of a dataset with its interval, unreadable replies, and what the best constant answer earns."""
    items, answers = Items.cast(run.read("items")), Answers.cast(run.read("answers"))
    baselines = ReportData(run.manifest, run.blueprint, items=items, answers=answers).baselines
    heads = (
        *(Column("Dataset", "name"), Column("Model"), Column("Metric"), Column("Score", "number", 3)),
        *(Column("95 % interval", "interval", 3), Column("Items", "count"), Column("Unread", "count")),
        Column("Constant answer", "number", 3),
    )
    rows = []
    for row in document.raw_scores[:MOST_DATASETS]:
        constant = baselines.get((row.dataset, row.metric), Baselines()).constant
        always = f"{number(constant.share, 3)}, always {constant.letter}" if constant else None
        ends = Interval.of(row.ci_low, row.ci_high)
        items_scored = f"{row.n_scored} of {row.n_total}"
        rows.append((row.dataset, label_system(row), row.metric, row.value, ends, items_scored, row.n_unparsed, always))
    table = Table(heads, rows).without_constant("Model")
    return plain_grid(table)
