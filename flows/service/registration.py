"""Register deployments and automations with a Prefect server, and close what an earlier `moodflow serve` left running."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import ConcurrencyLimitConfig, FlowRun, StateType
from prefect.client.schemas.schedules import CronSchedule
from prefect.deployments.runner import RunnerDeployment
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.runner import Runner
from prefect.states import Cancelled, Crashed
from prefect.types.entrypoint import EntrypointType
from pydantic import SecretStr, ValidationError

from flows.evaluate import Evaluation, evaluate
from flows.refresh import refresh
from flows.runtime.artifacts import MODEL_RESOURCE, SCORE_REGRESSION
from flows.runtime.prefect_server import require_server
from flows.service.deployments import Deployment
from schemas.documents.serve import ConcurrencyEntry, ScheduleEntry
from schemas.errors import UsageError

PAGE = 200
LOST = "moodflow serve ended while it ran; the next run goes on from what is in the lake"
MISSED = "moodflow serve was not running when it was due"

HEARTBEAT_S = 30
"""Seconds between two signs of life of a run; Prefect takes no fewer."""

SILENT_S = 3 * HEARTBEAT_S
SILENT_RUN = "moodflow: a run that fell silent is Crashed"
REGRESSION = "moodflow: a regression calls the webhook"
WEBHOOK_BLOCK = "moodflow-regression"

WEBHOOK_BODY = """{
  "text": {{ event.payload.text | tojson }},
  "event": {{ event.event | tojson }},
  "occurred": {{ event.occurred | string | tojson }},
  "regression": {{ event.payload | tojson }}
}"""
"""JSON; `text` is what chat services show: one sentence, and where report and run are."""


def build_deployment(deployment: Deployment) -> RunnerDeployment:
    """Return the deployment as Prefect registers it; the flow is imported by name, wherever it is installed."""
    entry, limit = deployment.entry, deployment.entry.concurrency_limit
    return RunnerDeployment.from_flow(
        evaluate if isinstance(deployment.stated, Evaluation) else refresh,
        entry.name,
        schedules=[_schedule(schedule, entry.name) for schedule in entry.schedules],
        concurrency_limit=ConcurrencyLimitConfig(**limit.model_dump()) if isinstance(limit, ConcurrencyEntry) else limit,
        # Of what is not stated, a later default counts.
        parameters={deployment.parameter: deployment.stated.model_dump(mode="json", exclude_unset=True)},
        description=entry.description,
        tags=list(entry.tags),
        version=entry.version,
        entrypoint_type=EntrypointType.MODULE_PATH,
    )


def _schedule(schedule: ScheduleEntry, deployment: str) -> DeploymentScheduleCreate:
    try:
        cron = CronSchedule(cron=schedule.cron, timezone=schedule.timezone)
    except ValidationError as error:
        raise UsageError(
            f"the schedule of {deployment} is invalid: {error.errors()[0]['msg'].removeprefix('Value error, ')}",
            where=f"schedule {schedule.slug}",
            expected="five fields of cron and the name of a time zone, such as 15 3 * * * in Europe/Berlin",
            got=f"{schedule.cron} in {schedule.timezone}",
            next_step="correct it in the file of deployments, or with --schedule",
        ) from error
    return DeploymentScheduleCreate(schedule=cron, active=schedule.active, slug=schedule.slug)


async def register(client: PrefectClient, runner: Runner, deployment: Deployment, made: RunnerDeployment) -> UUID:
    """Register a deployment whose runs the runner, not yet started, starts; a schedule that has left the file is removed."""
    identity = await runner.aadd_deployment(made)
    wanted = {schedule.slug for schedule in deployment.entry.schedules}
    for schedule in await client.read_deployment_schedules(identity):
        if schedule.slug not in wanted:
            await client.delete_deployment_schedule(identity, schedule.id)
    return identity


async def close_left_over(client: PrefectClient, names: Sequence[str]) -> Counter[str]:
    """Close what an earlier `moodflow serve` left, so that no run holds a slot and missed runs do not all start now.

    A run that was at work when its server was killed is Crashed. Scheduled runs whose time has passed are Cancelled; how many of
    each deployment is returned. Nothing may be running yet.
    """
    missed = Counter[str]()
    for name in names:
        for run in await runs_of(client, name, (StateType.RUNNING, StateType.PENDING, StateType.CANCELLING)):
            await client.set_flow_run_state(run.id, Crashed(message=LOST), force=True)
        now = datetime.now(UTC)
        for run in await runs_of(client, name, (StateType.SCHEDULED,)):
            if run.next_scheduled_start_time and run.next_scheduled_start_time < now:
                await client.set_flow_run_state(run.id, Cancelled(message=MISSED))
                missed[name] += 1
    return missed


async def runs_of(client: PrefectClient, name: str, states: Sequence[StateType]) -> list[FlowRun]:
    """Return the runs in these states of a deployment named FLOW/DEPLOYMENT, the next one first; none if it is not known."""
    flow, _, deployment = name.partition("/")
    wanted = {
        "flows": {"name": {"any_": [flow]}},
        "deployments": {"name": {"any_": [deployment]}},
        "flow_runs": {"state": {"type": {"any_": list(states)}}},
        "sort": "NEXT_SCHEDULED_START_TIME_ASC",
        "limit": PAGE,
    }
    runs: list[FlowRun] = []
    while True:
        page = (await client.request("POST", "/flow_runs/filter", json={**wanted, "offset": len(runs)})).json()
        runs += map(FlowRun.model_validate, page)
        if len(page) < PAGE:
            return runs


async def next_run(client: PrefectClient, deployment: UUID, name: str) -> datetime | None:
    """Return when the deployment of this id, named by flow and deployment, runs next; None if nothing is scheduled."""
    # The scheduler's own turn comes seconds later; runs that exist already are not doubled.
    limits = {"min_runs": 1, "max_runs": 1}
    await client.request("POST", "/deployments/{id}/schedule", path_params={"id": deployment}, json=limits)
    runs = await runs_of(client, name, (StateType.SCHEDULED,))
    return runs[0].next_scheduled_start_time if runs else None


def silent_run_automation() -> AutomationCore:
    """Return the automation that ends runs without heartbeats: one that was killed would hold its slot for ever."""
    return AutomationCore(
        name=SILENT_RUN,
        description=f"No sign of life for {SILENT_S} s: its process was killed, or the machine slept.",
        enabled=True,
        trigger=EventTrigger(
            posture=Posture.Proactive,
            after={"prefect.flow-run.heartbeat"},
            expect={"prefect.flow-run.*"},
            match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
            for_each={"prefect.resource.id"},
            threshold=1,
            within=timedelta(seconds=SILENT_S),
        ),
        actions=[
            ChangeFlowRunState(
                state=StateType.CRASHED,
                message=f"no sign of life for {SILENT_S} s; the next run goes on from what is in the lake",
            )
        ],
    )


async def regression_automation(url: SecretStr) -> AutomationCore:
    """Return the automation that calls a webhook on a regression; its address is kept as a secret of the server."""
    block = await Webhook(url=url).asave(WEBHOOK_BLOCK, overwrite=True)
    return AutomationCore(
        name=REGRESSION,
        description="A score fell by more than its interval, a veto is new, or coverage fell.",
        enabled=True,
        trigger=EventTrigger(
            posture=Posture.Reactive,
            expect={SCORE_REGRESSION},
            match=ResourceSpecification({"prefect.resource.id": f"{MODEL_RESOURCE}*"}),
            threshold=1,
            within=timedelta(0),
        ),
        actions=[CallWebhook(block_document_id=block, payload=WEBHOOK_BODY)],
    )


async def mend_automations(webhook: str | None) -> dict[str, str]:
    """Register the automations with the user's server, as `register_automations` does."""
    await require_server()
    async with get_client() as client:
        return await register_automations(client, SecretStr(webhook) if webhook else None)


async def register_automations(client: PrefectClient, webhook: SecretStr | None) -> dict[str, str]:
    """Have each of the server's automations once, as it is here, and return what became of each, by name.

    `webhook` is called on a regression; without one, none is.
    """
    regression = None if webhook is None else await regression_automation(webhook)
    wanted = {SILENT_RUN: silent_run_automation(), REGRESSION: regression}
    done = {name: await _mend(client, name, automation) for name, automation in wanted.items()}
    if webhook is None:
        with suppress(ObjectNotFound):
            block = await client.read_block_document_by_name(WEBHOOK_BLOCK, "webhook")
            await client.delete_block_document(block.id)
    return done


async def _mend(client: PrefectClient, name: str, wanted: AutomationCore | None) -> str:
    there = await client.read_automations_by_name(name)
    # Not made anew where it is the same: it counts the signs of life of runs that are under way.
    same = [each for each in there if wanted == AutomationCore.model_validate(each.model_dump(exclude={"id"}))]
    kept = same[:1]
    for former in there:
        if former not in kept:
            await client.delete_automation(former.id)
    if wanted is None:
        return "removed" if there else "not asked for"
    if not kept:
        await client.create_automation(wanted)
    return "made" if not there else "as it was" if there == kept else "mended"
