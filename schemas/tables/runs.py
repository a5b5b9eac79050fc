"""Tables in the folder of a run, by which rows of the layers are joined: which files are the run's, and what ids are about."""

import dataframely as dy


class Partitions(dy.Schema):
    """`partitions.parquet`: one row per file of the lake that a run rests on. Several runs may share a file."""

    run = dy.String(primary_key=True, description="name of the run")
    started_at = dy.String(description="when the run began, as ISO 8601 with its offset")
    benchmark = dy.String(description="id of the blueprint")
    layer = dy.String(description="layer that the file belongs to")
    fingerprint = dy.String(description="hash of what the file was computed from; runs with the same one share its rows")
    path = dy.String(primary_key=True, description="of the file, below the lake")
    rows = dy.Int64(description="in the file")


class BlueprintParts(dy.Schema):
    """`blueprint.parquet`: one row per ability, task and dataset of the blueprint of a run. Kind and id are joined together."""

    run = dy.String(primary_key=True, description="name of the run")
    kind = dy.String(primary_key=True, description="ability (a main one), sub_ability, task or dataset")
    id = dy.String(primary_key=True, description="as in the layers")
    title = dy.String(description="as in reports")
    parent = dy.String(nullable=True, description="id of the ability or task that it counts for; null = a main ability")
    level = dy.String(nullable=True, description="of a task: low, medium or high; null = no task")
    weight = dy.Float64(description="among those that count for the same parent")
