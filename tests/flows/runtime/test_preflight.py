"""Warnings before calls are paid for."""

from pathlib import Path

import pytest

from tests.flows.command import ended
from tests.flows.scripted_roles import LONG_MINI
from tests.model_server import ModelServer

EE = "long_mini_ee"
CUT_SHORT = "emotion expression asks for more than 3000 tokens per stage and replies of core end at 2048"

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.mark.parametrize("command", [("run",), ("infer",), pytest.param(("ablate", "thinking"), marks=pytest.mark.long)])
def test_a_warning_is_said_once(tmp_path: Path, command: tuple[str, ...]) -> None:
    varied = ("--vary", "top_k=1,2", "--settings", "base") if command[0] == "ablate" else ()
    with ModelServer(lambda _messages: "I felt it and told nobody.") as server:
        asked = ("--model", "core", "--base-url", server.base_url, "--datasets", EE, "--sample", "1", "--max-tokens", "2048")
        judged = ("--judge", "core", "--judge-base-url", server.base_url)
        run = ended(*command, LONG_MINI, *asked, *judged, *varied, "--set", "bootstrap=0", "--lake", tmp_path / "lake", "--json")
    assert run.err.count(CUT_SHORT) == 1, run.err
