"""`moodflow leaderboard`: stored and published models, pages, and what it refuses."""

from pathlib import Path

import pytest

from flows.commands.run_view import leaderboard_table
from schemas.addresses import REPORTS_URL
from schemas.errors import UsageError
from tasks.analysis.leaderboard import published_leaderboard, report_links
from tasks.lake.manifest import write_manifest
from tests.flows.command import ended
from tests.flows.commands.test_bad_input import blueprint
from tests.tasks.lake.test_manifest import bare_manifest


def test_a_papers_table_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "published.html"
    document = ended("leaderboard", "moodbench", "--published", "--html", page, "--json").document
    assert (len(document["models"]), document["html"]) == (30, str(page))
    html = page.read_text(encoding="utf-8")
    assert (html.count('class="badge vetoed"'), html.count('class="badge counted"')) == (2, 28)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--published", "--html", "board.txt"], "expected: a file that ends in .html"),
        (["--published", "--run", "r"], "a paper's table has no runs"),
        (["--run", "nowhere"], "there is no such run"),
        (["--run", "r"], "run r is of another benchmark"),
    ],
)
def test_wrong_usage_is_told(options: list[str], message: str, tmp_path: Path) -> None:
    write_manifest(tmp_path, bare_manifest("r", benchmark="longemotion"))
    done = ended("leaderboard", "moodbench", *options, "--lake", tmp_path)
    assert (done.status, message in done.err) == (2, True)


def test_reports_are_linked_from_where_the_page_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REPORTS_URL, raising=False)
    lake, page = tmp_path / "lake", tmp_path / "pages" / "board.html"
    assert report_links([bare_manifest("r")], lake, page) == {"r": "../lake/runs/r/report.html"}
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:4299/runs/")
    assert report_links([bare_manifest("r")], lake, page) == {"r": "http://127.0.0.1:4299/runs/r/report.html"}


def test_rows_carry_their_setting_and_abilities() -> None:
    rows = published_leaderboard("longemotion").rows
    assert len(rows) == 18
    assert (rows[0]["model"], rows[0]["setting"], rows[0]["rank"]) == ("GPT-5", "base", 1)
    assert rows[1]["setting"] == "coem"
    assert rows[0]["abilities"]["emotion_summary"] == pytest.approx(88.4)
    assert leaderboard_table("longemotion", rows).row_count == 18
    first, *others = published_leaderboard("moodbench").rows
    assert (1 + len(others), first["model"], first["rank"]) == (30, "gpt-5-mini-2025-08-07", 1)
    assert {row["setting"] for row in others} == {"base"}


@pytest.mark.parametrize(("benchmark", "veto"), [("longemotion", []), ("moodbench", ["passed"] * 3)])
def test_a_veto_is_shown_where_the_benchmark_has_a_gate(benchmark: str, veto: list[str]) -> None:
    table = leaderboard_table(benchmark, published_leaderboard(benchmark).rows[:3])
    first, *models = (list(column.cells) for column in table.columns)
    assert [column[first.index("Veto")] for column in models if "Veto" in first] == veto


def test_a_benchmark_without_a_paper_is_told(tmp_path: Path) -> None:
    task = {"id": "t", "title": "T", "level": "low", "datasets": ["own_items"]}
    own = blueprint(tmp_path, abilities=[{"id": "patience", "title": "P", "tasks": [task]}])
    with pytest.raises(UsageError, match="no published table for own") as caught:
        published_leaderboard(str(own))
    assert "patience" in str(caught.value)
