"""The base install, which has no torch: it scores the golden lake to the last bit as an install that has it."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.flows.test_golden_lake import PLANS, assert_scores, config_of, lakes, silent_server
from tests.installing.environments import Environment, new_environment
from tests.model_server import ModelServer

__all__ = ["lakes", "silent_server"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = new_environment(tmp_path_factory.mktemp("base") / "environment")
    environment.install(str(ROOT))
    assert "torch" not in environment.packages()
    return environment


@pytest.mark.parametrize("benchmark", PLANS)
def test_the_golden_lake_has_the_same_scores(base: Environment, lakes: Path, silent_server: ModelServer, benchmark: str) -> None:
    config = config_of(benchmark, lakes, silent_server.base_url)
    done = base.run("moodflow", "run", benchmark, "--config", config, "--lake", lakes / benchmark, "--json")
    assert (done.status, done.document["missing"]) == (0, []), done.err
    assert (silent_server.calls, done.document["calls"]["sent"]) == (0, 0)
    assert_scores(lakes, benchmark, done.document)
