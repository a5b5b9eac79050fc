"""What a run shows in the Prefect UI: cells of the tables, the summary, names, and to which run it all belongs."""

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey, FlowRunFilter, FlowRunFilterName
from prefect.settings import PREFECT_UI_URL, temporary_settings

from flows.runtime.artifacts import (
    MAX_ROWS,
    RUN_KEYS,
    addresses_of,
    coverage_table,
    failures_table,
    few,
    leaderboard_table,
    report_address,
    summarise,
)
from schemas.addresses import REPORTS_URL
from schemas.changes import Regression, RunChanges, RunState, ScoreDifference, SystemChanges
from schemas.lineage import CodeVersion, Missing, PartitionKey, RunManifest
from schemas.plan import Plan
from schemas.table import Column, Table
from schemas.tables.responses import Judgements
from tasks.lake.lake import Lake
from tasks.text.tables import to_records
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.loopback import LoopbackServer
from tests.model_server import ModelServer
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import judgement, judgements, system_row

DATASETS = ("mini_commonsense_qa", "mini_coarse_emotion_recognition")
GAP = Missing(dataset="lost", reason="has no file", next_step="fetch it")


def manifest(**changed: Any) -> RunManifest:
    return bare_manifest("20260101-b", **changed)


def changes(*units: SystemChanges, state: RunState = "Completed", previous: str | None = "20260101-a", **more: Any) -> RunChanges:
    return RunChanges(run="20260101-b", benchmark="tiny", state=state, previous=previous, units=units, **more)


FELL = ScoreDifference(
    what="total", before=80.004, after=60.0, change=-20.004, ci_low=-28.0, ci_high=-12.5, allowed=8.0, n_items=100
)
SAME = ScoreDifference(what="able", before=50.0, after=50.0, change=0.0, ci_low=0.0, ci_high=0.0, n_items=20)
FINDING = Regression(what="total", before=80.004, after=60.0, allowed=8.0, message="total fell by 20.00 points")
SYSTEM = SystemChanges(model="m|1", setting="base", previous="20260101-a", changes=(FELL, SAME), findings=(FINDING,))


def test_the_leaderboard_has_plain_round_cells_and_blanks() -> None:
    alike: dict[str, Any] = {
        "paper": "P",
        "verdict": "close",
        "reasons": (),
        "abilities": {},
        "datasets": (),
        "position": None,
        "languages": {},
    }
    ranked = system_row(
        model="b",
        total=70.0,
        total_before_veto=70.0,
        ci_low=51.237,
        coverage=0.975,
        comparability=alike | {"model": "b", "setting": "base"},
    )
    rows = [ranked, system_row(model="m|1", total=0.0, total_before_veto=60.0001, verdict="vetoed", vetoed=True, rank=None)]
    first, second = to_records(leaderboard_table(rows, changes(SYSTEM)))
    shown = {"Rank": 1, "Model": "b", "Setting": "Base", "Total": 70.0, "Verdict": "scored", "Total before the veto": 70.0}
    shown |= {"95 % low": 51.24, "95 % high": None, "Change": None, "Coverage %": 97.5, "Published numbers": "close"}
    assert first == shown
    assert (second["Rank"], second["Total"], second["Verdict"], second["Change"]) == (None, 0.0, "vetoed", -20.0)
    assert to_records(leaderboard_table(rows, None))[1]["Change"] is None


def test_coverage_lists_the_least_covered_first() -> None:
    def row(dataset: str, metric: str, scored: int) -> dict[str, Any]:
        counts = {"n_scored": scored, "n_unparsed": 1, "n_total": 8}
        return {"dataset": dataset, "model": "m", "setting": "base", "metric": metric, **counts}

    raw = pl.DataFrame([row("whole", "accuracy", 8), row("part", "bleu", 6), row("part", "accuracy", 7)])
    part, whole = to_records(coverage_table(raw))
    counts = {"Setting": "Base", "Scored": 6, "Of": 8, "Scored %": 75.0, "Unreadable": 1, "Metrics": "accuracy, bleu"}
    assert part.items() >= counts.items()
    assert (whole["Dataset"], whole["Scored %"]) == ("whole", 100.0)


def test_nothing_that_failed_is_said(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("1", None))
    assert [row["What"] for row in to_records(failures_table(manifest(), lake))] == ["nothing failed"]
    (row,) = to_records(failures_table(manifest(missing=(GAP,)), lake))
    assert (row["What"], row["Next step"]) == ("has no file", "fetch it")


def test_unread_ratings_are_counted_by_reason(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("1", None))
    reasons = ["no JSON object", "no JSON object", "fluency: Field required", None]

    def rated(number: int, rating: int | None, **ended: Any) -> dict[str, Any]:
        return judgement(f"i{number}", "fluency", rating, call_key=str(number) * 64, **ended)

    rows = [rated(number, None if reason else 4, error=reason) for number, reason in enumerate(reasons)]
    lost = [rated(number, None, error=f"HTTP 50{number}", parse_status="failed") for number in (5, 6)]
    place = (("dataset", "d"), ("model", "m"), ("setting", "base"), ("judge", "j"), ("rubric", "summary"))
    whole, part = (
        lake.write(
            PartitionKey(layer="judgements", place=place, fingerprint=mark * 64), judgements(*some), Judgements, complete=done
        )
        for mark, some, done in (("1", rows, True), ("2", lost, False))
    )
    told = to_records(failures_table(manifest(partitions=(whole, part)), lake))
    assert [(row["What"], row["Calls"], row["Next step"]) for row in told] == [
        ("no readable rating of m's answers: no JSON object", 2, "see the replies: moodflow explain"),
        ("no readable rating of m's answers: fluency: Field required", 1, "see the replies: moodflow explain"),
        ("no rating of m's answers: HTTP 505", 2, "see that the judge's server answers, then run again"),
    ]


