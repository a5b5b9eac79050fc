"""`moodflow leaderboard`: stored and published models, pages, and what it refuses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from schemas.addresses import REPORTS_URL
from schemas.changes import RunChanges
from schemas.errors import UsageError
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.manifest import write_changes, write_manifest
from tasks.leaderboard.history import report_links
from tasks.leaderboard.ranking import published_leaderboard
from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import assert_one_message, ended
from tests.flows.commands.past_runs import PastRuns
from tests.flows.commands.test_bad_input import blueprint
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.reporting.example_scores import totals, totals_row
from tests.tasks.runs.runs import keep_run


def test_a_papers_table_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "published.html"
    document = ended("leaderboard", "moodbench", "--published", "--html", page, "--json").document
    assert (len(document["models"]), document["html"]) == (30, str(page))
    html = page.read_text(encoding="utf-8")
    assert (html.count('class="badge vetoed"'), html.count('class="badge scored"')) == (2, 28)


def test_a_papers_table_as_files(tmp_path: Path) -> None:
    csv, tex = tmp_path / "board.csv", tmp_path / "board.tex"
    document = ended("leaderboard", "moodbench", "--published", "--csv", csv, "--latex", tex, "--json").document
    assert [document[name] for name in ("csv", "latex")] == [str(csv), str(tex)]
    (across,) = document["across"]
    # Two are vetoed, one of them, with a gate of 51.93, not below 50: 28 + 1 ranks.
    assert sum(rank is not None for rank in across["variations"][0]["ranks"]) == 29
    assert [len(path.read_text().splitlines()) for path in (csv, tmp_path / "board-ranks.csv")] == [31, 1 + 4 * 30]
    # Ranking, ranks by other weights, and the exhibits.
    assert tex.read_text().count(r"\begin{table}") == 2 + len(list(tmp_path.glob("board-*.csv"))) - 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--published", "--html", "board.txt"], "expected: a file that ends in .html"),
        (["--published", "--run", "r"], "--published shows only the paper's models and takes no --run"),
        (["--published", "--with-published"], "--published shows only the paper's models and takes no --run"),
        (["--run", "nowhere"], "such as: r"),
        (["--run", "r"], "run r belongs to another benchmark"),
    ],
)
def test_wrong_usage_is_told(options: list[str], message: str, tmp_path: Path) -> None:
    write_manifest(tmp_path, bare_manifest("r", benchmark="longemotion"))
    done = ended("leaderboard", "moodbench", *options, "--lake", tmp_path)
    assert (done.status, message in done.err) == (2, True)


MINI = load_blueprint("moodbench-mini").model_dump(mode="json")


def store(folder: Path, run: str, row: dict[str, Any], sample: int = 300, about: dict[str, Any] | None = None) -> None:
    """Leave a run of one model of which nothing is known but its row of `totals`."""
    name = "moodbench-mini"
    layers = {layer: LAYERS[layer].schema.create_empty() for layer in AGGREGATED} | {"totals": totals(row)}
    plan = {"benchmark": name, "models": [{"name": row["model"], "base_url": "http://x/v1", "about": about}], "sample": sample}
    keep_run(folder, run, layers, {"benchmark": name}, benchmark=name, plan=plan, blueprint=MINI)


def test_runs_that_asked_otherwise_are_ranked_apart(tmp_path: Path) -> None:
    names = [f"20260101T000000000000Z.{number}-m" for number in range(1, 5)]
    entries = [("alpha", 300, 100, 50.0), ("beta", 300, 100, 60.0), ("alpha", 5, 10, 90.0), ("beta", 300, 90, 70.0)]
    for run, (model, sample, n, total) in zip(names, entries, strict=True):
        counts = {"n_scored": n, "n_total": n, "datasets_scored": 4, "coverage": 1.0}
        row = totals_row(model=model, total=total, total_before_veto=total, ci_low=None, ci_high=None, **counts)
        store(tmp_path, run, row, sample)
    document = ended("leaderboard", "moodbench-mini", "--lake", tmp_path, "--json").document
    # Alpha's 90 rest on 10 other items, so that beta stays first; beta's newest run has 10 items fewer than the one before.
    fields = ("group", "rank", "model", "total", "n_scored", "run", "fuller_run")
    assert [tuple(row[name] for name in fields) for row in document["models"]] == [
        (1, 1, "beta", 70.0, 90, names[3], names[1]),
        (1, 2, "alpha", 50.0, 100, names[0], None),
        (2, 1, "alpha", 90.0, 10, names[2], None),
    ]
    first, second = document["groups"]
    assert first == {"number": 1, "runs": [names[3], names[1], names[0]], "basis": {"sample": "300"}}
    assert (second["runs"], second["basis"]) == ([names[2]], {"sample": "5"})
    page = tmp_path / "board.html"
    shown = ended("leaderboard", "moodbench-mini", "--lake", tmp_path, "--html", page).out
    for told in ("group 1: sample 300; group 2: sample 5", f"90 items scored, fewer than the earlier {names[1]}"):
        assert told in " ".join(shown.split())
        assert told in page.read_text(encoding="utf-8")
    # In the history beta's runs are joined, and alpha's are not.
    assert len(re.findall(r'<path d="M[^"]*L[^"]*" stroke="[^"]*" stroke-width="2"', page.read_text(encoding="utf-8"))) == 1


def test_the_papers_models_stand_beside(tmp_path: Path) -> None:
    row = totals_row(model="alpha", datasets_scored=4, coverage=1.0)
    store(tmp_path, "20260101T000000000000Z.1-m", row)
    board = ("leaderboard", "moodbench-mini", "--lake", tmp_path)
    document = ended(*board, "--with-published", "--json").document
    assert ([row["model"] for row in document["models"]], len(document["published"])) == (["alpha"], 30)
    assert [row["rank"] for row in (*document["models"], document["published"][0])] == [1, 1]
    assert "published" not in ended(*board, "--json").document
    assert "moodbench-mini, the paper's models" in ended(*board, "--with-published").out
    chosen = ended(*board, "--with-published", "--where", "series = 'GPT'")
    # Nothing is said of one's own model.
    assert "Of 1 further row it is not said." in chosen.out
    assert ("alpha" in chosen.out, "gpt-4o-mini" in chosen.out) == (False, True)


def test_unreadable_changes_are_told_and_stop_nothing(tmp_path: Path) -> None:
    names = [f"20260101T000000000000Z.{number}-m" for number in (1, 2)]
    for run in names:
        store(tmp_path, run, totals_row())
        write_changes(tmp_path, RunChanges(run=run, benchmark="moodbench-mini", state="Completed"))
    path = tmp_path / "runs" / names[0] / "changes.json"
    path.write_text("{")
    listed = ended("runs", "list", "--lake", tmp_path)
    assert re.findall(r"(damaged|Completed) *$", listed.out, re.MULTILINE) == ["Completed", "damaged"]
    board = ("leaderboard", "moodbench-mini", "--lake", tmp_path, "--json")
    named, page = ended(*board, "--run", names[0]), ended(*board, "--html", tmp_path / "board.html")
    for done in (listed, named, page):
        assert (done.status, done.err.count(f"run {names[0]} is damaged")) == (1, 1)
        assert str(path) in done.err
    assert [[row["run"] for row in done.document["models"]] for done in (named, page)] == [[names[0]], [names[1]]]
    # The ranking alone rests on the newest run.
    assert (ended(*board).status, ended(*board).err) == (0, "")


def test_reports_are_linked_from_where_the_page_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REPORTS_URL, raising=False)
    lake, page = tmp_path / "lake", tmp_path / "pages" / "board.html"
    assert report_links([bare_manifest("r")], lake, page) == {"r": "../lake/runs/r/report.html"}
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:4299/runs/")
    assert report_links([bare_manifest("r")], lake, page) == {"r": "http://127.0.0.1:4299/runs/r/report.html"}


def test_rows_carry_their_setting_and_abilities() -> None:
    rows = published_leaderboard("longemotion").rows
    assert len(rows) == 18
    assert (rows[0].model, rows[0].setting, rows[0].rank) == ("GPT-5", "base", 1)
    # Settings one after the other, each with ranks of its own.
    assert [(row.setting, row.rank) for row in rows[7:14:2]] == [("base", 8), ("rag", 2), ("rag", 4), ("coem", 1)]
    assert rows[0].abilities["emotion_summary"] == pytest.approx(88.4)
    first, *others = published_leaderboard("moodbench").rows
    assert (1 + len(others), first.model, first.rank) == (30, "gpt-5-mini-2025-08-07", 1)
    shown = ended("leaderboard", "moodbench", "--published").out
    (line,) = re.findall(rf"^.*{others[-1].model}.*$", shown, re.MULTILINE)
    assert line.split()[:4] == ["–", others[-1].model, "0.0", "vetoed"]


def test_the_interval_of_a_vetoed_model_is_told(tmp_path: Path) -> None:
    row = totals_row(total=0.0, total_before_veto=59.3, ci_low=51.0, ci_high=67.6, vetoed=True, veto_reason="why")
    store(tmp_path, "20260101T000000000000Z.1-m", row)
    shown = " ".join(ended("leaderboard", "moodbench-mini", "--lake", tmp_path).out.split())
    assert "– alpha 0.0 51.0 to 67.6 (before the veto) vetoed" in shown


def test_a_benchmark_without_a_paper_is_told(tmp_path: Path) -> None:
    task = {"id": "t", "title": "T", "level": "low", "datasets": ["own_items"]}
    own = blueprint(tmp_path, abilities=[{"id": "patience", "title": "P", "tasks": [task]}])
    with pytest.raises(UsageError, match="no published table for own") as caught:
        published_leaderboard(str(own))
    assert "patience" in str(caught.value)


def test_a_table_by_language_is_ranked_in_each(tmp_path: Path) -> None:
    page = tmp_path / "board.html"
    rows = ended("leaderboard", "esc-eval", "--published", "--json").document["models"]
    assert [(row["language"], row["rank"]) for row in rows] == [
        *(("en", n) for n in range(1, 15)),
        *(("zh", n) for n in range(1, 13)),
    ]
    for row in rows:
        # The other language is no part of the row, not a missing one.
        assert (row["setting"], sorted(row["abilities"]), row["coverage"]) == ("role_play", ["chinese", "english"], 1)
        assert row["total"] == row["abilities"][{"en": "english", "zh": "chinese"}[row["language"]]]
    assert [row["model"] for row in rows if row["rank"] == 1] == ["ChatCounselor", "EmoLLM"]
    done = ended("leaderboard", "esc-eval", "--published", "--html", page)
    assert "group 1: language en; group 2: language zh" in " ".join(done.out.split())
    html = page.read_text(encoding="utf-8")
    told = ("re-implementation on Llama-3", "six values average 7.75", "has lost its sign", "rows average 71.14 (ACC_soft)")
    assert [text for text in told if text not in html] == []
    assert "Scores by setting" not in html


def test_site_is_a_folder_of_its_own(runs: PastRuns, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for _ in range(2):  # the second replaces the first
        done = ended("leaderboard", "moodbench-mini", "--site", site, "--lake", runs.lake, "--json")
        assert (done.status, done.document["site"]) == (0, str(site)), done.err
    assert {"index.html", "leaderboard.csv", "leaderboard.json", "runs"} <= {path.name for path in site.iterdir()}
    written = json.loads((site / "leaderboard.json").read_text(encoding="utf-8"))
    assert written["models"] == done.document["models"]
    assert {path.name for path in (site / "runs" / runs.after).iterdir()} == {
        "report.html",
        "report.m1.html",
        "report.md",
        "report.png",
    }
    (site / "letter.txt").write_text("mine", encoding="utf-8")
    refused = ended("leaderboard", "moodbench-mini", "--site", site, "--lake", runs.lake)
    assert_one_message(refused, "the pages cannot go into this folder", "it holds letter.txt")
    assert (site / "index.html").exists()
    (other := tmp_path / "other" / "runs").mkdir(parents=True)
    refused = ended("leaderboard", "moodbench-mini", "--site", other.parent, "--lake", runs.lake)
    assert_one_message(refused, "the pages cannot go into this folder", "it holds runs")
    assert other.is_dir()
    refused = ended("leaderboard", "moodbench-mini", "--site", site / "letter.txt", "--lake", runs.lake)
    assert_one_message(refused, "the pages cannot go into this folder", "got: a file")
