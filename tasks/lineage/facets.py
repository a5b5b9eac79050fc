"""Make the facets of datasets in OpenLineage events, and define three facets of our own."""

from collections.abc import Mapping

import attr
import polars as pl
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
    dataset_version_dataset,
    schema_dataset,
)
from polars.datatypes import DataTypeClass

from schemas.lineage import PartitionRef

Column = pl.DataType | DataTypeClass
SCHEMA = "urn:moodflow:openlineage:1-0-0"
"""Names data/openlineage/moodflow-facets-1-0-0.json, the JSON schema of the facets of our own."""


class _Ours:
    """A facet of our own, whose schema stands under its name."""

    @classmethod
    def _get_schema(cls) -> str:
        return f"{SCHEMA}#/$defs/{cls.__name__}"


@attr.define
class PartitionDatasetFacet(_Ours, DatasetFacet):
    """Describes a partition of the lake: what it is named by, and the hash of its rows without measured columns."""

    path: str
    fingerprint: str
    contentSha256: str  # noqa: N815  as OpenLineage spells its fields
    complete: bool


@attr.define
class FileDatasetFacet(_Ours, DatasetFacet):
    """Describes a file that is no partition: a source file, a manifest or a report."""

    path: str
    sha256: str | None = None


@attr.define
class StepRunFacet(_Ours, RunFacet):
    """Describes what a step did."""

    upToDate: bool  # noqa: N815  as OpenLineage spells its fields
    packageVersion: str  # noqa: N815
    gitCommit: str | None = None  # noqa: N815
    missing: str | None = None


def partition_facets(ref: PartitionRef) -> dict[str, DatasetFacet]:
    """Return the facets of a partition: its version, and what it is named by."""
    partition = PartitionDatasetFacet(ref.path, ref.fingerprint, ref.content_sha256, ref.complete)
    return {"version": dataset_version_dataset.DatasetVersionDatasetFacet(ref.identity), "moodflow_partition": partition}


def file_facets(version: str, path: str, sha256: str | None) -> dict[str, DatasetFacet]:
    """Return the facets of a file that is no partition."""
    version_facet = dataset_version_dataset.DatasetVersionDatasetFacet(version)
    return {"version": version_facet, "moodflow_file": FileDatasetFacet(path, sha256)}


def schema_facet(columns: Mapping[str, pl.DataType]) -> DatasetFacet:
    """Return the facet of a Parquet file's columns, in their order."""
    return schema_dataset.SchemaDatasetFacet(fields=_fields(columns))


def _fields(columns: Mapping[str, Column]) -> list[schema_dataset.SchemaDatasetFacetFields]:
    return [
        schema_dataset.SchemaDatasetFacetFields(
            name=name, type=type_name(column), ordinal_position=position, fields=_fields(_nested(column))
        )
        for position, (name, column) in enumerate(columns.items(), 1)
    ]


def _nested(column: Column) -> dict[str, Column]:
    while isinstance(column, pl.List):
        column = column.inner
    return {field.name: field.dtype for field in column.fields} if isinstance(column, pl.Struct) else {}


def type_name(column: Column) -> str:
    """Return a column's type in a word, such as `list<string>`; the words of a closed set are left out."""
    return f"list<{type_name(column.inner)}>" if isinstance(column, pl.List) else str(column.base_type()).lower()
