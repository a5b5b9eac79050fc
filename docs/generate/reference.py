"""The reference of the site: pages made of the program itself, with an anchor for everything that has a name in it."""

from pathlib import Path

from docs.generate import (
    reference_commands,
    reference_documents,
    reference_failures,
    reference_files,
    reference_layers,
    reference_metrics,
    reference_plan,
    reference_python,
    reference_settings,
)
from docs.generate.markdown import joined, table, toctree, write_page

PAGES = {
    "command-line/index": ("Command line", "every command with its arguments, options and exit statuses; environment variables"),
    "plan": ("Plan", "every field of a run: type, default, what it changes, what sets it"),
    "model": ("Fields of a model", "name, server, key, sampling, limits, quirks and description of a model"),
    "settings": ("Settings", "how items are asked, and which helper models take part"),
    "question-types": ("Question types", "how each is asked, read and scored, with an example"),
    "metrics": ("Metrics", "what each measures, its bounds, and how it is put on 0 to 100"),
    "rubrics": ("Rubrics", "what judges are told to look at"),
    "profiles": ("Profiles", "ways to read replies"),
    "failures": ("Failures: all kinds", "how a call can fail, how often it is tried again, and what to do; remarks and statuses"),
    "files/index": ("Files of your own", "blueprints, items, rubrics, prompts, role cards, prices"),
    "layers": ("Layers", "every column of every layer of the lake"),
    "run-files": ("Files of a run", "manifest, join tables, and the table of `moodflow export`"),
    "documents/index": ("Documents", "what `--json` prints, with JSON schemas"),
    "python": ("Python", "the module `moodflow`"),
    "registries": ("Registries", "how a package adds a benchmark, metric, setting or rubric"),
}
"""Pages in the order of the sidebar, with title and contents."""

HEAD = """# Commands, fields, metrics, columns

Generated from the program when the site is built, so it says what this version does. Everything with a name has an anchor of its
own: the name in lower case, a hyphen for all else, as in `reference/metrics.html#token-f1` or
`reference/layers.html#items-item-id`."""


def write(folder: Path) -> None:
    """Write the pages into `folder / "reference"`."""
    reference = folder / "reference"
    reference_commands.write(reference / "command-line")
    reference_documents.write(reference / "documents")
    reference_files.write(reference / "files")
    for part in (reference_plan, reference_settings, reference_metrics, reference_failures, reference_layers, reference_python):
        part.write(reference)
    rows = [(f"[{title}]({page}.md)", says) for page, (title, says) in PAGES.items()]
    write_page(reference / "index.md", joined(HEAD, table(("Page", "Contents"), rows), toctree(PAGES)))
