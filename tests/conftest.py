"""Before any test module is imported: Prefect configures logging once. And one throw-away Prefect server for all tests.

Configuring logging closes every handler there is, and the one that `absl` (a requirement of rouge-score) makes when it is
imported would close pytest's captured standard error with it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from prefect.logging.configuration import ensure_logging_setup
from prefect.settings import (
    PREFECT_API_SSL_CERT_FILE,
    PREFECT_API_URL,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_LOGGING_TO_API_ENABLED,
    PREFECT_SERVER_ANALYTICS_ENABLED,
    PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE,
    PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL,
    PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE,
    temporary_settings,
)
from prefect.testing.utilities import prefect_test_harness

from flows.runtime.local_server import one_certificate

ensure_logging_setup()

# No result may depend on how fast or how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


LONGEST = (
    *("docs/test_executed.py", "flows/test_scripted_models.py", "flows/test_long_runs.py", "flows/test_real_datasets.py"),
    *("flows/commands/test_compare_profiles.py", "crashes/test_full_disk.py", "crashes/test_killed_runs.py"),
)
"""Files that begin before all others, or one worker would end with them while the others wait."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put LONGEST first; all else stays in the order of the folders."""
    places = {str(Path(__file__).parent / name): place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(str(item.path), len(LONGEST)))


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """Start the harness once; without heartbeats and API logs a flow run costs 0.07 s instead of 1.

    Its task runs are recorded in batches, as those of the command line are: one by one they fight with the API for SQLite's lock.

    Yields its API's URL, for commands in processes of their own.
    """
    with (
        temporary_settings(
            {
                PREFECT_SERVER_ANALYTICS_ENABLED: False,
                PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE: 100,
                PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE: 50,
                PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL: 1,
            }
        ),
        prefect_test_harness(server_startup_timeout=300),
        one_certificate() as certificates,
        temporary_settings(
            {
                PREFECT_API_SSL_CERT_FILE: certificates.name,
                PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
                PREFECT_LOGGING_TO_API_ENABLED: False,
            }
        ),
    ):
        yield str(PREFECT_API_URL.value())
