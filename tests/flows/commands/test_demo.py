"""`moodflow demo`: what it says before it begins is true, and the last lines say where the reports are."""

from pathlib import Path

import pytest

from flows.commands.demo import announce, demo_plans, quick_plan
from flows.commands.run import run_stage
from flows.planning.resolve import resolve
from flows.runtime.prefect_flows import run_to_end
from schemas.errors import UsageError


def test_the_calls_it_announces_are_those_it_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plans = demo_plans(tmp_path, None)
    announce(plans)
    said = capsys.readouterr().err
    calls = sum(run_to_end(run_stage("dry-run", resolve(plan))).document.model_dump()["total"]["calls"] for plan in plans)
    assert f"about {calls} calls" in said
    assert "2 questions about long texts of LongEmotion; 41 tasks of MoodBench, items per task: 1; about" in said
    assert [plan.benchmark for plan in plans] == ["longemotion-mini", "moodbench-mini"]
    assert [plan.settings for plan in plans] == [("base",), ("base",)]
    assert "2 minutes on two idle cores" in said


def test_quick_demo_asks_twenty_items(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan = quick_plan(tmp_path)
    announce([plan])
    assert "5 tasks of MoodBench, 4 items each; about 20 calls, 30 seconds" in capsys.readouterr().err
    assert run_to_end(run_stage("dry-run", resolve(plan))).document.model_dump()["total"]["calls"] == 20


def test_a_sample_is_of_moodbench_alone(tmp_path: Path) -> None:
    assert [plan.sample for plan in demo_plans(tmp_path, 3)] == [1, 3]
    with pytest.raises(UsageError, match="invalid option"):
        demo_plans(tmp_path, 0)
