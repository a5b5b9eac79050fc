"""What the server of `moodflow serve` does by itself: end runs that fell silent, and call a webhook when a model regressed."""

from collections.abc import Sequence
from datetime import timedelta

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from pydantic import SecretStr

from flows.runtime.events import MODEL_RESOURCE, SCORE_REGRESSION

HEARTBEAT_S = 30
"""Seconds between two signs of life of a run; Prefect takes no fewer."""

SILENT_S = 3 * HEARTBEAT_S
SILENT_RUN = "moodflow: a run that fell silent is Crashed"
REGRESSION = "moodflow: a regression calls the webhook"
WEBHOOK_BLOCK = "moodflow-regression"

WEBHOOK_BODY = """{
  "text": {{ event.payload.message | tojson }},
  "event": {{ event.event | tojson }},
  "occurred": {{ event.occurred | string | tojson }},
  "regression": {{ event.payload | tojson }}
}"""
"""JSON; `text` is what chat services show."""


def silent_run_automation() -> AutomationCore:
    """A run that was killed does not say so: it would be Running for ever, and hold its deployment's only place."""
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
    """A regression of a model calls a webhook, whose address is kept as a secret of the server."""
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


async def register_automations(client: PrefectClient, webhook: SecretStr | None) -> None:
    """Make the server's automations what they are to be, however often it is started; without a webhook, none is called.

    Args:
        client: of the server.
        webhook: address that is called on a regression.
    """
    await _keep_one(client, silent_run_automation())
    if webhook is not None:
        await _keep_one(client, await regression_automation(webhook))
        return
    for automation in await client.read_automations_by_name(REGRESSION):
        await client.delete_automation(automation.id)
    try:
        block = await client.read_block_document_by_name(WEBHOOK_BLOCK, "webhook")
    except ObjectNotFound:
        return
    await client.delete_block_document(block.id)


async def _keep_one(client: PrefectClient, wanted: AutomationCore) -> None:
    existing: Sequence[AutomationCore] = await client.read_automations_by_name(wanted.name)
    first, *others = [automation.id for automation in existing if hasattr(automation, "id")] or [None]
    if first is None:
        await client.create_automation(wanted)
    else:
        await client.update_automation(first, wanted)
    for surplus in others:
        if surplus is not None:
            await client.delete_automation(surplus)
