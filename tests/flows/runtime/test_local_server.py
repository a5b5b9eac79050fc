"""The temporary Prefect server of a command in a process of its own: it comes when it is needed, and never stays."""

import asyncio
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from base64 import b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from prefect.server.services import task_run_recorder as recorder

from flows.runtime.local_server import PROGRAM, LocalServer, may_be_configured, start_early, start_temporary_server
from flows.runtime.prefect_server import wait_until_up
from flows.runtime.server_process import make_database, prompt_server, record_soon
from schemas.errors import EndpointError
from tests.crashes.commands import end_of
from tests.flows.served import ENTRY_POINT, LIMIT_S, clean_environment, processes_of, wait_until
from tests.prefect_server import PrefectServer

STARTING = "moodflow: starting a temporary Prefect server, a few seconds\n"

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


COUNT_SERVERS = (
    "import sys; import flows.runtime.local_server as module; real = module.start_temporary_server; "
    "module.start_temporary_server = lambda environ: (sys.stderr.write('a server was started\\n'), real(environ))[1]"
)
"""Python that makes the start of a server seen."""


@pytest.fixture(scope="module")
def home(started_prefect: PrefectServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for Prefect; no other test's server is looked at."""
    return started_prefect.new_home(tmp_path_factory.mktemp("home"))


def start(home: Path, folder: Path, *arguments: str, program: str = ENTRY_POINT) -> subprocess.Popen[str]:
    """The command, in a folder without settings for Prefect."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(home),
        cwd=folder,
    )


def build(*datasets: str) -> tuple[str, ...]:
    return ("build", "moodbench-mini", "--datasets", ",".join(datasets), "--model", "m", "--base-url", "http://127.0.0.1:9/v1")


def servers(home: Path) -> list[int]:
    """Processes of temporary servers with this folder of Prefect."""
    return [pid for pid, program in processes_of(home).items() if str(PROGRAM) in program]


def recorded(home: Path, table: str) -> list[tuple[str, str]]:
    """Name and state of the runs in Prefect's database."""
    with closing(sqlite3.connect(home / "prefect.db")) as database:
        return database.execute(f"SELECT name, state_type FROM {table}").fetchall()  # noqa: S608  our own names


@linux
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param("", id="early"),
        pytest.param('[logging]\nlevel = "INFO"\n', marks=pytest.mark.long, id="after Prefect read its settings"),
    ],
)
def test_a_build_records_everything_and_leaves_no_server(started_prefect: PrefectServer, tmp_path: Path, settings: str) -> None:
    home = started_prefect.new_home(tmp_path / "home")
    if settings:
        (tmp_path / "prefect.toml").write_text(settings, encoding="utf-8")
    ended = end_of(start(home, tmp_path, *build("mini_eq_test"), program=f"{COUNT_SERVERS}; {ENTRY_POINT}"))
    assert (ended.status, ended.out, ended.err) == (0, "items: 1 partition\n", f"a server was started\n{STARTING}")
    assert servers(home) == []
    # One dataset is one task run; the database was closed in order, with nothing left in its write-ahead log.
    assert [state for _, state in recorded(home, "flow_run")] == ["COMPLETED"]
    assert recorded(home, "task_run") == [("items/mini_eq_test", "COMPLETED")]
    # No kind of block was looked for: Prefect imports every package that may have one, and notes here what it found.
    assert not (home / "memo_store.toml").exists()


def test_where_temporary_server_is_forbidden_none_is_started(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, PREFECT_SERVER_EPHEMERAL_ENABLED="false")
    command = [sys.executable, "-c", ENTRY_POINT, *build("mini_eq_test")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: no Prefect server is configured, and a temporary one is forbidden\n")


@pytest.mark.parametrize(
    ("headers", "login", "status"),
    [
        ({}, False, 401),
        ({"Origin": "http://evil.example"}, False, 401),
        ({"Authorization": "Basic bW9vZmxvdzo="}, False, 401),
        ({"Host": "evil.example"}, True, 400),
        ({}, True, 200),
    ],
    ids=["anybody", "another origin", "wrong login", "another name", "login"],
)
def test_temporary_server_answers_own_name_and_login(
    started_prefect: PrefectServer, headers: dict[str, str], status: int, *, login: bool
) -> None:
    auth = httpx.BasicAuth(*started_prefect.auth.split(":", 1)) if login else None
    answer = httpx.post(f"{started_prefect.url}/flows/count", json={}, headers=headers, auth=auth, trust_env=False)
    assert (answer.status_code, answer.headers.get("access-control-allow-origin")) == (status, None)


@linux
@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (build("mini_eq_tset"), "benchmark moodbench-mini has no dataset mini_eq_tset"),
        (["build", "moodbench-mini", "--sampel", "3"], "there is no option --sampel"),
    ],
)
def test_misspelt_command_starts_server_that_is_killed_unseen(
    home: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    ended = end_of(start(home, tmp_path, *arguments, program=f"{COUNT_SERVERS}; {ENTRY_POINT}"))
    assert ended.status == 2
    assert ended.err.startswith(f"a server was started\nError: {message}\n")
    assert STARTING not in ended.err
    assert servers(home) == []


@linux
@pytest.mark.long
def test_ctrl_c_while_waiting_for_server_ends_both(home: Path, tmp_path: Path) -> None:
    process = start(home, tmp_path, *build("mini_eq_test"))
    assert process.stderr is not None
    assert process.stderr.readline() == STARTING
    process.send_signal(signal.SIGINT)
    ended = end_of(process)
    assert ended.status == 130
    assert "interrupted; finished partitions" in ended.err
    assert servers(home) == []


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_command_leaves_no_server(home: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = start(home, tmp_path, *build("mini_eq_test"))
    wait_until(lambda: servers(home) != [])
    process.send_signal(number)
    process.communicate()
    assert process.returncode == -number
    wait_until(lambda: servers(home) == [])


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        pytest.param(["leaderboard", "moodbench", "--published"], 0, marks=pytest.mark.long, id="leaderboard"),
        pytest.param(["run", "--help"], 0, id="help"),
        pytest.param(["compare", "one", "other"], 2, marks=pytest.mark.long, id="compared runs"),
    ],
)
def test_a_command_without_flows_starts_no_server(home: Path, tmp_path: Path, arguments: list[str], status: int) -> None:
    ended = end_of(start(home, tmp_path, *arguments, program=f"{COUNT_SERVERS}; {ENTRY_POINT}"))
    assert ended.status == status
    assert "a server was started" not in ended.err


