"""`moodflow serve`: what it refuses before anything starts, what it serves, and that it leaves nothing."""

import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from jsonschema import Draft202012Validator
from prefect import flow
from prefect.context import FlowRunContext
from prefect.exceptions import ParameterTypeError
from prefect.flows import load_flow_from_entrypoint
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.utilities.callables import parameter_schema

from flows.commands.serve import read_schedules, require_address
from flows.evaluate import Evaluation, evaluate
from flows.refresh import refresh
from flows.runtime.local_server import guard_settings, listen
from flows.runtime.prefect_flows import log, moodflow_flow, resolve_parameters
from flows.service.deployments import (
    SHIPPED,
    Deployment,
    check_deployment,
    find_config,
    key_addresses,
    read_deployments,
    reschedule,
    set_lakes,
)
from flows.service.registration import SILENT_S, build_deployment, silent_run_automation
from flows.service.session import keep_auth
from schemas.addresses import KEY_ADDRESSES
from schemas.documents.serve import ConcurrencyEntry, LoginHint
from schemas.errors import UsageError
from schemas.plan import Plan
from tasks.steps import check, refused
from tests.flows.command import ended
from tests.flows.served import DATASETS, clean_environment, deployment, write_config

linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
URL = "http://127.0.0.1:9/v1"


def written(folder: Path, **changed: Any) -> Path:
    return write_config(folder / "prefect.yaml", {**deployment(URL), **changed})


def planned(folder: Path, **fields: Any) -> Deployment:
    (one,) = read_deployments(write_config(folder / "prefect.yaml", deployment(URL, **fields)))
    return one


def plan_of(lake: Path) -> Plan:
    return Plan.model_validate({**deployment(URL)["parameters"]["plan"], "lake": lake})


def test_the_shipped_file_has_four_deployments() -> None:
    found = read_deployments(find_config(None, Path("/nowhere")))
    short, *_ = found
    assert [one.entry.name for one in found] == ["evaluate-a-model", "nightly-mini", "weekly-moodbench", "longemotion-retrieval"]
    assert [one.plan.benchmark for one in found] == ["moodbench-mini", "moodbench-mini", "moodbench", "longemotion"]
    assert (build_deployment(short).full_name, build_deployment(short).parameters) == (
        "evaluate/evaluate-a-model",
        {"evaluation": {"benchmark": "moodbench-mini", "lake": "parquet"}},
    )
    assert [[(s.cron, s.timezone, s.active) for s in one.entry.schedules] for one in found] == [
        [],
        [("15 3 * * *", "Europe/Berlin", True)],
        [("30 4 * * 0", "Europe/Berlin", True)],
        [],
    ]
    for entry in [one.entry for one in found]:
        collision: Any = "ENQUEUE" if entry is short.entry else "CANCEL_NEW"
        assert entry.concurrency_limit == ConcurrencyEntry(limit=1, collision_strategy=collision)
        assert (entry.work_pool or {})["name"] == "moodflow"
        assert entry.description
        assert "moodflow" in entry.tags


def test_a_named_file_comes_before_any_other(tmp_path: Path) -> None:
    assert find_config(None, tmp_path) in SHIPPED
    here = written(tmp_path)
    assert find_config(None, tmp_path) == here
    assert find_config(tmp_path / "other.yaml", tmp_path) == tmp_path / "other.yaml"


def test_only_what_is_written_is_a_parameter(tmp_path: Path) -> None:
    (one,) = read_deployments(written(tmp_path))
    plan = build_deployment(one).parameters["plan"]
    assert plan["datasets"] == list(DATASETS)
    assert "seed" not in plan  # a later default counts
    assert plan["models"] == [{"name": "scripted", "base_url": URL}]  # a changed address has its own identity
    assert Plan.model_validate(plan) == one.plan


@pytest.mark.parametrize(
    ("changed", "where", "message"),
    [
        ({"parameters": {"plan": {"benchmark": "x"}}}, "tried.parameters.plan.models", "Field required"),
        (deployment(URL, sample=0), "tried.parameters.plan.sample", "greater than or equal to 1"),
        (deployment(URL, sampel=3), "parameters.plan.sampel", "not permitted"),
        ({"parameters": {"plans": {}}}, "tried.parameters.plan", "Field required"),
        (
            {"entrypoint": "mine.py:flow", "parameters": {}},
            "entrypoint",
            "moodflow serve runs only flows.refresh.refresh and flows.evaluate.evaluate",
        ),
        ({"shedules": []}, "tried.shedules", "not permitted"),
        ({"name": "{{ $NAME }}"}, "prefect.yaml", "moodflow serve does not support templates"),
    ],
    ids=["missing", "bound", "misspelt", "other parameter", "foreign flow", "misspelt key", "template"],
)
def test_a_fault_of_the_file_is_one_message(tmp_path: Path, changed: dict[str, Any], where: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_deployments(written(tmp_path, **changed))
    assert message in caught.value.what
    assert str(caught.value.where).startswith(str(tmp_path / "prefect.yaml"))
    assert where in str(caught.value.where)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("deployments: []", "no deployments"),
        ("a: [", "cannot be read"),
        ("- 1", "no deployments"),
        (yaml.safe_dump({"deployments": [deployment(URL)] * 2}), "two deployments have the name tried"),
        (None, "cannot be read"),
    ],
)
def test_a_file_without_usable_deployments_is_refused(tmp_path: Path, text: str | None, what: str) -> None:
    path = tmp_path / "prefect.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=what) as caught:
        read_deployments(path)
    assert caught.value.where == str(path)


