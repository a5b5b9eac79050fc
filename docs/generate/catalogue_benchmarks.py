"""The page of a benchmark: what it measures, its tree with weights, settings, metrics, published scores, licences."""

import html
from collections.abc import Iterator, Mapping

from docs.generate.catalogue_links import benchmark_page, dataset_page, link, metric_words, reference_link, task_page
from docs.generate.catalogue_places import Catalogue, Place
from docs.generate.catalogue_published import paper_with, table_part
from docs.generate.catalogue_zh import ZH_PAGE, zh_texts
from docs.generate.markdown import block, bullets, folded, joined, table, toctree
from schemas.blueprint import Blueprint
from tasks.solvers.registry import SOLVERS, is_optional
from tasks.text.number_format import counted, listed
from tasks.text.tables import escape

PAGES = {"longemotion": "longemotion.md", "esc-eval": "esc-eval.md", "attunebench": "attunebench.md"}
"""Pages of ours that say more of a benchmark."""

SERVER = "--model my-model --base-url http://localhost:8000/v1"


def benchmark_text(catalogue: Catalogue, name: str, about: Mapping[str, str], chapters: list[str]) -> str:
    """Return the page of a benchmark and its variants. `about`: by blueprint; `chapters`: tasks below it in the sidebar."""
    blueprint, page = catalogue.blueprints[name], benchmark_page(name)
    places = catalogue.of_blueprint(name)
    variants = [each for each in catalogue.families[name] if each != name]
    return joined(
        f"# {escape(blueprint.title)}",
        f"{escape(about[name])} Source: {escape(blueprint.source)}.",
        bullets([sizes_line(blueprint, places), *judge_lines(places, page), *more_lines(name, blueprint.title, page)]),
        "## Run it",
        *run_part(catalogue, name),
        "## Settings",
        settings_part(catalogue, blueprint, page),
        f"## {blueprint.ability_word.capitalize().replace('ty', 'ties')}, tasks and datasets",
        *tree_parts(places, page),
        "## How the total is made",
        *total_part(blueprint, page),
        "## Metrics",
        metrics_part(places, page),
        "## Published scores",
        published_part(blueprint),
        "## What differs from the paper",
        *differences_part(catalogue, places, page),
        "## Licences",
        folded("By licence", licences_part(catalogue, places, page)),
        *(variant_part(catalogue, each, about[each], page) for each in variants),
        toctree(f"tasks/{task}" for task in chapters) if chapters else None,
    )


def sizes_line(blueprint: Blueprint, places: list[Place]) -> str:
    """Return how many there are of what."""
    mains = [ability.title for ability in blueprint.abilities if ability.evaluated]
    tasks = len({place.task.id for place in places})
    word = blueprint.ability_word
    kinds = counted(len(mains), f"main {word}", f"main {word[:-1]}ies")
    sizes = f"{kinds}, {counted(tasks, 'task')}, {counted(len(places), 'dataset')}"
    return f"{sizes}: {escape(listed(mains))}."


def judge_lines(places: list[Place], page: str) -> Iterator[str]:
    """Yield which tasks are missing without a judge."""
    judged = {place.task.id: place.task.title for place in places if place.is_judged}
    if judged:
        tasks = listed([link(escape(title), task_page(task), page) for task, title in judged.items()])
        verb = "needs" if len(judged) == 1 else "need"
        yield f"{tasks} {verb} a judge; without one, what it rates is missing."


def more_lines(name: str, title: str, page: str) -> Iterator[str]:
    """Yield links to what is said elsewhere."""
    if name in PAGES:
        yield f"{link(f'{title} in detail', PAGES[name], page)} has its options, layers and departures in full."
    if name in zh_texts():
        yield link("中文", f"{ZH_PAGE}#{name}", page)
    demo = link("A run to click through", "benchmarks/demo.md", page)
    yield f"{link('Methodology', 'methodology.md', page)} has every formula. {demo} shows report, leaderboard and view."


