"""`moodflow leaderboard`: pages, runs chosen by name, and what it refuses."""

import json
from pathlib import Path

import pytest

from flows.cli import app, guarded
from schemas.addresses import REPORTS_URL
from schemas.lineage import CallCounts, RunManifest
from tasks.analysis.leaderboard import report_links
from tasks.lake.manifest import write_manifest


def manifest(run: str, benchmark: str = "moodbench") -> RunManifest:
    return RunManifest(
        run=run,
        benchmark=benchmark,
        blueprint={},
        blueprint_sha256="b" * 64,
        plan={},
        package_version="0.1.0",
        git_commit=None,
        started_at="2026-01-01T00:00:00+00:00",
        finished_at="2026-01-01T00:00:00+00:00",
        partitions=(),
        missing=(),
        calls=CallCounts(),
        report=f"runs/{run}/report.html",
    )


def leaderboard(*options: str) -> int:
    return guarded(lambda: app(["leaderboard", *options], standalone_mode=True))


def test_a_papers_table_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "published.html"
    assert leaderboard("moodbench", "--published", "--html", str(page), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (len(document["models"]), document["html"]) == (30, str(page))
    html = page.read_text(encoding="utf-8")
    assert html.count('class="badge vetoed"') == 2
    assert html.count('class="badge counted"') == 28


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--published", "--html", "board.txt"], "expected: a file that ends in .html"),
        (["--published", "--run", "r"], "a paper's table has no runs"),
        (["--run", "nowhere"], "there is no such run"),
        (["--run", "r"], "run r is of another benchmark"),
    ],
)
def test_wrong_usage_is_told(options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_manifest(tmp_path, manifest("r", "longemotion"))
    assert leaderboard("moodbench", *options, "--lake", str(tmp_path)) == 2
    assert message in capsys.readouterr().err


def test_reports_are_linked_from_where_the_page_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REPORTS_URL, raising=False)
    lake, page = tmp_path / "lake", tmp_path / "pages" / "board.html"
    assert report_links([manifest("r")], lake, page) == {"r": "../lake/runs/r/report.html"}
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:4299/runs/")
    assert report_links([manifest("r")], lake, page) == {"r": "http://127.0.0.1:4299/runs/r/report.html"}
