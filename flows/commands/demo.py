"""`moodflow demo`: what it evaluates, and what it says before it begins."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands import stages
from flows.commands.console import terminal
from flows.commands.plan_options import PlanOptions, read_plan
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.plan import Plan
from tasks.lake.manifest import resolve_run, run_folder
from tasks.lake.seal import PICTURE

SHORT, LONG = "moodbench-mini", "longemotion-mini"

SAMPLE = 1
"""Items per task of MoodBench."""

LONG_QUESTIONS = ("long_mini_ec_emobench", "long_mini_qa")
"""Datasets of longemotion-mini with short answers and without a judge. One item of each is asked, since long texts take long."""

CALLS_PER_ITEM = 42
"""Of moodbench-mini: 41 tasks, one of them with a judge."""

SECONDS_BEFORE, SECONDS_PER_ITEM, SECONDS_OF_LONG = 30, 70, 15
"""On two idle cores: imports, servers and reports; the calls of one item per task; questions about long texts."""

QUICK = (
    *("mini_content_safety", "mini_simple_causal_reasoning", "mini_physical_commonsense"),
    *("mini_complex_scenario_emotion_recognition", "mini_degree_of_personalization"),
)
"""Datasets of moodbench-mini, some from each ability, whose replies by the embedded model can mostly be read."""

LOWER_COVERAGE = 1
"""Exit status of a run with failures that lower its coverage."""

TOLD_IN_SECONDS = 90
"""What takes no longer is told in seconds."""
QUICK_SAMPLE, QUICK_SECONDS = 4, 30
"""Items per dataset, and how long all of it takes on two idle cores."""

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    sample: Annotated[int | None, typer.Option(help=f"items per task of MoodBench; default: {SAMPLE}")] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="ask 20 items of MoodBench only, in under a minute, and name the picture of the result"),
    ] = False,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Try it out: evaluate the small model that comes with the install on LongEmotion and MoodBench.

    Exit status 0: it came to its end. What so small a model could not answer is shown, and is no failure of the demo.
    """
    if quick and sample is not None:
        raise UsageError("a quick demo has its own items", where="--sample", next_step="leave --quick or --sample out")
    plans = (quick_plan(lake),) if quick else demo_plans(lake, sample)
    announce(plans)
    try:
        stages.execute("run", *plans, as_json=as_json)
    except typer.Exit as end:
        if quick and not as_json:
            folder = lake or DEFAULT_LAKE
            terminal().print(f"Picture: {run_folder(folder, resolve_run(folder, 'latest')) / PICTURE}")
        if end.exit_code != LOWER_COVERAGE:
            raise


def demo_plans(lake: Folder | None, sample: int | None) -> tuple[Plan, ...]:
    """Return the plans of the demo; `sample`: items per task of MoodBench."""
    options = PlanOptions(model=[EMBEDDED_MODEL], judge=[EMBEDDED_MODEL], lake=lake)
    questions = read_plan(LONG, replace(options, sample=1, datasets=",".join(LONG_QUESTIONS)))
    # Last, so that it is the latest run, of which the demo names the next steps.
    return questions, read_plan(SHORT, replace(options, sample=SAMPLE if sample is None else sample))


def quick_plan(lake: Folder | None) -> Plan:
    """Return the plan of a demo that takes less than a minute: four items of each of five datasets, no judge."""
    options = PlanOptions(model=[EMBEDDED_MODEL], lake=lake, datasets=",".join(QUICK), sample=QUICK_SAMPLE)
    return read_plan(SHORT, options)


def announce(plans: Sequence[Plan]) -> None:
    """Say on standard error what is evaluated, in how many calls, and how long that takes."""
    sample = plans[-1].sample or SAMPLE
    if len(plans) == 1:
        what, calls, seconds = f"{len(QUICK)} tasks of MoodBench, {sample} items each", len(QUICK) * sample, QUICK_SECONDS
    else:
        what = f"{len(LONG_QUESTIONS)} questions about long texts of LongEmotion; 41 tasks of MoodBench, items per task: {sample}"
        calls = CALLS_PER_ITEM * sample + len(LONG_QUESTIONS)
        seconds = SECONDS_BEFORE + SECONDS_PER_ITEM * sample + SECONDS_OF_LONG
    time = f"{seconds / 60:.0f} minutes" if seconds > TOLD_IN_SECONDS else f"{seconds} seconds"
    sys.stderr.write(
        f"moodflow: the demo evaluates {EMBEDDED_MODEL} on this machine's processor: {what}; about {calls} calls, "
        f"{time} on two idle cores the first time, seconds when they are answered already\n"
    )
