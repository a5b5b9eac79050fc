"""The sheet that people fill in: three of them rate 20 replies in a browser, and what they save is scored."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import krippendorff
import pytest
from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, Opened, lacking
from tests.browser.test_report import CONTRASTS, WIDEST
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.rating import ITEMS, PEOPLE, rating, rows_of, run, write_benchmark, written


@contextmanager
def opened(sheet: Path, width: int) -> Iterator[Opened]:
    """A browser of its own: while one is open, no flow can run in this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = Opened(browser.new_page(viewport={"width": width, "height": 900}))
        page.page.goto(sheet.as_uri())
        yield page
        browser.close()


def rate(sheet: Path, rater: str, width: int) -> Path:
    """Fill a sheet in as a person does, and return what the page saves."""
    with opened(sheet, width) as here:
        page = here.page
        for article in page.locator("article").all():
            item = article.locator("xpath=./p").last.inner_text().rpartition(" ")[2]
            for field in article.locator("fieldset").all():
                if value := rating(rater, item, str(field.get_attribute("data-dimension"))):
                    field.locator(f"input[value='{value}']").check()
        page.get_by_label("Your name or initials").fill(rater)
        given = sum(rating(rater, item, of) != "" for item in ITEMS for of in ("warmth", "asks"))
        assert page.locator("output").inner_text() == f"{given} / 40"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save the CSV file").click()
        assert download.value.suggested_filename == f"ratings-{rater}.csv"
        wide, room = page.evaluate(WIDEST)
        assert (wide <= room, page.evaluate(CONTRASTS), here.messages) == (True, [], [])
        assert [url for url in here.requests if not url.startswith(("file:", "blob:"))] == []
        page.screenshot(path=sheet.parent / f"{rater}.png", full_page=True)
        return Path(str(download.value.path())).rename(sheet.parent / f"{rater}.csv")


@pytest.mark.long
@pytest.mark.usefixtures("prefect_server")
def test_three_people_rate_twenty_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path(CHROMIUM).exists():
        lacking(f"no Chromium at {CHROMIUM}")
    monkeypatch.chdir(tmp_path)
    write_benchmark(tmp_path, "people")
    lake, folder = tmp_path / "lake", tmp_path / "sheet"
    first = run(lake)
    waiting = {"dataset": "days", "reason": "was rated by nobody yet by rubric kindness", "model": "m", "setting": "base"}
    assert first["missing"][0].items() >= waiting.items()
    assert (first["raw_scores"][0]["n_scored"], first["raw_scores"][0]["n_total"], first["models"][0]["total"]) == (0, 20, None)
    assert ended("judges", "sheet", first["run"], "--to", folder, "--lake", lake).status == 0
    assert " m " not in (folder / "sheet.csv").read_text(encoding="utf-8")
    files = [rate(folder / "sheet.html", rater, width) for rater, width in zip(PEOPLE, (1280, 390, 390), strict=True)]
    done = ended("judges", "sheet", first["run"], "--import", *files, "--lake", lake, "--json")
    counts = {"read": 120, "empty": 1, "taken": 119, "refused": []}
    assert (done.status, done.document | counts) == (0, done.document)
    assert_scored(ended("runs", "show", done.document["scored_run"], "--lake", lake, "--json").document)
    assert_refused_by_line(first["run"], files[0], lake)


def assert_scored(scored: dict[str, Any]) -> None:
    # Warmth 4 or 2, and yes: 1 and 0.75. Of a1 bob gives 0, of a2 (0 + 1) / 2: (1 + 0 + 1) / 3, (0.75 + 0.5 + 0.75) / 3.
    # Of a20 cyd gave one of two, so that ann and bob count.
    (raw,) = scored["raw_scores"]
    assert (raw["value"], raw["n_scored"], raw["n_total"]) == (pytest.approx((2 * 2 / 3 + 9 * 1 + 9 * 0.75) / 20), 20, 20)
    asks, warmth = scored["dimension_scores"]
    # Warmth of x: (4 + 0 + 4) / 3 + (2 + 0 + 2) / 3 + 4 x 4 + 4 x 2 = 28; of y 5 x 4 + 5 x 2 = 30. Draws: x x, x y, y y.
    limits = {"judge": "people", "mean": pytest.approx(2.9), "ci_low": pytest.approx(2.8), "ci_high": pytest.approx(3.0)}
    assert warmth | limits | {"n_answers": 20, "n_total": 20, "n_clusters": 2} == warmth
    assert asks["mean"] == pytest.approx((2 / 3 + 19) / 20)
    of = {row["dimension"]: row for row in scored["agreements"]}
    for dimension in ("warmth", "asks"):
        number = {"": float("nan"), "no": 0, "yes": 1, **{str(value): value for value in range(5)}}
        table = [[number[rating(rater, item, dimension)] for item in ITEMS] for rater in PEOPLE]
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
        assert (of[dimension]["judges"], of[dimension]["alpha"]) == (["people"], pytest.approx(expected))
    rated = {"dataset": "days", "rubric": "kindness", "raters": ["ann", "bob", "cyd"], "n_answers": 20, "n_total": 20}
    assert scored["people"][0].items() >= rated.items()
    assert (scored["calls"]["sent"], scored["missing"], scored["failures"]) == (0, [], [])


def assert_refused_by_line(name: str, sheet: Path, lake: Path) -> None:
    """A fourth sheet has a rating off the scale, an unknown answer and lacks a row; all else of it is taken."""
    rows = [{**row, "rater": "dan"} for row in rows_of(sheet.read_text(encoding="utf-8"))]
    rows[0]["rating"] = "5" if rows[0]["dimension"] == "warmth" else "maybe"
    rows[3]["answer"] = "0" * 16
    file = written(sheet.parent / "dan.csv", rows[:-1])

    def imported(*files: Path) -> Ended:
        return ended("judges", "sheet", name, "--import", *files, "--lake", lake, "--json")

    done = imported(file)
    refused = [(row["line"], row["rule"]) for row in done.document["refused"]]
    assert (done.status, done.document["read"], done.document["taken"]) == (1, 39, 37)
    assert refused == [(2, "rating_is_on_its_scale"), (5, "answer_is_of_the_run"), (41, "row_is_there")]
    # The same again is no news.
    assert imported(file).document == done.document
    twice = [{**rows[1], "rating": value} for value in ("yes", "no")]
    absent = ["row_is_there"] * 39
    assert [row["rule"] for row in imported(written(file, twice)).document["refused"]] == [*["rated_once"] * 2, *absent]
    assert_one_message(imported(written(file, [{**rows[1], "row": "2"}])), "the row as the sheet has it, such as 7 of 40")
    assert_one_message(imported(written(file, [{**rows[1], "run": "0" * 16}])), "a sheet is of another run", "line 2")
    assert_one_message(imported(written(file, [{**rows[1], "rubric_sha256": "0" * 64}])), "of a rubric that is not known")
    assert_one_message(imported(written(file, [{**rows[1], "mark": "1"}])), "there is no column mark")
    assert_one_message(imported(written(file, [{"run": "1"}])), "columns are missing")
