"""Before any test module is imported: Prefect configures logging once. And one throw-away Prefect server for all tests.

Configuring logging closes every handler there is, and the one that `absl` (a requirement of rouge-score) makes when it is
imported would close pytest's captured standard error with it.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ |= dict.fromkeys(("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "PREFECT_LOGGING_INTERNAL_LEVEL"), "CRITICAL")

import pytest
import trustme
from hypothesis import HealthCheck, settings
from prefect.logging.configuration import ensure_logging_setup
from prefect.settings import (
    PREFECT_API_REQUEST_TIMEOUT,
    PREFECT_API_SSL_CERT_FILE,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_LOGGING_TO_API_ENABLED,
    temporary_settings,
)

from flows.runtime import prefect_server as user_server
from tests.flows.served import LIMIT_S
from tests.mirror import IS_GIVEN, MIRROR, WITHOUT_MIRROR
from tests.prefect_server import GIVEN, PrefectServer, started_server, using

ensure_logging_setup()

# No result may depend on how fast or how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


RETRIES = 100
"""Of a request that the server is too busy for, which Prefect gives up after five."""

LONGEST = (
    *("docs/test_executed.py", "flows/test_batches.py", "flows/test_own_benchmark.py", "flows/test_attunebench.py"),
    *("flows/runtime/test_local_server.py", "flows/test_thinking.py", "flows/test_server_habits.py", "flows/test_people.py"),
    *("flows/commands/test_verify.py", "flows/test_real_datasets.py"),
)
"""Files that begin before all others, or one worker would end with them while the others wait."""


def pytest_configure() -> None:
    if IS_GIVEN and not MIRROR.is_dir():
        raise pytest.UsageError(f"MOODFLOW_MIRROR is no folder: {MIRROR}; name the one that has the source files, or unset it")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the mirror, before its fixtures are made. Skipped here, all such tests are one line of the summary."""
    if not IS_GIVEN and item.get_closest_marker("needs_mirror"):
        pytest.skip(WITHOUT_MIRROR)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes the mirror, and put LONGEST first; all else stays in the order of the folders."""
    for item in items:
        if isinstance(item, pytest.Function) and "mirror" in item.fixturenames:
            item.add_marker("needs_mirror")
    places = {str(Path(__file__).parent / name): place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(str(item.path), len(LONGEST)))
    # What is there now stays to the end: collections need not look at it again and again.
    gc.freeze()


STARTED = pytest.StashKey[tuple[ExitStack, PrefectServer]]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start the server in the process that starts the workers of xdist; it comes up while they import the tests."""
    if STARTED not in node.config.stash:
        stack = ExitStack()
        home = Path(stack.enter_context(TemporaryDirectory()))
        node.config.stash[STARTED] = stack, stack.enter_context(started_server(home))
    _, server = node.config.stash[STARTED]
    node.workerinput[GIVEN] = (server.url, str(server.home), server.auth)


def pytest_unconfigure(config: pytest.Config) -> None:
    if STARTED in config.stash:
        config.stash[STARTED][0].close()


@pytest.fixture(scope="session")
def started_prefect(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    """The one Prefect server of all tests and all workers, which answers."""
    with ExitStack() as stack:
        if given := getattr(pytestconfig, "workerinput", {}).get(GIVEN):
            server = PrefectServer(given[0], Path(given[1]), given[2])
        else:
            server = stack.enter_context(started_server(tmp_path_factory.mktemp("prefect")))
        server.wait()
        yield server


@pytest.fixture(scope="session")
def prefect_server(started_prefect: PrefectServer) -> Iterator[str]:
    """Have flows use that server; without heartbeats and API logs a flow run costs 0.07 s instead of 1.

    It may take as long as it likes to answer: on a busy machine all workers wait for this one process. Of certificates, which
    every client reads, there is one. Yields its API's URL, for commands in processes of their own.
    """
    quick = {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, PREFECT_LOGGING_TO_API_ENABLED: False}
    patient = {PREFECT_API_REQUEST_TIMEOUT: LIMIT_S, PREFECT_CLIENT_MAX_RETRIES: RETRIES}
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for limit in ("ANSWER_LIMIT_S", "LOST_AFTER_S"):
            patch.setattr(user_server, limit, LIMIT_S)
        file = stack.enter_context(trustme.CA().cert_pem.tempfile())
        stack.enter_context(temporary_settings({**quick, **patient, PREFECT_API_SSL_CERT_FILE: file}))
        stack.enter_context(using(started_prefect))
        yield started_prefect.url


@pytest.fixture(scope="module")
def recording_server(
    prefect_server: str,  # noqa: ARG001  its settings
    started_prefect: PrefectServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """Have flows use a server that keeps events and task runs."""
    home = started_prefect.new_home(tmp_path_factory.mktemp("recording"))
    with started_server(home, records=True) as server, using(server):
        server.wait()
        yield


@pytest.fixture(scope="session")
def mirror() -> Path:
    return MIRROR


@pytest.fixture(scope="session")
def moodflow_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but MoodFlow's wheel."""
    from tests.installed import install  # noqa: PLC0415  after logging is configured

    site = tmp_path_factory.mktemp("site")
    install(Path(__file__).parents[1], site)
    return site
