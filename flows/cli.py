"""The command line.

Exit status: 0 done, 1 finished with failures that lower coverage, 2 wrong usage or bad input, 130 interrupted.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from flows import model_options as model_opt
from flows import options as opt
from flows.command import DEFAULT_LAKE, print_json, terminal
from flows.journal_commands import journal_app
from flows.orchestration import INTERRUPTED, configure_prefect
from flows.process import imports, leave
from flows.temporary_server import start_early
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import MoodflowError
from schemas.settings import Plan

if TYPE_CHECKING:
    from flows.running import Outcome

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
datasets_app = typer.Typer(no_args_is_help=True, help="Datasets of the catalogue.")
models_app = typer.Typer(no_args_is_help=True, help="Models and their providers.")
runs_app = typer.Typer(no_args_is_help=True, help="Runs in the lake.")
app.add_typer(datasets_app, name="datasets")
app.add_typer(models_app, name="models")
app.add_typer(runs_app, name="runs")
app.add_typer(journal_app, name="journal")

STAGES = {
    "run": "Build, infer, score, report.",
    "build": "Build only: sample and validate the items.",
    "infer": "Infer only: ask the models (items must be built).",
    "score": "Score only: stored replies to totals, no model call.",
    "report": "Report only: manifest and report of stored scores.",
    "compare": "Both profiles over the same stored replies, side by side: ours, and as the released code would score.",
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
    http2: model_opt.Http2 = False,
    timeout: model_opt.ReplyTimeout = None,
    requests_per_minute: model_opt.RequestsPerMinute = None,
    tokens_per_minute: model_opt.TokensPerMinute = None,
    judge: opt.Judge = None,
    judge_provider: model_opt.JudgeProvider = None,
    judge_base_url: opt.JudgeBaseUrl = None,
    judge_api_key_env: opt.JudgeKeyEnv = None,
    datasets: opt.Datasets = None,
    settings: opt.Settings = None,
    sample: opt.Sample = None,
    seed: opt.Seed = None,
    bootstrap: opt.Bootstrap = None,
    permute: opt.Permute = None,
    repeat: opt.Repeat = None,
    too_long: opt.TooLong = None,
    profile: opt.ProfileName = None,
    mirror: opt.Mirror = None,
    lake: opt.LakeFolder = None,
    concurrency: opt.Concurrency = None,
    token_probabilities: opt.TokenProbabilities = False,
    budget: opt.Budget = None,
    budget_tokens: opt.BudgetTokens = None,
    prices: opt.Prices = None,
    dry_run: opt.DryRun = False,
    config: opt.Config = None,
    rank_incomplete: opt.RankIncomplete = None,
    redact: opt.Redact = False,
    as_json: opt.AsJson = False,
) -> None:
    given = dict(locals())  # every option by its name; those that describe models are read from here
    values = {
        "benchmark": benchmark,
        "models": [{"name": name} for name in model or ()] or None,
        "judge": None if judge is None else {"name": judge},
        "datasets": opt.split_names(datasets),
        "settings": opt.split_names(settings),
        "sample": sample,
        "seed": seed,
        "bootstrap": bootstrap,
        "permute": permute,
        "repeat": repeat,
        "too_long": too_long,
        "profile": profile,
        "mirror": mirror,
        "lake": lake,
        "budget": budget,
        "budget_tokens": budget_tokens,
        "prices": prices,
        "rank_incomplete": rank_incomplete,
    }
    stage = context.info_name or "run"
    if dry_run:
        opt.require_asking(stage)
    _execute("dry-run" if dry_run else stage, opt.make_plan(values, config, given), redact=redact, as_json=as_json)


for _name, _help in STAGES.items():
    app.command(_name, help=_help)(_stage_command)


@app.command()
def demo(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """The main job on a model that comes with the install: all 41 tasks over the bundled items."""
    model = {"name": EMBEDDED_MODEL}
    plan = opt.make_plan({"benchmark": "moodbench-mini", "models": [model], "judge": model, "lake": lake}, None)
    _execute("run", plan, as_json=as_json)


def _execute(stage: str, plan: Plan, *, as_json: bool, redact: bool = False) -> None:
    start_early()  # it starts while this process imports
    outcome = _run_stage(stage, plan, redact=redact)
    if as_json:
        print_json(outcome.document)
    else:
        terminal().print(*outcome.shown, sep="\n")
    raise typer.Exit(outcome.status)


def _run_stage(stage: str, plan: Plan, *, redact: bool) -> "Outcome":
    """Importing what a stage needs takes seconds; `--help` and a misspelt option need not wait for it."""
    if stage == "compare":
        with imports():
            from flows.compare import run_compare  # noqa: PLC0415
        return run_compare(plan)
    if stage == "dry-run":
        with imports():
            from flows.dry_run import run_dry  # noqa: PLC0415
        return run_dry(plan)
    with imports():
        from flows.running import run_stage  # noqa: PLC0415
    return run_stage(stage, plan, redact=redact)


@app.command()
def leaderboard(
    benchmark: opt.Benchmark,
    published: bool = typer.Option(False, "--published", help="the paper's table through our own aggregation and veto"),
    run: str | None = typer.Option(None, "--run", help="one run; default: the newest of each model"),
    profile: opt.ProfileName = None,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Models of a benchmark, ranked."""
    from flows import boards, outcome  # noqa: PLC0415

    folder = lake or DEFAULT_LAKE
    scored_as = opt.read_profile(profile)
    rows = boards.published_rows(benchmark) if published else boards.stored_rows(benchmark, folder, run, scored_as)
    if as_json:
        print_json({"models": rows})
    else:
        terminal().print(outcome.leaderboard_table(benchmark, rows))


