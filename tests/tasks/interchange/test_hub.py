"""Scores as the hub lists them: one entry, field by field, and the names of all that are not written."""

from dataclasses import replace
from pathlib import Path

import yaml

from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.hub import write_hub
from tests.tasks.interchange.written_run import written_run

OPTIONS = ExportOptions("Lab", hub_ids={"org/m": "maker/model-1"})


def test_entry_has_score_dataset_and_counts(tmp_path: Path) -> None:
    written = write_hub(written_run(tmp_path / "lake"), tmp_path, OPTIONS)
    assert written.files == ("maker/model-1/.eval_results/tiny.yaml",)
    assert yaml.safe_load((tmp_path / written.files[0]).read_text(encoding="utf-8")) == [
        {
            "dataset": {"id": "owner/d", "task_id": "d.choice.accuracy"},
            "value": 0.5,
            "date": "2026-01-01",
            "source": {"name": "Lab"},
            "notes": "moodflow 1, setting base, n_scored 2, n_total 3",
        }
    ]
    # Scores that are made of others belong to no dataset of the hub.
    names = ("total", "a", "a.low", "a.low.task_d", "a.low.task_d.d")
    assert [(each.model, each.name) for each in written.missing] == [("org/m", f"tiny.{name}.base") for name in names]


def test_dataset_from_elsewhere_is_listed_as_unwritten(tmp_path: Path) -> None:
    run = written_run(tmp_path / "lake")
    notices = tuple(each.model_copy(update={"sources": ("bundled",)}) for each in run.manifest.datasets)
    bundled = replace(run, manifest=run.manifest.model_copy(update={"datasets": notices}))
    written = write_hub(bundled, tmp_path, OPTIONS)
    assert (written.files, len(written.missing)) == ((), 6)
    assert "tiny.a.low.task_d.d.choice.accuracy.base" in {each.name for each in written.missing}
