"""The command line.

Exit status: 0 done, 1 finished with failures that lower coverage, 2 wrong usage or bad input, 130 interrupted.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from flows.commands import ablate as ablation
from flows.commands import compare as comparison
from flows.commands import longemotion_options as long_opt
from flows.commands import model_options as model_opt
from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from flows.commands.demo import announce, demo_plans, report_addresses
from flows.commands.explain import explain
from flows.commands.gc import gc
from flows.commands.journal import journal_app
from flows.commands.leaderboard import leaderboard
from flows.commands.lineage import lineage
from flows.commands.listing import datasets_app, models_app, runs_app
from flows.commands.process import imports, leave
from flows.commands.report import rewrite
from flows.commands.serve import serve
from flows.commands.verify import verify
from flows.runtime.local_server import INTERRUPTED, configure_prefect, start_early
from schemas.ablation import AblationRequest
from schemas.errors import MoodflowError
from schemas.plan import Plan

if TYPE_CHECKING:
    from flows.commands.run import CommandResult

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
app.add_typer(datasets_app, name="datasets")
app.add_typer(models_app, name="models")
app.add_typer(runs_app, name="runs")
app.add_typer(journal_app, name="journal")
app.command()(leaderboard)
app.command()(verify)
app.command()(gc)
app.command()(explain)
runs_app.command("report")(rewrite)
app.command()(serve)
app.command()(lineage)

STAGES = {
    "run": "Build, infer, score, report.",
    "build": "Build only: sample and validate the items.",
    "infer": "Infer only: ask the models (items must be built).",
    "score": "Score only: stored replies to totals, no model call.",
    "report": "Report only: manifest and report of stored scores.",
}


def _stage_command(
    context: typer.Context,
    benchmark: opt.Benchmark,
    model: opt.Models = None,
    provider: opt.Provider = None,
    base_url: opt.BaseUrl = None,
    api_key_env: opt.KeyEnv = None,
    reasoning_effort: model_opt.ReasoningEffort = None,
    max_tokens: model_opt.MaxTokens = None,
    temperature: model_opt.Temperature = None,
    token_limit: model_opt.TokenLimit = None,
    unsent: model_opt.Unsent = None,
    extra_body: model_opt.ExtraBody = None,
    require_same_model: model_opt.RequireSameModel = False,
    timeout: model_opt.ReplyTimeout = None,
    requests_per_minute: model_opt.RequestsPerMinute = None,
    tokens_per_minute: model_opt.TokensPerMinute = None,
    judge: opt.Judge = None,
    judge_provider: model_opt.JudgeProvider = None,
    judge_base_url: opt.JudgeBaseUrl = None,
    judge_api_key_env: opt.JudgeKeyEnv = None,
    panel: long_opt.Panel = None,
    judge_repeat: long_opt.JudgeRepeat = None,
    sage: long_opt.Sage = None,
    sage_provider: long_opt.SageProvider = None,
    sage_base_url: long_opt.SageBaseUrl = None,
    sage_api_key_env: long_opt.SageKeyEnv = None,
    critic: long_opt.Critic = None,
    critic_provider: long_opt.CriticProvider = None,
    critic_base_url: long_opt.CriticBaseUrl = None,
    critic_api_key_env: long_opt.CriticKeyEnv = None,
    datasets: opt.Datasets = None,
    settings: opt.Settings = None,
    sample: opt.Sample = None,
    seed: opt.Seed = None,
    bootstrap: opt.Bootstrap = None,
    permute: opt.Permute = None,
    repeat: opt.Repeat = None,
    too_long: opt.TooLong = None,
    preset: long_opt.PresetName = None,
    ranking: long_opt.RankingName = None,
    embedder: long_opt.Embedder = None,
    chunk_tokens: long_opt.ChunkTokens = None,
    top_k: long_opt.TopK = None,
    lengths: long_opt.Lengths = None,
    depths: long_opt.Depths = None,
    needle_style: long_opt.NeedleStyleName = None,
    emotion_pairs: long_opt.EmotionPairs = None,
    no_length_demand: long_opt.NoLengthDemand = False,
    profile: opt.ProfileName = None,
    mirror: opt.Mirror = None,
    lake: opt.LakeFolder = None,
    concurrency: opt.Concurrency = None,
    token_probabilities: opt.TokenProbabilities = False,
    budget: opt.Budget = None,
    budget_tokens: opt.BudgetTokens = None,
    prices: opt.Prices = None,
    runner: opt.RunnerName = None,
    runner_address: opt.RunnerAddress = None,
    dry_run: opt.DryRun = False,
    config: opt.Config = None,
    rank_incomplete: opt.RankIncomplete = None,
    redact: opt.Redact = None,
    as_json: opt.AsJson = False,
) -> None:
    given = dict(locals())  # every option by its name
    stage = context.info_name or "run"
    if dry_run:
        opt.require_asking(stage)
    _execute("dry-run" if dry_run else stage, opt.read_plan(given), as_json=as_json)


for _name, _help in STAGES.items():
    app.command(_name, help=_help)(_stage_command)


def _compare_command(
    benchmark: comparison.First, other: comparison.Second = None, flips: comparison.Flips = 0, **given: Any
) -> None:
    if other is not None:
        comparison.print_runs((benchmark, other), flips, given)
    comparison.require_runs(flips)
    _execute("compare", opt.read_plan({"benchmark": benchmark, **given}), as_json=given["as_json"])


app.command("compare", help=comparison.HELP)(ablation.with_options_of(_compare_command, _stage_command, comparison.NOT_COMPARED))


def _ablation_command(name: ablation.Name, vary: ablation.Vary = None, **given: Any) -> None:
    request = ablation.make_request(name, opt.read_plan(given), vary, given)
    _execute("ablate", request, as_json=given["as_json"])


app.command("ablate", help="One or two factors varied, everything else equal: a layer and a figure.")(
    ablation.with_options_of(_ablation_command, _stage_command)
)


@app.command()
def demo(sample: opt.Sample = None, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """The main job on a model that comes with the install: all 41 tasks of MoodBench and all of LongEmotion, on bundled items."""
    plans = demo_plans(lake, sample)
    announce(*plans)
    _execute("run", *plans, as_json=as_json, last=report_addresses)


def _execute(
    stage: str,
    *asked: "Plan | AblationRequest",
    as_json: bool,
    last: Callable[[dict[str, Any]], list[str]] = lambda _document: [],
) -> None:
    start_early()  # it starts while this process imports
    outcome = _run_stage(stage, asked)
    if as_json:
        print_json(outcome.document)
    else:
        terminal().print(*outcome.shown, *last(outcome.document), sep="\n")
    raise typer.Exit(outcome.status)


def _run_stage(stage: str, asked: "tuple[Plan | AblationRequest, ...]") -> "CommandResult":
    """Importing what a stage needs takes seconds; `--help` and a misspelt option need not wait for it."""
    plan, *more = asked
    if isinstance(plan, AblationRequest):
        with imports():
            from flows.commands.run import run_ablation  # noqa: PLC0415
        return run_ablation(plan)
    if stage == "compare":
        with imports():
            from flows.commands.compare_profiles import run_compare  # noqa: PLC0415
        return run_compare(plan)
    if stage == "dry-run":
        with imports():
            from flows.commands.dry_run import run_dry  # noqa: PLC0415
        return run_dry(plan)
    with imports():
        from flows.commands.run import run_stage  # noqa: PLC0415
    return run_stage(stage, plan, *(other for other in more if isinstance(other, Plan)))


def guarded(command: Callable[[], Any]) -> int:
    """Run a command; turn an expected failure into one message and its exit status."""
    status = 0
    try:
        command()
    except SystemExit as end:  # Typer turns Ctrl-C into one too
        status = end.code if isinstance(end.code, int) else 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except MoodflowError as error:
        sys.stderr.write(f"Error: {error}\n")
        status = 2
    if status == INTERRUPTED:
        sys.stderr.write("interrupted; finished partitions and answered calls are kept, the same command goes on from there\n")
    return status


def main() -> None:
    """Entry point of `moodflow`."""
    configure_prefect()
    leave(guarded(app))
