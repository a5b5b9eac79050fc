"""moodflow datasets check: what is in a dataset, what it allows, and what it lacks."""

from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import assert_one_message, ended

AMBIGUOUS = {"safetybench_illegal_activities", "cmmlu", "edos"}
"""Datasets some of whose own labels contradict each other."""

ABSENT = {"stereoset", "ceval", "personafeedback", "longmemeval"}


def check(name: str, mirror: Path, status: int) -> Any:
    done = ended("datasets", "check", name, "--mirror", mirror, "--offline", "--json")
    assert done.status == status
    (found,) = done.document["datasets"]
    return found


def test_a_ready_dataset_is_described(mirror: Path) -> None:
    found = check("copa", mirror, 0)
    assert (found["id"], found["ready"], found["pinned"]) == ("copa", True, True)
    assert (found["rows_read"], found["items_read"], found["good"], found["rejected"]) == (100, 100, 100, {})
    assert (found["gold"], found["languages"]) == ({"A": 55, "B": 45}, {"en": 100})
    assert (found["duplicates"], found["contradictions"], found["ceiling"]) == (0, 0, 100)
    assert found["constant"] == pytest.approx({"A": 55, "B": 45})


def test_a_long_context_dataset_is_built_in_full(mirror: Path) -> None:
    found = check("longemotion_ee", mirror, 0)
    assert (found["rows_read"], found["items_read"], found["good"], found["rejected"]) == (2, 428, 428, {})
    assert (found["duplicates"], found["ceiling"], found["constant"]) == (3, None, {})


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("longemotion_ed_backup", ["data/Emotion_Detection_backup.jsonl was not found"]),  # of no blueprint
        ("piqa", ["piqa/data/valid.jsonl was not found", "piqa/data/valid-labels.lst was not found"]),
    ],
)
def test_an_absent_dataset_says_which_file_it_needs(tmp_path: Path, name: str, needs: list[str]) -> None:
    found = check(name, tmp_path, 1)
    assert (found["ready"], found["rows_read"], found["ceiling"], found["needs"]) == (False, None, None, needs)


def test_a_changed_file_is_not_ready(tmp_path: Path) -> None:
    place = tmp_path / "github.com/QuwanAI/MoodBench/data/basic_ability/NLI/copa_parquet/validation-00000-of-00001.parquet"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"another file")
    assert "is not the pinned file" in check("copa", tmp_path, 1)["needs"][0]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "it is unclear which dataset to check"),
        (["copa", "--all"], "it is unclear which dataset to check"),
        (["coppa"], "did you mean copa"),
        (["copa", "--mirror", "/nowhere/at/all"], "the mirror is not a folder"),
    ],
)
def test_wrong_usage_is_one_message(arguments: list[str], what: str) -> None:
    done = ended("datasets", "check", *arguments, "--offline")
    assert_one_message(done, what)


@pytest.mark.long
def test_all_sixty(mirror: Path) -> None:
    done = ended("datasets", "check", "--all", "--mirror", mirror, "--offline", "--json")
    assert done.status == 1
    found = {dataset["id"]: dataset for dataset in done.document["datasets"]}
    assert len(found) == 60
    assert {name for name, dataset in found.items() if not dataset["ready"]} == ABSENT
    assert all(found[name]["needs"] for name in ABSENT)
    below = {name for name, dataset in found.items() if dataset["ceiling"] is not None and dataset["ceiling"] < 100 - 1e-9}
    assert below <= AMBIGUOUS
    assert {name for name, dataset in found.items() if dataset["ambiguous"]} == AMBIGUOUS