async def wait(server: LocalServer, limit_s: float) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        await wait_until_up(server, limit_s, "the server did not start", "start it again")
    assert (caught.value.what, caught.value.where, caught.value.next_step) == (
        "the server did not start",
        server.api_url,
        "start it again",
    )
    return caught.value


def client_of(server: PrefectServer) -> httpx.AsyncClient:
    user, password = server.auth.split(":", 1)
    return httpx.AsyncClient(base_url=f"{server.url}/", auth=(user, password), timeout=LIMIT_S)


async def test_temporary_server_has_no_page_routes(started_prefect: PrefectServer) -> None:
    async with client_of(started_prefect) as client:
        found = {
            name: (await client.post(f"{name}/filter", json={})).status_code for name in ("flows", "artifacts", "deployments")
        }
    assert found == {"flows": 200, "artifacts": 200, "deployments": 404}


async def test_writes_that_meet_are_all_kept_at_once(started_prefect: PrefectServer) -> None:
    """With several connections to the database nearly all of these are answered with 503, to be sent again seconds later."""
    async with client_of(started_prefect) as client:
        flow = (await client.post("flows/", json={"name": "met"})).json()["id"]
        asked = (client.post("flow_runs/", json={"flow_id": flow, "state": {"type": "RUNNING"}}) for _ in range(60))
        assert {answer.status_code for answer in await asyncio.gather(*asked)} == {201}


def tables(file: Path) -> dict[str, list[str]]:
    """The clauses of each table and index of a database, in one order: of some, migrations make another one each time."""
    with closing(sqlite3.connect(file)) as database:
        made = database.execute("select name, sql from sqlite_master where sql is not null")
        return {name: sorted(" ".join(part.split()).strip(" ()") for part in sql.split(",")) for name, sql in made}


def test_a_database_is_made_where_there_is_none(tmp_path: Path) -> None:
    there, log = tmp_path / "there.db", tmp_path / "deleted.db-wal"
    there.write_bytes(b"")
    log.write_bytes(b"what SQLite would write into a database of that name")
    for name in (str(tmp_path / "new.db"), str(there), str(tmp_path / "deleted.db"), "relative.db", ":memory:", ""):
        make_database(name)
    assert sorted(tmp_path.iterdir()) == [log, tmp_path / "new.db", there]
    assert there.read_bytes() == b""
    with closing(sqlite3.connect(tmp_path / "new.db")) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        filled = [name for name in names if database.execute(f'select count(*) from "{name}"').fetchone() != (0,)]  # noqa: S608
    # Which migration the tables are of; no key, no run and no flow of whoever made it.
    assert filled == ["alembic_version"]


@pytest.mark.long
def test_database_that_is_made_is_what_migrations_make(tmp_path: Path) -> None:
    program = (
        "import asyncio; from prefect.server.database import provide_database_interface as of; asyncio.run(of().create_db())"
    )
    for name in ("migrated", "made"):
        (tmp_path / name).mkdir()
        if name == "made":
            make_database(str(tmp_path / name / "prefect.db"))
        subprocess.run([sys.executable, "-c", program], env=clean_environment(tmp_path / name), check=True)
    assert tables(tmp_path / "made" / "prefect.db") == tables(tmp_path / "migrated" / "prefect.db")


def test_task_run_is_recorded_soon_after_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "consumer", dict)
    record_soon()
    asked: Any = recorder.consumer(write_batch_size=100, flush_every=1)
    assert asked == {"write_batch_size": 100, "flush_every": 0.2}


