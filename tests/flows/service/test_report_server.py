"""The reports over HTTP: only files of runs, only to be read, only under the server's own name."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.service.report_server import find_file, index_page, list_reports, reports
from flows.service.server_process import listen


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    run = tmp_path / "lake" / "runs" / "r1"
    run.mkdir(parents=True)
    (run / "report.html").write_text("<p>report</p>", encoding="utf-8")
    (run / "manifest.json").write_text("{}", encoding="utf-8")
    (run / ".hidden").write_text("x", encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (run / "link.html").symlink_to(tmp_path / "secret")
    (tmp_path / "lake" / "runs" / "away").symlink_to(tmp_path)
    return tmp_path / "lake"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/r1/report.html", True),
        ("/r1/manifest.json", True),
        ("/r1/", False),
        ("/r1", False),
        ("/r1/.hidden", False),
        ("/r1/link.html", False),
        ("/away/secret", False),
        ("/../secret", False),
        ("/r1/../r1/report.html", False),
        ("/%2e%2e/secret", False),
        ("/r1/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret", False),
        ("//r1/report.html", False),
        ("/r1/report.html%00", False),
        ("/none/report.html", False),
    ],
)
def test_only_files_of_runs_are_found(lake: Path, path: str, found: bool) -> None:
    assert (find_file([lake / "nowhere", lake / "runs"], path) is not None) is found


def test_the_index_lists_runs_with_a_report_and_escapes_their_names(lake: Path) -> None:
    (lake / "runs" / "r2").mkdir()
    assert list_reports([lake / "runs", lake / "nowhere"]) == ["r1"]
    assert 'href="/a&lt;b/report.html"' in index_page(["a<b"])
    assert "No run has a report yet" in index_page([])


@pytest.fixture
def address(lake: Path) -> Iterator[str]:
    with listen("127.0.0.1", 0, "--reports-port") as listening, reports(listening, [lake]) as server:
        yield server.url.removeprefix("http://")


@pytest.mark.parametrize(
    ("method", "path", "host", "expected"),
    [
        ("GET", "/r1/report.html", None, (200, b"<p>report</p>")),
        ("GET", "/r1/report.html?x=1", None, (200, b"<p>report</p>")),
        ("HEAD", "/r1/report.html", None, (200, b"")),
        ("GET", "/favicon.ico", None, (200, b"")),
        ("GET", "/r1/link.html", None, (404, b"there is no such file\n")),
        ("GET", f"/{'a' * 300}/b", None, (404, b"there is no such file\n")),
        ("GET", "/r1/report.html", "evil.example", (421, b"this server answers under its own address only\n")),
    ],
)
def test_reports_are_read_under_the_own_name_only(
    address: str, method: str, path: str, host: str | None, expected: tuple[int, bytes]
) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, headers={"Host": host or address})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == expected
    assert "default-src 'none'" in str(answer.headers["Content-Security-Policy"])
    assert answer.headers["Access-Control-Allow-Origin"] is None
    connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_reports_cannot_be_written(address: str, method: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, "/r1/report.html")
    assert connection.getresponse().status == 501
    connection.close()
