"""The functions of the module `moodflow`: they do what commands do, by the same path, and return runs and documents."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.commands.plan_fields import find_field, parse_value
from flows.commands.plan_options import PlanOptions, read_plan
from flows.commands.process import require_certificates, require_prefect_settings
from flows.commands.python_run import Run, Runs
from flows.commands.stages import renewed, resolve_all
from flows.runtime.local_server import configure_prefect, temporary_server
from schemas.documents.batches import WaitingRun
from schemas.errors import EndpointError
from schemas.folders import DEFAULT_LAKE, Folder, parse_folder
from schemas.plan import Plan
from schemas.printing import shows_progress
from tasks.runs.past_run import reopen

if TYPE_CHECKING:
    from flows.commands.console import CommandResult
    from flows.planning.jobs import ResolvedPlan

Names = str | Path | Sequence[str | Path] | None
"""One name, or several."""


def evaluate(
    benchmark: str | Path | Plan | Mapping[str, Any],
    *,
    model: Names = None,
    base_url: str | None = None,
    provider: str | None = None,
    api_key_env: str | None = None,
    judge: str | None = None,
    judge_base_url: str | None = None,
    roles: Mapping[str, Any] | None = None,
    datasets: Names = None,
    settings: Names = None,
    sample: int | None = None,
    mirror: str | Path | None = None,
    lake: str | Folder | None = None,
    progress: bool = True,
    **plan: Any,
) -> Run:
    """Evaluate models on a benchmark, from source files to report, and return the run, whether or not all of it succeeded.

    What the lake holds is neither asked nor computed again: the same call, made later, costs nothing.

    Args:
        benchmark: its name, the file of a blueprint, or a whole plan: a `schemas.plan.Plan` or a mapping with its fields.
        model: names of the models under test; `smollm2` comes with the install.
        base_url: address of their OpenAI-compatible server.
        provider: one of `moodflow models list`, instead of the address.
        api_key_env: name of the environment variable that holds the key, never the key itself.
        judge: name of the model that judges free-text answers.
        judge_base_url: address of its server.
        roles: helper models by role, as `{"ROLE": "NAME@URL"}` or with a mapping of the model's fields.
        datasets: only these.
        settings: how items are asked; default base, or as the blueprint says.
        sample: items per dataset; default 300, or as the blueprint says.
        mirror: folder with source files.
        lake: folder of the layers, or `s3://BUCKET/PREFIX`; default `parquet` in the working folder.
        progress: whether to tell on standard error how far the run is.
        plan: any other option of `moodflow run`, such as `seed`, or field that `moodflow options` lists, as
            `retrieval={"top_k": 8}` or `**{"judge.api_key_env": "KEY"}`.

    Raises:
        MoodflowError: an argument is wrong, a server cannot be called, or calls wait in batches.
    """
    arguments = {name: value for name, value in locals().items() if name not in ("benchmark", "plan", "progress")}
    stated = read_arguments(benchmark, {**arguments, **plan})
    configure_prefect("CRITICAL")
    require_certificates()
    resolved = resolve_all([stated], whole=True)
    before = shows_progress.set(progress)
    try:
        document: Any = (renewed("run", *resolved) or _run(resolved)).document
    finally:
        shows_progress.reset(before)
    if isinstance(document, WaitingRun):
        jobs, step = ", ".join(job.job[:12] for job in document.jobs), "evaluate again later, or with wait=True"
        raise EndpointError("the run waits for batches, so nothing is scored", where=f"batches {jobs}", next_step=step)
    return run(document.run, stated.lake)


def _run(resolved: "Sequence[ResolvedPlan]") -> "CommandResult":
    require_prefect_settings()
    temporary_server()  # unless the user has one; it ends with this process
    from flows.commands.run import run_stage  # noqa: PLC0415  imports Prefect, which is configured now
    from flows.runtime.prefect_flows import run_in_thread  # noqa: PLC0415

    return run_in_thread(run_stage("run", *resolved))


def run(name: str = "latest", lake: str | Folder = DEFAULT_LAKE) -> Run:
    """Return a past run, named as on the command line: `latest`, `latest~1`, its number, or the beginning of its name."""
    return Run(reopen(parse_folder(lake), name))


def runs(lake: str | Folder = DEFAULT_LAKE) -> Runs:
    """Return the runs of a lake, newest first. One that cannot be read is named on standard error and left out."""
    return Runs(parse_folder(lake))


def read_arguments(benchmark: str | Path | Plan | Mapping[str, Any], arguments: Mapping[str, Any]) -> Plan:
    """Return the plan that arguments of `evaluate` state, as `moodflow run` reads its options; other fields are set last."""
    plan = benchmark.model_dump() if isinstance(benchmark, Plan) else benchmark
    stated = dict(plan) if isinstance(plan, Mapping) else {"benchmark": str(plan)}
    values = {name: value for name, value in arguments.items() if value is not None}
    roles = values.pop("roles", {})
    options = {field.name: values.pop(field.name) for field in fields(PlanOptions) if field.name in values}
    repeatable = ("model", "judge", "role", "set", "config")
    listed = {name: [value] for name, value in options.items() if name in repeatable and isinstance(value, str | Path)}
    by_path = {path: _as_field(path, value) for path, value in {**roles, **values}.items()}
    return read_plan(None, PlanOptions(**{**options, **listed}), stated=stated, by_path=by_path)


def _as_field(path: str, value: Any) -> Any:
    """Return a value as the field of a plan takes it; UsageError, with the nearest paths: there is no such field."""
    if path in Plan.model_fields and not isinstance(value, str):
        return value
    field = find_field(path, "the arguments")
    return parse_value(field, value) if isinstance(value, str) else value
