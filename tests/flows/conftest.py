"""One throw-away Prefect database for all flow tests."""

from collections.abc import Iterator

import pytest
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, PREFECT_LOGGING_TO_API_ENABLED, temporary_settings
from prefect.testing.utilities import prefect_test_harness


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """Start the harness once; without heartbeats and API logs a flow run costs 0.07 s instead of 1."""
    with (
        prefect_test_harness(server_startup_timeout=60),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, PREFECT_LOGGING_TO_API_ENABLED: False}),
    ):
        yield
