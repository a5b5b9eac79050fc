"""The pages `run`, `score` and `map`: from the models of a run down to the rows behind the score of a dataset."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from schemas.documents.explanation import MethodBreakdown, SystemExplanation, TotalExplanation
from schemas.documents.rows import RowFilter
from schemas.documents.score_part import ScorePart
from schemas.table import Cell, Column, Table, Value, columns
from tasks.certificates.lookup import covered_datasets, say_judges
from tasks.explain.rows import explain_rows
from tasks.explain.totals import OPTIONS, BlueprintPath, Selection, choose_systems, explain_score, find_place, places_above
from tasks.explain.words import PART_COLUMNS, metric_lines, part_rows, score_lines, verdict_lines
from tasks.reporting.content.score_tree import interval_of
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, total_cell
from tasks.reporting.view.addresses import Address, PageKind
from tasks.reporting.view.site import Page, records_table
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows
from tasks.runs.failures import count_dialogues_by
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System, ordered
from tasks.runs.score_tree import explain_ability, explain_total, scores_of
from tasks.runs.sections import Block, Section
from tasks.runs.verdict import judge_run, label_of, total_of
from tasks.solvers.registry import setting_title
from tasks.text.number_format import interval, list_counts, number

WAYS: Mapping[PageKind, str] = {
    "unread": "Unread replies, by their shape",
    "failed": "Failed calls, by the server's message",
    "hard": "Items that no model answers right",
    "flips": "Items whose answer changes with the order of options",
    "map": "Every task by every model",
    "compare": "What changed since another run",
}
"""Pages that find something."""

TAINTED = "Dialogues in which the simulated person fell out of its part"


def render_run(page: Page) -> str:
    """Return the page of a run: what came out for each model, and the ways to its rows."""
    run, rows, filters = page.run, [], {"All models": RowFilter()}
    for total in map(total_of, ordered(judge_run(run))):
        system = System(total.model, total.setting)
        name = page.link_score(total.model, system, total.headline)
        rows.append((name, setting_title(total.setting), total_cell(total), interval_cell(total), total.verdict))
        filters[system.label] = RowFilter(**system._asdict())
    systems = Table((*columns("name", "Model", "Setting"), *TOTAL_COLUMNS), rows, "Models of the run")
    ways = [page.link(words, Address(kind, run.name)) for kind, words in WAYS.items()]
    faults = run.read("simulation_faults").filter(pl.col("refused").is_null())
    if kinds := count_dialogues_by(faults, "kind"):
        ways.append(page.link_rows(f"{TAINTED}: {list_counts(kinds)}", RowFilter(tainted=True)))
    ways.append(Cell("The report of this run", href=page.site.report or ""))
    words = "Each number leads to its rows." if page.site.answers_forms else "Numbers that are links lead to their rows."
    counts = Block(words=words, tables=(count_rows(page, filters),))
    sections = [
        ("result", "What came out", [Block(words=f"The run's full name is {run.name}.", tables=(systems,))]),
        ("rows", "Rows", [counts]),
        ("find", "Find", [Block(links=tuple(way for way in ways if way.href))]),
    ]
    commands = [run.command(name) for name in ("runs show", "explain", "verify")]
    return page.render(run.blueprint.title, crumbs=page.crumbs, sections=sections, commands=commands)


def count_rows(page: Page, filters: Mapping[str, RowFilter]) -> Table:
    """Return how many rows of each status, wrong at the gate and with faults a filter gives; each number leads to these rows."""
    run, index = page.run, open_rows(page.run)
    special: dict[str, dict[str, Any]] = {"wrong at the gate": {"status": "wrong", "gate": True}} if run.blueprint.gate else {}
    special |= {"tainted dialogues": {"tainted": True}} if run.partitions("simulation_faults") else {}
    cells: dict[str, dict[str, Cell]] = {}
    for label, wanted in filters.items():
        found = find_rows(run, index, wanted, limit=0)
        counts: list[tuple[str, int | None, dict[str, Any]]] = [("all", found.matches, {})]
        counts += [(each.value, each.rows, {"status": each.value}) for each in found.counts if each.facet == "status"]
        for name, narrower in special.items():
            matches = find_rows(run, index, wanted.model_copy(update=narrower), limit=0).matches
            counts.append((name, matches, narrower))
        cells[label] = {name.capitalize(): page.link_rows(n, wanted.model_copy(update=more)) for name, n, more in counts}
    titles = dict.fromkeys(title for own in cells.values() for title in own)
    rows = [(label, *(own.get(title, 0) for title in titles)) for label, own in cells.items()]
    return Table((Column("Rows of", "name"), *columns("count", *titles)), rows, "Rows by status")


def render_score(page: Page) -> str:
    """Return the page of a score: what it is made of, each part one level deeper, and the rows at its end."""
    run, named = page.run, page.params.get
    wanted = Selection(named("model"), named("setting"), named("ability"), named("task"), named("dataset"))
    systems, path = choose_systems(run, wanted), find_place(run.blueprint, wanted)
    document = explain_score(run, systems, wanted, path)
    is_single, title = len(systems) == 1, document.models[0].part.title
    place = {"ability": path.ability and path.ability.id, "task": path.task and path.task.id, "dataset": path.dataset}
    sections: list[Section] = []
    for system, model in zip(systems, document.models, strict=True):
        counts = count_rows(page, {"This score": RowFilter(**place, **system._asdict())})
        score = model.total.total if isinstance(model, TotalExplanation) else model.part.score
        part = find_parts(run, system)[document.kind.removeprefix("sub_"), document.id]
        blocks = [*_explain(model, part, _parts_table(page, model), counts)]
        sections.append((f"score-{len(sections)}", f"{label_of(model)}: {number(score, 2)}", blocks))
    if path.dataset and is_single:
        metrics = explain_rows(run, document, path.dataset, systems[0], 0).metrics
        sections.append(("metrics", "From rows to the score", [*_break_down(metrics)]))
    if judged := [each for each in covered_datasets(run) if each.dataset == path.dataset]:
        sections.append(("judge", "Judge", [Block(words=f"{line}.") for line in say_judges(judged)]))
    missing = tuple(f"{gap.dataset}: {gap.reason}; {gap.next_step}" for gap in document.missing)
    broken = () if document.adds_up else ("The stored scores are not what their parts give.",)
    sections += [("missing", "What is missing", [Block(warnings=(*missing, *broken))])] if missing or broken else []
    options = [text for kind, name in place.items() if name for text in (f"--{kind}", name)]
    return page.render(
        title,
        sections=sections,
        crumbs=place_crumbs(page, systems[0], path) if is_single else (),
        commands=[run.command("explain", *options, *(run.options(systems[0]) if is_single else ()))],
    )


def _explain(model: SystemExplanation, part: ScorePart, *tables: Table) -> Iterator[Block]:
    if isinstance(model, TotalExplanation):
        *gate, total = verdict_lines(model)
        yield Block(words=f"{model.total.headline} {total}.", tables=tables)
        yield from (Block("Gate", f"{line}.") for line in gate)
    else:
        ends = interval_of(part)
        yield Block(words=f"95 % interval {interval(ends.low, ends.high, 2)}." if ends else "", tables=tables)
    lines = Table((Column("How it was computed"),), [[line.strip(" -")] for line in score_lines(model)], "Arithmetic")
    yield Block("How it was computed", tables=(lines,), folds=True)


def _break_down(metrics: Sequence[MethodBreakdown]) -> Iterator[Block]:
    """Yield how the metrics follow from the rows, then their labels, and the scores of groups once for all of a method."""
    lines = [(metric.metric, next(metric_lines(metric))) for metric in metrics]
    yield Block(tables=(Table((Column("Metric", "name"), Column("From its rows")), lines, "Metrics"),))
    sides = {"name": "group value measure", "score": "score", "number": "ci_low ci_high", "count": "n n_total"}
    folded: dict[str, Table] = {}
    for each in metrics:
        labels = records_table("Labels", each.labels, name="label", count="hits predicted gold", number="f1")
        folded |= {f"{each.metric} by label": labels, f"{each.method} by group": records_table("Groups", each.groups, **sides)}
    yield from (Block(title, tables=(table,), folds=True) for title, table in folded.items() if table.rows)


def place_crumbs(page: Page, system: System, path: BlueprintPath) -> tuple[Cell, ...]:
    """Return the places from the leaderboard down to a score, each with its number; of two with one title the deeper one."""
    total = next(total_of(row) for row in system.rows(judge_run(page.run)))
    places = [(str(place.kind), place.id) for place in places_above(page.run, path) if place.kind != "total"]
    own = {"dataset": path.dataset, "task": path.task and path.task.id, "ability": path.ability and path.ability.id}
    places += [(kind, name) for kind, name in own.items() if name][:1]
    parts = find_parts(page.run, system)
    below = {
        parts[place].title: page.link_score(parts[place].title, system, number(parts[place].score), **dict([place]))
        for place in places
    }
    score = number(total.total) if total.has_total else total.verdict
    return (*page.crumbs, page.link_score(system.label, system, score), *below.values())


@lru_cache(maxsize=64)  # the way down to each page has its numbers
def find_parts(run: PastRun, system: System) -> dict[tuple[str, str], ScorePart]:
    """Return every part of a total, and of the gate, down to the metrics, by kind and id; abilities of all tiers are alike."""
    scores, blueprint = scores_of(run.layers, system, run.baselines), run.blueprint
    gates = [ability for ability in blueprint.abilities if blueprint.gate and ability.id == blueprint.gate.ability]
    roots = [explain_total(scores, blueprint), *(explain_ability(scores, gate, blueprint) for gate in gates)]
    return {(part.kind.removeprefix("sub_"), part.id): part for root in roots for part in root.walk()}


def _parts_table(page: Page, model: SystemExplanation) -> Table:
    """Return what a score is made of; each part leads one level deeper."""
    rows: list[tuple[Value, ...]] = []
    for part, (name, *cells, _) in part_rows(model):
        words: Value = str(name).replace("  ", "· ")
        if part.kind in OPTIONS and part is not model.part:
            system, place = System(model.model, model.setting), {OPTIONS[part.kind].removeprefix("--"): part.id}
            words = page.link_score(words, system, **place)
        rows.append((words, *cells))
    table = Table((PART_COLUMNS[0]._replace(title="Part"), *PART_COLUMNS[1:-1]), rows, "What the score is made of")
    return table.without_empty("Datasets")


def render_map(page: Page) -> str:
    """Return the page of all tasks by all models."""
    parts = {system: find_parts(page.run, system) for system in page.run.systems}
    heads = (*columns("name", "Task", "Ability"), *columns("score", *(system.label for system in parts), digits=1))
    rows: list[tuple[Value, ...]] = []
    for ability, task in page.run.blueprint.tasks():
        scores = (page.link_score(own["task", task.id].score, system, task=task.id) for system, own in parts.items())
        rows.append((task.title, ability.title, *scores))
    shown = Block(words="Each number leads to what it is made of.", tables=(Table(heads, rows, "Tasks by model"),))
    return page.render("Map", sections=[("map", "Tasks by model", [shown])])
