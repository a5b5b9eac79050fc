"""What people said of items is built beside them, and no job of the infer stage has a way to it."""

import json
from pathlib import Path
from typing import Any

from flows.planning.broken_rows import find_broken_rows
from flows.planning.jobs import ResolvedPlan, SelectedDataset
from flows.planning.resolve import resolve
from schemas.plan import Plan
from tasks.datasets import steps
from tasks.datasets.attunebench.conversations import ATTUNEBENCH
from tasks.datasets.own_items import in_folder
from tasks.datasets.steps import BuildJob
from tests.tasks.datasets.attunebench.conversations import conversation, write_folder

BLUEPRINT: dict[str, Any] = {
    "name": "annotated",
    "title": "Annotated",
    "version": "1",
    "source": "none",
    "level_rules": [{"weights": {"high": 1}}],
    "abilities": [
        {"id": "one", "title": "One", "tasks": [{"id": "two", "title": "Two", "level": "high", "datasets": ["mini_eq_test"]}]}
    ],
    "datasets": {"mini_eq_test": {"title": "EQ", "methods": [{"id": "points", "metrics": [{"metric": "questionnaire_points"}]}]}},
}


def test_infer_has_items_and_no_annotations(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set", {"1": conversation(1), "2": conversation(2), "3": b"{"})
    (tmp_path / "annotated.yaml").write_text(json.dumps(BLUEPRINT))
    plan = Plan.model_validate(
        {
            "benchmark": str(tmp_path / "annotated.yaml"),
            "models": [{"name": "core", "base_url": "http://localhost:9/v1"}],
            "lake": tmp_path / "lake",
        }
    )
    bare = resolve(plan)
    selected = SelectedDataset(in_folder(ATTUNEBENCH, folder), bare.selected[0].methods)
    resolved = ResolvedPlan(bare.plan, bare.blueprint, (selected,), (), bare.lake)
    keys = resolved.built_keys(selected)
    job = BuildJob(selected.spec, keys, 300, plan.seed, plan.contexts, required=True)
    refs = steps._write(job, resolved.lake, [folder])
    layers = {ref.layer: ref for ref in refs}
    assert set(layers) == {"items", "turn_annotations", "conversation_annotations"}
    assert resolved.find_annotations(selected) == (layers["turn_annotations"], layers["conversation_annotations"])
    (asked,) = resolved.jobs
    infer = asked.infer_job()
    assert infer is not None
    assert (infer.items, infer.contexts, infer.chunk_job) == (layers["items"], None, None)
    gold = [value for name in ("turn_annotations", "conversation_annotations") for value in (name, layers[name].path)]
    assert not [value for value in gold if value in repr(infer)]
    (broken,) = find_broken_rows(resolved, own=True)
    assert broken.words == "has 1 row that breaks a rule and is no item: file_is_json (1: conversation_3.json)"
