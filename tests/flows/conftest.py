"""Flows of every test here run with the Prefect server of the tests."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _with_prefect(prefect_server: str) -> None: ...
