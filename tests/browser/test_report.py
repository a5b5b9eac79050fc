"""The report in a browser: quiet, complete in itself, reachable by pointer and keyboard, legible everywhere."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.tasks.reporting.example_large import DATASETS, large_data
from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import example_data
from tests.tasks.reporting.pages import render_html

MEGABYTES = 1_000_000
READABLE = 4.5

CONTRASTS = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = node => {
    for (let at = node; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const bad = [];
  const texts = 'p, li, td, th, summary, dt, dd, h1, h2, h3, h4, h5, a, b, i, code, span, small';
  for (const node of document.querySelectorAll(texts)) {
    const words = [...node.childNodes].filter(child => child.nodeType === 3 && child.textContent.trim());
    if (!words.length || !node.checkVisibility()) continue;
    const [one, other] = [luminance(channels(getComputedStyle(node).color)), luminance(ground(node))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < READABLE) bad.push(`${ratio.toFixed(2)} ${node.tagName} ${words[0].textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(bad)];
}""".replace("READABLE", str(READABLE))

WIDEST = "() => [document.documentElement.scrollWidth, window.innerWidth]"


PAGES = {"report": example_data, "large": large_data, "long": long_data}


@pytest.fixture(scope="session", name="written")
def write_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @cache
    def write(name: str) -> Path:
        path = tmp_path_factory.mktemp(name) / "report.html"
        path.write_text(render_html(PAGES[name]()), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def report(written: Callable[[str], Path]) -> Path:
    return written("report")


@pytest.mark.long
def test_a_large_page_is_small_and_quiet(written: Callable[[str], Path], open_page: Open) -> None:
    large = written("large")
    assert 500_000 < large.stat().st_size < 5 * MEGABYTES
    opened = open_page(large)
    # The page itself is the only thing that was asked for; its icon is in it.
    assert [url for url in opened.requests if not url.startswith("data:")] == [large.as_uri()]
    assert opened.messages == []
    assert opened.page.locator(".example").count() > DATASETS


def test_every_link_leads_to_something_seen(report: Path, open_page: Open) -> None:
    opened = open_page(report)
    page = opened.page
    anchors = page.eval_on_selector_all("a[href^='#']", "links => [...new Set(links.map(link => link.getAttribute('href')))]")
    assert len(anchors) > 40
    hidden = page.evaluate(
        """anchors => anchors.filter(anchor => {
            location.hash = anchor;
            const place = document.getElementById(anchor.slice(1));
            return !place.checkVisibility() || place.getBoundingClientRect().top > innerHeight;
        })""",
        anchors,
    )
    assert hidden == []
    assert opened.messages == []


def test_a_link_opens_the_tree_to_the_reply(report: Path, open_page: Open) -> None:
    page = open_page(report).page
    reply = page.locator("#m1-d-mood .reply").first
    assert not page.locator("#m1").is_visible()
    page.locator("nav a[href='#m1']").click()
    assert page.locator("#m1").is_visible()
    assert not reply.is_visible()
    page.locator("#m1 .weak a[href='#m1-d-mood']").click()
    assert reply.is_visible()
    opened = page.eval_on_selector_all("#m1 .tree details.node[open] > summary .what", "all => all.map(one => one.innerText)")
    assert [line.split("\n")[0].split("  ")[0] for line in opened] == [
        *("Total", "Emotional Ability ability", "Emotion Recognition sub-ability", "Low level", "Moods task", "Mood dataset")
    ]


@pytest.mark.long
def test_every_fold_opens_by_keyboard(report: Path, open_page: Open) -> None:
    page = open_page(report).page
    count = page.locator("summary").count()
    assert count > 40
    # Parents stand before what is in them, so each is in sight when its turn comes; what cannot be focused stays closed.
    focus = "n => { const one = document.querySelectorAll('summary')[n]; one.focus(); return !one.parentElement.open; }"
    for place in range(count):
        if page.evaluate(focus, place):
            page.keyboard.press("Enter")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("summary:visible").count() == count


def test_the_first_key_skips_to_the_content(report: Path, open_page: Open) -> None:
    page = open_page(report).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").evaluate("node => node.getBoundingClientRect().left >= 0")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("name", ["report", *(pytest.param(one, marks=pytest.mark.long) for one in ("long", "large"))])
def test_a_phone_never_scrolls_sideways(name: str, written: Callable[[str], Path], open_page: Open) -> None:
    page = open_page(written(name), width=375).page
    assert page.evaluate(WIDEST) == [375, 375]
    page.evaluate("document.querySelectorAll('#m1 details').forEach(fold => fold.open = true)")
    assert page.evaluate(WIDEST) == [375, 375]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_text_is_legible(scheme: str, report: Path, open_page: Open) -> None:
    page = open_page(report, scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page.evaluate(CONTRASTS) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(246, 247, 248)", "dark": "rgb(16, 21, 26)"}[scheme]


def test_contrast_of_a_page_is_really_measured(tmp_path: Path, open_page: Open) -> None:
    faint = tmp_path / "faint.html"
    faint.write_text("<body style='background: #fff'><p style='color: #777'>too faint</p><p style='color: #000'>fine</p>")
    # Grey #777777 on white is 4.48 to 1.
    assert open_page(faint).page.evaluate(CONTRASTS) == ["4.48 P too faint"]


@pytest.mark.long
def test_paper_shows_tables_and_spares_the_book(report: Path, open_page: Open) -> None:
    page = open_page(report).page
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#m1-raw table").is_visible()
    assert page.locator("#m1-d-mood").is_hidden()