@datasets_app.command("list")
def list_datasets(mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """Every dataset of the catalogue and whether its files are here."""
    from flows import boards  # noqa: PLC0415

    rows = boards.dataset_rows(mirror)
    if as_json:
        print_json({"datasets": rows})
    else:
        terminal().print(boards.dataset_table(rows))


@datasets_app.command("show")
def show_dataset(name: str = typer.Argument(metavar="ID"), mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """One catalogue entry: source, licence, gold, differences from the paper."""
    from flows import boards  # noqa: PLC0415

    row = boards.dataset_details(name, mirror)
    if as_json:
        print_json(row)
    else:
        terminal().print(*boards.detail_lines(row), sep="\n")


@datasets_app.command("check")
def check_datasets(
    name: str | None = typer.Argument(None, metavar="[ID]"),
    every: bool = typer.Option(False, "--all", help="every dataset of MoodBench"),
    offline: bool = typer.Option(False, "--offline", help="use what is here, fetch nothing"),
    mirror: opt.Mirror = None,
    as_json: opt.AsJson = False,
) -> None:
    """Fetch or find the files, verify, read and validate them; print what is in them and which scores they allow."""
    from flows import check  # noqa: PLC0415

    checks = check.run_checks(name, mirror, every=every, offline=offline)
    if as_json:
        documents = [check.check_document(found) for found in checks]
        print_json({"ready": sum(found.ready for found in checks), "total": len(checks), "datasets": documents})
    elif every:
        terminal().print(check.check_table(checks), check.summary(checks), sep="\n")
    else:
        terminal().print(*check.check_lines(checks[0]), sep="\n")
    raise typer.Exit(int(not all(found.ready for found in checks)))


@models_app.command("check")
def check_model(
    name: str = typer.Argument(metavar="NAME"),
    provider: opt.Provider = None,
    base_url: opt.BaseUrl = None,
    api_key_env: opt.KeyEnv = None,
    again: opt.Again = False,
    timeout: opt.Timeout = 120.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Send a tiny call and say what works; what was found is remembered in the lake. Ends with 1 if no answer came."""
    from flows import models  # noqa: PLC0415

    asked = models.Asked(name, provider, base_url, api_key_env, timeout)
    found = models.check_model(asked, lake or DEFAULT_LAKE, again=again)
    if as_json:
        print_json(models.check_document(found))
    else:
        terminal().print(*models.check_shown(found), sep="\n")
    raise typer.Exit(int(not found.probe.answers))


@models_app.command("list")
def list_models(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Providers known by name, and the models that were checked."""
    from flows import models  # noqa: PLC0415

    if as_json:
        print_json(models.list_document(lake or DEFAULT_LAKE))
    else:
        terminal().print(*models.list_shown(lake or DEFAULT_LAKE), sep="\n")


@runs_app.command("list")
def list_runs(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Runs of the lake, newest first."""
    from flows import boards  # noqa: PLC0415

    rows = boards.run_rows(lake or DEFAULT_LAKE)
    if as_json:
        print_json({"runs": rows})
    else:
        terminal().print(boards.run_table(rows))


@runs_app.command("show")
def show_run(run: str = typer.Argument(metavar="RUN"), lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """One run: its scores, calls, tokens, cost and report, from the lake alone."""
    from flows import boards, outcome  # noqa: PLC0415

    document = boards.run_details(lake or DEFAULT_LAKE, run)
    if as_json:
        print_json(document)
    else:
        title = f"{document['benchmark']}, {run}"
        board = outcome.leaderboard_table(title, document["models"])
        terminal().print(board, *outcome.usage_shown(document), f"Report: {document['report']}", sep="\n")


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
