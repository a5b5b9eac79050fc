"""Every command of the README is executed: `moodflow` ones here, `make` ones by CI itself."""

import re
import shlex
from pathlib import Path

import pytest

from tests.flows.command import moodflow
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER_URL = "http://localhost:8000/v1"
EXIT_STATUS = {"moodflow run moodbench-mini --model my-model --base-url http://localhost:8000/v1": 1}
"""Commands that the README says end with another status than 0."""


def readme_commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_readme_has_only_commands_that_are_executed() -> None:
    others = [command for command in readme_commands() if not command.startswith("moodflow ")]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert others == ["make demo", "make test"]
    assert "make demo" in ci
    assert "make check" in ci
    assert "\ncheck: lint types test\n" in makefile


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_readme_commands_do_what_it_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_API_KEY", "not-a-real-key")
    rating = '{"completeness": 3, "conciseness": 3, "faithfulness": 3, "fluency": 3}'
    statuses, wanted = {}, {}
    with ModelServer(lambda messages: rating if messages[0]["role"] == "system" else "B") as server:
        for command in readme_commands():
            if not command.startswith("moodflow "):
                continue
            real = command.replace(PLACEHOLDER_URL, server.base_url).replace("../shared/mirror", str(MIRROR))
            statuses[command] = moodflow(capsys, *shlex.split(real)[1:]).status
            wanted[command] = EXIT_STATUS.get(command, 0)
    assert statuses == wanted
    assert len(statuses) >= 8
