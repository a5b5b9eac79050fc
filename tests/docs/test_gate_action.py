"""The composite action and the workflow of docs/gate.md, as far as no runner is needed."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import ROOT, blocks

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
STUB = """#!/bin/bash
printf '%s\\n' "$@" > "$CALLS"
while [ $# -gt 0 ]; do
  if [ "$1" = --markdown ]; then printf '## Gate failed\\n\\n| a |\\n' > "$2"; fi
  shift
done
exit "$STATUS"
"""


def run_step(step: dict[str, Any], folder: Path, program: str, **inputs: str) -> tuple[int, list[str]]:
    """Run a step with a stub of the program; return its status and the arguments of the program."""
    stub = folder / program
    stub.write_text(STUB, encoding="utf-8")
    stub.chmod(0o755)
    paths = {name: str(folder / name) for name in ("CALLS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    environment = {"PATH": f"{folder}:{os.defpath}", "RUNNER_TEMP": str(folder), "STATUS": "0", **paths, **inputs}
    bash = shutil.which("bash")
    assert bash
    # GitHub runs `shell: bash` with these options.
    command = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    status = subprocess.run(command, env=environment, check=False).returncode
    return status, (folder / "CALLS").read_text(encoding="utf-8").splitlines()


def inputs(**changed: str) -> dict[str, str]:
    values = {"RUN": "latest", "AGAINST": "latest~1", "LAKE": "my lake", "UNDECIDED_FAILS": "false"}
    return {**values, "CONDITIONS": "total < -2\n\ndimension empathy < -0.2\n", **changed}


@pytest.mark.parametrize("status", ["0", "1", "2"])
def test_gate_step_writes_summary_and_keeps_status(tmp_path: Path, status: str) -> None:
    ended, arguments = run_step(CHECK, tmp_path, "moodflow", STATUS=status, **inputs())
    assert ended == int(status)
    options = ["--against", "latest~1", "--lake", "my lake"]
    conditions = ["--fail-if", "total < -2", "--fail-if", "dimension empathy < -0.2"]
    assert arguments == ["gate", "latest", *options, *conditions, "--markdown", str(tmp_path / "moodflow-gate.md")]
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8") == "## Gate failed\n\n| a |\n"
    assert (tmp_path / "GITHUB_OUTPUT").read_text(encoding="utf-8") == "verdict=failed\n"


def test_undecided_fails_is_passed_on(tmp_path: Path) -> None:
    _, arguments = run_step(CHECK, tmp_path, "moodflow", **inputs(UNDECIDED_FAILS="true"))
    assert "--undecided-fails" in arguments


def test_package_is_installed(tmp_path: Path) -> None:
    ended, arguments = run_step(INSTALL, tmp_path, "python", PACKAGE="moodflow==0.5")
    assert (ended, arguments) == (0, ["-m", "pip", "install", "moodflow==0.5"])


def test_every_input_is_used_and_documented() -> None:
    page = (ROOT / "docs/gate.md").read_text(encoding="utf-8")
    used = "\n".join(value for step in ACTION["runs"]["steps"] for value in step["env"].values())
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"])
    for name, entry in ACTION["inputs"].items():
        assert entry["description"]
        assert f"inputs.{name} " in used
        default = f"`{entry['default']}`" if entry.get("default") else "-"
        assert f"| `{name}` | {default} |" in page


def test_workflow_of_the_page_gives_known_inputs() -> None:
    (block,) = [block for block in blocks(ROOT / "docs/gate.md") if block.language == "yaml"]
    steps = yaml.safe_load(block.body)["jobs"]["gate"]["steps"]
    (gate,) = [step for step in steps if step.get("uses", "").startswith("OWNER/moodflow@")]
    assert set(gate["with"]) <= set(ACTION["inputs"])
    assert gate["with"]["fail-if"].splitlines() == ["total < -2", "ability values_safety < -1"]
