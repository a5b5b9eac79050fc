"""What the tests of commands share."""

import pytest

from flows.commands import stages
from schemas.plan import Plan
from tests.flows.commands.past_runs import PastRuns, past_runs


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that would have been carried out."""
    made: list[Plan] = []
    monkeypatch.setattr(stages, "execute", lambda _stage, plan, **_: made.append(plan))
    return made


@pytest.fixture
def runs(tmp_path_factory: pytest.TempPathFactory) -> PastRuns:
    """Two past runs, not to be changed."""
    return past_runs(tmp_path_factory.getbasetemp())
