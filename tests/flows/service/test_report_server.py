"""The reports over HTTP: only files of runs, only to be read, only under the server's own name."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.service.report_server import index_page, list_reports, serve_reports
from flows.service.session import listen

ABSENT = (404, b"there is no such file\n")


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


def test_the_index_lists_runs_with_a_report(lake: Path) -> None:
    (lake / "runs" / "r2").mkdir()
    assert list_reports([lake / "runs", lake / "nowhere"]) == ["r1"]
    assert 'href="/a&lt;b/report.html"' in index_page(["a<b"])
    assert "No run has a report yet" in index_page([])


@pytest.fixture(scope="module")
def address(lake: Path) -> Iterator[str]:
    with listen("127.0.0.1", 0, "--reports-port") as listening, serve_reports(listening, [lake / "nowhere", lake]) as url:
        yield url.removeprefix("http://")


def ask(address: str, method: str, path: str, host: str | None = None) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(address)
    connection.putrequest(method, path, skip_host=True)  # as it is
    connection.putheader("Host", host or address)
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
        ("GET", "/r1/link.html", None, ABSENT),
        ("GET", "/away/secret", None, ABSENT),
        ("GET", "/none/report.html", None, ABSENT),
        ("GET", f"/{'a' * 300}/b", None, ABSENT),
        ("GET", "/%2e%2e/secret", None, ABSENT),
        ("GET", "/r1/.hidden", None, ABSENT),
        ("GET", "/r1/report.html%00", None, ABSENT),
        ("GET", "/r1/../r1/report.html", None, (404, b"Not Found")),
        ("GET", "/r1/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret", None, (404, b"Not Found")),
        ("GET", "//r1/report.html", None, (404, b"Not Found")),
        ("GET", "/r1/report.html", "evil.example", (400, b"Invalid host header")),
        ("POST", "/r1/report.html", None, (405, b"Method Not Allowed")),
        ("DELETE", "/r1/report.html", None, (405, b"Method Not Allowed")),
    ],
)
def test_reports_are_read_under_the_own_name_only(
    address: str, method: str, path: str, host: str | None, expected: tuple[int, bytes]
) -> None:
    answer, body = ask(address, method, path, host)
    assert (answer.status, body) == expected
    assert "default-src 'none'" in str(answer.headers["Content-Security-Policy"])
    assert answer.headers["Access-Control-Allow-Origin"] is None


def test_pages_have_their_type_under_localhost(address: str) -> None:
    answer, body = ask(address, "GET", "/", f"localhost:{address.rpartition(':')[2]}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"/r1/report.html" in body
    assert ask(address, "GET", "/r1/manifest.json")[0].headers["Content-Type"] == "application/json"
