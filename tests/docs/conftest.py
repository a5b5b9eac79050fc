"""A small MoodBench, so that commands of pages end soon: what is shown is that they do what the page says."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.scoring import blueprints

ASKED = {"mini_eq_test", "mini_text_matching", "mini_user_safety", "mini_irony_detection", "mini_sequence_order_recall"}
"""Datasets that pages name; of every other sub-ability the first task is left."""


def shorten(ability: dict[str, Any]) -> Iterator[str]:
    """Leave few tasks below an ability; yield their datasets."""
    for part in ability.get("children", ()):
        yield from shorten(part)
    if tasks := ability.get("tasks"):
        ability["tasks"] = [task for task in tasks if task is tasks[0] or not ASKED.isdisjoint(task["datasets"])]
        yield from (name for task in ability["tasks"] for name in task["datasets"])


@pytest.fixture
def small_moodbench(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """`moodbench-mini` with a few of its 41 tasks, with all levels of its tree."""
    folder = tmp_path_factory.mktemp("shipped") / "blueprints"
    shutil.copytree(blueprints.BLUEPRINTS, folder)
    file: Path = folder / "moodbench-mini.yaml"
    tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    left = {name for ability in tree["abilities"] for name in shorten(ability)}
    tree["datasets"] = {name: dataset for name, dataset in tree["datasets"].items() if name in left}
    file.write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    monkeypatch.setattr(blueprints, "BLUEPRINTS", folder)