def test_a_deployment_pairs_keys_with_addresses(tmp_path: Path) -> None:
    models = [{"name": "m", "base_url": URL, "api_key_env": "A"}, {"name": "free", "base_url": URL}]
    judge = {"name": "j", "base_url": "http://j/v1", "headers_env": {"api-key": "B"}, "query_env": ["code=C"]}
    keys = key_addresses([planned(tmp_path, models=models, roles={"judge": judge})])
    assert keys == f"A={URL} B=http://j/v1 C=http://j/v1"
    stale = {"name": "m", "base_url": URL, "identity": "http://before/v1"}
    with pytest.raises(UsageError, match="is another server's address") as caught:
        check_deployment(planned(tmp_path, models=[stale]))
    assert caught.value.where == "deployment tried, identity"


def test_an_entrypoint_is_a_file_or_module(tmp_path: Path) -> None:
    (by_file,) = read_deployments(written(tmp_path, entrypoint="flows/refresh.py:refresh"))
    (by_module,) = read_deployments(written(tmp_path))
    for made in map(build_deployment, (by_file, by_module)):
        assert (made.full_name, made.entrypoint, made.concurrency_limit) == ("refresh/tried", "flows.refresh.refresh", 1)
        assert load_flow_from_entrypoint(str(made.entrypoint)) is refresh


def test_a_given_schedule_replaces_those_of_the_file(tmp_path: Path) -> None:
    found = (planned(tmp_path, cron="1 2 * * *"),)
    (often,) = reschedule(found, {"tried": "* * * * *"})
    (schedule,) = often.entry.schedules
    assert (schedule.slug, schedule.cron, schedule.timezone, schedule.active) == ("often", "* * * * *", "Europe/Berlin", True)
    (never,) = reschedule(found, {"tried": "off"})
    assert [(s.cron, s.active) for s in never.entry.schedules] == [("1 2 * * *", False)]
    assert reschedule(found, {}) == found
    with pytest.raises(UsageError, match="there is no deployment tired") as caught:
        reschedule(found, {"tired": "off"})
    assert caught.value.expected == "one of tried"


@pytest.mark.parametrize(("cron", "zone"), [("every day", "UTC"), ("0 0 * * *", "Europe/Berlim"), ("61 * * * *", "UTC")])
def test_a_schedule_that_is_none_is_refused(tmp_path: Path, cron: str, zone: str) -> None:
    (one,) = read_deployments(written(tmp_path, schedules=[{"slug": "s", "cron": cron, "timezone": zone}]))
    with pytest.raises(UsageError, match="the schedule of tried is invalid") as caught:
        build_deployment(one)
    assert caught.value.got == f"{cron} in {zone}"


def test_schedule_options_are_read() -> None:
    assert read_schedules(["a=* * * * *", "b = off"]) == {"a": "* * * * *", "b": "off"}
    for text in ("nightly", "=* * * * *", "a="):
        with pytest.raises(UsageError, match="a schedule cannot be read"):
            read_schedules([text])


def test_a_given_lake_wins_and_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = read_deployments(SHIPPED[0])
    assert {one.plan.lake for one in set_lakes(found, None)} == {tmp_path / "parquet"}
    assert {one.plan.lake for one in set_lakes(found, Path("other"))} == {tmp_path / "other"}


def test_a_bad_webhook_is_refused_unseen() -> None:
    require_address("https://example.org/hook/secret")
    with pytest.raises(UsageError) as caught:
        require_address("ftp://example.org/secret")
    assert "secret" not in str(caught.value)


def test_serve_listens_on_free_loopback_ports_only() -> None:
    for host in ("0.0.0.0", "8.8.8.8"):
        with pytest.raises(UsageError, match="only local addresses are served"):
            listen(host, 0, "--port")
    with listen("127.0.0.1", 0, "--port") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} cannot be used") as caught:
            listen("127.0.0.1", port, "--reports-port")
    assert caught.value.where == f"--reports-port {port}"


