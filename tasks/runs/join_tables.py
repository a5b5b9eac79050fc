"""Write the tables in a run's folder by which rows of the layers are joined; both follow from its manifest."""

from collections.abc import Iterator
from io import BytesIO

import polars as pl

from schemas.blueprint import Ability, Blueprint
from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.tables.results import BlueprintParts, Partitions
from tasks.lake.files import replace_file, unwritable
from tasks.lake.frames import described
from tasks.lake.manifest import run_folder

Part = tuple[str, str, str, str | None, str | None, float]


def write_join_tables(lake: Folder, manifest: RunManifest, blueprint: Blueprint) -> None:
    """Write `partitions.parquet` and `blueprint.parquet`."""
    of_run = (manifest.run, manifest.started_at, manifest.benchmark)
    partitions = [(*of_run, ref.layer, ref.fingerprint, ref.path, ref.rows) for ref in manifest.partitions]
    parts = [(manifest.run, *part) for ability in blueprint.abilities for part in _parts(blueprint, ability, None)]
    for name, schema, rows in (("partitions", Partitions, partitions), ("blueprint", BlueprintParts, parts)):
        frame, buffer = schema.validate(pl.DataFrame(rows, schema=pl.Schema(schema), orient="row")), BytesIO()
        frame.write_parquet(buffer, arrow_schema=described(frame, schema))
        path = run_folder(lake, manifest.run) / f"{name}.parquet"
        with unwritable("a table of the run cannot be written", path):
            replace_file(path, buffer.getbuffer())


def _parts(blueprint: Blueprint, node: Ability, parent: str | None) -> Iterator[Part]:
    yield "sub_ability" if parent else "ability", node.id, node.title, parent, None, node.weight
    for child in node.children:
        yield from _parts(blueprint, child, node.id)
    for task in node.tasks:
        yield "task", task.id, task.title, node.id, task.level, task.weight
        for entry in task.datasets:
            yield "dataset", entry.id, blueprint.datasets[entry.id].title, task.id, None, entry.weight
