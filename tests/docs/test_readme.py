"""Every command of the README is executed: `moodflow` ones here, `make` ones by CI itself."""

import shlex
from pathlib import Path

import pytest

from tests.docs.pages import NOT_EXECUTED, ROOT, blocks
from tests.flows.command import ended
from tests.flows.printed import SERVED, answer, with_runs
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

EXIT_STATUS = {
    "moodflow run moodbench-mini --model my-model --base-url http://localhost:8000/v1": 1,
    "moodflow compare EARLIER_RUN RUN": 1,
}
"""Commands that the README says end with another status than 0; of the runs compared, only the later one has a judge."""


def readme_commands() -> list[str]:
    executed = (block for block in blocks(ROOT / "README.md") if block.language == "sh" and block.word not in NOT_EXECUTED)
    return [line for block in executed for line in block.body.splitlines() if line.strip()]


def test_readme_has_only_commands_that_are_executed() -> None:
    others = [command for command in readme_commands() if not command.startswith("moodflow ")]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert others == ["make demo", "make test"]
    assert "make demo" in ci
    assert "make lint types" in ci
    assert "\nmake test\n" in ci
    assert "\ncheck: lint types test\n" in makefile


@needs_mirror
@pytest.mark.usefixtures("prefect_server", "small_moodbench")
def test_readme_commands_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_API_KEY", "not-a-real-key")
    statuses, wanted, said = {}, {}, {}
    with ModelServer(answer) as server:
        for command in readme_commands():
            if not command.startswith("moodflow "):
                continue
            real = command.replace(SERVED, server.base_url).replace("../shared/mirror", str(MIRROR))
            done = ended(*shlex.split(with_runs(real, tmp_path / "parquet"))[1:])
            statuses[command], said[command] = done.status, done.err
            wanted[command] = EXIT_STATUS.get(command, 0)
    assert statuses == wanted, [said[command] for command in statuses if statuses[command] != wanted[command]]
    assert len(statuses) >= 24
