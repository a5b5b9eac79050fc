"""The reference of the site has everything that the registries have, each with an anchor of its own."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import moodflow
from docs.generate import reference
from docs.generate.markdown import table
from docs.generate.reference_commands import commands
from docs.generate.reference_plan import entry_changes, options_by_path
from docs.generate.reference_schema import type_words
from docs.generate.reference_text import anchor, prose, row_name
from flows.commands.docs import page_places
from flows.commands.plan_fields import plan_fields, role_names
from schemas.benchmark import Benchmark, files_by_name
from schemas.blueprint import Ability, Blueprint, BlueprintDataset, Gate, LevelRule, MethodSpec, MetricSpec, Task, WeightedDataset
from schemas.documents.document import DOCUMENTS, json_schema
from schemas.item import Item
from schemas.lineage import RunManifest
from schemas.metrics import METRICS
from schemas.question_types import QUESTION_TYPES
from schemas.tables.layers import LAYERS
from schemas.tables.ratings import HumanRatings
from schemas.tables.results import BlueprintParts, Partitions, Results
from schemas.vocabulary import CORRECTED, FAILURES, ITEM_STATUSES, REMARKS
from tasks.judging.rubrics import RUBRICS, Dimension, Rubric, load_rubric
from tasks.metrics.metric import PROFILES
from tasks.solvers.prompts import Prompts
from tasks.solvers.registry import SOLVERS
from tests.docs.pages import FENCE, HEADING, LINK, ROOT, anchors
from tests.rows import each_row

SPAN = re.compile(r'<span id="([^"]+)"></span>')
Pages = Mapping[str, str]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    reference.write(folder)
    return folder


@pytest.fixture(scope="module")
def pages(tree: Path) -> Pages:
    return {page.relative_to(tree / "reference").as_posix(): page.read_text("utf-8") for page in tree.rglob("*.md")}


def anchors_of(text: str) -> list[str]:
    """List the anchors of a page as Sphinx makes them: of its headings, and of rows that have one."""
    plain = FENCE.sub("", text)
    return [*(anchor(found["text"]) for found in HEADING.finditer(plain)), *SPAN.findall(plain)]


def lacking(text: str, names: Iterable[str]) -> list[str]:
    present = anchors_of(text)
    return [name for name in names if anchor(name) not in present]


def test_anchors_of_page_differ(pages: Pages) -> None:
    assert len(pages) > 60
    for page, text in pages.items():
        listed = anchors_of(text)
        assert sorted({each for each in listed if listed.count(each) > 1}) == [], page


def test_links_of_reference_lead_somewhere(tree: Path, pages: Pages) -> None:
    sources = {place: ROOT / page for page, place in page_places().items()}
    dead = []
    for page, text in pages.items():
        for target in (found["target"] for found in LINK.finditer(FENCE.sub("", text))):
            path, _, name = target.partition("#")
            to = (tree / "reference" / page).parent / path if path else tree / "reference" / page
            file = sources.get(to.resolve().relative_to(tree.resolve()).as_posix(), to)
            if not file.exists() or (name and name not in anchors(file)):
                dead.append((page, target))
    assert dead == []


def test_every_plan_field_has_section(pages: Pages) -> None:
    entries = [path for path in plan_fields() if path.startswith("models.")]
    inside = {f"{role}.{path.partition('.')[2]}" for role in role_names() for path in entries}
    assert lacking(pages["model.md"], entries) == []
    assert lacking(pages["plan.md"], plan_fields().keys() - {*entries, *inside}) == []


def test_every_option_is_on_page_of_group(pages: Pages) -> None:
    for words, (command, group) in commands().items():
        given = [option.opts[0] for option in command.params if option.param_type_name == "option"]
        page = pages[f"command-line/{group.lower()}.md"]
        assert lacking(page, [f"moodflow {words}", *(f"{words} {option}" for option in given)]) == []


def test_every_variable_of_ours_is_listed(pages: Pages) -> None:
    files = [path for room in ("flows", "tasks", "schemas") for path in (ROOT / room).rglob("*.py")]
    text = "\n".join(path.read_text("utf-8") for path in [*files, ROOT / "compose.yaml"])
    assert lacking(pages["command-line/environment.md"], re.findall(r"\bMOODFLOW_[A-Z_]+\b", text)) == []


def test_every_document_has_page_and_schema(tree: Path, pages: Pages) -> None:
    for name in DOCUMENTS:
        page = f"documents/{name.replace(' ', '-')}"
        schema: dict[str, Any] = json_schema(name)
        assert json.loads((tree / "_extra" / "reference" / f"{page}.json").read_text("utf-8")) == schema
        parts = {name: schema, **schema.get("$defs", {})}
        names = [f"{part} {field}" for part, kind in parts.items() for field in kind.get("properties", ())]
        assert lacking(pages[f"{page}.md"], names) == []


def test_every_layer_and_column_has_anchor(pages: Pages) -> None:
    layers = [*LAYERS, *(f"{name} {column}" for name, layer in LAYERS.items() for column in layer.schema.columns())]
    assert len(layers) > 300
    assert lacking(pages["layers.md"], layers) == []
    tables = {"partitions": Partitions, "blueprint": BlueprintParts, "results": Results}
    columns = [f"{name} {column}" for name, schema in tables.items() for column in schema.columns()]
    assert (
        lacking(
            pages["run-files.md"], [*columns, *(f"manifest {name}" for name in RunManifest.model_fields if name != "ablation")]
        )
        == []
    )


@each_row(
    ("page", "names"),
    [
        ("metrics.md", METRICS),
        ("question-types.md", QUESTION_TYPES),
        ("settings.md", SOLVERS),
        ("profiles.md", [CORRECTED, *PROFILES]),
        ("failures.md", [*FAILURES, *(f"remark {remark}" for remark in REMARKS), *ITEM_STATUSES]),
        ("registries.md", [f"benchmark {field.name}" for field in fields(Benchmark)]),
        ("files/items.md", [f"item {name}" for name in Item.model_fields]),
        ("files/ratings.md", [f"ratings {name}" for name in HumanRatings.columns()]),
        ("python.md", [f"moodflow {name}" for name in ("evaluate", "run", "runs")]),
        ("python.md", [f"Run {name}" for name in vars(moodflow.Run) if not name.startswith("_")]),
    ],
)
def test_every_row_of_registry_has_section(pages: Pages, page: str, names: Iterable[str]) -> None:
    assert lacking(pages[page], names) == []


def test_every_field_of_written_file_is_listed(pages: Pages) -> None:
    parts = (Ability, BlueprintDataset, Gate, LevelRule, MethodSpec, MetricSpec, Task, WeightedDataset)
    of_parts = [f"{part.__name__} {name}" for part in parts for name in part.model_fields]
    assert lacking(pages["files/blueprint.md"], [*(f"blueprint {name}" for name in Blueprint.model_fields), *of_parts]) == []
    rubric = [*(f"rubric {name}" for name in Rubric.model_fields), *(f"dimension {name}" for name in Dimension.model_fields)]
    assert lacking(pages["files/rubric.md"], rubric) == []
    assert all(f"`{name}.yaml`" in pages["files/prompts.md"] for name in Prompts.files())


def test_every_rubric_and_dimension_has_anchor(pages: Pages) -> None:
    names = sorted(files_by_name("rubrics", RUBRICS))
    dimensions = [f"{name} {dimension}" for name in names for dimension in load_rubric(name).names]
    assert lacking(pages["rubrics.md"], [*names, *dimensions]) == []


def section(text: str, name: str) -> str:
    return re.split(r"^#+ ", text.partition(f"# `{name}`\n")[2], flags=re.MULTILINE)[0]


def test_field_says_type_default_and_option(pages: Pages) -> None:
    said = section(pages["plan.md"], "judge_repeat")
    assert "Times each judge rates an answer; the mean counts." in said
    assert "* *Type*: whole number, from 1 to 20\n* *Default*: `1`\n" in said
    assert "* *Set by*: `--set judge_repeat=N`" in said
    assert options_by_path()["models.sampling.max_tokens"] == "--max-tokens"
    assert "* *Set by*: `--sample`, `--set sample=N`" in section(pages["plan.md"], "sample")


@each_row(
    ("path", "asks_again"),
    [
        ("models.name", True),
        ("models.sampling.seed", True),
        ("models.dialect.fold_system", True),
        ("models.token_probabilities", True),
        ("models.timeout_s", False),
        ("models.dialect.stream", False),
        ("models.about.series", False),
        ("models.api_key_env", False),
    ],
)
def test_entry_field_changes_calls_or_not(path: str, asks_again: bool) -> None:
    assert ("the calls" in entry_changes(path)) is asks_again


def test_metric_says_bounds_direction_and_formula(pages: Pages) -> None:
    said = section(pages["metrics.md"], "emotion_intensity_mae")
    assert "* *Bounds*: 0 to 6, 0 is best\n" in said
    assert "Here best = 0, span = 6." in said
    assert "* *Bounds*: 0 to 1, higher is better\n" in section(pages["metrics.md"], "accuracy")
    assert "[`single_choice`](question-types.md#single_choice)" in section(pages["metrics.md"], "accuracy")


@each_row(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 20}, "whole number, from 1 to 20"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text"),
        ({"type": "array", "items": {"$ref": "#/$defs/Row"}}, "list of [Row](#row)"),
        ({"enum": ["low", "high"]}, "`low`, `high`"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "mapping to number"),
        ({"type": "object", "patternProperties": {"^[a-z]+$": {"type": "boolean"}}}, "mapping to true or false"),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2}, "(text, whole number)"),
        ({}, "any value"),
    ],
)
def test_type_of_schema_is_in_words(schema: dict[str, object], words: str) -> None:
    assert type_words(schema) == words


def test_prose_has_no_markup_but_code() -> None:
    assert prose("a*b <c> [d] `e*` and --set x") == r"a\*b \<c\> \[d\] `e*` and `--set` x"


def test_cells_keep_bars_and_empty_columns_go() -> None:
    assert table(("A", "B", "C"), [("x | y", "", "1")]) == "| A | C |\n| --- | --- |\n| x \\| y | 1 |"
    assert row_name("too_long", "plan") == '<span id="plan-too-long"></span>`too_long`'
