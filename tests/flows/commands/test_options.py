"""Options of the command line, as the plan holds them."""

from pathlib import Path

import pytest

from flows import cli
from schemas.plan import Plan
from tests.flows.command import moodflow

SERVER = ("--model", "m", "--base-url", "http://localhost:8000/v1")
JUDGE = ("--judge", "j", "--judge-base-url", "http://localhost:8001/v1")


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that would have been carried out."""
    made: list[Plan] = []
    monkeypatch.setattr(cli, "_execute", lambda _stage, plan, **_: made.append(plan))
    return made


def test_token_probabilities_are_wanted_of_the_models_and_not_of_the_judge(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text("models: [{name: n, base_url: 'http://localhost/v1', token_probabilities: true}]")
    for given in ((*SERVER, *JUDGE), (*SERVER, *JUDGE, "--token-probabilities"), ("--config", config, *JUDGE)):
        assert moodflow(capsys, "run", "moodbench-mini", *given).status == 0
    assert [plan.models[0].token_probabilities for plan in plans] == [False, True, True]
    assert [plan.judge.token_probabilities for plan in plans if plan.judge] == [False, False, False]
