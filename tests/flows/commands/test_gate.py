"""moodflow gate: a model that knows the gold against one that always answers A."""

import json
from pathlib import Path

import pytest

from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.commands.past_runs import PastRuns


def gate(runs: PastRuns, run: str, against: str | Path, *conditions: str, options: tuple[str, ...] = ()) -> Ended:
    given = [part for condition in conditions for part in ("--fail-if", condition)]
    return ended("gate", run, "--against", against, *given, *options, "--lake", runs.lake)


def test_known_fall_fails_and_is_written(runs: PastRuns, tmp_path: Path) -> None:
    page = tmp_path / "gate.md"
    conditions = ("total < -2", "dataset mini_text_classification < -5")
    done = gate(runs, runs.after, runs.before, *conditions, options=("--markdown", str(page), "--json"))
    compared = ended("compare", runs.before, runs.after, "--lake", runs.lake, "--json").document
    by_kind = {(row["kind"], row["id"]): row for row in compared["models"][0]["common"]}
    assert (done.status, done.document["verdict"]) == (1, "failed")
    total, dataset = done.document["checks"]
    wanted = (by_kind["total", "moodbench-mini"], by_kind["dataset", "mini_text_classification"])
    for check, row in zip((total, dataset), wanted, strict=True):
        assert check["verdict"] == "failed"
        assert [check[name] for name in ("difference", "ci_low", "ci_high", "n_items")] == [
            row[name] for name in ("difference", "ci_low", "ci_high", "n_items")
        ]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("## Gate failed\n\n")
    assert "| m | dataset mini\\_text\\_classification \\< -5 | mini\\_text\\_classification |" in text


def test_run_against_itself_passes(runs: PastRuns) -> None:
    done = gate(runs, runs.after, runs.after, "total < -2", options=("--json",))
    (check,) = done.document["checks"]
    assert (done.status, done.document["verdict"], check["difference"], check["reason"]) == (0, "passed", 0, "")


def test_undecided_fails_only_if_asked(runs: PastRuns) -> None:
    of_eight = "dataset mini_irony_detection < -20"
    done = gate(runs, runs.after, runs.before, of_eight)
    assert done.status == 0
    assert "Gate undecided" in done.out
    assert gate(runs, runs.after, runs.before, of_eight, options=("--undecided-fails",)).status == 1


def test_rated_dimension_has_an_interval(runs: PastRuns) -> None:
    compared = ended("compare", runs.before, runs.after, "--lake", runs.lake, "--json").document
    row = compared["models"][0]["dimension_scores"][0]
    assert row["ci_low"] <= row["common_difference"] <= row["ci_high"]
    # Both runs rated all items, once or as often each, so that the paired mean is that of all answers.
    assert row["common_difference"] == pytest.approx(row["difference"])
    name = f"dimension {row['dataset']}: {row['dimension']} < -9"
    done = gate(runs, runs.after, runs.before, name, options=("--json",))
    assert [(check["verdict"], check["n_items"]) for check in done.document["checks"]] == [("passed", row["n_items"])]


def test_documents_of_earlier_jobs_are_taken(runs: PastRuns, tmp_path: Path) -> None:
    compared, run = tmp_path / "compared.json", tmp_path / "run.json"
    compared.write_text(ended("compare", runs.before, runs.after, "--lake", runs.lake, "--json").out, encoding="utf-8")
    run.write_text(ended("runs", "show", runs.before, "--lake", runs.lake, "--json").out, encoding="utf-8")
    by_name = gate(runs, runs.after, runs.before, "total < -2", options=("--json",)).document
    for file in (compared, run):
        assert gate(runs, runs.after, file, "total < -2", options=("--json",)).document == by_name
    assert_one_message(gate(runs, runs.before, compared, "total < -2"), "the comparison is of another run", runs.before)


@pytest.mark.parametrize("content", ["[]", "3", "{}", "no JSON", json.dumps({"benchmark": "moodbench-mini"})])
def test_file_that_is_no_run_is_refused(runs: PastRuns, tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, encoding="utf-8")
    assert_one_message(gate(runs, runs.after, file, "total < -2"), "the file holds no run", str(file))


def test_wrong_conditions_are_refused(runs: PastRuns) -> None:
    assert_one_message(gate(runs, runs.after, runs.before, "total <= -2"), "a condition cannot be read", "total <= -2")
    assert_one_message(
        gate(runs, runs.after, runs.before, "ability emotionel < -2"), "there is no ability emotionel", "emotional"
    )
