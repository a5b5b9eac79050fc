"""Pages of benchmarks, tasks and datasets say what the program knows of them; examples are the bundled items."""

import csv
import json
import re
from pathlib import Path

import pytest

from docs.generate.catalogue import read_asks, write
from docs.generate.catalogue_examples import is_bundled
from docs.generate.catalogue_places import Catalogue, read_catalogue
from docs.generate.scripted_run import short_blueprint
from schemas.dataset import PinnedFile
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from tasks.scoring.blueprints import load_blueprint
from tasks.text.tables import escape
from tests.docs.pages import LINK, ROOT

READ_AS_ITEMS = "mini_"
"""Begins the names of bundled datasets whose files hold items as they are asked."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write(folder)
    return folder / "benchmarks"


def dataset_text(site: Path, name: str) -> str:
    return (site / "datasets" / f"{name}.md").read_text(encoding="utf-8")


def cells(text: str) -> list[list[str]]:
    """The cells of all table rows of a page."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_every_benchmark_task_and_dataset_has_page(site: Path, catalogue: Catalogue) -> None:
    assert {page.stem for page in site.glob("*.md")} == {"index", *catalogue.families}
    assert {page.stem for page in (site / "tasks").glob("*.md")} == set(catalogue.tasks)
    assert {page.stem for page in (site / "datasets").glob("*.md")} == set(catalogue.datasets)
    for family, members in catalogue.families.items():
        text = (site / f"{family}.md").read_text(encoding="utf-8")
        assert [name for name in members if f"moodflow run {name} " not in text] == []


def test_every_task_and_dataset_says_what_it_asks(catalogue: Catalogue) -> None:
    asks = read_asks()
    assert set(asks["tasks"]) == set(catalogue.tasks)
    assert set(asks["datasets"]) == {name for name, spec in catalogue.datasets.items() if not is_bundled(spec)}
    assert set(asks["benchmarks"]) == set(catalogue.blueprints)
    assert set(read_yaml(read_text(ROOT / "docs/generate/zh.yaml"))) == set(catalogue.families)


def test_dataset_has_licence_metrics_and_sources(site: Path, catalogue: Catalogue) -> None:
    for name, spec in catalogue.datasets.items():
        text = dataset_text(site, name)
        wanted = [escape(spec.licence), f"moodflow datasets check {name}", *map(escape, spec.differences)]
        wanted += [f"metrics.md#{metric.metric})" for place in catalogue.of_dataset(name) for metric in place.metrics]
        wanted += [file.sha256 for file in spec.files[:6] if isinstance(file, PinnedFile) and file.sha256]
        assert [part for part in wanted if part not in text] == [], name


def test_example_has_gold_of_the_item(site: Path, catalogue: Catalogue) -> None:
    names = [name for name in catalogue.datasets if name.startswith(READ_AS_ITEMS)]
    assert len(names) == 41
    for name in names:
        text = dataset_text(site, name)
        lines = (DATA_FOLDER / "bundled" / f"{name.removeprefix(READ_AS_ITEMS)}.jsonl").read_text(encoding="utf-8").splitlines()
        items = {item["item_id"]: item for item in map(json.loads, lines)}
        item = items[re.findall(r"^Item `(.+?)`", text, flags=re.MULTILINE)[0]]
        assert item["question"] in text
        gold = re.findall(
            r"^\* \*\*(.+?)\*\*: (.+)$", text.partition("### Gold")[2].partition("## Scores")[0], flags=re.MULTILINE
        )
        right = [item["options"][index] for index in item["gold_indices"] or ()] or item["references"] or item["options"]
        assert [shown for _, shown in gold] == [escape(option) for option in right], name


def test_questionnaire_shows_points_and_best_reply(site: Path) -> None:
    """Agreement with the first statement earns 1 to 5; half of the twelve are reversed, so each letter earns half of all."""
    text = dataset_text(site, "mini_eq_test")
    assert "**E, earns 5**: strongly agree" in text
    assert "A reply that earns everything:\n\n```text\nE\n```" in text
    assert ["Always `C`", "50.00"] in cells(text)
    assert ["A model that knows the gold", "100.00"] in cells(text)


def test_other_datasets_show_no_item(site: Path, catalogue: Catalogue) -> None:
    for name in (name for name, spec in catalogue.datasets.items() if not is_bundled(spec)):
        text = dataset_text(site, name)
        assert "No item of this dataset comes with MoodFlow" in text
        assert "### Gold" not in text


def test_shares_follow_from_the_tree(site: Path) -> None:
    """COPA is one of two tasks at level low (0.3) of one of four sub-abilities: 100 x 0.3 / 2 / 4 = 3.75; x 0.3 = 1.125."""
    rows = [row for row in cells(dataset_text(site, "copa")) if row[0].startswith("[`moodbench`]")]
    assert [row[-2:] for row in rows] == [["3.75", "1.12"]]


def test_published_table_is_as_printed(site: Path) -> None:
    """Scores are the first columns of the files; what follows them stands in a table of its own, beside the model."""
    tables = (("moodbench", "moodbench_table4", 8), ("longemotion", "longemotion_table2", 9), ("esc-eval", "esceval_table2", 11))
    for page, name, scores in tables:
        with (DATA_FOLDER / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            heads, *printed = [[escape(text) or "–" for text in row] for row in csv.reader(file)]
        shown = cells((site / f"{page}.md").read_text(encoding="utf-8").partition("## Published scores")[2])
        ordered = [sorted(line) for line in shown]
        named = {cell for line in shown if len(line) <= 5 for cell in line}
        assert [row for row in printed if sorted(row[:scores]) not in ordered] == []
        assert [
            row
            for row in printed
            if not {row[heads.index("model")], *row[scores:]} - {"–"} <= named and any(text != "–" for text in row[scores:])
        ] == []


def test_published_ability_has_best_median_and_worst(site: Path) -> None:
    """Table 2 of LongEmotion, Base, ED: 24.51, 22.79, 20.83, 20.59, 19.12, 18.14, 16.42, 9.80; median (20.59 + 19.12) / 2."""
    rows = {row[0]: row[1:] for row in cells(dataset_text(site, "longemotion_ed").partition("## Published scores")[2])}
    assert rows["Base"] == ["8", "DeepSeek-V3", "24.51", "19.86", "Llama3.1-8B-Instruct", "9.80"]


def test_links_between_pages_lead_to_pages(site: Path) -> None:
    dead = [
        (page.name, target)
        for page in site.rglob("*.md")
        for target in {found["target"].partition("#")[0] for found in LINK.finditer(page.read_text(encoding="utf-8"))}
        if site in (file := (page.parent / target).resolve()).parents and file.name != "demo.md" and not file.is_file()
    ]
    assert dead == []


def test_run_to_click_through_has_gate_and_total(tmp_path: Path) -> None:
    """One task in two of the sub-abilities of each ability; Companionship has only one."""
    file = tmp_path / "moodbench-demo.yaml"
    file.write_text(json.dumps(short_blueprint()), encoding="utf-8")
    blueprint = load_blueprint(file)
    mains = [(main.id, len(main.dataset_ids)) for main in blueprint.abilities if main.evaluated]
    assert mains == [("values_safety", 2), ("foundational", 2), ("emotional", 2), ("companionship", 1)]
    assert blueprint.gate == load_blueprint("moodbench-mini").gate
