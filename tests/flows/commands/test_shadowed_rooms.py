"""A user's own module `tasks`, `schemas` or `flows` takes the place of MoodFlow's: that is told in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
IMPORT = (
    "import moodflow, sys; print({'polars', 'prefect', 'pydantic', 'schemas'} & sys.modules.keys(), moodflow.evaluate.__name__)"
)
COMMAND = "import sys\nfrom moodflow import main\nsys.exit(main())\n"


def run_python(folder: Path, *arguments: str, path: str = str(ROOT)) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )


@pytest.mark.parametrize("name", ["tasks.py", "schemas.py", "flows/__init__.py"])
def test_module_of_the_user_is_told(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    room = Path(name).parts[0].removesuffix(".py")
    sentence = f"MoodFlow needs its own package '{room}', and Python finds {file} in its place: rename that, or start"
    imported = run_python(tmp_path, "-c", IMPORT)
    assert imported.returncode == 1
    assert f"ImportError: {sentence}" in imported.stderr
    # A console script has its own folder first on `sys.path`, and the user's only by PYTHONPATH.
    script = tmp_path / "bin" / "moodflow"
    script.parent.mkdir()
    script.write_text(COMMAND, encoding="utf-8")
    called = run_python(tmp_path, str(script), "--help", path=f".{os.pathsep}{ROOT}")
    assert (called.returncode, called.stdout, called.stderr.count("\n")) == (2, "", 1)
    assert called.stderr.startswith(f"Error: {sentence}")
    as_module = run_python(tmp_path, "-m", "moodflow", "--help")  # which has the working folder first
    assert (as_module.returncode, as_module.stdout, as_module.stderr) == (2, "", called.stderr)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("runs", "list", "--json"), 0), (("runz",), 2), pytest.param(("runs", "show", "x"), 2, marks=pytest.mark.long)],
)
def test_the_module_does_what_the_command_does(arguments: tuple[str, ...], status: int, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "moodflow"
    script.parent.mkdir()
    script.write_text(COMMAND, encoding="utf-8")
    command, module = run_python(tmp_path, str(script), *arguments), run_python(tmp_path, "-m", "moodflow", *arguments)
    assert (command.returncode, bool(command.stdout), bool(command.stderr)) == (status, status == 0, status != 0)
    assert (module.returncode, module.stdout, module.stderr) == (status, command.stdout, command.stderr)


def test_windows_is_told_of_wsl(tmp_path: Path) -> None:
    called = run_python(tmp_path, "-c", "import sys; sys.platform = 'win32'; import moodflow")
    assert called.stderr.splitlines()[-1].startswith(
        "ImportError: MoodFlow runs on Linux and macOS: on Windows, install and start it"
    )


def test_folders_of_data_do_no_harm(tmp_path: Path) -> None:
    for name in ("data", "tasks", "flows"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "__init__.py").touch()
    imported = run_python(tmp_path, "-c", IMPORT)
    assert (imported.returncode, imported.stdout) == (0, "set() evaluate\n")
