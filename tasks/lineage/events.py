"""Make the OpenLineage events of a step: START, then COMPLETE, FAIL or ABORT, with its inputs and outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import attr
import polars as pl
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    dataset_version_dataset,
    datasource_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    set_producer,
    source_code_location_job,
    storage_dataset,
)
from polars.datatypes import DataTypeClass

from schemas.dataset import BundledFile, LocalFile, PinnedFile, SourceFile
from schemas.lineage import Missing, PartitionKey, PartitionRef
from tasks.lake.files import footer_source
from tasks.lake.lake import Lake
from tasks.lake.partitions import place_of

NAMESPACE = "moodflow"
"""Of jobs, unless OPENLINEAGE_NAMESPACE names another; of source files that come with the package, always."""


class JobSource(NamedTuple):
    """A source file, and the hash of what it holds where that is known."""

    file: SourceFile
    sha256: str | None


@dataclass(frozen=True)
class JobInputs:
    """Inputs and outputs that a job names: partitions and source files that are read, partitions to be written."""

    inputs: tuple[PartitionRef, ...] = ()
    sources: tuple[JobSource, ...] = ()
    outputs: tuple[PartitionKey, ...] = ()
    key_variables: tuple[str, ...] = ()
    """Environment variables that hold keys of models that are asked."""
    subject: str | None = None
    """Benchmark the job is about, where it says so."""


@dataclass(frozen=True)
class JobOutputs:
    """Outputs that a step returned: partitions and addresses of other files; or why a dataset cannot be had."""

    refs: tuple[PartitionRef, ...] = ()
    files: tuple[str, ...] = ()
    missing: Missing | None = None


@dataclass(frozen=True)
class StepRun:
    """One run of one step: its function, and the run of a flow that it belongs to, if it belongs to one."""

    id: str
    """UUID, that of the task run in Prefect where there is one."""
    function: str
    module: str
    documentation: str
    """Its first sentence."""
    engine: str
    """Version of Prefect."""
    namespace: str = NAMESPACE
    flow_run: str | None = None
    flow: str = ""


@dataclass(frozen=True)
class StepEvents:
    """Make the events of one run of a step."""

    step: StepRun
    inputs: JobInputs
    lake: Lake

    def __post_init__(self) -> None:
        set_producer(f"urn:moodflow:{self.lake.code.package}")  # of all events and facets of this process

    def start(self) -> RunEvent:
        """Return the event of its start: inputs, and names of the outputs that are to be."""
        return self._event(RunState.START, {}, self._named_outputs())

    def complete(self, written: JobOutputs, *, up_to_date: bool = False) -> RunEvent:
        """Return the event of its completion, with what it returned; `up_to_date`: all was there already."""
        done = StepRunFacet(
            upToDate=up_to_date,
            packageVersion=self.lake.code.package,
            gitCommit=self.lake.code.git_commit,
            missing=written.missing.reason if written.missing else None,
        )
        outputs = [self._written(ref) for ref in written.refs] + [self._file(address) for address in written.files]
        return self._event(RunState.COMPLETE, {"moodflow_step": done}, outputs)

    def fail(self, message: str, *, interrupted: bool = False) -> RunEvent:
        """Return the event of its failure; `message` must hold no secret, `interrupted`: it was stopped from outside."""
        error = error_message_run.ErrorMessageRunFacet(message=message, programmingLanguage="Python")
        return self._event(RunState.ABORT if interrupted else RunState.FAIL, {"errorMessage": error}, self._named_outputs())

    @cached_property
    def namespace(self) -> str:
        """Return the namespace of the partitions: the address of the lake, file:///... or s3://..."""
        root = self.lake.root
        return root.absolute().as_uri() if isinstance(root, Path) else str(root)

    @property
    def job(self) -> str:
        """Return the step's function and what it is about: the same in every run that computes the same thing."""
        values = [value for _, value in self.inputs.outputs[0].place] if self.inputs.outputs else []
        about = values or ([self.inputs.subject] if self.inputs.subject else [])
        return "/".join([self.step.function, *(quote(value, safe="") for value in about)])

    def _event(self, state: RunState, facets: dict[str, RunFacet], outputs: Sequence[OutputDataset]) -> RunEvent:
        return RunEvent(
            eventType=state,
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(self.step.id, {**self._run_facets(), **facets}),
            job=Job(self.step.namespace, self.job, self._job_facets()),
            inputs=[*(self._read(ref) for ref in self.inputs.inputs), *(self._source(source) for source in self.inputs.sources)],
            outputs=list(outputs),
        )

    def _named_outputs(self) -> list[OutputDataset]:
        return [OutputDataset(self.namespace, place_of(key)) for key in self.inputs.outputs]

    def _job_facets(self) -> dict[str, JobFacet]:
        step, code = self.step, self.lake.code
        path = f"{step.module.replace('.', '/')}.py"
        url = f"urn:moodflow:{code.package}:{path}"
        return {
            "documentation": documentation_job.DocumentationJobFacet(step.documentation, contentType="text/plain"),
            "sourceCodeLocation": source_code_location_job.SourceCodeLocationJobFacet(
                "git", url, path=path, version=code.git_commit
            ),
            "jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration="MOODFLOW", jobType="TASK"),
        }

    def _run_facets(self) -> dict[str, RunFacet]:
        engine = processing_engine_run.ProcessingEngineRunFacet(
            version=self.step.engine, name="Prefect", openlineageAdapterVersion=self.lake.code.package
        )
        facets: dict[str, RunFacet] = {"processing_engine": engine}
        if self.step.flow_run:
            run, job = parent_run.Run(self.step.flow_run), parent_run.Job(self.step.namespace, self.step.flow)
            facets["parent"] = parent_run.ParentRunFacet(run=run, job=job)
        return facets

    def _read(self, ref: PartitionRef) -> InputDataset:
        # Its columns are in the event of the step that wrote it: reading them again from hundreds of files would take its time.
        return InputDataset(self.namespace, place_of(ref), facets=partition_facets(ref))

    def _written(self, ref: PartitionRef) -> OutputDataset:
        path, store = self.lake.path(ref), "s3" if self.namespace.startswith("s3://") else "file"
        facets = {
            **partition_facets(ref),
            "dataSource": datasource_dataset.DatasourceDatasetFacet(name=self.namespace, uri=self.namespace),
            "storage": storage_dataset.StorageDatasetFacet(storageLayer=store, fileFormat="parquet"),
        }
        if (source := footer_source(path)) is not None:
            facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=_fields(pl.read_parquet_schema(source)))
        size = path.stat().st_size if isinstance(path, Path) else None
        return OutputDataset(self.namespace, place_of(ref), facets=facets, outputFacets=_statistics(size, ref.rows))

    def _source(self, source: JobSource) -> InputDataset:
        match source.file:
            case PinnedFile() as file:
                namespace, name, version = f"https://{file.repository}", file.path, file.revision
            case BundledFile() as file:
                namespace, name, version = NAMESPACE, f"data/bundled/{file.name}", self.lake.code.package
            case LocalFile() as file:
                # Its name only: events are passed on, the folders of a machine are not.
                namespace, name, version = f"{NAMESPACE}:own", file.path.name, source.sha256 or "unknown"
        return InputDataset(namespace, name, facets=file_facets(version, name, source.sha256))

    def _file(self, address: str) -> OutputDataset:
        """Describe a file of a run's folder: the dataset is what all runs of a benchmark write there, the run is its version."""
        run, name = address.replace("\\", "/").split("/")[-2:]
        path = f"runs/{run}/{name}"
        content = (self.lake.root / path).read_bytes()
        subject = quote(self.inputs.subject or "unknown", safe="")
        facets = file_facets(run, path, sha256(content).hexdigest())
        return OutputDataset(
            self.namespace, f"runs/benchmark={subject}/{name}", facets=facets, outputFacets=_statistics(len(content))
        )


def _statistics(size: int | None, rows: int | None = None) -> dict[str, OutputDatasetFacet]:
    count = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows, size=size, fileCount=1)
    return {"outputStatistics": count}


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


def _fields(columns: Mapping[str, Column]) -> list[schema_dataset.SchemaDatasetFacetFields]:
    fields = []
    for position, (name, column) in enumerate(columns.items(), 1):
        member = column
        while isinstance(member, pl.List):
            member = member.inner
        below = _fields(member.to_schema()) if isinstance(member, pl.Struct) else []
        fields.append(schema_dataset.SchemaDatasetFacetFields(name, type_name(column), ordinal_position=position, fields=below))
    return fields


def type_name(column: Column) -> str:
    """Return a column's type in a word, such as `list<string>`; the words of a closed set are left out."""
    return f"list<{type_name(column.inner)}>" if isinstance(column, pl.List) else str(column.base_type()).lower()
