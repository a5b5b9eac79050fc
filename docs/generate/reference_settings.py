"""Reference pages of settings, and of the registries with which a package adds a benchmark."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from docs.generate.markdown import joined, table, write_page
from docs.generate.reference_text import code, codes, docstring, facts, link, prose, row_name, slug
from schemas.benchmark import GROUP, Benchmark, benchmarks
from schemas.context import ContextOptions, RetrievalOptions
from tasks.solvers.registry import SOLVERS, ContextSolver, Solver

SETTINGS_HEAD = """# Settings

A setting says how items are asked: `--settings NAME,NAME`. A model in a setting is a system, and has scores of its own. A hyphen
may stand for an underscore."""

REGISTRIES_HEAD = f"""# Registries

A benchmark is one row, a `schemas.benchmark.Benchmark`, that an entry point of the group `{GROUP}` names. Its fields name
tuples of rows of these registries. An installed package adds a benchmark, a metric, a setting or a rubric in the same way:
[A benchmark as a package](../how-to/own-package.md), [Your own metric](../how-to/own-metric.md)."""


def role_rows(solver: Solver[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield a row per helper of a setting: its role, what it does, who plays it where none is named."""
    for role, does in solver.roles.items():
        yield link(role, "plan.md"), prose(does), "nobody" if role in solver.optional else "the model under test"


def options_of(solver: Solver[Any]) -> str:
    """Return links to the fields of a plan that change how a setting asks."""
    own = [f"solvers.{solver.setting}.{name}" for name in solver.options.model_fields]
    retrieval = ["retrieval"] if solver.retrieves else []
    contexts = ["contexts"] if solver.retrieves or solver.by_task else []
    return ", ".join(link(path, "plan.md") for path in (*own, *retrieval, *contexts))


def asked_types(solver: Solver[Any]) -> str:
    """Return links to the question types that a setting asks, and whether it asks items with a long context."""
    links = [link(name, "question-types.md") for name in solver.question_types or ()]
    return ", ".join(
        [*links, *(["items with a context built for them, of any type"] if solver.by_task or solver.retrieves else [])]
    )


def setting_section(solver: Solver[Any]) -> str:
    """Return what is to be known of a setting."""
    files = list(dict.fromkeys(file for each in solver.codes if each.prompts for file in each.prompts.files()))
    return joined(
        f"## {code(solver.setting)}",
        f"*{prose(solver.title)}*. The model under test sees {prose(solver.words)}." if solver.words else prose(solver.title),
        facts(
            ("Question types", asked_types(solver)),
            ("Needs", "items with a long context, which it cuts into chunks and ranks" if solver.retrieves else ""),
            ("Options", options_of(solver)),
            ("Prompts", f"{codes(f'{file}.yaml' for file in files)} ([what is in them](files/prompts.md))" if files else ""),
            ("Version of its code", codes(dict.fromkeys(each.version for each in solver.codes))),
        ),
        table(("Role", "What the helper does", "If none is named"), role_rows(solver)),
    )


def settings_page() -> str:
    """Return the page of settings."""
    about = [
        f"[{code('contexts')}](plan.md#{slug('contexts')}): {prose(str(ContextOptions.__doc__))}",
        f"[{code('retrieval')}](plan.md#{slug('retrieval')}): {prose(str(RetrievalOptions.__doc__))}",
    ]
    return joined(
        SETTINGS_HEAD, *map(setting_section, SOLVERS.values()), "## Parameters of all", "\n".join(f"* {text}" for text in about)
    )


def attributes_of(kind: type) -> Mapping[str, str]:
    """Return what the docstring of a class says of each attribute."""
    _, _, text = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    entries = inspect.cleandoc(f"\n{text}").splitlines()
    return {name: says for name, colon, says in (entry.partition(": ") for entry in entries) if colon}


def filled_by(registry: str) -> str:
    """Return the benchmarks of this install that add rows to a registry."""
    return codes(point.name for point, benchmark in benchmarks() if getattr(benchmark, registry) is not None)


def registries_page() -> str:
    """Return the page of registries."""
    said = attributes_of(Benchmark)
    names = [each.name for each in fields(Benchmark)]
    rows = [
        (row_name(name, "benchmark"), prose(said[name]), "" if name in {"name", "place"} else filled_by(name)) for name in names
    ]
    entries = [(code(point.name), code(point.value)) for point, _ in benchmarks()]
    return joined(
        REGISTRIES_HEAD,
        "## Benchmark",
        table(("Field", "What it names", "Filled by"), rows),
        "Every field but `name` and `place` is a text `module:NAME`, imported when the registry is first read; null = none.",
        "## Entry points",
        table(("Entry point", "Row"), entries),
        "## Solver",
        docstring(Solver),
        "## ContextSolver",
        docstring(ContextSolver),
    )


def write(folder: Path) -> None:
    """Write both pages."""
    write_page(folder / "settings.md", settings_page())
    write_page(folder / "registries.md", registries_page())
