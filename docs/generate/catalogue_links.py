"""Links between pages of the catalogue, and from them to the reference."""

from os.path import relpath

from docs.generate.catalogue_places import Catalogue, Place
from schemas.metrics import METRICS
from tasks.text.tables import escape

REFERENCE = {"metric": "metrics", "question type": "question-types", "setting": "settings", "rubric": "rubrics"}
"""Pages of the reference that have a heading for each name of a kind."""


def link(label: str, target: str, page: str) -> str:
    """Return a link from a page to another; both are places in the tree."""
    path, hash_sign, anchor = target.partition("#")
    return f"[{label}]({relpath(path, page.rpartition('/')[0])}{hash_sign}{anchor})"


def dataset_page(name: str) -> str:
    """Return the place of a dataset's page."""
    return f"benchmarks/datasets/{name}.md"


def task_page(name: str) -> str:
    """Return the place of a task's page."""
    return f"benchmarks/tasks/{name}.md"


def benchmark_page(name: str) -> str:
    """Return the place of a benchmark's page."""
    return f"benchmarks/{name}.md"


def benchmark_link(catalogue: Catalogue, name: str, page: str) -> str:
    """Return a link to a benchmark's page, or to the section of a variant on the page of its family."""
    family = catalogue.family_of(name)
    return link(f"`{name}`", benchmark_page(family) + (f"#{name}" if name != family else ""), page)


def trail(catalogue: Catalogue, places: list[Place], page: str) -> str:
    """Return the way to the page of a task or dataset from the overview; a task's own page is the end of it."""
    steps = [link("All benchmarks", "benchmarks/index.md", page)]
    if places:
        family, task = catalogue.family_of(places[0].blueprint.name), places[0].task
        steps.append(link(escape(catalogue.blueprints[family].title), benchmark_page(family), page))
        steps += [link(escape(task.title), task_page(task.id), page)] * (page != task_page(task.id))
    return " › ".join(steps)


def reference_link(kind: str, name: str, page: str) -> str:
    """Return a link to what the reference says of a metric, question type, setting or rubric."""
    return link(f"`{name}`", f"reference/{REFERENCE[kind]}.md#{name}", page)


def metric_words(name: str) -> str:
    """Return what a metric is, as reports say it."""
    return escape(METRICS[name].words)
