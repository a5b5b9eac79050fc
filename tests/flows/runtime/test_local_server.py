"""The Prefect server of a command in a process of its own: it comes when it is needed, keeps its data apart, and never stays."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from prefect import __version__ as version

from flows.runtime import prefect_server
from flows.runtime.local_server import PROGRAM, start_temporary_server
from schemas.errors import EndpointError
from tests.crashes.commands import end_of
from tests.flows.command import Ended, assert_one_message
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


def start(home: Path, folder: Path, *arguments: str, program: str = ENTRY_POINT, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(home, **environ),
        cwd=folder,
    )


def build(*datasets: str) -> tuple[str, ...]:
    return ("build", "moodbench-mini", "--datasets", ",".join(datasets), "--model", "m", "--base-url", "http://127.0.0.1:9/v1")


def servers(home: Path) -> list[int]:
    return [pid for pid, program in processes_of(home).items() if str(PROGRAM) in program]


def recorded(home: Path, table: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(home / "prefect.db")) as database:
        return database.execute(f"SELECT name, state_type FROM {table}").fetchall()  # noqa: S608  our own names


def proxies(address: str = "http://127.0.0.1:9") -> dict[str, str]:
    """Nothing listens on port 9, and no proxy of a network reaches this machine's loopback addresses."""
    return {**dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), address), "NO_PROXY": "internal.example"}


@linux
def test_a_build_records_everything_apart_and_leaves_no_server(started_prefect: PrefectServer, tmp_path: Path) -> None:
    """In one start of a server, as each costs seconds: `~/.prefect` has a database that a later Prefect migrated, and variables
    name a proxy.
    """
    theirs, state = tmp_path / ".prefect", tmp_path / "state"
    there = (migrate_further(started_prefect.new_home(theirs)) / "prefect.db").read_bytes()
    ours = started_prefect.new_home(state / f"prefect-{version}")
    environ = clean_environment(theirs, HOME=str(tmp_path), MOODFLOW_STATE=str(state), **proxies())
    del environ["PREFECT_HOME"]
    command = [sys.executable, "-c", f"{COUNT_SERVERS}; {ENTRY_POINT}", *build("mini_eq_test")]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    told = f"a server was started\n{STARTING}"
    assert (done.returncode, done.stdout, done.stderr) == (0, "items: 1 partition\n", told)
    assert processes_of(state, "MOODFLOW_STATE") == {}
    # One dataset is one task run; the database was closed in order, with nothing left in its write-ahead log.
    assert [state for _, state in recorded(ours, "flow_run")] == ["COMPLETED"]
    assert recorded(ours, "task_run") == [("items/mini_eq_test", "COMPLETED")]
    # No kind of block was looked for: Prefect imports every package that may have one, and notes here what it found.
    assert not (ours / "memo_store.toml").exists()
    assert {path.name: path.read_bytes() for path in theirs.iterdir()} == {"prefect.db": there}


@pytest.mark.long
def test_own_server_is_reached_without_proxy_of_another_kind(started_prefect: PrefectServer, tmp_path: Path) -> None:
    home = started_prefect.new_home(tmp_path / "home")
    ended = end_of(start(home, tmp_path, *build("mini_eq_test"), **proxies("socks5://127.0.0.1:9")))
    assert (ended.status, ended.err) == (0, STARTING)