def test_long_tables_say_what_they_leave_out() -> None:
    table = Table((Column("n", "count"),), [(number,) for number in range(MAX_ROWS + 5)])
    shown, rest = few(table)
    assert (len(shown.rows), rest) == (1000, " The first 1,000 of 1,005 rows; all of them are in the report.")
    assert few(shown) == (shown, "")


def test_the_summary_says_whose_replies_were_scored() -> None:
    named = {"name": "b", "identity": "b of May", "base_url": "http://b/v1"}
    models = [{"name": "a", "identity": "http://a/v1", "base_url": "http://a/v1"}, named]
    text = summarise("# tiny", manifest(plan={"models": models}), {})
    assert "Models whose replies were scored:\n\n- `a`: `http://a/v1`\n- `b`: `b of May`, asked at `http://b/v1`\n\n" in text


def test_the_report_is_linked_where_it_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(tmp_path, CodeVersion("1", None))
    monkeypatch.delenv(REPORTS_URL, raising=False)
    path = str(tmp_path / "runs/20260101-b/report.html")
    assert report_address(manifest(), lake) == (path, False)
    assert f"\n- Report: `{path}`\n" in summarise("", manifest(), {"report": path})
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:9/runs/")
    address = "http://127.0.0.1:9/runs/20260101-b/report.html"
    assert report_address(manifest(), lake) == (address, True)
    assert f"\n- [Report]({address})\n" in summarise("", manifest(), {"report": address})


def test_pages_are_those_of_the_second_ui(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REPORTS_URL, raising=False)
    with temporary_settings({PREFECT_UI_URL: "http://127.0.0.1:4200"}):
        assert addresses_of(RUN_KEYS[:1], None) == ["http://127.0.0.1:4200/v2/artifacts/key/summary"]
        monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:9")
        assert addresses_of(RUN_KEYS[:1], None)[1:] == ["http://127.0.0.1:4200/v2/artifacts/key/report"]


def plan_of(benchmark: str, *models: str) -> Plan:
    return Plan.model_validate({"benchmark": benchmark, "models": [{"name": name, "base_url": "http://h/v1"} for name in models]})


def test_a_title_is_short_with_many_models() -> None:
    names = ("lab/core-7b", "x" * 60, "third", "fourth")
    plan = plan_of("moodbench", *names)
    assert plan.title == f"moodbench: core-7b, {'x' * 39}… and 2 more (base)"
    assert plan.tags == ("moodbench", *names, "base", "corrected")


MODEL = "published"
"""No other test's runs, which share the server, have a model of this name."""


async def published(key: str) -> Any:
    whose = FlowRunFilter(name=FlowRunFilterName(any_=[f"refresh moodbench-mini: {MODEL} (base)"]))
    async with get_client() as client:
        (artifact,) = await client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key])), flow_run_filter=whose
        )
    return artifact.data


def asked(server: LoopbackServer, lake: Path, *more: str) -> Ended:
    model = ("--model", MODEL, "--base-url", server.base_url, "--lake", lake, "--datasets", ",".join(DATASETS))
    return ended("run", "moodbench-mini", *model, "--set", "bootstrap=20", "--json", *more)


def test_a_run_publishes_tables_with_its_outermost_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:9")
    with ModelServer(policy(DATASETS, "gold"), fault=lambda number: "401" if number == 3 else None) as server:
        document = asked(server, tmp_path / "lake", "--set", "redact=true").document
    assert json.loads(Path(document["manifest"]).read_text(encoding="utf-8"))["redacted"] is True
    keys = (*RUN_KEYS, "report", "build-progress", "inference-progress", "score-progress")
    found = {key: asyncio.run(published(key)) for key in keys}
    failures = [(row["What"].partition(":")[0], row["Calls"]) for row in json.loads(found["failures"]) if row["Calls"]]
    assert failures == [("auth", 1)]
    (row,) = json.loads(found["leaderboard"])
    assert (row["Total"], row["Total before the veto"], row["Change"], row["Coverage %"]) == (None, 100.0, None, 4.88)
    assert row["Verdict"].startswith("too little scored: 2 of 41 datasets have a score; Companionship Ability")
    least, most = (row for row in json.loads(found["coverage"]))
    assert (least["Scored"], least["Of"], most["Scored"]) == (7, 8, 8)
    assert {row["Ability"]: row["Score"] for row in json.loads(found["abilities"])}["Emotional Ability"] == 100.0
    report = Path(document["report"])
    drawn = f"(data:image/png;base64,{b64encode(report.with_suffix('.png').read_bytes()).decode()})"
    text = report.with_suffix(".md").read_text(encoding="utf-8").rstrip()
    assert (text.count("(report.png)"), found["summary"].startswith(text.replace("(report.png)", drawn))) == (1, True)
    assert "Completed: no earlier run of moodbench-mini." in found["summary"]
    assert "    answers --> item_scores\n" in found["summary"]
    assert f"http://127.0.0.1:9/{document['run']}/report.html" in found["report"]
    assert found["score-progress"] == 100


def test_titles_show_what_cannot_be_seen() -> None:
    plan = plan_of("moodbench-mini", "a\u200bb")
    assert plan.title == r"moodbench-mini: a\u200bb (base)"
    assert r"a\u200bb" in plan.tags
