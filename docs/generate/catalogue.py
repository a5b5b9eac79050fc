"""Pages of benchmarks, tasks and datasets, from what the program knows of them; see tree.py for what a generator is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.generate.catalogue_benchmarks import benchmark_text
from docs.generate.catalogue_datasets import dataset_text
from docs.generate.catalogue_examples import Bundled, is_bundled
from docs.generate.catalogue_links import benchmark_page, dataset_page, link, task_page
from docs.generate.catalogue_places import Catalogue, read_catalogue
from docs.generate.catalogue_tasks import task_text
from docs.generate.catalogue_zh import ZH_PAGE, zh_text
from docs.generate.markdown import joined, table, toctree, write_page
from schemas.json_yaml import read_text, read_yaml
from tasks.scoring.published import paper_of
from tasks.text.tables import escape

HERE = Path(__file__).parent
INDEX = "benchmarks/index.md"


def write(folder: Path) -> None:
    """Write a page for each benchmark, task and dataset, and the overview."""
    catalogue = read_catalogue()
    asks = with_titles(read_asks(), catalogue)
    bundled = {
        name: Bundled(spec, catalogue.of_dataset(name)[0].blueprint)
        for name, spec in catalogue.datasets.items()
        if is_bundled(spec) and catalogue.of_dataset(name)
    }
    tasks_below, datasets_below = divide(catalogue)
    about, tasks = asks["benchmarks"], asks["tasks"]
    pages = {INDEX: index_text(catalogue, about), ZH_PAGE: zh_text()}
    for name in catalogue.families:
        pages[benchmark_page(name)] = benchmark_text(catalogue, name, about, tasks_below[name])
    for name in catalogue.tasks:
        pages[task_page(name)] = task_text(catalogue, name, tasks, asks["datasets"], datasets_below[name])
    for name in catalogue.datasets:
        pages[dataset_page(name)] = dataset_text(catalogue, name, tasks | asks["datasets"], bundled)
    for place, text in pages.items():
        write_page(folder / place, text)


def read_asks() -> Mapping[str, Any]:
    """Return what tasks and datasets ask and benchmarks measure, by name, as asks.yaml says it."""
    return dict(read_yaml(read_text(HERE / "asks.yaml")))


def with_titles(asks: Mapping[str, Any], catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """Return the same, with titles for what installed packages add."""
    return {
        "benchmarks": {name: blueprint.title for name, blueprint in catalogue.blueprints.items()} | asks["benchmarks"],
        "tasks": {name: places[0].task.title for name, places in catalogue.tasks.items()} | asks["tasks"],
        "datasets": {name: spec.title for name, spec in catalogue.datasets.items() if not is_bundled(spec)} | asks["datasets"],
    }


def divide(catalogue: Catalogue) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the tasks below each benchmark and the datasets below each task in the sidebar, where each stands once."""
    tasks: dict[str, list[str]] = {name: [] for name in catalogue.families}
    datasets: dict[str, list[str]] = {name: [] for name in catalogue.tasks}
    seen = set[str]()
    for task, places in catalogue.tasks.items():
        tasks[catalogue.family_of(places[0].blueprint.name)].append(task)
        for name in dict.fromkeys(place.dataset for place in places):
            if name not in seen:
                datasets[task].append(name)
            seen.add(name)
    return tasks, datasets


def index_text(catalogue: Catalogue, about: Mapping[str, str]) -> str:
    """Return the overview: benchmarks, then all datasets."""
    unused = [f"datasets/{name}" for name in catalogue.datasets if not catalogue.of_dataset(name)]
    return joined(
        "# All benchmarks",
        "What each benchmark measures, down to the datasets, with weights, metrics, published scores and licences. All pages "
        "below are generated from the blueprints and the catalogue, so they say what the program does.",
        table(
            ("Benchmark", "What it measures", ">Tasks", ">Datasets", "Published scores"),
            [benchmark_row(catalogue, name, about) for name in catalogue.families],
        ),
        f"{link('Click through a run', 'benchmarks/demo.md', INDEX)} before you install anything.",
        "## All datasets",
        table(
            ("Dataset", "Title", "Languages", "Licence", "Redistribution"),
            [
                (
                    link(f"`{name}`", dataset_page(name), INDEX),
                    escape(catalogue.title_of(name)),
                    ", ".join(spec.languages),
                    escape(spec.licence),
                    "allowed" if spec.redistributable else "not allowed",
                )
                for name, spec in catalogue.datasets.items()
            ],
        ),
        toctree([*catalogue.families, "demo", *unused]),
    )


def benchmark_row(catalogue: Catalogue, name: str, about: Mapping[str, str]) -> tuple[str, ...]:
    """Return the row of a benchmark."""
    blueprint, places = catalogue.blueprints[name], catalogue.of_blueprint(name)
    paper = paper_of(blueprint)
    return (
        link(escape(blueprint.title), benchmark_page(name), INDEX),
        escape(about[name]),
        str(len({place.task.id for place in places})),
        str(len(places)),
        f"{paper.models.name}" if paper else "none",
    )
