"""The form of every shipped deployment in both of Prefect's interfaces, sent as it opens: the run starts."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page

from tasks.datasets.catalogue import CATALOGUE
from tests.flows.scripted import policy
from tests.flows.served import ROOT, Served, wait_until, write_config
from tests.model_server import ModelServer

LIMIT_MS = 600_000
DRAWN_MS = 3000
"""A page shows its last parts a moment later; the screenshot is looked at by people only."""
MINIATURE = tuple(spec.id for spec in CATALOGUE.values() if spec.id.startswith("mini_"))
STARTED = {
    "evaluate-a-model": "evaluate scripted on moodbench-mini",
    "nightly-mini": "refresh moodbench-mini: scripted (base)",
    "weekly-moodbench": "refresh moodbench: scripted (base)",
    "longemotion-retrieval": "refresh longemotion: scripted (base, rag)",
}
"""Names of runs, which they get once their parameters are validated, by deployment."""


def shipped(base_url: str) -> list[dict[str, Any]]:
    """The shipped deployments, of a scripted model in place of the small one, which the short form has by default."""
    text = json.dumps(yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"])
    scripted: list[dict[str, Any]] = json.loads(
        text.replace('{"name": "smollm2"}', json.dumps({"name": "scripted", "base_url": base_url}))
    )
    assert {one["name"] for one in scripted} == STARTED.keys()
    scripted[0]["parameters"]["evaluation"] |= {"model": "scripted", "base_url": base_url}
    assert "smollm2" not in json.dumps(scripted)
    return scripted


def log_in(page: Page, served: Served) -> None:
    page.set_default_timeout(LIMIT_MS)
    page.goto(served.document["ui"])
    page.locator("input").fill(served.login)
    page.keyboard.press("Enter")
    page.wait_for_url("**/dashboard**")


def send_as_it_opens(page: Page, form: str) -> str:
    """Open the form of a deployment and press its button; returns the id of the run."""
    page.goto(form)
    with page.expect_response("**/create_flow_run") as answer:
        page.get_by_role("button", name="Submit").click()
    assert answer.value.status == 201, answer.value.text()
    return str(answer.value.json()["id"])


@pytest.mark.long
@pytest.mark.parametrize("interface", ["", "/v2"])
def test_every_shipped_form_starts_a_run(browser: Browser, tmp_path: Path, interface: str) -> None:
    with ModelServer(policy(MINIATURE, "gold")) as model:
        write_config(tmp_path / "prefect.yaml", *shipped(model.base_url))
        with Served(tmp_path, tmp_path / "prefect") as served:
            page = browser.new_page(viewport={"width": 1300, "height": 1000})
            log_in(page, served)
            for one in served.document["deployments"]:
                name = one["name"].partition("/")[2]
                run = send_as_it_opens(page, f"{one['page'].replace('/deployments', f'{interface}/deployments', 1)}/run")
                state = wait_until(partial(past, served, run))
                assert "Validation of flow parameters failed" not in (state["message"] or "")
                assert wait_until(partial(name_of, served, run)) == STARTED[name]
                if name == "nightly-mini":
                    assert wait_until(partial(past, served, run, "RUNNING"))["name"] == "Completed"
                    page.goto(f"{served.document['ui']}{interface}/runs/flow-run/{run}")
                    page.get_by_text("Finished in state").first.wait_for()  # in its log
                    page.wait_for_timeout(DRAWN_MS)
                    page.screenshot(path=tmp_path / "started.png")
            page.close()


def past(served: Served, run: str, *states: str) -> dict[str, Any] | None:
    state = served.state_of(run)
    return None if state["type"] in {"SCHEDULED", "PENDING", *states} else state


def name_of(served: Served, run: str) -> str | None:
    """The name that a run got from its parameters; Prefect invents one before."""
    name = str(served.api(f"/flow_runs/{run}")["name"])
    return name if "scripted" in name else None
