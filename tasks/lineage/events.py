"""Make the OpenLineage events of a step: START, then COMPLETE, FAIL or ABORT, with its inputs and outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import polars as pl
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    datasource_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    set_producer,
    source_code_location_job,
    storage_dataset,
)

from schemas.dataset import BundledFile, LocalFile, PinnedFile
from schemas.lineage import PartitionRef
from tasks.lake.files import footer_source
from tasks.lake.finding import place_of
from tasks.lake.lake import Lake
from tasks.lineage.facets import StepRunFacet, file_facets, partition_facets, schema_facet
from tasks.lineage.inputs_outputs import JobInputs, JobOutputs, JobSource

NAMESPACE = "moodflow"
"""Of jobs, unless OPENLINEAGE_NAMESPACE names another; of source files that come with the package, always."""


@dataclass(frozen=True)
class ParentRun:
    """The flow run that a step belongs to."""

    id: str
    name: str


@dataclass(frozen=True)
class StepRun:
    """One run of one step: its function, and the flow run it belongs to, if it belongs to one."""

    id: str
    """UUID, that of the task run in Prefect where there is one."""
    function: str
    module: str
    documentation: str
    """Its first sentence."""
    engine: str
    """Version of Prefect."""
    namespace: str = NAMESPACE
    parent: ParentRun | None = None


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
        place = [value for _, value in self.inputs.outputs[0].place] if self.inputs.outputs else []
        about = place or ([self.inputs.subject] if self.inputs.subject else [])
        return "/".join([self.step.function, *(quote(value, safe="") for value in about)])

    def _event(self, state: RunState, facets: dict[str, RunFacet], outputs: Sequence[OutputDataset]) -> RunEvent:
        return RunEvent(
            eventType=state,
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(self.step.id, {**self._run_facets(), **facets}),
            job=Job(self.step.namespace, self.job, self._job_facets()),
            inputs=[*(self._read(ref) for ref in self.inputs.inputs), *(self._source(one) for one in self.inputs.sources)],
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
        if parent := self.step.parent:
            run, job = parent_run.Run(parent.id), parent_run.Job(self.step.namespace, parent.name)
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
            facets["schema"] = schema_facet(pl.read_parquet_schema(source))
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
