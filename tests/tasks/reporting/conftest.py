"""Pages that several test modules read: drawing them takes longer than all checks on them."""

import pytest

from tasks.reporting.render.page import render_html
from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import example_data


@pytest.fixture(scope="session")
def example_html() -> str:
    return render_html(example_data())


@pytest.fixture(scope="session")
def long_html() -> str:
    return render_html(long_data())
