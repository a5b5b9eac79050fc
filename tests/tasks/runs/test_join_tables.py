"""The tables in a run's folder say which files are the run's, and what ids of the blueprint are about."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from schemas.blueprint import Task, WeightedDataset
from tasks.runs.join_tables import write_join_tables
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import partition
from tests.tasks.scoring.samples import ability, blueprint

TASKS = [
    Task(id=f"task_{name}", title=name, level="low", weight=weight, datasets=(WeightedDataset(id=name, weight=3.0),))
    for name, weight in (("calm", 2.0), ("tea", 1.0))
]
DESIGN = blueprint(ability("mind", ability("mood", TASKS[0], weight=0.5)), ability("heart", TASKS[1]))


def test_run_lists_its_files_and_its_blueprint(tmp_path: Path) -> None:
    manifest = bare_manifest("r", partitions=(partition("items"), partition("totals", "2")))
    write_join_tables(tmp_path, manifest, DESIGN)
    files = pl.read_parquet(tmp_path / "runs" / "r" / "partitions.parquet")
    assert files.rows() == [
        ("r", "2026-01-01T00:00:00+00:00", "tiny", "items", "1" * 64, "items/d", 1),
        ("r", "2026-01-01T00:00:00+00:00", "tiny", "totals", "2" * 64, "totals/d", 1),
    ]
    parts = pl.read_parquet(tmp_path / "runs" / "r" / "blueprint.parquet")
    assert parts.columns == ["run", "kind", "id", "title", "parent", "level", "weight"]
    assert parts.drop("run").rows() == [
        ("ability", "mind", "Mind", None, None, 1.0),
        ("sub_ability", "mood", "Mood", "mind", None, 0.5),
        ("task", "task_calm", "calm", "mood", "low", 2.0),
        ("dataset", "calm", "measured", "task_calm", None, 3.0),
        ("ability", "heart", "Heart", None, None, 1.0),
        ("task", "task_tea", "tea", "heart", "low", 1.0),
        ("dataset", "tea", "measured", "task_tea", None, 3.0),
    ]
    described = pq.read_schema(tmp_path / "runs" / "r" / "blueprint.parquet").field("id").metadata
    assert described == {b"description": b"as in the layers"}
