"""The runs of a lake in one look: number, when they ended, models, and the total of the best."""

import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from flows.commands.console import Terminal, local_time, terminal_table
from flows.commands.runs_list import run_table
from schemas.documents.run_list import BestTotal, ListedRun
from schemas.lineage import RunManifest
from schemas.tables.scores import AbilityScores
from tasks.lake.lake import Lake
from tasks.lake.manifest import newest_first
from tasks.runs import run_list, verdict
from tasks.runs.past_run import PastRun, past_run
from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import ended
from tests.tasks.reporting.example_scores import totals, totals_row
from tests.tasks.runs.runs import keep_run

MINI = load_blueprint("moodbench-mini").model_dump(mode="json")
NAMES = [f"20260101T00000000000{second}Z.{number}-m" for second, number in ((3, 1), (1, 2), (2, 3))]
"""The run that began last ended first."""


def store(folder: Path, run: str, *rows: dict[str, Any]) -> None:
    models = [{"name": row["model"]} for row in rows]
    layers = {"totals": totals(*rows), "ability_scores": AbilityScores.create_empty()}
    keep_run(
        folder, run, layers, {"benchmark": "moodbench-mini"}, benchmark="moodbench-mini", plan={"models": models}, blueprint=MINI
    )


def scored(model: str, total: float) -> dict[str, Any]:
    return totals_row(model=model, total=total, total_before_veto=total, datasets_scored=4, coverage=1.0)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    store(tmp_path, NAMES[0], scored("alpha", 40.0), scored("beta", 63.21))
    store(
        tmp_path, NAMES[1], totals_row(model="alpha", total=0.0, vetoed=True, veto_reason="low", datasets_scored=4, coverage=1.0)
    )
    store(tmp_path, NAMES[2], totals_row(model="alpha", datasets_scored=1, coverage=0.25))
    return tmp_path


@pytest.fixture
def _shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_shanghai")
def test_each_run_has_its_best_total(lake: Path) -> None:
    document = ended("runs", "list", "--lake", lake, "--json").document
    assert [(row["run"], row["number"], row["models"]) for row in document["runs"]] == [
        (NAMES[2], 3, ["alpha"]),
        (NAMES[1], 2, ["alpha"]),
        (NAMES[0], 1, ["alpha", "beta"]),
    ]
    assert [tuple(row["best"].values()) for row in document["runs"]] == [
        ("alpha", "base", None, "too little scored"),
        ("alpha", "base", 0.0, "vetoed"),
        ("beta", "base", 63.21, "scored"),
    ]
    cells = [line.split() for line in ended("runs", "list", "--lake", lake).out.splitlines() if line.strip(" ─")]
    assert cells == [
        ["#", "Ended", "Benchmark", "Models", "Total", "State"],
        ["3", "2026-01-01", "08:01", "moodbench-mini", "alpha", "too", "little", "scored"],
        ["2", "2026-01-01", "08:01", "moodbench-mini", "alpha", "0.0", "vetoed"],
        ["1", "2026-01-01", "08:01", "moodbench-mini", "alpha,", "beta", "63.2"],
    ]


def test_totals_are_judged_once(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ended("runs", "list", "--lake", lake, "--json").document
    store(lake, NAMES[0].replace(".1-", ".4-"), scored("gamma", 1.0))
    judged: list[str] = []
    usual = past_run

    def noted(manifest: RunManifest, lake: Lake) -> PastRun:
        judged.append(manifest.run)
        return usual(manifest, lake)

    monkeypatch.setattr(verdict, "past_run", noted)
    (newest, *others) = ended("runs", "list", "--lake", lake, "--json").document["runs"]
    assert (others, newest["best"]["model"], judged) == (first["runs"], "gamma", [newest["run"]])


@pytest.mark.parametrize("kept", [b"", b"{", b'{"x": 1}'])
def test_damaged_kept_totals_lose_nothing(lake: Path, kept: bytes) -> None:
    first = ended("runs", "list", "--lake", lake, "--json").document
    (lake / run_list.TOTALS).write_bytes(kept)
    assert ended("runs", "list", "--lake", lake, "--json").document == first


def test_a_run_without_readable_scores_is_told(lake: Path) -> None:
    for path in lake.glob("totals/**/*.parquet"):
        path.unlink()
    done = ended("runs", "list", "--lake", lake, "--json")
    assert (done.status, [row["best"] for row in done.document["runs"]]) == (1, [None, None, None])
    assert [f"the total of run {run} cannot be read: " in done.err for run in newest_first(NAMES)] == [True] * 3


@pytest.mark.usefixtures("_shanghai")
def test_six_models_fit_eighty_columns() -> None:
    def listed(number: int | None, models: tuple[str, ...], best: BestTotal | None, **fields: Any) -> ListedRun:
        usual = {"run": "r", "benchmark": "longemotion-mini", "started_at": "", "finished_at": "2026-11-26T11:02:31+00:00"}
        counts = {"partitions": 0, "missing": 0, "calls_sent": 0, "report": None, "state": "Completed"}
        return ListedRun.model_validate({**usual, **counts, "number": number, "models": models, "best": best, **fields})

    def best(total: float | None, verdict: str) -> BestTotal:
        return BestTotal.model_validate({"model": "oak-70b", "setting": "base", "total": total, "verdict": verdict})

    six = ("org/oak-70b", "birch-8b", "elm-14b", "pine-3b", "fern-7b", "moss-1b")
    runs = [
        listed(1234, six, best(94.66, "scored"), state="BudgetSpent"),
        listed(12, ("a", "org/b"), best(0.0, "vetoed")),
        listed(7, six, best(None, "unreadable"), state="Regressed"),
        listed(None, ("Qwen/Qwen2.5-72B-Instruct-AWQ",), None, state="damaged", finished_at=""),
    ]
    screen = StringIO()
    Terminal(file=screen, width=80).print(terminal_table(run_table(runs)))
    assert [line.rstrip() for line in screen.getvalue().splitlines()] == [
        "#    Ended            Benchmark        Models             Total      State",
        "1234 2026-11-26 19:02 longemotion-mini 6 models           94.7       BudgetSpent",
        "12   2026-11-26 19:02 longemotion-mini a, b               0.0 vetoed Completed",
        "7    2026-11-26 19:02 longemotion-mini 6 models           unreadable Regressed",
        "–                     longemotion-mini Qwen2.5-72B-Instru –          damaged",
        "                                       ct-AWQ",
    ]


def test_a_text_that_is_no_time_stays() -> None:
    assert local_time("yesterday") == "yesterday"


def test_a_lake_without_runs_says_so(tmp_path: Path) -> None:
    assert ended("runs", "list", "--lake", tmp_path).out == "There are no runs in this lake yet; moodflow run makes one\n"