def command(blueprint: Blueprint) -> str:
    """Return the command that runs a benchmark, with the roles that it needs."""
    parts = [f"moodflow run {blueprint.name} {SERVER}"]
    methods = [method for dataset in blueprint.datasets.values() for method in dataset.methods]
    if any(method.judged for method in methods):
        parts.append("--judge my-judge --judge-base-url http://localhost:8001/v1")
    roles = [role for setting in blueprint.settings or ("base",) for role in SOLVERS[setting].roles if not is_optional(role)]
    parts += [f"--role {role}=my-{role}@http://localhost:8002/v1" for role in roles]
    return " \\\n    ".join(parts)


def run_part(catalogue: Catalogue, name: str) -> Iterator[str]:
    """Yield the commands: a trial on our own items, the whole, the leaderboard."""
    if f"{name}-mini" in catalogue.blueprints:
        yield "A trial on items of our own, without a download:"
        yield block("console", command(catalogue.blueprints[f"{name}-mini"]))
    yield "The full benchmark; `--dry-run` counts calls and tokens first, `--mirror DIR` uses local files:"
    yield block("console", f"{command(catalogue.blueprints[name])} \\\n    --dry-run")
    yield "The ranking of your runs, or of the paper's models where it prints them:"
    published = f"\nmoodflow leaderboard {name} --published" if paper_with(catalogue.blueprints[name]) else ""
    yield block("console", f"moodflow leaderboard {name}{published}")


def settings_part(catalogue: Catalogue, blueprint: Blueprint, page: str) -> str:
    """Return the settings in which its items can be asked, the usual ones first."""
    usual = blueprint.settings or ("base",)
    has_contexts = any(catalogue.datasets[name].task for name in blueprint.datasets)
    rows = [
        (
            reference_link("setting", name, page),
            escape(solver.title),
            "yes" if name in usual else "with `--settings`",
            "; ".join(f"`{role}` {escape(does)}" for role, does in solver.roles.items()) or "none",
        )
        for name, solver in SOLVERS.items()
        if name in usual or (solver.retrieves and has_contexts)
    ]
    return table(("Setting", "Name", "Asked by default", "Helpers"), rows)


def tree_parts(places: list[Place], page: str) -> Iterator[str]:
    """Yield the tree, folded by main ability."""
    for main in dict.fromkeys(place.path[0].id for place in places):
        below = [place for place in places if place.path[0].id == main]
        tasks = counted(len({place.task.id for place in below}), "task")
        yield folded(f"{html.escape(below[0].path[0].title)}: {tasks}, {counted(len(below), 'dataset')}", tree_part(below, page))


def tree_part(places: list[Place], page: str) -> str:
    """Return the tree as a table, a row for each dataset; what the row above says is left out."""
    rows, above = [], ("", "")
    for place in places:
        path, task = " › ".join(escape(ability.title) for ability in place.path), place.task.id
        rows.append(
            (
                "" if above[0] == path else path,
                "" if above[1] == task else f"{link(escape(place.task.title), task_page(task), page)} ({place.task.level})",
                link(f"`{place.dataset}`", dataset_page(place.dataset), page),
                f"{place.weight:g}",
                place.of_main,
                "gate" if place.of_total is None else place.of_total,
            )
        )
        above = (path, task)
    heads = (
        "Abilities",
        "Task (level)",
        "Dataset",
        ">Weight in its task",
        ">Share of its main ability, %",
        ">Share of the total, %",
    )
    return table(heads, rows)


