"""What people said of items is built beside them, and no job of the infer stage has a way to it."""

from pathlib import Path
from typing import Any

import pytest

from flows.planning.resolve import resolve
from flows.planning.score_jobs import find_broken_rows
from schemas.errors import UsageError
from schemas.plan import Plan
from tasks.datasets import steps
from tasks.datasets.steps import BuildJob
from tests.flows.commands.test_bad_input import blueprint
from tests.tasks.benchmarks.attunebench.datasets.conversations import conversation, write_folder

TASK = {"id": "talking", "title": "Talking", "level": "low", "datasets": ["attunebench"]}
BLUEPRINT: dict[str, Any] = {
    "abilities": [{"id": "one", "title": "One", "tasks": [TASK]}],
    "datasets": {"attunebench": {"title": "Talks", "methods": [{"id": "words", "metrics": [{"metric": "rouge_l"}]}]}},
}


def test_infer_has_items_and_no_annotations(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set", {**{str(n): conversation(n) for n in range(1, 12)}, "12": b"{"})
    models = [{"name": "core", "base_url": "http://localhost:9/v1"}]
    named = {"benchmark": str(blueprint(tmp_path, **BLUEPRINT)), "models": models, "settings": ["annotate"]}
    plan = Plan.model_validate({**named, "lake": tmp_path / "lake", "folders": {"attunebench": folder}})
    resolved = resolve(plan)
    (selected,) = resolved.selected
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
    (broken,) = find_broken_rows(resolved)
    assert broken.missing.reason == "has 1 row of 12 that breaks a rule and is left out: file_is_json (1: conversation_12.json)"


def test_a_folder_of_an_unknown_dataset_is_refused(tmp_path: Path) -> None:
    path = str(blueprint(tmp_path, **BLUEPRINT))
    with pytest.raises(UsageError, match="benchmark own has no dataset attunebench_2"):
        resolve(Plan.model_validate({"benchmark": path, "models": [], "folders": {"attunebench_2": tmp_path}}))
