"""Pages that several test modules read: drawing them takes longer than all checks on them."""

import pytest

from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import example_data
from tests.tasks.reporting.pages import render_html


@pytest.fixture(scope="session")
def example_html() -> str:
    return render_html(example_data())


@pytest.fixture(scope="session")
def long_html() -> str:
    return render_html(long_data())
