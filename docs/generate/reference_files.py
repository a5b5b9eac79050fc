"""Reference pages of the files that people write: blueprints, items, rubrics, prompts, posts, plans, descriptions, prices."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from docs.generate.markdown import block, joined, table, toctree, write_page
from docs.generate.reference_layers import columns_table, rules_of
from docs.generate.reference_schema import describe_schema, type_words
from docs.generate.reference_text import code, codes, docstring, facts, prose, row_name, sentence
from schemas.blueprint import Blueprint, PaperWording
from schemas.folders import DATA_FOLDER
from schemas.item import Item
from schemas.model_description import ModelDescription
from schemas.provider import PriceTable
from schemas.question_types import QUESTION_TYPES
from schemas.tables.items import Items
from schemas.tables.ratings import HumanRatings
from tasks.benchmarks.esc_eval.posts import Post
from tasks.datasets.own_items import REQUIRED
from tasks.judging.cards import ANNOTATION, ANNOTATORS
from tasks.judging.rubrics import Rubric
from tasks.solvers.prompts import PromptFile, PromptFolder, Prompts, PromptTemplate
from tasks.solvers.registry import SOLVERS

PAGES = {
    "blueprint": "a benchmark of your own: abilities, tasks, datasets, methods, weights",
    "items": "a dataset of your own: one item per line",
    "rubric": "what a judge is told to look at",
    "prompts": "how items are asked, in your or a paper's words",
    "role-cards": "posts and dialogues that role cards are built from, and what people say of cards",
    "plan-file": "fields of a plan, for `--config`",
    "descriptions": "who made a model, how large and how open it is, for `--about`",
    "prices": "what tokens cost, for a budget in money",
    "ratings": "ratings by people, beside which `moodflow judges check` sets those of judges",
}
"""Pages, with what their files are."""


def shipped(path: str) -> str:
    """Return one of our own files under data as a block, with its path above."""
    return joined(f"An example, `data/{path}`:", block("yaml", (DATA_FOLDER / path).read_text(encoding="utf-8")))


def fields_of(model: type[BaseModel], name: str) -> str:
    """Return the fields of a file that people write, and those of its parts; their anchors begin with `name`."""
    return describe_schema(TypeAdapter(model).json_schema(mode="validation"), name, written=True)


def blueprint_page() -> str:
    """Return the page of blueprints."""
    return joined(
        "# Blueprint",
        "A benchmark is a YAML file; `moodflow run FILE` evaluates it. [Your own benchmark](../../how-to/own-benchmark.md) "
        "shows how to write one.",
        docstring(Blueprint),
        "`extends: NAME` takes all that the file does not state from the blueprint of that name that ships with MoodFlow. "
        "`own_rubrics`, `own_prompts` and `wording` are read from the folders and not written.",
        fields_of(Blueprint, "blueprint"),
        "## Example",
        shipped("blueprints/esc-eval-mini.yaml"),
    )


def items_page() -> str:
    """Return the page of own items: the fields that a record may have, described as the column of the layer that keeps them."""
    schema, columns = Item.model_json_schema(), Items.columns()
    rows = [
        (row_name(name, "item"), type_words(field), "yes" if name in REQUIRED else "", prose(columns[name].description or ""))
        for name, field in schema["properties"].items()
    ]
    example = (DATA_FOLDER / "bundled" / "irony_detection.jsonl").read_text(encoding="utf-8").splitlines()[0]
    return joined(
        "# Items",
        "A dataset of your own is a file of items: JSONL, JSON, CSV, TSV or Parquet. A blueprint names it as `source` of a "
        "dataset. [Your own dataset](../../how-to/own-dataset.md) shows how to write one.",
        table(("Field", "Type", "Required", "What it says"), rows),
        "## Gold answers",
        docstring(Item),
        f"The [question types](../question-types.md) are {codes(QUESTION_TYPES)}.",
        "## Example",
        "A line of `data/bundled/irony_detection.jsonl`; `canary` marks files of MoodFlow, so leave it out of yours.",
        block("json", example),
    )


def rubric_page() -> str:
    """Return the page of rubrics."""
    return joined(
        "# Rubric",
        "A rubric is a YAML file, in a folder that a blueprint names under `rubrics`, or below `rubrics` in a folder of "
        "prompts. Its name is its id. [Your own judge](../../how-to/own-judge.md) shows how to write one; "
        "[Rubrics](../rubrics.md) lists those that ship.",
        docstring(Rubric),
        "`extends: NAME` takes all fields and dimensions that the file does not state from that rubric.",
        fields_of(Rubric, "rubric"),
        "## Example",
        shipped("prompts/rubrics/answer.yaml"),
    )


def prompt_folders() -> dict[str, type[PromptFolder]]:
    """Return the prompt files that a folder of one's own may have, with the folder that says what is in them."""
    kinds = (code.prompts for solver in SOLVERS.values() for code in solver.codes if code.prompts)
    folders: list[type[PromptFolder]] = [Prompts, *kinds]
    return {file: kind for kind in folders for file in kind.files()}


def placeholders(info: Any) -> list[str]:
    """Return the placeholders that a text of a prompt must hold."""
    return [f"{{{each}}}" for each in info.metadata if isinstance(each, str)]


