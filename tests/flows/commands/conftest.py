"""What the tests of commands share."""

import pytest

from flows import cli
from schemas.plan import Plan


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that would have been carried out."""
    made: list[Plan] = []
    monkeypatch.setattr(cli, "_execute", lambda _stage, plan, **_: made.append(plan))
    return made
