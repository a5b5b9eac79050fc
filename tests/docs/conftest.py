"""What tests of pages share."""

from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
import yaml

from tasks.scoring import blueprints

ASKED = {
    *("mini_eq_test", "mini_text_matching", "mini_user_safety", "mini_irony_detection", "mini_sequence_order_recall"),
    "mini_summarization",
}
"""Datasets that pages name, and one that needs a judge."""


def shorten(ability: dict[str, Any]) -> set[str]:
    """Leave few tasks below an ability, and no part without any; return their datasets."""
    ability["tasks"] = [task for task in ability.get("tasks", ()) if not ASKED.isdisjoint(task["datasets"])]
    below = [(part, shorten(part)) for part in ability.get("children", ())]
    ability["children"] = [part for part, names in below if names]
    return {name for task in ability["tasks"] for name in task["datasets"]}.union(*(names for _, names in below))


@pytest.fixture
def small_moodbench(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """`moodbench-mini` with a few of its 41 tasks."""
    folder = tmp_path_factory.mktemp("shipped") / "blueprints"
    # What extends it names tasks that are left out.
    copytree(blueprints.BLUEPRINTS, folder, ignore=ignore_patterns("ecdbench-mini.yaml"))
    file: Path = folder / "moodbench-mini.yaml"
    tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    left = set().union(*(shorten(ability) for ability in tree["abilities"]))
    tree["datasets"] = {name: dataset for name, dataset in tree["datasets"].items() if name in left}
    file.write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    monkeypatch.setattr(blueprints, "BLUEPRINTS", folder)