def test_the_password_is_made_once_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "password"
    made, hint = keep_auth(path)
    assert hint == LoginHint(file=str(path), made=made)
    assert made.startswith("moodflow:")
    assert len(made) > 30
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert keep_auth(path) == (made, LoginHint(file=str(path), made=None))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("", encoding="utf-8")
    assert keep_auth(path)[1].made is not None


def test_the_server_answers_its_own_origin_only() -> None:
    assert guard_settings("http://127.0.0.1:4300", "a:b") == {
        "PREFECT_SERVER_API_AUTH_STRING": "a:b",
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": "http://127.0.0.1:4300,http://localhost:4300",
    }


def test_a_run_is_silent_after_three_heartbeats() -> None:
    trigger = silent_run_automation().trigger
    assert (SILENT_S, trigger.within) == (90, timedelta(seconds=90))  # type: ignore[union-attr]


@linux
def test_children_of_children_are_ended(tmp_path: Path) -> None:
    """A child that is spared stays with its own; all others end, also those whose parent has ended."""
    done = subprocess.run(
        [sys.executable, "-c", PARENT], cwd=tmp_path, capture_output=True, text=True, check=True, env=clean_environment(tmp_path)
    )
    assert done.stdout.splitlines() == ["spared stays", "nothing is left"]


CHILD = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", f"import time; open({sys.argv[1]!r}, 'w'); time.sleep(1e6)"])
if sys.argv[1] != "parent-ends":
    time.sleep(1e6)
"""
PARENT = f"""
import os, subprocess, sys, time, psutil
from flows.service import scheduler

def living():
    found = psutil.Process().children(recursive=True)
    return [one for one in found if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]

def wait_for(number):
    while len(living()) != number:
        time.sleep(0.05)

async def serve(_plan):
    names = ("spared", "killed", "parent-ends")
    children = [subprocess.Popen([sys.executable, "-c", {CHILD!r}, name]) for name in names]
    while not all(os.path.exists(name) for name in names):
        time.sleep(0.05)
    wait_for(5)
    scheduler.end_descendants(spared=children[0].pid)
    wait_for(2)
    print("spared stays" if children[0].poll() is None else "spared was killed")

class Plan:
    class server:
        stop = staticmethod(lambda: None)

