"""`moodflow serve`: run server, schedules and reports, and print where they are; its automations for a server elsewhere."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, print_json, terminal
from flows.commands.process import require_prefect_settings
from schemas.documents.serve import Automations, ServedSession
from schemas.errors import UsageError
from tasks.text.number_format import counted

Config = Annotated[Path | None, typer.Option("--config", help="deployments [default: prefect.yaml here, else the one we ship]")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="port of the Prefect server and its UI; 0 = any free port")]
ReportsPort = Annotated[int, typer.Option("--reports-port", min=0, max=65535, help="port of the reports; 0 = any free port")]
WebhookUrl = Annotated[
    str | None,
    typer.Option(
        "--webhook", envvar="MOODFLOW_WEBHOOK", help="address to call when a model regresses; better set by the variable"
    ),
]
Schedules = Annotated[
    list[str] | None,
    typer.Option(
        "--schedule", metavar="NAME=CRON", help='change a schedule, or turn it off; repeatable: "nightly-mini=* * * * *"'
    ),
]

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    config: Config = None,
    host: opt.Host = "127.0.0.1",
    port: Port = 4200,
    reports_port: ReportsPort = 4201,
    lake: opt.LakeFolder = None,
    webhook: WebhookUrl = None,
    schedule: Schedules = None,
    as_json: opt.AsJson = False,
) -> None:
    """Run the Prefect server, schedules and reports on this machine until Ctrl-C."""
    schedules = read_schedules(schedule or ())
    require_address(webhook)
    require_prefect_settings()
    from flows.service import session as serving_session  # noqa: PLC0415

    options = serving_session.ServeOptions(config, host, port, reports_port, lake, webhook, schedules)
    raise typer.Exit(serving_session.serve_session(options, print_json if as_json else print_summary))


@app.command()
def automations(webhook: WebhookUrl = None, as_json: opt.AsJson = False) -> None:
    """Create or repair the automations of `moodflow serve` on the server at PREFECT_API_URL."""
    require_address(webhook)
    require_prefect_settings()
    from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415
    from flows.service.registration import mend_automations  # noqa: PLC0415

    CommandResult(0, Automations(**run_to_end(mend_automations(webhook)))).finish(as_json=as_json)


def read_schedules(given: Sequence[str]) -> dict[str, str]:
    """Return the schedules of deployments by name, from `NAME=CRON`; raise UsageError if one has another form."""
    pairs = [text.partition("=") for text in given]
    for name, _, cron in pairs:
        if not name.strip() or not cron.strip():
            raise UsageError(
                "a schedule cannot be read",
                where="--schedule",
                expected="NAME=CRON, or NAME=off",
                got=f"{name}={cron}" if cron else name,
                next_step='for example --schedule "nightly-mini=15 3 * * *"',
            )
    return {name.strip(): cron.strip() for name, _, cron in pairs}


def require_address(webhook: str | None) -> None:
    """Raise UsageError if a webhook is no http or https address; the message does not repeat it, since it is a secret."""
    if webhook is not None and not re.fullmatch(r"https?://[^/\s]+(/\S*)?", webhook):
        raise UsageError(
            "the webhook is not a URL",
            where="--webhook (or MOODFLOW_WEBHOOK)",
            expected="http:// or https://, a host, a path",
            got=f"{len(webhook)} characters of another form",
            next_step="copy it from the service that is to be called",
        )


def print_summary(session: ServedSession) -> None:
    """Print the addresses, the login and the next runs."""
    login = session.login
    lines = [f"Start and watch runs:      {session.ui}", f"Reports and leaderboards:  {session.reports}"]
    if login.made:
        lines.append(f"Log in with {login.made} (the browser asks once; it is kept in {login.file}).")
    else:
        lines.append(f"Log in with what {login.file or 'PREFECT_SERVER_API_AUTH_STRING'} holds.")
    lines.append("Deployments:")
    for row in session.deployments:
        lines.append(f"  {row.name}: {row.next_run or 'on demand'}, lake {row.lake}")
        if row.missed:
            lines.append(f"    {counted(row.missed, 'run')} missed while moodflow serve was not running; start one at {row.page}")
    alert = "the webhook is called" if session.webhook else "Prefect shows an event (--webhook calls an address too)"
    lines += [f"When a model regresses, {alert}.", "Ctrl-C stops everything."]
    terminal().print(*lines, sep="\n", highlight=False, soft_wrap=True)
