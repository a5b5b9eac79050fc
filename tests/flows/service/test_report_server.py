"""The reports over HTTP: what lakes hold, and files of runs, only to be read, only under the server's own name."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.runtime.local_server import listen
from flows.service.report_server import serve_reports
from schemas.changes import Regression, RunChanges, SystemChanges
from tasks.lake.manifest import write_changes
from tests.flows.commands.test_leaderboard import store
from tests.tasks.reporting.example_scores import totals_row

ENTRY = "let-me-in"
ALPHA, BETA, AGAIN = (f"20260101T000000000000Z.{number}-m" for number in (1, 2, 3))
TITLE = "MoodBench 1.0, bundled items"
FELL = Regression(what="total", before=80.0, after=70.0, allowed=1.0, message="Total fell")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    run = folder / "lake" / "runs" / "r1"
    run.mkdir(parents=True)
    (run / "report.html").write_text("<p>report</p>", encoding="utf-8")
    (run / "manifest.json").write_text("{}", encoding="utf-8")
    (run / ".hidden").write_text("x", encoding="utf-8")
    (folder / "secret").write_text("secret", encoding="utf-8")
    (run / "link.html").symlink_to(folder / "secret")
    (folder / "lake" / "runs" / "away").symlink_to(folder)
    return folder / "lake"


@pytest.fixture(scope="module")
def address(lake: Path) -> Iterator[str]:
    with listen("127.0.0.1", 0, "--reports-port") as listening, serve_reports(listening, [lake / "nowhere", lake], ENTRY) as url:
        yield url.removeprefix("http://")


def ask(address: str, method: str, path: str, host: str | None = None) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(address)
    connection.putrequest(method, path, skip_host=True)  # as it is
    connection.putheader("Host", host or address)
    connection.putheader("Cookie", f"moodflow-{address.rpartition(':')[2]}={ENTRY}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("method", "path", "host", "expected"),
    [
        ("GET", "/r1/report.html", None, (200, b"<p>report</p>")),
        ("GET", "/r1/report.html?x=1", None, (200, b"<p>report</p>")),
        ("HEAD", "/r1/report.html", None, (200, b"")),
        ("GET", "/r1/link.html", None, (404, b"There is no run ")),
        ("GET", "/away/secret", None, (404, b"There is no run ")),
        ("GET", "/none/report.html", None, (404, b"There is no run ")),
        ("GET", f"/{'a' * 300}/b", None, (404, b"There is no run ")),
        ("GET", "/%2e%2e/secret", None, (404, b"There is no run ")),
        ("GET", "/r1/.hidden", None, (404, b"There is no run ")),
        ("GET", "/r1/report.html%00", None, (404, b"There is no run ")),
        ("GET", "/r1/../r1/report.html", None, (404, b"Not Found")),
        ("GET", "/r1/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret", None, (404, b"Not Found")),
        ("GET", "//r1/report.html", None, (404, b"Not Found")),
        ("GET", "/r1/report.html", "evil.example", (400, b"This server is not the one that was asked for")),
        ("POST", "/r1/report.html", None, (405, b"These pages can only be read")),
        ("DELETE", "/r1/report.html", None, (405, b"These pages can only be read")),
    ],
)
def test_reports_are_read_under_the_own_name_only(
    address: str, method: str, path: str, host: str | None, expected: tuple[int, bytes]
) -> None:
    answer, body = ask(address, method, path, host)
    assert (answer.status, body if answer.status == 200 else expected[1]) == expected
    assert expected[1] in body
    assert "default-src 'none'" in str(answer.headers["Content-Security-Policy"])
    assert answer.headers["Access-Control-Allow-Origin"] is None


def test_pages_have_their_type_under_localhost(address: str) -> None:
    answer, body = ask(address, "GET", "/", f"localhost:{address.rpartition(':')[2]}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"/r1/report.html" in body
    assert ask(address, "GET", "/r1/manifest.json")[0].headers["Content-Type"] == "application/json"


def test_a_damaged_manifest_is_told(address: str) -> None:
    answer, body = ask(address, "GET", "/view/r1/run")
    assert (answer.status, b"The manifest of a run cannot be read" in body) == (409, True)


def keep(lake: Path, run: str, model: str, total: float, changes: RunChanges) -> None:
    counts = {"datasets_scored": 4, "coverage": 1.0, "ci_low": None, "ci_high": None}
    write_changes(lake, changes)
    store(lake, run, totals_row(model=model, total=total, total_before_veto=total, **counts))


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A lake of three runs and a damaged one, and where it is served with one that has none."""
    fell = SystemChanges(model="be<ta", setting="base", findings=(FELL,))
    about = {"benchmark": "moodbench-mini", "previous": ALPHA}
    lake = tmp_path / "lake"
    for run in (ALPHA, BETA, AGAIN, "gone"):
        (lake / "runs" / run).mkdir(parents=True)
    keep(
        lake,
        ALPHA,
        "alpha",
        50.0,
        RunChanges(run=ALPHA, state="Completed", reason="no earlier run", **about | {"previous": None}),
    )
    keep(lake, BETA, "be<ta", 70.0, RunChanges(run=BETA, state="Regressed", units=(fell,), **about))
    keep(lake, AGAIN, "alpha", 50.0, RunChanges(run=AGAIN, state="UpToDate", **about))
    (lake / "runs" / "gone" / "manifest.json").write_text("{", encoding="utf-8")
    with listen("127.0.0.1", 0, "--reports-port") as listening, serve_reports(listening, [lake, tmp_path / "new"], ENTRY) as url:
        yield lake, url.removeprefix("http://")