scheduler._serve = serve
scheduler.serve_until_signal(Plan)
wait_for(0)
print("nothing is left")
"""


def test_where_a_server_is_configured_none_is_started(prefect_server: str, tmp_path: Path) -> None:
    done = ended("serve", "--lake", tmp_path)
    assert done.status == 2
    assert "another Prefect server is configured" in done.err
    assert f"got: {prefect_server}" in done.err
    assert "prefect deploy --all" in done.err


def test_automations_need_a_server_that_is_configured() -> None:
    with temporary_settings({PREFECT_API_URL: None}):
        done = ended("automations", "--webhook", "https://example.org/hook")
    assert done.status == 2
    assert "got: no server is configured" in done.err


def test_the_parameter_form_names_and_explains_every_field() -> None:
    schema = parameter_schema(refresh).model_dump()
    for model, form in schema["definitions"].items():
        for name, field in form.get("properties", {}).items():
            assert field.get("description"), f"{model}.{name}"
            # Without a title, the form shows "Field", or that of the type.
            title = field.get("title") or schema["definitions"][field["$ref"].rpartition("/")[2]]["title"]
            assert title.lower().replace(" ", "_") == name, f"{model}.{name}"


def test_the_short_form_has_plain_fields() -> None:
    fields = parameter_schema(evaluate).model_dump()["definitions"]["Evaluation"]["properties"]
    titles = ["Benchmark", "Model", "Address", "Key variable", "Judge", "Items per dataset", "Lake"]
    assert [field["title"] for field in fields.values()] == titles
    # One type each: Prefect shows a field of several as a switch between them.
    assert {field["type"] for field in fields.values()} == {"string", "integer"}
    assert all(field["description"].endswith(".") for field in fields.values())
    assert {"moodbench-mini", "longemotion", "esc-eval", "attunebench"} <= {*fields["benchmark"]["enum"]}


def test_the_short_form_is_a_plan(tmp_path: Path) -> None:
    mini = "moodbench-mini"
    assert Evaluation(benchmark=mini).plan == Plan.model_validate({"benchmark": mini, "models": [{"name": "smollm2"}]})
    server = {"base_url": URL, "api_key_env": "A_KEY"}
    stated = Evaluation(benchmark="longemotion", model="m", judge="j", sample=5, lake=tmp_path, **server)
    models = {"models": [{"name": "m", **server}], "roles": {"judge": {"name": "j", **server}}}
    assert stated.plan == Plan.model_validate({"benchmark": "longemotion", "sample": 5, "lake": tmp_path, **models})
    assert Evaluation(benchmark=mini, model="m", base_url=URL, judge="smollm2").plan.named("judge")[0].base_url is None
    with pytest.raises(UsageError, match="model m needs a base_url; only smollm2 comes with the install"):
        _ = Evaluation(benchmark=mini, model="m").plan


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("benchmark", "nope", "'nope' is not one of"),
        ("model", "", "'' should be non-empty"),
        ("base_url", "http://me:pass@host/v1", "does not match"),
        ("api_key_env", "sk-1", "does not match"),
        ("sample", -1, "-1 is less than the minimum of 0"),
        ("api_key_env", "", None),
    ],
)
def test_the_short_form_refuses_wrong_input(field: str, value: str | int, message: str | None) -> None:
    schema = parameter_schema(evaluate).model_dump()
    found = [
        error.message
        for error in Draft202012Validator(schema).iter_errors({"evaluation": {"benchmark": "esc-eval", field: value}})
    ]
    assert [message in error for error in found] == ([] if message is None else [True])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sample": 0}, "0 is not valid under any of the given schemas"),
        ({"sampel": 1}, "'sampel' was unexpected"),
        ({"models": []}, "[] should be non-empty"),
        ({"profile": "x"}, "'x' is not one of"),
        ({"models": [{"name": "m", "api_key_env": "sk-1"}]}, "does not match"),
        ({"models": [{"name": "m", "base_url": "http://me:pass@host/v1"}]}, "does not match"),
        ({}, None),
    ],
    ids=["bound", "misspelt", "none", "choice", "key", "password", "right"],
)
def test_the_form_refuses_what_a_run_would(changed: dict[str, Any], message: str | None) -> None:
    plan = {**deployment(URL)["parameters"]["plan"], **changed}
    schema = parameter_schema(refresh).model_dump()
    found = [error.message for error in Draft202012Validator(schema).iter_errors({"plan": plan})]
    assert [message in error for error in found] == ([] if message is None else [True])


async def test_a_failed_run_logs_one_line(prefect_server: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert prefect_server

    @check("fall")
    async def fall() -> Any:
        return refused("it fell; deep")

    @moodflow_flow("inner", "inner")
    async def inner(plan: Plan) -> None:
        await fall(return_state=True)
        raise UsageError(f"no {plan.benchmark}", where="here", next_step="look")

    @moodflow_flow("outer", "outer")
    async def outer(plan: Plan) -> None:
        await inner(plan)

    with pytest.raises(UsageError) as caught:
        await outer(plan_of(tmp_path))
    assert caught.value.next_step == "look"
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    failed = "Finished in state Failed('no moodbench-mini; where: here; next step: look')"
    assert [record.getMessage() for record in told] == ["Finished in state Failed('it fell; deep')", failed, failed]
    assert not any(record.exc_info for record in told)


async def test_the_log_of_a_run_has_its_words(
    prefect_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert prefect_server

    @moodflow_flow("talk", "talk")
    async def talk(plan: Plan) -> None:
        log(f"from a run of {plan.benchmark}")

    log("from a command")
    await talk(plan_of(tmp_path))
    said = [(record.name, record.getMessage()) for record in caplog.records if record.getMessage().startswith("from a")]
    assert said == [("prefect.flow_runs", "from a run of moodbench-mini")]
    assert not [record for record in caplog.records if "hook" in record.getMessage().lower()]
    assert "moodflow: from a command\nmoodflow: from a run of moodbench-mini\n" in capsys.readouterr().err


def test_parameters_of_no_plan_name_the_fields() -> None:
    with pytest.raises(ParameterTypeError) as refused:
        refresh.validate_parameters({"plan": {"benchmark": "moodbench", "modelz": []}})
    message = str(refused.value)
    assert "plan.models: Field required" in message
    assert "plan.modelz: Extra inputs are not permitted" in message
    assert "lake" not in message


async def test_a_worker_that_names_no_addresses_allows_none(
    prefect_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prefect_server
    monkeypatch.setenv(KEY_ADDRESSES, "restored afterwards")
    monkeypatch.delenv(KEY_ADDRESSES)

    @flow
    async def begin(deployment_id: UUID | None) -> str | None:
        context: Any = FlowRunContext.get()
        run = context.flow_run.model_copy(update={"deployment_id": deployment_id})
        with context.model_copy(update={"flow_run": run}):
            resolve_parameters(plan_of(tmp_path))
        return os.environ.get(KEY_ADDRESSES)

    assert await begin(None) is None
    assert await begin(uuid4()) == ""
