"""The pages about a run in a browser: from the leaderboard to a wrong reply and back by keyboard alone, on any screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from flows.runtime.local_server import listen
from flows.service.report_server import serve_reports
from tasks.scoring.blueprints import load_blueprint
from tests.browser.conftest import FindBarriers, Opened, Scheme
from tests.browser.test_report import WIDEST
from tests.tasks.run_rows.asked_runs import asked_run, choice, said

pytestmark = pytest.mark.long

BENCHMARK, DATASET = "moodbench-mini", "mini_commonsense_qa"
WAY = ("m", "Foundational Ability", "Commonsense Q&A", "Commonsense Q&A, bundled items", "3", "q2")
"""Links from the leaderboard to a wrong reply."""

FAILED = {"failure": "http_5xx", "error": "down"}
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202eB {{ 7*7 }} http://evil.example"
ROW = f"row?dataset={DATASET}&item_id=q2&model=m&setting=base&repetition=0"
KINDS = ("run", "score", "map", "rows", "unread", "failed", "hard", "flips", "compare", f"{ROW}&beside=n")
FOCUSED = "document.activeElement.tagName === 'A' && document.activeElement.textContent.replaceAll('· ', '').trim()"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    lake = tmp_path_factory.mktemp("view") / "lake"
    replies = {
        model: [*(said(f"q{n}", text, DATASET) for n, text in enumerate(texts, 1)), said("q5", None, DATASET, **FAILED)]
        for model, texts in (("m", "ABBB"), ("n", ["A", HOSTILE, "A", "A"]))
    }
    asked_run(lake, [choice(f"q{n}", DATASET) for n in range(1, 6)], replies, design=load_blueprint(BENCHMARK))
    with listen("127.0.0.1", 0, "--reports-port") as listening, serve_reports(listening, [lake], "let-me-in") as origin:
        yield origin


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    opened = Opened(context.new_page())
    opened.page.goto(f"{address}/?token=let-me-in")
    yield opened
    assert opened.messages == []
    assert all(request.startswith((address, "data:")) for request in opened.requests)
    context.close()


def tab_to(page: Page, words: str) -> None:
    """Press Tab until a link with these words has the focus, and Enter; it is seen to have it."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == words:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            with page.expect_navigation():
                page.keyboard.press("Enter")
            return
    pytest.fail(f"no Tab leads to {words}")


def test_keyboard_leads_to_a_reply_and_back(opened: Opened, address: str) -> None:
    page, start = opened.page, f"{address}/leaderboard/0/{BENCHMARK}"
    page.goto(start)
    titles = []
    for words in WAY:
        tab_to(page, words)
        titles.append(page.locator("h1").inner_text())
    assert titles[-2:] == ["Rows", "q2"]
    assert "Read as B, right is A." in page.locator("main").inner_text()
    assert page.locator("nav li").all_inner_texts()[2:4] == ["m –", "Foundational Ability 25.0"]
    for _ in titles:
        page.go_back()  # as Alt+Left, a key that a window has and a headless browser lacks
    assert page.url == start


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_fits_a_phone(opened: Opened, address: str, kind: str) -> None:
    opened.page.goto(f"{address}/view/r/{kind}")
    wide, window = opened.page.evaluate(WIDEST)
    assert wide <= window


def test_hostile_replies_are_text(opened: Opened, address: str) -> None:
    opened.page.goto(f"{address}/view/r/{ROW.replace('model=m', 'model=n')}")
    shown = HOSTILE.replace("\x1b", "\\u001b").replace("\u202e", "\\u202e")
    assert opened.page.locator(".reply p").first.inner_text() == shown
    assert opened.page.locator("main script, main a[href*=evil]").count() == 0


def test_a_filter_is_sent_by_a_form(opened: Opened, address: str) -> None:
    opened.page.goto(f"{address}/view/r/rows")
    opened.page.get_by_text("Filter", exact=True).click()
    opened.page.get_by_label("Status").select_option("unread")
    opened.page.get_by_role("button", name="Show rows").click()
    assert opened.page.locator("h2").all_inner_texts() == ["Filter", "1 row of 10"]
    opened.page.get_by_label("Take out status: unread").click()
    assert opened.page.locator("h2").last.inner_text() == "10 rows of 10"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(browser: Browser, find_barriers: FindBarriers, address: str, kind: str, scheme: Scheme) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/?token=let-me-in")
    page.goto(f"{address}/view/r/{kind}")
    violations = find_barriers(page)
    context.close()
    assert violations == []