def page_rows(page: str, section: str) -> list[str]:
    """The words of each row of a section's tables, or of each of its notes."""
    (text,) = re.findall(rf'<section id="{section}">(.*?)</section>', page, re.DOTALL)
    rows = re.findall(r"<tbody>(.*?)</tbody>|<div><dt>(.*?)</div>", text, re.DOTALL)
    parts = [part for body, note in rows for part in ([note] if note else body.split("</tr>")[:-1])]
    return [" ".join(re.sub(r"<[^>]+>", " ", part).split()) for part in parts]


def test_the_first_page_tells_what_lakes_hold(runs: tuple[Path, str]) -> None:
    lake, address = runs
    page = ask(address, "GET", "/")[1].decode()
    ranked, history, listed = (page_rows(page, f"{name}-0") for name in ("leaderboards", "history", "runs"))
    assert [row.split(" – ")[0] for row in ranked] == [f"{TITLE} 1 be&lt;ta 70.00", f"{TITLE} 2 alpha 50.00"]
    when = "1 January 2026, 00:00 UTC, moodbench-mini"
    assert history == [f"{when}: Regressed be&lt;ta (total 80.0 -&gt; 70.0)", f"{when}: Completed no earlier run"]
    assert [row.partition(" 1 January")[0] for row in listed] == [
        "#3 moodbench-mini alpha 50.0 scored UpToDate",
        "#2 moodbench-mini be&lt;ta 70.0 scored Regressed",
        "#1 moodbench-mini alpha 50.0 scored Completed",
        "gone moodflow verify gone – damaged",
    ]
    for path in ("{}/report.html", "view/{}/run"):
        assert [f'href="/{path.format(run)}"' in page for run in (ALPHA, BETA, AGAIN, "gone")] == [True, True, True, False]
    assert f'href="/view/{BETA}/score?model=be%3Cta&amp;setting=base"' in page
    assert f"moodflow demo --lake {lake.parent / 'new'}" in page
    assert "<script" not in page
    assert "This file" not in page
    # It is made again once there is another run.
    keep(
        lake,
        ALPHA.replace(".1-", ".4-"),
        "gamma",
        90.0,
        RunChanges(run=ALPHA.replace(".1-", ".4-"), state="Completed", benchmark="moodbench-mini"),
    )
    assert page_rows(ask(address, "GET", "/")[1].decode(), "leaderboards-0")[0].startswith(f"{TITLE} 1 gamma 90.00")


def test_each_benchmark_has_a_leaderboard(runs: tuple[Path, str]) -> None:
    _, address = runs
    assert 'href="/leaderboard/0/moodbench-mini"' in ask(address, "GET", "/")[1].decode()
    page = ask(address, "GET", "/leaderboard/0/moodbench-mini")[1].decode()
    assert (page.count(f'href="/view/{BETA}/run"') > 0, "<script" in page) == (True, False)
    for path, told in (("0/longemotion", (400, b"has no run of longemotion")), ("2/m", (404, b"There is no such leaderboard"))):
        answer, body = ask(address, "GET", f"/leaderboard/{path}")
        assert (answer.status, told[1] if told[1] in body else body) == told
