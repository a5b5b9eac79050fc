"""Pages in headless Chromium, which is Debian's or the one named by MOODFLOW_CHROMIUM."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = os.environ.get("MOODFLOW_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
AXE = Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js"
"""The checks of axe-core, which `make test-long` installs there."""
IS_REQUIRED = os.environ.get("CI_BROWSER") == "1"

VIOLATIONS = "async () => (await axe.run()).violations.map(each => [each.id, each.nodes[0].html])"


def lacking(what: str) -> None:
    """Skip, or fail where the environment says that nothing may be skipped."""
    if IS_REQUIRED:
        pytest.fail(f"{what}, and CI_BROWSER=1 asks for it")
    pytest.skip(what)


@dataclass
class Opened:
    """A page and what it said and asked for while it was open."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))


Open = Callable[..., Opened]
FindBarriers = Callable[[Page], list[list[str]]]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")  # while it is open, nothing else in this thread can run an event loop
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        lacking(f"no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens a file; give `width`, `scheme` (light, dark) and `anchor` where they matter."""
    contexts = []

    def open_file(path: Path, *, width: int = 1200, scheme: Scheme = "light", anchor: str = "") -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.goto(f"{path.as_uri()}{anchor}")
        return opened

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def find_barriers() -> FindBarriers:
    """Finds what keeps people from reading a page: each rule of axe-core that it breaks, with the first place."""
    if not AXE.exists():
        lacking("no axe-core in build/axe, where `make test-long` installs it if there is npm")
    program = AXE.read_text(encoding="utf-8")

    def find(page: Page) -> list[list[str]]:
        page.evaluate(program)
        found: list[list[str]] = page.evaluate(VIOLATIONS)
        return found

    return find
