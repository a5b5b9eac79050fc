"""The page of a task: what it asks, where it stands, and the datasets that measure it."""

from collections.abc import Mapping

from docs.generate.catalogue_links import benchmark_link, dataset_page, link, reference_link, task_page, trail
from docs.generate.catalogue_places import Catalogue, Place
from docs.generate.markdown import joined, table, toctree
from tasks.text.tables import escape


def task_text(catalogue: Catalogue, name: str, asks: Mapping[str, str], datasets: Mapping[str, str], chapters: list[str]) -> str:
    """Return the page of a task. `asks`: by task, `datasets`: by dataset; `chapters`: datasets below it in the sidebar."""
    places, page = catalogue.tasks[name], task_page(name)
    return joined(
        trail(catalogue, places, page),
        f"# {escape(places[0].task.title)}",
        f"{escape(asks[name])} Its name in results is `{name}`.",
        "## Where it counts",
        table(
            ("Benchmark", "Abilities", "Level", ">Weight", ">Share of its main ability, %", ">Share of the total, %"),
            [place_row(catalogue, alike, page) for alike in by_blueprint(places).values()],
        ),
        "Tasks of one ability are averaged by level, and levels by the weights on the page of the benchmark.",
        "## Datasets",
        table(
            ("Dataset", "What it asks", "Metrics that count", "Benchmarks"),
            [dataset_row(catalogue, alike, datasets.get(id_) or asks[name], page) for id_, alike in by_dataset(places).items()],
        ),
        toctree(f"../datasets/{dataset}" for dataset in chapters) if chapters else None,
    )


def by_blueprint(places: list[Place]) -> dict[str, list[Place]]:
    """Return the places of a task by benchmark."""
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(place.blueprint.name, []).append(place)
    return groups


def by_dataset(places: list[Place]) -> dict[str, list[Place]]:
    """Return the places of a task by dataset."""
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(place.dataset, []).append(place)
    return groups


def place_row(catalogue: Catalogue, places: list[Place], page: str) -> tuple[object, ...]:
    """Return the row of a benchmark."""
    first = places[0]
    totals = [place.of_total for place in places if place.of_total is not None]
    return (
        benchmark_link(catalogue, first.blueprint.name, page),
        " › ".join(escape(ability.title) for ability in first.path),
        first.task.level,
        f"{first.task.weight:g}",
        sum(place.of_main for place in places),
        sum(totals) if totals else "gate",
    )


def dataset_row(catalogue: Catalogue, places: list[Place], asks: str, page: str) -> tuple[str, ...]:
    """Return the row of a dataset."""
    name = places[0].dataset
    names = dict.fromkeys(spec.metric for place in places for spec in place.metrics if spec.weight)
    return (
        link(escape(catalogue.title_of(name)), dataset_page(name), page),
        escape(asks),
        ", ".join(reference_link("metric", metric, page) for metric in names),
        ", ".join(f"`{place.blueprint.name}`" for place in places),
    )
