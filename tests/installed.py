"""MoodFlow and a package: installed from wheels outside the checkout, or on the path with their entry points."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import blocks
from tests.flows.command import Ended
from tests.flows.served import ENTRY_POINT, LIMIT_S, clean_environment

SEVERAL = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from flows.commands.app import app, guarded

ended = []
for arguments in json.loads(sys.argv[1]):
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = guarded(lambda: app(arguments))
    ended.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(ended))
"""
"""Python that runs commands one after the other, and prints how each ended."""


class Install(NamedTuple):
    """A folder to work in, where MoodFlow and a package are installed, and variables of a Prefect server, if not its own."""

    folder: Path
    moodflow: Path
    package: Path
    server: Mapping[str, str] = {}

    def run(self, *arguments: str, with_package: bool = True) -> Ended:
        """Run `moodflow` in the folder, with the package or without it."""
        return self._python(ENTRY_POINT, *arguments, with_package=with_package)

    def run_each(self, *commands: Sequence[str], with_package: bool = True) -> list[Ended]:
        """Run commands that need no Prefect, in one process: most of what each would take is imports."""
        done = self._python(SEVERAL, json.dumps(commands), with_package=with_package)
        assert done.status == 0, done.err
        return [Ended(*ended) for ended in json.loads(done.out)]

    def _python(self, program: str, *arguments: str, with_package: bool) -> Ended:
        path = f"{self.moodflow}:{self.package}" if with_package else str(self.moodflow)
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            cwd=self.folder,
            env={**clean_environment(self.folder / "home", **self.server), "PYTHONPATH": path},
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def installed_files(self) -> dict[Path, int]:
        """Files of both packages, and when they were written."""
        files = (file for site in (self.moodflow, self.package) for file in site.rglob("*") if file.is_file())
        return {file: file.stat().st_mtime_ns for file in files}


def install(project: Path, site: Path) -> None:
    """Build the wheel of a project and install it into a folder, compiled."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(project)], check=True, timeout=LIMIT_S)


def write_entry_points(project: Path) -> None:
    """Have Python find the entry points of a project in the folder of its code, as if it were installed."""
    own = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"[{group}]\n{name} = {value}" for group, of in own["entry-points"].items() for name, value in of.items()]
    metadata = project / f"{own['name']}-{own['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {own['name']}\nVersion: {own['version']}\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def install_page(page: Path, folder: Path, moodflow: Path) -> Install:
    """Write the files of a page: those before its `toml` block and that one into its package, which is installed."""
    project, files = folder / "project", [block for block in blocks(page) if block.word]
    last = next(index for index, block in enumerate(files) if block.word == "pyproject.toml")
    for index, block in enumerate(files):
        file = (project if index <= last else folder) / block.word
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.body, encoding="utf-8")
    install(project, folder / "site")
    return Install(folder, moodflow, folder / "site")
