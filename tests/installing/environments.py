"""Environments of their own that tests install MoodFlow into, by uv."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import ROOT
from tests.flows.command import Ended
from tests.flows.served import LIMIT_S

PINS = {
    name: version
    for name, _, version in (line.partition("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    if version
}
"""Versions of constraints.txt by package."""


class Environment(NamedTuple):
    """A folder with a virtual environment, in which nothing of the one that runs the tests is seen."""

    folder: Path

    def install(self, *requirements: str, without: frozenset[str] = frozenset()) -> None:
        """Install requirements at the versions of constraints.txt, except for the packages `without`."""
        pins = self.folder / "pins.txt"
        pins.write_text("".join(f"{name}=={PINS[name]}\n" for name in PINS.keys() - without), encoding="utf-8")
        # As pip does, which compiles what it installs: warnings of others' sources are errors while tests run.
        done = uv(
            "pip", "install", "--python", self._program("python"), "--constraint", pins, "--compile-bytecode", *requirements
        )
        assert done.status == 0, done.err

    def packages(self) -> frozenset[str]:
        """The names of what is installed."""
        lines = uv("pip", "freeze", "--python", self._program("python")).out.splitlines()
        return frozenset(line.partition("==")[0].partition(" @ ")[0] for line in lines)

    def run(self, program: str, *arguments: str | Path, folder: Path | None = None) -> Ended:
        """Run a program of the environment, in its folder or another."""
        return ended_process([self._program(program), *arguments], folder or self.folder, HOME=str(self.folder))

    def _program(self, name: str) -> Path:
        return self.folder / "bin" / name


def new_environment(folder: Path, python: str | Path = sys.executable) -> Environment:
    """Make an environment with an interpreter."""
    done = uv("venv", "--quiet", "--no-python-downloads", "--python", python, folder)
    assert done.status == 0, done.err
    return Environment(folder)


def find_python(version: str) -> Path | None:
    """Return an interpreter of a version such as 3.13: of the path, or of pyenv, whose shims may lead to none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))]
    runs = (
        path for path in found if path and subprocess.run([path, "--version"], check=False, capture_output=True).returncode == 0
    )
    return next(map(Path, runs), None)


def uv(*arguments: str | Path) -> Ended:
    """Run uv in the checkout."""
    return ended_process([sys.executable, "-m", "uv", *arguments], ROOT)


def ended_process(command: list[str | Path], folder: Path, **variables: str) -> Ended:
    """Run a command in a folder to its end, without what configures MoodFlow, Prefect or Python."""
    ours = ("PREFECT_", "MOODFLOW_", "PYTHON", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | variables
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=LIMIT_S)
    return Ended(done.returncode, done.stdout, done.stderr)
