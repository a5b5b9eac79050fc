"""The pages `run`, `score` and `map`: from the models of a run down to the rows behind the score of a dataset."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from schemas.documents.explanation import MethodBreakdown, SystemExplanation, TotalExplanation
from schemas.documents.rows import RowFilter
from schemas.documents.score_part import ScorePart
from schemas.table import Cell, Column, Table, Value, columns
from tasks.explain.rows import explain_rows
from tasks.explain.totals import OPTIONS, BlueprintPath, Selection, choose_systems, explain_score, find_place, places_above
from tasks.explain.words import PART_COLUMNS, metric_lines, part_rows, score_lines, verdict_lines
from tasks.reporting.content.score_tree import interval_of
from tasks.reporting.content.tables import ScoreInterval
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, total_cell
from tasks.reporting.view.addresses import Address, PageKind, rows_address, score_address
from tasks.reporting.view.site import Params, Site, link, records_table, render_sections
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System, ordered
from tasks.runs.score_tree import explain_ability, explain_total, scores_of
from tasks.runs.sections import Block, Section
from tasks.runs.verdict import judge_run, label_of, total_of
from tasks.solvers.registry import setting_title
from tasks.text.number_format import interval, number

WAYS: Mapping[PageKind, str] = {
    "unread": "Unread replies, by their shape",
    "failed": "Failed calls, by the server's message",
    "hard": "Items that no model answers right",
    "flips": "Items whose answer changes with the order of options",
    "map": "Every task by every model",
    "compare": "Another run beside this one",
}
"""Pages that find something."""


def render_run(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of a run: what came out for each model, and the ways to its rows."""
    rows: list[tuple[Value, ...]] = []
    filters = {"All models": RowFilter()}
    for total in map(total_of, ordered(judge_run(run))):
        system = System(total.model, total.setting)
        name = link(total.model, site, score_address(run.name, *system), total.headline)
        rows.append((name, setting_title(total.setting), total_cell(total), interval_cell(total), total.verdict))
        filters[system.label] = RowFilter(**system._asdict())
    systems = Table((*columns("name", "Model", "Setting"), *TOTAL_COLUMNS), rows, "Models of the run")
    ways = [link(words, site, Address(kind, run.name)) for kind, words in WAYS.items()]
    found = [[way] for way in (*ways, Cell("The report of this run", href=site.report or "")) if way.href]
    sections = [
        ("result", "What came out", [Block(tables=(systems,))]),
        ("rows", "Rows", [Block(words="Each number leads to these rows.", tables=(count_rows(run, site, filters),))]),
        ("find", "Find", [Block(tables=(Table((Column("Page", "name"),), found, "Pages"),))]),
        commands_section(run.command(name) for name in ("runs show", "explain", "verify")),
    ]
    return render_sections(run, site, crumbs=run_crumbs(run, site), title=run.blueprint.title, sections=sections)


def run_crumbs(run: PastRun, site: Site) -> tuple[Cell, ...]:
    """Return the places from the leaderboard down to the run."""
    above = (Cell("Leaderboard", href=site.leaderboard),) if site.leaderboard else ()
    return (*above, link("Run", site, Address("run", run.name)))


def count_rows(run: PastRun, site: Site, filters: Mapping[str, RowFilter]) -> Table:
    """Return how many rows of each status a filter gives, and wrong ones at the gate; each number leads to these rows."""
    index = open_rows(run)
    cells: dict[str, dict[str, Cell]] = {}
    for label, wanted in filters.items():
        page = find_rows(run, index, wanted, limit=0)
        counts: list[tuple[str, int | None, dict[str, Any]]] = [("all", page.matches, {})]
        counts += [(each.value, each.rows, {"status": each.value}) for each in page.counts if each.facet == "status"]
        if run.blueprint.gate:
            failing = {"status": "wrong", "gate": True}
            matches = find_rows(run, index, wanted.model_copy(update=failing), limit=0).matches
            counts.append(("wrong at the gate", matches, failing))
        cells[label] = {
            name.capitalize(): Cell(n, href=site.links(rows_address(run.name, wanted.model_copy(update=narrower))) or "")
            for name, n, narrower in counts
        }
    titles = dict.fromkeys(title for own in cells.values() for title in own)
    rows = [(label, *(own.get(title) for title in titles)) for label, own in cells.items()]
    return Table((Column("Rows of", "name"), *columns("count", *titles)), rows, "Rows by status")


def commands_section(commands: Iterable[str]) -> Section:
    """Return the section of a page with the commands that show the same."""
    table = Table((Column("Command", "code"),), [[command] for command in commands], "Commands")
    return "commands", "On the command line", [Block(tables=(table,))]


def render_score(run: PastRun, params: Params, site: Site) -> str:
    """Return the page of a score: what it is made of, each part one level deeper, and the rows at its end."""
    named = (params.get("model"), params.get("setting"), params.get("ability"), params.get("task"), params.get("dataset"))
    wanted = Selection(*named)
    systems, path = choose_systems(run, wanted), find_place(run.blueprint, wanted)
    document = explain_score(run, systems, wanted, path)
    is_single, title = len(systems) == 1, document.models[0].part.title
    place = {"ability": path.ability and path.ability.id, "task": path.task and path.task.id, "dataset": path.dataset}
    sections: list[Section] = []
    for system, model in zip(systems, document.models, strict=True):
        counts = count_rows(run, site, {"This score": RowFilter(**place, **system._asdict())})
        part = find_parts(run, system)[_kind(document.kind), document.id]
        sections.append((f"score-{len(sections)}", *_explain(model, interval_of(part), _parts_table(run, site, model), counts)))
    if path.dataset and is_single:
        metrics = explain_rows(run, document, path.dataset, systems[0], 0).metrics
        sections.append(("metrics", "From rows to the score", [*_break_down(metrics)]))
    missing = tuple(f"{gap.dataset}: {gap.reason}; {gap.next_step}" for gap in document.missing)
    broken = () if document.adds_up else ("The stored scores are not what their parts give.",)
    sections += [("missing", "What is missing", [Block(warnings=(*missing, *broken))])] if missing or broken else []
    sections.append(commands_section([document.above[-1].next if document.above else run.command("explain")]))
    crumbs = place_crumbs(run, site, systems[0], path) if is_single else (*run_crumbs(run, site), Cell(title))
    return render_sections(run, site, crumbs=crumbs, title=title, sections=sections)


