"""The pages `run`, `score` and `map`: from the models of a run down to the rows behind the score of a dataset."""

from collections.abc import Iterator, Mapping, Sequence

from schemas.documents.explanation import SystemExplanation
from schemas.documents.rows import RowFilter
from schemas.documents.score_part import ScorePart
from schemas.table import Cell, Column, Table, columns
from tasks.explain.rows import explain_rows
from tasks.explain.totals import OPTIONS, BlueprintPath, Selection, choose_systems, explain_score, find_place, places_above
from tasks.explain.words import PART_COLUMNS, metric_lines, part_rows, score_lines, verdict_lines
from tasks.lake.manifest import read_changes
from tasks.reporting.content.score_tree import interval_of
from tasks.reporting.content.verdicts import TOTAL_COLUMNS, interval_cell, total_cell
from tasks.reporting.view.addresses import Address, PageKind, rows_address, score_address
from tasks.reporting.view.site import Params, Site, link, render_page
from tasks.rows.query import find_rows, open_rows
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System, ordered
from tasks.runs.score_tree import explain_ability, explain_total, scores_of
from tasks.runs.verdict import judge_run, total_of
from tasks.solvers.registry import setting_title
from tasks.text.number_format import number

WAYS: Mapping[PageKind, str] = {
    "unread": "Unread replies, by their shape",
    "failed": "Failed calls, by the server's message",
    "hard": "Items that no model answers right",
    "flips": "Items whose answer changes with the order of options",
    "map": "Every task by every model",
}
"""Pages that find something in any run."""