async def test_signalled_server_answers_requests_under_way() -> None:
    reached, ended = asyncio.Event(), []
    usual = signal.signal(signal.SIGTERM, lambda *_: ended.append("signal"))  # which uvicorn raises again after its end

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                ended.append(step)
                await send({"type": f"lifespan.{step}.complete"})
            return
        reached.set()
        await asyncio.sleep(0.3)
        ended.append("answer")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = prompt_server(uvicorn.Config(app, log_level="error", lifespan="on"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        async with httpx.AsyncClient(trust_env=False) as client:
            asked = asyncio.create_task(client.get(f"http://127.0.0.1:{listening.getsockname()[1]}/"))
            await reached.wait()
            os.kill(os.getpid(), signal.SIGTERM)
            await serving
            signal.signal(signal.SIGTERM, usual)
            assert ended == ["startup", "answer", "shutdown", "signal"]
            assert (await asked).status_code == 200


def test_first_request_waits_for_server_with_its_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("import socket, sys; print(socket.socket(fileno=int(sys.argv[1])).accept()[0].recv(10_000).decode())")
    monkeypatch.setattr("flows.runtime.local_server.PROGRAM", program)
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    wait_until(lambda: server.status is not None)
    request = server.output.splitlines()
    server.stop()
    login = b64encode(server.client_settings["PREFECT_API_AUTH_STRING"].encode()).decode()
    assert request[0] == "GET /api/admin/version HTTP/1.1"
    assert f"Authorization: Basic {login}" in request


async def test_ended_server_is_reported_with_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys; sys.exit('a port is a valid integer')", encoding="utf-8")
    monkeypatch.setattr("flows.runtime.local_server.PROGRAM", program)
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    error = await wait(server, LIMIT_S)
    assert error.expected == f"an answer within {LIMIT_S:g} s"
    assert "valid integer" in str(error.got)
    server.stop()


def test_early_end_of_server_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.wait(LIMIT_S)

    program = tmp_path / "program.py"
    program.write_text("import sys; sys.exit('a port is a valid integer')", encoding="utf-8")
    monkeypatch.setattr("flows.runtime.local_server.PROGRAM", program)
    monkeypatch.setattr("subprocess.Popen", Ended)
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    assert (server.status, "valid integer" in server.output) == (1, True)
    server.stop()


async def test_slow_server_is_reported_and_ended(tmp_path: Path) -> None:
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    os.kill(server.pid, signal.SIGSTOP)  # however fast the machine is
    try:
        assert (await wait(server, 0.05)).expected == "an answer within 0.05 s"
    finally:
        server.used = False  # a process that is stopped takes no other signal
        server.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)
    server.stop()  # a second time does nothing


def test_imported_prefect_keeps_its_own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert not may_be_configured(os.environ, Path())
    start_early()
    assert "PREFECT_API_URL" not in os.environ


def test_nothing_is_configured_in_an_empty_home(tmp_path: Path) -> None:
    assert not may_be_configured({"PREFECT_HOME": str(tmp_path), "PREFECT_LOGGING_LEVEL": "DEBUG"}, tmp_path)


@pytest.mark.parametrize("name", ["PREFECT_API_URL", "prefect_api_url", "PREFECT_PROFILE", "PREFECT_SERVER_EPHEMERAL_ENABLED"])
def test_a_variable_that_decides_is_respected(tmp_path: Path, name: str) -> None:
    assert may_be_configured({"PREFECT_HOME": str(tmp_path), name: "x"}, tmp_path)


PROFILE = '[profiles.nightly]\nPREFECT_API_URL = "http://127.0.0.1:4200/api"\n'
LEVEL = '[profiles.nightly]\nPREFECT_LOGGING_LEVEL = "DEBUG"\n'


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("home/profiles.toml", PROFILE, True),
        ("home/profiles.toml", LEVEL, False),
        ("elsewhere.toml", PROFILE, True),
        ("elsewhere.toml", LEVEL, False),
        ("here/prefect.toml", '[api]\nurl = "http://127.0.0.1:4200/api"\n', True),
        ("here/pyproject.toml", '[tool.prefect.api]\nurl = "http://127.0.0.1:4200/api"\n', True),
        ("here/pyproject.toml", "[tool.ruff]\nline-length = 100\n", False),
        ("here/.env", "PREFECT_API_URL=http://127.0.0.1:4200/api\n", True),
        ("here/.env", "OPENAI_API_KEY=x\n", False),
    ],
)
def test_settings_file_that_may_name_server_is_respected(tmp_path: Path, file: str, text: str, *, expected: bool) -> None:
    for folder in ("home", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / file).write_text(text, encoding="utf-8")
    environ = {"PREFECT_HOME": str(tmp_path / "home")}
    if file == "elsewhere.toml":
        environ["PREFECT_PROFILES_PATH"] = str(tmp_path / file)
    assert may_be_configured(environ, tmp_path / "here") is expected


def test_unreadable_settings_are_left_to_prefect(tmp_path: Path) -> None:
    (tmp_path / "profiles.toml").mkdir()
    assert may_be_configured({"PREFECT_HOME": str(tmp_path)}, tmp_path)