def _explain(model: SystemExplanation, ends: ScoreInterval | None, *tables: Table) -> tuple[str, list[Block]]:
    """Return a title with the score of a model, and the blocks about it."""
    score, said = model.part.score, [f"95 % interval {interval(ends.low, ends.high, 2)}"] if ends else []
    if isinstance(model, TotalExplanation):
        score, said = model.total.total, [model.total.headline.rstrip("."), *verdict_lines(model)]
    lines = Table((Column("How it was computed"),), [[line.strip(" -")] for line in score_lines(model)], "Arithmetic")
    blocks = [Block(words=". ".join(said), tables=tables), Block("How it was computed", tables=(lines,), folds=True)]
    return f"{label_of(model)}: {number(score, 2)}", blocks


def _break_down(metrics: Sequence[MethodBreakdown]) -> Iterator[Block]:
    """Yield how the metrics follow from the rows, then their labels, and the scores of groups once for all of a method."""
    lines = [(metric.metric, next(metric_lines(metric))) for metric in metrics]
    yield Block(tables=(Table((Column("Metric", "name"), Column("From its rows")), lines, "Metrics"),))
    sides = {"name": "group value measure", "score": "score", "number": "ci_low ci_high", "count": "n n_total"}
    tables = {
        f"{each.metric} by label": records_table("Labels", each.labels, name="label", count="hits predicted gold", number="f1")
        for each in metrics
    }
    tables |= {f"{each.method} by group": records_table("Groups", each.groups, **sides) for each in metrics}
    yield from (Block(title, tables=(table,), folds=True) for title, table in tables.items() if table.rows)


def place_crumbs(run: PastRun, site: Site, system: System, path: BlueprintPath) -> tuple[Cell, ...]:
    """Return the places from the leaderboard down to a score, each with its number."""
    total = next(total_of(row) for row in system.rows(judge_run(run)))
    places = [(str(place.kind), place.id) for place in places_above(run, path) if place.kind != "total"]
    own = {"dataset": path.dataset, "task": path.task and path.task.id, "ability": path.ability and path.ability.id}
    places += [(kind, name) for kind, name in own.items() if name][:1]
    parts = find_parts(run, system)
    below = (
        link(parts[place].title, site, score_address(run.name, *system, **{place[0]: place[1]}), number(parts[place].score))
        for place in places
    )
    return (*run_crumbs(run, site), link(system.label, site, score_address(run.name, *system), number(total.total)), *below)


@lru_cache(maxsize=64)  # the way down to each page has its numbers
def find_parts(run: PastRun, system: System) -> dict[tuple[str, str], ScorePart]:
    """Return every part of a total, and of the gate, down to the metrics, by kind and id; abilities of all tiers are alike."""
    scores, blueprint = scores_of(run.layers, system), run.blueprint
    gates = [ability for ability in blueprint.abilities if blueprint.gate and ability.id == blueprint.gate.ability]
    roots = [explain_total(scores, blueprint), *(explain_ability(scores, gate, blueprint) for gate in gates)]
    return {(_kind(part.kind), part.id): part for root in roots for part in root.walk()}


def _kind(kind: str) -> str:
    return kind.removeprefix("sub_")


def _parts_table(run: PastRun, site: Site, model: SystemExplanation) -> Table:
    """Return what a score is made of; each part leads one level deeper."""
    rows: list[tuple[Value, ...]] = []
    for part, (name, *cells, _) in part_rows(model):
        place = {OPTIONS[part.kind].removeprefix("--"): part.id} if part.kind in OPTIONS and part is not model.part else {}
        href = site.links(score_address(run.name, model.model, model.setting, **place)) if place else None
        rows.append((Cell(str(name).replace("  ", "· "), href=href or ""), *cells))
    return Table((PART_COLUMNS[0]._replace(title="Part"), *PART_COLUMNS[1:-1]), rows, "What the score is made of")


def render_map(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of all tasks by all models."""
    parts = {system: find_parts(run, system) for system in run.systems}
    heads = (*columns("name", "Task", "Ability"), *columns("score", *(system.label for system in parts), digits=1))
    rows: list[tuple[Value, ...]] = []
    for ability, task in run.blueprint.tasks():
        hrefs = (site.links(score_address(run.name, *system, task=task.id)) or "" for system in parts)
        scores = (own["task", task.id].score for own in parts.values())
        rows.append((task.title, ability.title, *(Cell(score, href=href) for score, href in zip(scores, hrefs, strict=True))))
    shown = Block(words="Each number leads to what it is made of.", tables=(Table(heads, rows, "Tasks by model"),))
    crumbs = (*run_crumbs(run, site), Cell("Map"))
    return render_sections(run, site, crumbs=crumbs, title="Map", sections=[("map", "Tasks by model", [shown])])