def render_run(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of a run: what came out for each model, and the ways to its rows."""
    totals = [total_of(row) for row in ordered(judge_run(run))]
    heads = (*columns("name", "Model", "Setting"), *TOTAL_COLUMNS)
    rows = [
        (
            link(total.model, site, score_address(run.name, total.model, total.setting)),
            *(setting_title(total.setting), total_cell(total), interval_cell(total), total.verdict),
        )
        for total in totals
    ]
    counts = {row.label: count_rows(run, site, RowFilter(model=row.model, setting=row.setting)) for row in run.systems}
    ways = [link(words, site, Address(kind, run.name)) for kind, words in WAYS.items()]
    if (changes := read_changes(run.lake.root, run.name)) and (previous := changes.previous):
        ways.append(link("The previous run beside this one", site, Address("compare", run.name, (("other", previous),))))
    return render_page(
        "run",
        run,
        site,
        crumbs=run_crumbs(run, site),
        title=run.blueprint.title,
        headlines=[total.headline for total in totals],
        systems=Table(heads, rows, "Models of the run"),
        rows=_counts_table({"All models": count_rows(run, site, RowFilter())} | counts),
        ways=[way for way in ways if way.href],
        commands=[run.command(name) for name in ("runs show", "explain", "verify")],
    )


def run_crumbs(run: PastRun, site: Site) -> tuple[Cell, ...]:
    """Return the places from the leaderboard down to the run."""
    above = (Cell("Leaderboard", href=site.leaderboard),) if site.leaderboard else ()
    return (*above, link("Run", site, Address("run", run.name)))


def count_rows(run: PastRun, site: Site, wanted: RowFilter) -> list[Cell]:
    """Return links to all rows that a filter asks for, to those of each status, and to wrong ones at the gate.

    The note of each says how many they are.
    """
    page = find_rows(run, open_rows(run), wanted, limit=1)
    counts = {count.value: count.rows for count in page.counts if count.facet == "status"}
    found = [("all", wanted, page.matches)]
    found += [(status, wanted.model_copy(update={"status": status}), n) for status, n in counts.items()]
    if run.blueprint.gate and "wrong" in counts:
        failing = wanted.model_copy(update={"status": "wrong", "gate": True})
        found.append(("wrong at the gate", failing, find_rows(run, open_rows(run), failing, limit=1).matches))
    return [link(words, site, rows_address(run.name, each), str(n)) for words, each, n in found if n]


def _counts_table(counts: Mapping[str, Sequence[Cell]]) -> Table:
    """Return how many rows there are of each status, by model; each number leads to them."""
    titles = dict.fromkeys(str(way.value) for ways in counts.values() for way in ways)
    cells = {label: {way.value: Cell(int(way.note), href=way.href) for way in ways} for label, ways in counts.items()}
    rows = [(label, *(own.get(title) for title in titles)) for label, own in cells.items()]
    return Table((Column("Model", "name"), *columns("count", *(title.capitalize() for title in titles))), rows, "Rows by status")


def render_score(run: PastRun, params: Params, site: Site) -> str:
    """Return the page of a score: what it is made of, each part one level deeper, and the rows at its end."""
    wanted = Selection(**{name: params.get(name) for name in ("model", "setting", "ability", "task", "dataset")})
    systems, path = choose_systems(run, wanted), find_place(run.blueprint, wanted)
    document = explain_score(run, systems, wanted, path)
    is_single, title = len(systems) == 1, document.models[0].part.title
    place = {"ability": path.ability and path.ability.id, "task": path.task and path.task.id, "dataset": path.dataset}
    return render_page(
        "score",
        run,
        site,
        crumbs=place_crumbs(run, site, systems[0], path) if is_single else (*run_crumbs(run, site), Cell(title)),
        title=title,
        document=document,
        models=[
            (
                model,
                _parts_table(run, site, model),
                count_rows(run, site, RowFilter(**place, model=system.model, setting=system.setting)),
            )
            for system, model in zip(systems, document.models, strict=True)
        ],
        intervals=[interval_of(find_parts(run, system)[_kind(document.kind), document.id]) for system in systems],
        score_lines=score_lines,
        verdict_lines=verdict_lines,
        metric_lines=metric_lines,
        metrics=explain_rows(run, document, path.dataset, systems[0], 0).metrics if path.dataset and is_single else (),
    )


def place_crumbs(run: PastRun, site: Site, system: System, path: BlueprintPath) -> tuple[Cell, ...]:
    """Return the places from the leaderboard down to a score, each with its number."""
    total = next(total_of(row) for row in system.rows(judge_run(run)))
    places = [(place.kind, place.id) for place in places_above(run, path) if place.kind != "total"]
    own = {"dataset": path.dataset, "task": path.task and path.task.id, "ability": path.ability and path.ability.id}
    places += [(kind, name) for kind, name in own.items() if name][:1]
    parts = find_parts(run, system)
    below = (
        link(parts[place].title, site, score_address(run.name, *system, **{place[0]: place[1]}), number(parts[place].score))
        for place in places
    )
    return (*run_crumbs(run, site), link(system.label, site, score_address(run.name, *system), number(total.total)), *below)


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

    def linked() -> Iterator[tuple[object, ...]]:
        for part, (name, *cells, _) in part_rows(model):
            place = {OPTIONS[part.kind].removeprefix("--"): part.id} if part.kind in OPTIONS and part is not model.part else {}
            href = site.links(score_address(run.name, model.model, model.setting, **place)) if place else None
            yield (Cell(str(name).replace("  ", "· "), href=href or ""), *cells)

    heads = (PART_COLUMNS[0]._replace(title="Part"), *PART_COLUMNS[1:-1])
    return Table(heads, [*linked()], "What the score is made of")


def render_map(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of all tasks by all models."""
    parts = {system: find_parts(run, system) for system in run.systems}
    heads = (*columns("name", "Task", "Ability"), *columns("score", *(system.label for system in parts), digits=1))
    rows = []
    for ability, task in run.blueprint.tasks():
        hrefs = (site.links(score_address(run.name, *system, task=task.id)) or "" for system in parts)
        scores = (own["task", task.id].score for own in parts.values())
        rows.append((task.title, ability.title, *(Cell(score, href=href) for score, href in zip(scores, hrefs, strict=True))))
    crumbs = (*run_crumbs(run, site), Cell("Map"))
    return render_page("map", run, site, crumbs=crumbs, title="Tasks by model", table=Table(heads, rows, "Tasks by model"))
