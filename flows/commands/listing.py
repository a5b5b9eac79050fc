"""Commands that read: datasets, models and runs. They ask no model but `models check`."""

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from flows.commands.plan_fields import ROLES, plan_fields
from schemas.folders import DEFAULT_LAKE
from tasks.lake.local_state import state_folder

datasets_app = typer.Typer(no_args_is_help=True, help="Datasets of the catalogue.")
models_app = typer.Typer(no_args_is_help=True, help="Models and their providers.")
runs_app = typer.Typer(no_args_is_help=True, help="Runs in the lake.")


@datasets_app.command("list")
def list_datasets(mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """Every dataset of the catalogue and whether its files are here."""
    from flows.commands import boards  # noqa: PLC0415

    rows = boards.dataset_rows(mirror)
    if as_json:
        print_json({"datasets": rows})
    else:
        terminal().print(boards.dataset_table(rows))


@datasets_app.command("show")
def show_dataset(name: str = typer.Argument(metavar="ID"), mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """One catalogue entry: source, licence, gold, differences from the paper."""
    from flows.commands import boards  # noqa: PLC0415

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
    from flows.commands import datasets as check  # noqa: PLC0415

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
    from flows.commands import models  # noqa: PLC0415

    asked = models.ModelCheckRequest(name, provider, base_url, api_key_env, timeout)
    found = models.check_model(asked, state_folder(lake or DEFAULT_LAKE), again=again)
    if as_json:
        print_json(models.check_document(found))
    else:
        terminal().print(*models.check_shown(found), sep="\n")
    raise typer.Exit(int(not found.probe.answers))


@models_app.command("list")
def list_models(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Providers known by name, and the models that were checked."""
    from flows.commands import models  # noqa: PLC0415

    if as_json:
        print_json(models.list_document(state_folder(lake or DEFAULT_LAKE)))
    else:
        terminal().print(*models.list_shown(state_folder(lake or DEFAULT_LAKE)), sep="\n")


@runs_app.command("list")
def list_runs(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Runs of the lake, newest first."""
    from flows.commands import boards  # noqa: PLC0415

    rows = boards.run_rows(lake or DEFAULT_LAKE)
    if as_json:
        print_json({"runs": rows})
    else:
        terminal().print(boards.run_table(rows))


@runs_app.command("show")
def show_run(run: str = typer.Argument(metavar="RUN"), lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """One run: its scores, calls, tokens, cost and report, from the lake alone."""
    from flows.commands import boards  # noqa: PLC0415
    from flows.commands import tables as outcome  # noqa: PLC0415

    document = boards.run_details(lake or DEFAULT_LAKE, run)
    if as_json:
        print_json(document)
    else:
        title = f"{document['benchmark']}, {run}"
        board = outcome.leaderboard_table(title, document["models"]) if "models" in document else outcome.ablation_table(document)
        terminal().print(board, *outcome.usage_shown(document), f"Report: {document['report']}", sep="\n")


def list_options(as_json: opt.AsJson = False) -> None:
    """Every field of a plan that `--set PATH=VALUE` and `--config FILE` reach: type, default, description."""
    from rich.box import SIMPLE  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Column, Table  # noqa: PLC0415

    rows = [
        {"path": one.path, "type": one.kind, "default": one.default, "description": one.info.description or ""}
        for one in plan_fields().values()
    ]
    if as_json:
        print_json({"options": rows})
        return
    table = Table(Column("Path", no_wrap=True), "Type", "Default", Column("Description", overflow="fold"), box=SIMPLE)
    for row in rows:
        role, _, field = row["path"].partition(".")
        if not (role in ROLES and field):
            table.add_row(*map(escape, row.values()))
    shared = f"{', '.join(ROLES)} have the same fields as models: judge.base_url, panel.sampling.max_tokens ..."
    how = "moodflow run BENCHMARK --set PATH=VALUE; several values: --set PATH=V1,V2"
    terminal().print(table, escape(shared), how, sep="\n", highlight=False)
