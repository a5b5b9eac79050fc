"""The folder of a leaderboard in a browser, as files and behind a plain web server: it asks no other host for anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urljoin, urlparse

import pytest
from playwright.sync_api import Browser

from flows.commands import leaderboard as command
from tasks.leaderboard.across_models import compare_models, describe_leaderboard
from tasks.leaderboard.history import stored_leaderboard
from tasks.leaderboard.ranking import rank_stored_systems
from tasks.reporting.leaderboard_files import INDEX, write_site
from tasks.scoring.blueprints import load_blueprint
from tests.browser.conftest import FindBarriers
from tests.browser.test_report import WIDEST
from tests.tasks.run_rows.asked_runs import asked_run, choice, said

pytestmark = pytest.mark.long

LINKS = "() => [...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake, folder = tmp_path_factory.mktemp("site") / "lake", tmp_path_factory.mktemp("pages") / "site"
    dataset = "mini_irony_detection"
    replies = {
        model: [said(f"q{n}", text, dataset) for n, text in enumerate(texts, 1)]
        for model, texts in (("m", "ABBB"), ("n", "AAAB"))
    }
    asked_run(lake, [choice(f"q{n}", dataset) for n in range(1, 5)], replies, design=load_blueprint("moodbench-mini"))
    ranked = rank_stored_systems("moodbench-mini", lake, [], "corrected")
    across = compare_models(ranked, lake)
    whole = stored_leaderboard(lake, ranked, folder / INDEX)
    write_site(folder, whole, across, describe_leaderboard(ranked, across), command.redacted_reports(whole, lake))
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder behind Python's own web server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("is_served", [False, True])
def test_site_asks_no_other_host(browser: Browser, site: Path, width: int, is_served: bool) -> None:
    with served(site) as address:
        root = address if is_served else f"{site.as_uri()}/"
        context = browser.new_context(viewport={"width": width, "height": 900})
        page, requests, messages = context.new_page(), list[str](), list[str]()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        waiting = seen = [f"{root}{INDEX}"]
        for url in waiting:
            page.goto(url)
            wide, window = page.evaluate(WIDEST)
            assert wide <= window
            targets = {urljoin(url, link).partition("#")[0] for link in page.evaluate(LINKS)}
            assert all(target.startswith(root) for target in targets)
            assert all((site / unquote(target.removeprefix(root))).is_file() for target in targets)
            seen += [target for target in sorted(targets) if target.endswith(".html") and target not in seen]
        context.close()
    # The board, the report of its run, and a page for each of the two models.
    assert len(seen) == 4
    assert {urlparse(url).netloc for url in requests} == {urlparse(root).netloc}
    assert all(url.startswith(root) for url in requests)
    assert messages == []


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(browser: Browser, find_barriers: FindBarriers, site: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
    page, violations = context.new_page(), dict[str, list[list[str]]]()
    pages = sorted(site.rglob("*.html"))
    for file in pages:
        page.goto(file.as_uri())
        violations[file.name] = find_barriers(page)
    context.close()
    assert len(pages) == 4
    assert {name: found for name, found in violations.items() if found} == {}