def total_part(blueprint: Blueprint, page: str) -> Iterator[str]:
    """Yield how scores are added up: levels, abilities, gate."""
    gate = blueprint.gate.ability if blueprint.gate else None
    mains = [ability for ability in blueprint.abilities if ability.evaluated and ability.id != gate]
    weights = ", ".join(f"{escape(ability.title)} {ability.weight:g}" for ability in mains)
    yield (
        "A dataset is the weighted mean of its metrics on 0-100, a task that of its datasets, a level that of its tasks, an "
        f"ability that of its levels, and the total that of the main abilities: {weights}."
    )
    if len(blueprint.level_rules) > 1:
        rows = [[rule.weights.get(level) for level in ("low", "medium", "high")] for rule in blueprint.level_rules]
        yield "Weights of the levels that have a score:"
        yield table((">Low", ">Medium", ">High"), rows)
    if blueprint.gate:
        title = next(ability.title for ability in blueprint.abilities if ability.id == gate)
        yield (
            f"*Gate*: {escape(title)} is in no total. Below {blueprint.gate.threshold:g} the total is 0 and the model has no "
            "rank (one-vote veto)."
        )
    else:
        yield "There is no gate."
    if not_measured := [ability.title for ability in blueprint.abilities if not ability.evaluated]:
        yield f"Named, and not measured in this version: {escape(listed(not_measured))}."
    missing = link("What is missing lowers coverage, never a score", "methodology.md#totals", page)
    yield f"{missing}. A rank needs {100 * blueprint.rank_item_coverage:g} % of the items scored."


def metrics_part(places: list[Place], page: str) -> str:
    """Return the metrics with the number of datasets that each is of."""
    names = dict.fromkeys(spec.metric for place in places for spec in place.metrics)
    rows = [(reference_link("metric", name, page), metric_words(name), *_uses(places, name)) for name in names]
    return table(("Metric", "What it is", ">Datasets it counts in", ">Shown only in"), rows)


def _uses(places: list[Place], name: str) -> tuple[str, str]:
    weights = [spec.weight for place in places for spec in place.metrics if spec.metric == name]
    counting = sum(weight > 0 for weight in weights)
    return str(counting), str(len(weights) - counting)


def published_part(blueprint: Blueprint) -> str:
    """Return the paper's table of models."""
    paper = paper_with(blueprint)
    return table_part(paper) if paper else "MoodFlow has no table of models of its paper."


def differences_part(catalogue: Catalogue, places: list[Place], page: str) -> Iterator[str]:
    """Yield what a report lists under Method and deviations, by dataset."""
    differing = [catalogue.datasets[place.dataset] for place in places if catalogue.datasets[place.dataset].differences]
    deviations = link("Deviations", "methodology.md#deviations", page)
    yield f"{counted(len(differing), 'dataset')} of {len(places)} differ in something; {deviations} has what holds for all."
    entries = [f"{link(escape(spec.title), dataset_page(spec.id), page)}\n{_below(spec.differences)}" for spec in differing]
    if entries:
        yield folded("By dataset", bullets(entries))


def _below(lines: tuple[str, ...]) -> str:
    return "\n".join(f"  * {escape(line)}" for line in lines)


def licences_part(catalogue: Catalogue, places: list[Place], page: str) -> str:
    """Return the licences, each with its datasets."""
    datasets: dict[tuple[str, bool], list[str]] = {}
    for place in places:
        spec = catalogue.datasets[place.dataset]
        datasets.setdefault((spec.licence, spec.redistributable), []).append(link(f"`{spec.id}`", dataset_page(spec.id), page))
    rows = [
        (escape(licence), "allowed" if may else "not allowed", ", ".join(names)) for (licence, may), names in datasets.items()
    ]
    return table(("Licence, as known", "Redistribution", "Datasets"), rows)


def variant_part(catalogue: Catalogue, name: str, about: str, page: str) -> str:
    """Return the section of a variant: what it is, how to run it, its datasets."""
    blueprint, places = catalogue.blueprints[name], catalogue.of_blueprint(name)
    return joined(
        f"## {name}",
        f"{about} Source: {escape(blueprint.source)}.",
        block("console", command(blueprint)),
        folded(f"Its {counted(len(places), 'dataset')}", tree_part(places, page)),
    )
