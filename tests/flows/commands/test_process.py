"""What a command's process rests on is checked, and its end says nothing of its own."""

import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from flows.cli import RUN_FLOWS
from flows.commands.app import COMMANDS, load_command
from flows.commands.stages import STAGES
from tests.flows.command import Ended, assert_one_message, ended

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ENVIRONMENT["PYTHONPATH"] = str(Path(__file__).parents[3])


INTERRUPTED = """
import signal, sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == "flows.commands.app":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
from flows.cli import main
main()
"""
STARTED = "from flows.cli import main; main()"


@pytest.mark.parametrize(
    ("program", "arguments", "status"),
    [
        ("from flows.commands.process import leave; print('x'); leave(5)", (), 5),
        (STARTED, ("options", "--json"), 0),
        pytest.param(STARTED, ("options",), 0, marks=pytest.mark.long),
        (INTERRUPTED, (), -signal.SIGINT),
    ],
)
def test_a_closed_pipe_is_no_fault(program: str, arguments: tuple[str, ...], status: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:  # noqa: PTH123  a descriptor
        ended = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
        )
    assert (ended.returncode, ended.stderr) == (status, "")


def test_the_entry_point_names_commands_that_run_flows() -> None:
    assert {*STAGES, "demo"} - {"run"} == RUN_FLOWS <= COMMANDS.keys()


def test_the_list_of_commands_says_what_each_says() -> None:
    assert [name for name, (_, line, _) in COMMANDS.items() if not str(load_command(name).help).startswith(line)] == []


def test_the_help_groups_all_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    done = ended("--help")
    assert done.out == ended("-h").out
    lines = done.out.splitlines()
    assert lines[3].strip() == "Evaluate language models as emotional companions."
    assert max(map(len, lines)) <= 80
    panels = re.findall(r"╭─ (\w+) ─", done.out)
    assert panels == ["Options", "Evaluate", "Look", "Check", "Serve", "Data"]
    assert re.findall(r"^│ ([a-z]+) ", done.out, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("command", ["run", "runs", "runs list", "judges votes", "schema"])
def test_every_command_takes_a_short_help(command: str) -> None:
    assert ended(*command.split(), "-h") == ended(*command.split(), "--help")


def test_the_first_steps_are_five_commands() -> None:
    done = ended()
    assert (done.status, done.err) == (0, "")
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("  moodflow")] == [
        *("demo", "run", "runs", "explain", "leaderboard")
    ]
    assert max(map(len, done.out.splitlines())) <= 80
    assert "moodflow --help lists all commands" in done.out


def test_the_version_is_that_of_the_package() -> None:
    assert ended("--version") == Ended(0, f"moodflow {version('moodflow')}\n", "")


def test_help_imports_no_large_library() -> None:
    """The list of commands imports none of them, and what a command says of itself needs no Prefect."""
    program = "import sys; from flows.commands.app import *\nsys.argv = ['moodflow', '--help']\nguarded(app)\n"
    program += "print('loaded', {'polars', 'prefect'} & {name.partition('.')[0] for name in sys.modules})\n"
    program += "list(map(load_command, COMMANDS)); print('then', 'prefect' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert ended.stdout.endswith("loaded set()\nthen False\n")


@pytest.mark.parametrize(
    ("name", "content", "got"),
    [
        ("profiles.toml", b'active = "x"\n[profiles.x\n', "Expected ']' at the end of a table declaration"),
        pytest.param("profiles.toml", bytes(range(128, 256)), "'utf-8' codec can't decode byte", marks=pytest.mark.long),
        pytest.param("profiles.toml", b"profiles = 7\n", "'int' object has no attribute", marks=pytest.mark.long),
        ("profiles.toml", b'active = "gone"\n[profiles.mine]\n', "the profile gone, none of "),
        ("prefect.toml", b"[server.api]\nport = 'x'\n", "port: Input should be a valid integer"),
        ("PREFECT_API_URL", b"http://localhost:y/api", "Invalid port: 'y'"),
    ],
)
def test_damaged_settings_of_prefect_are_one_message(tmp_path: Path, name: str, content: bytes, got: str) -> None:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    environ |= {"PREFECT_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    if name.endswith(".toml"):
        (tmp_path / name).write_bytes(content)
    else:
        environ[name] = content.decode()
    imports_of = "from flows.commands.app import guarded; from flows.commands.process import require_prefect_settings as command"
    code = f"{imports_of}; exit(guarded(command))"
    done = subprocess.run([sys.executable, "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = Ended(done.returncode, done.stdout, done.stderr)
    assert_one_message(said, "Error: the settings of Prefect cannot be used\n", f"got: {got}")