def migrate_further(home: Path) -> Path:
    """Have the database be one of a Prefect that is not out yet."""
    with closing(sqlite3.connect(home / "prefect.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = 'abcdef123456'")
        database.commit()
    return home


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "Can't locate revision identified by 'abcdef123456'", id="of a later Prefect"),
        pytest.param(b"no database", "(sqlite3.DatabaseError) file is not a database", id="damaged", marks=pytest.mark.long),
    ],
)
def test_an_unusable_database_is_one_message(
    started_prefect: PrefectServer, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = migrate_further(started_prefect.new_home(tmp_path / "home")) / "prefect.db"
    if content:
        file.write_bytes(content * 1000)
    ended = end_of(start(file.parent, tmp_path, *build("mini_eq_test")))
    assert ended.err.startswith(f"{STARTING}Error: Prefect's database cannot be used\n  where: {file}\n")
    advice = "next step: move it, or set PREFECT_HOME to another folder"
    assert_one_message(Ended(ended.status, ended.out, ended.err), f"got: {reason}\n", advice)


@linux
@pytest.mark.long
def test_servers_that_start_together_make_one_database(tmp_path: Path) -> None:
    started = [start(tmp_path / "home", tmp_path, *build(name)) for name in ("mini_eq_test", "mini_text_matching")]
    assert [end_of(process).status for process in started] == [0, 0]
    assert sorted(recorded(tmp_path / "home", "task_run")) == [
        ("items/mini_eq_test", "COMPLETED"),
        ("items/mini_text_matching", "COMPLETED"),
    ]


ASK_FOR_SERVER = """
from flows.commands.app import guarded
from flows.runtime.local_server import temporary_server
exit(guarded(temporary_server))
"""


@pytest.mark.parametrize(
    "program",
    [
        ASK_FOR_SERVER,
        pytest.param(ENTRY_POINT, marks=pytest.mark.long),
    ],
    ids=["where it is started", "by a command"],
)
def test_a_forbidden_temporary_server_is_not_started(tmp_path: Path, program: str) -> None:
    started = start(tmp_path, tmp_path, *build("mini_eq_test"), program=program, PREFECT_SERVER_EPHEMERAL_ENABLED="false")
    ended = end_of(started)
    assert ended.status == 2
    assert ended.err.startswith("Error: no Prefect server is configured and temporary servers are disabled\n")


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
def test_only_its_login_and_name_open_a_server(
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
def test_a_misspelt_command_leaves_no_server(home: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    ended = end_of(start(home, tmp_path, *arguments, program=f"{COUNT_SERVERS}; {ENTRY_POINT}"))
    assert ended.status == 2
    assert ended.err.startswith(f"a server was started\nError: {message}\n")
    assert STARTING not in ended.err
    assert servers(home) == []


@linux
@pytest.mark.long
def test_ctrl_c_ends_command_and_server(home: Path, tmp_path: Path) -> None:
    process = start(home, tmp_path, *build("mini_eq_test"))
    assert process.stderr is not None
    assert process.stderr.readline() == STARTING
    process.send_signal(signal.SIGINT)
    ended = end_of(process)
    assert ended.status == 130
    assert "interrupted; finished partitions" in ended.err
    assert servers(home) == []


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
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


def client_of(server: PrefectServer) -> httpx.AsyncClient:
    user, password = server.auth.split(":", 1)
    return httpx.AsyncClient(base_url=f"{server.url}/", auth=(user, password), timeout=LIMIT_S)


async def test_writes_that_meet_are_all_kept_at_once(started_prefect: PrefectServer) -> None:
    """As Prefect begins them, nearly all of these are answered with 503, to be sent again seconds later."""
    async with client_of(started_prefect) as client:
        flow = (await client.post("flows/", json={"name": "met"})).json()["id"]
        asked = (client.post("flow_runs/", json={"flow_id": flow, "state": {"type": "RUNNING"}}) for _ in range(60))
        assert {answer.status_code for answer in await asyncio.gather(*asked)} == {201}


async def test_a_server_that_ends_tells_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys; sys.exit('a port is a valid integer')", encoding="utf-8")
    monkeypatch.setattr("flows.runtime.local_server.PROGRAM", program)
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    with pytest.raises(EndpointError, match="the Prefect server did not start") as caught:
        await prefect_server.wait_until_up(server)
    assert (caught.value.where, caught.value.got) == (server.api_url, "a port is a valid integer")
    server.stop()


async def test_a_server_that_is_late_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefect_server, "START_LIMIT_S", 0.05)
    monkeypatch.setattr("flows.runtime.local_server.STOP_LIMIT_S", 0.05)
    server = start_temporary_server({"PREFECT_HOME": str(tmp_path)})
    os.kill(server.pid, signal.SIGSTOP)  # however fast the machine is; it takes no other signal but SIGKILL
    with pytest.raises(EndpointError, match="the Prefect server did not start") as caught:
        await prefect_server.wait_until_up(server)
    assert (caught.value.expected, caught.value.got) == ("an answer within 0.05 s", "no answer")
    server.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)
    server.stop()  # a second time does nothing


WHICH = """
from flows.runtime.local_server import temporary_server
from flows.runtime.server_process import prefect_home
from tasks.lake.local_state import states_folder
print(temporary_server(), prefect_home(states_folder()))
"""
URL = "http://127.0.0.1:9/api"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("PREFECT_API_URL", URL, marks=pytest.mark.long),
        (".prefect/profiles.toml", f'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{URL}"\n'),
        ("prefect.toml", f'[api]\nurl = "{URL}"\n'),
        pytest.param("pyproject.toml", f'[tool.prefect.api]\nurl = "{URL}"\n', marks=pytest.mark.long),
        (".env", f"PREFECT_API_URL={URL}\nPREFECT_HOME=named\n"),
    ],
)
def test_a_server_that_is_configured_anywhere_is_respected(tmp_path: Path, file: str, text: str) -> None:
    environ = clean_environment(tmp_path, HOME=str(tmp_path), MOODFLOW_STATE=str(tmp_path / "state"))
    del environ["PREFECT_HOME"]
    if file.isupper():
        environ[file] = text
    else:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = subprocess.run([sys.executable, "-c", WHICH], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True)
    home = "named" if "named" in text else tmp_path / "state" / f"prefect-{version}"
    assert found.stdout == f"None {home}\n"