def texts_of(file: str, folder: type[PromptFolder]) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of a prompt file for one language: name, placeholders, what is said of it."""
    annotation: Any = PromptFile[PromptTemplate] if folder is Prompts else folder.model_fields[folder.files()[file]].annotation
    kind = annotation.model_fields["en"].annotation if issubclass(annotation, PromptFile) else annotation
    for name, info in kind.model_fields.items():
        yield row_name(name, file), codes(placeholders(info)), prose(info.description or "")


def prompts_page() -> str:
    """Return the page of prompts."""
    files = prompt_folders()
    general = [file for file, folder in files.items() if folder is Prompts]
    others = [(file, folder) for file, folder in files.items() if folder is not Prompts]
    head = ("Text", "Placeholders", "What it says")
    sections = (joined(f"## {code(f'{file}.yaml')}", table(head, texts_of(file, folder))) for file, folder in others)
    return joined(
        "# Prompts",
        "A folder of prompts (`--set prompts=DIR`, or `prompts` of a blueprint) replaces files of `data/prompts` by files of "
        "the same path. [Your own prompts](../../how-to/own-prompts.md) shows how to write them. Each text stands below `en` "
        "and `zh`, beside `version` and `max_tokens`; a placeholder appears once in it.",
        "## Question types",
        f"One file for each of {codes(f'{file}.yaml' for file in general)}:",
        table(head, texts_of(general[0], Prompts)),
        shipped("prompts/single_choice.yaml"),
        *sections,
        "## `wording.yaml`",
        *map(sentence, (inspect.getdoc(PaperWording) or "").split("\n\n")),
        fields_of(PaperWording, "wording"),
    )


def cards_page() -> str:
    """Return the page of what role cards are built from."""
    return joined(
        "# Role cards",
        "`moodflow cards build FILE` reads posts and dialogues, one JSON object per line; `moodflow cards annotate` reads "
        "cards and, with `--people FILE`, what people say of them. [Build role cards](../../how-to/build-cards.md) shows "
        "both.",
        "## Posts and dialogues",
        docstring(Post),
        fields_of(Post, "post"),
        "## Annotations by people",
        f"A CSV file with the columns {codes(ANNOTATION)}. Its order counts: two people annotate a card, a third, of "
        f"{len(ANNOTATORS)} at most, settles where they differ. A row without category and grade says nothing.",
        "## Example",
        "A card is the context of an [item](items.md) of four labelled lines, as in `data/bundled/role_cards_en.jsonl`:",
        block("json", (DATA_FOLDER / "bundled" / "role_cards_en.jsonl").read_text(encoding="utf-8").splitlines()[0]),
    )


def plan_file_page() -> str:
    """Return the page of files for --config."""
    return joined(
        "# Configuration file",
        "A YAML file with fields of a [plan](../plan.md) under their names, for `--config FILE`. `models` is a list of "
        "[models](../model.md), `roles` has a model or a list of models by role. `--config` may be given several times; a "
        "later file wins.",
        "A *preset* (`--preset NAME`) is such a file that ships with MoodFlow: a run as a paper describes its own. What "
        "stands under `models` of a preset holds for each model under test.",
        f"Presets: {codes(sorted(file.stem for file in (DATA_FOLDER / 'presets').glob('*.yaml')))}.",
        "## Example",
        shipped("presets/paper.yaml"),
    )


def descriptions_page() -> str:
    """Return the page of descriptions of models."""
    example = "my-model:\n  institution: Example Lab\n  series: Example\n  openness: open\n  parameters: 7B\n  released: 2026-01"
    return joined(
        "# Descriptions of models",
        "A YAML file with a mapping from the names of models to what is said of them, for `--about FILE` and `moodflow runs "
        "describe`. It moves no call and no score.",
        fields_of(ModelDescription, "about"),
        "## Example",
        block("yaml", example),
    )


def prices_page() -> str:
    """Return the page of price tables."""
    example = (
        "currency: USD\nprices:\n  - model: my-model*\n    base_url: https://api.example.org\n    input_per_million: 2.5\n"
        "    output_per_million: 10\n    as_of: 2026-01-31\n    source: https://example.org/prices"
    )
    return joined(
        "# Prices",
        "A YAML file for `--set prices=FILE`. MoodFlow ships none. [Cost: tokens, money and budgets](../../cost.md) says what is "
        "made of it.",
        docstring(PriceTable),
        fields_of(PriceTable, "table"),
        "## Example",
        block("yaml", example),
    )


def ratings_page() -> str:
    """Return the page of ratings by people."""
    return joined(
        "# Ratings",
        "A Parquet, CSV or JSON Lines file for `moodflow judges check RUN --human FILE`: a row per rating by a person. "
        "[Your own judge](../../how-to/own-judge.md) says what is made of it. A type that ends in `?` may be null; a column that "
        "would be null or true throughout may be absent.",
        columns_table("ratings", HumanRatings),
        facts(("Rules", codes(rules_of(HumanRatings)))),
    )


def write(folder: Path) -> None:
    """Write the pages of files into a folder of their own."""
    texts = {
        "blueprint": blueprint_page(),
        "items": items_page(),
        "rubric": rubric_page(),
        "prompts": prompts_page(),
        "role-cards": cards_page(),
        "plan-file": plan_file_page(),
        "descriptions": descriptions_page(),
        "prices": prices_page(),
        "ratings": ratings_page(),
    }
    for name, text in texts.items():
        write_page(folder / f"{name}.md", text)
    rows = [(f"[{name.replace('-', ' ').capitalize()}]({name}.md)", says) for name, says in PAGES.items()]
    head = "# Files of your own\n\nFiles that you may write, with every field they may have. All are UTF-8."
    write_page(folder / "index.md", joined(head, table(("File", "What it is"), rows), toctree(PAGES)))
