"""`moodflow judges sheet`: have people rate answers of a run blind."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from flows.commands.process import require_prefect_settings
from flows.runtime.local_server import temporary_server
from schemas.documents.models import RatingSheet
from schemas.errors import LakeError, UsageError
from schemas.folders import DEFAULT_LAKE
from schemas.lineage import PartitionRef
from schemas.plan import Plan
from tasks.judging.answers import GOLD
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_manifests, run_number
from tasks.reporting.page import render_sheet, write_text
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.rating_sheets import draw_answers, import_sheets, sheet_id, sheet_table
from tasks.text.tables import to_csv


def sheet_command(
    run: opt.Run,
    more: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="further filled sheets, after --import FILE")] = None,
    to: Annotated[Path | None, typer.Option("--to", metavar="FOLDER", help="folder of the sheet; default: sheet-NUMBER")] = None,
    filled: Annotated[list[Path] | None, typer.Option("--import", metavar="FILE...", help="import filled sheets")] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="answers scored by this method; default: every judged one")
    ] = None,
    rubric: Annotated[str | None, typer.Option("--rubric", help="rubric to rate by; default: that of the method")] = None,
    sample: Annotated[int | None, typer.Option("--n", min=1, help="answers on the sheet, of all models; default: all")] = None,
    seed: Annotated[int, typer.Option("--seed", help="seed of order and sample")] = 0,
    redact: bool = typer.Option(False, "--redact", help="leave out answers whose texts may not be passed on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Have people rate answers blind: write a sheet, or import filled ones and score the run with them.

    Everybody gets the same sheet, as CSV and as a page. Ends with status 1 if a row of a filled sheet was refused.
    """
    past = reopen(lake or DEFAULT_LAKE, run)
    if filled and to is None:
        _import(past, [*filled, *(more or ())]).finish(as_json=as_json)
    if filled or more:
        step = "--to FOLDER writes a sheet, --import FILE... reads filled ones"
        raise UsageError("give --to, or --import with all filled sheets", where="--to, --import", next_step=step)
    redacted = replace(past, manifest=past.manifest.model_copy(update={"redacted": redact or past.manifest.redacted}))
    answers, to = draw_answers(redacted, method, rubric, sample, seed), to or Path(f"sheet-{run_number(past.name) or past.name}")
    texts = {to / "sheet.csv": to_csv(sheet_table(past, answers)), to / "sheet.html": render_sheet(sheet_id(past.name), answers)}
    if there := [str(path) for path in texts if path.exists()]:
        raise UsageError(
            "the folder already has a sheet, which may be filled in", where=", ".join(there), next_step="choose another folder"
        )
    for path, text in texts.items():
        write_text(path, text)
    document = RatingSheet(run=past.name, answers=len(answers), files=tuple(map(str, texts)))
    CommandResult(0, document).finish(as_json=as_json)


def _import(past: PastRun, files: Sequence[Path]) -> CommandResult:
    """Keep ratings, and score the run with them, by its own blueprint, unless a run has these very ratings."""
    from flows.planning.resolve import resolve  # noqa: PLC0415  takes its time

    resolved = resolve(Plan.model_validate({**past.manifest.plan, "lake": past.lake.root}), past.blueprint)
    of_jobs = [job.find(past.lake.find_latest) for job in resolved.jobs]
    lost = {*past.partitions("answers")} - {of_job.answers for of_job in of_jobs if of_job}
    if names := sorted({ref.key("dataset") for ref in lost if ref.key("setting") != GOLD}):
        raise UsageError(
            "the run can no longer be scored, so no rating was imported",
            where=f"run {past.name}",
            expected="the files of its datasets as they were, and no newer answers",
            got=f"other files or newer answers of {', '.join(names)}",
            next_step="put the files back as they were, or write a sheet of the newest run",
        )
    document, refs = import_sheets(past, files)
    scored = _scored_with(past.lake, refs)
    if refs and scored is None:
        require_prefect_settings()
        temporary_server()
        from flows.commands.run import run_stage  # noqa: PLC0415  takes seconds
        from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415

        run_to_end(run_stage("rate", resolved))
        if (scored := _scored_with(past.lake, refs)) is None:
            step = "moodflow runs list names the newest run, runs show what it lacks"
            raise LakeError(
                "the ratings are saved, but the last scored run lacks some of them", where=f"run {past.name}", next_step=step
            )
    document = document.model_copy(update={"scored_run": scored})
    return CommandResult(int(bool(document.refused)), document)


def _scored_with(lake: Lake, refs: Sequence[PartitionRef]) -> str | None:
    """Return the newest run that rests on all of these partitions; null without any."""
    manifests, paths = read_manifests(lake.root) if refs else (), {ref.path for ref in refs}
    return next((m.run for m in manifests if paths <= {ref.path for ref in m.partitions}), None)
