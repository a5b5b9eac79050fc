"""Before any test module is imported: Prefect configures logging once. And one throw-away Prefect server for all tests.

Configuring logging closes every handler there is, and the one that `absl` (a requirement of rouge-score) makes when it is
imported would close pytest's captured standard error with it.
"""

from collections.abc import Iterator

import pytest
from prefect.logging.configuration import ensure_logging_setup
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_LOGGING_TO_API_ENABLED,
    PREFECT_SERVER_ANALYTICS_ENABLED,
    temporary_settings,
)
from prefect.testing.utilities import prefect_test_harness

ensure_logging_setup()


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """Start the harness once; without heartbeats and API logs a flow run costs 0.07 s instead of 1.

    Yields its API's URL, for commands in processes of their own.
    """
    with (
        temporary_settings({PREFECT_SERVER_ANALYTICS_ENABLED: False}),
        prefect_test_harness(server_startup_timeout=60),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, PREFECT_LOGGING_TO_API_ENABLED: False}),
    ):
        yield str(PREFECT_API_URL.value())
