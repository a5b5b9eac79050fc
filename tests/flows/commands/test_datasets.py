"""moodflow datasets check: what is in a dataset, what it allows, and what it lacks."""

from pathlib import Path

import pytest

from tests.flows.command import moodflow
from tests.mirror import MIRROR, needs_mirror

AMBIGUOUS = {"safetybench_illegal_activities", "cmmlu", "edos"}
"""Datasets some of whose own labels contradict each other."""

ABSENT = {"stereoset", "ceval", "personafeedback", "longmemeval"}


@needs_mirror
def test_a_ready_dataset_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    ended = moodflow(capsys, "datasets", "check", "copa", "--mirror", MIRROR, "--offline", "--json")
    assert ended.status == 0
    (found,) = ended.document["datasets"]
    assert (found["id"], found["ready"], found["pinned"]) == ("copa", True, True)
    assert (found["rows_read"], found["items_read"], found["good"], found["rejected"]) == (100, 100, 100, {})
    assert found["gold"] == {"A": 55, "B": 45}
    assert found["languages"] == {"en": 100}
    assert (found["duplicates"], found["contradictions"]) == (0, 0)
    assert found["ceiling"] == 100
    assert found["constant"] == pytest.approx({"A": 55, "B": 45})


@needs_mirror
def test_rejected_items_are_named_by_rule_and_the_source_is_the_one_that_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    name = "safetybench_privacy_property"
    ended = moodflow(capsys, "datasets", "check", name, "--mirror", MIRROR, "--offline", "--json")
    (found,) = ended.document["datasets"]
    assert (found["items_read"], found["good"]) == (300, 298)
    assert found["rejected"]["options_are_distinct_and_not_empty"] == 2
    assert found["languages"] == {"zh": 298}
    assert found["ceiling"] == 100


@needs_mirror
def test_a_dataset_with_long_contexts_is_built_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    ended = moodflow(capsys, "datasets", "check", "longemotion_ee", "--mirror", MIRROR, "--offline", "--json")
    assert ended.status == 0
    (found,) = ended.document["datasets"]
    assert (found["rows_read"], found["items_read"], found["good"], found["rejected"]) == (2, 428, 428, {})
    assert (found["duplicates"], found["ceiling"], found["constant"]) == (3, None, {})


def test_a_dataset_of_no_blueprint_can_be_checked_and_names_its_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "datasets", "check", "longemotion_ed_backup", "--mirror", tmp_path, "--offline", "--json")
    assert ended.status == 1
    (found,) = ended.document["datasets"]
    assert found["needs"] == ["data/Emotion_Detection_backup.jsonl is not here"]


def test_an_absent_dataset_says_which_file_it_needs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "datasets", "check", "piqa", "--mirror", tmp_path, "--offline", "--json")
    assert ended.status == 1
    (found,) = ended.document["datasets"]
    assert (found["ready"], found["rows_read"], found["ceiling"]) == (False, None, None)
    assert found["needs"] == ["piqa/data/valid.jsonl is not here", "piqa/data/valid-labels.lst is not here"]


def test_a_changed_file_is_not_ready(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = tmp_path / "github.com/QuwanAI/MoodBench/data/basic_ability/NLI/copa_parquet/validation-00000-of-00001.parquet"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"another file")
    ended = moodflow(capsys, "datasets", "check", "copa", "--mirror", tmp_path, "--offline", "--json")
    assert ended.status == 1
    (found,) = ended.document["datasets"]
    assert "is not the pinned file" in found["needs"][0]


def test_bundled_sets_can_be_checked_too(capsys: pytest.CaptureFixture[str]) -> None:
    ended = moodflow(capsys, "datasets", "check", "mini_eq_test", "--offline")
    assert ended.status == 0
    assert "ceiling: 100.0" in ended.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "which dataset is to be checked is not clear"),
        (["copa", "--all"], "which dataset is to be checked is not clear"),
        (["coppa"], "did you mean copa"),
        (["copa", "--mirror", "/nowhere/at/all"], "the mirror is not a folder"),
    ],
)
def test_wrong_usage_is_one_message(capsys: pytest.CaptureFixture[str], arguments: list[str], what: str) -> None:
    ended = moodflow(capsys, "datasets", "check", *arguments, "--offline")
    assert (ended.status, ended.out) == (2, "")
    assert what in ended.err


@needs_mirror
@pytest.mark.long
def test_all_sixty(capsys: pytest.CaptureFixture[str]) -> None:
    ended = moodflow(capsys, "datasets", "check", "--all", "--mirror", MIRROR, "--offline", "--json")
    assert ended.status == 1
    found = {dataset["id"]: dataset for dataset in ended.document["datasets"]}
    assert len(found) == 60
    assert {name for name, dataset in found.items() if not dataset["ready"]} == ABSENT
    assert all(found[name]["needs"] for name in ABSENT)
    below = {name for name, dataset in found.items() if dataset["ceiling"] is not None and dataset["ceiling"] < 100 - 1e-9}
    assert below <= AMBIGUOUS
    assert {name for name, dataset in found.items() if dataset["ambiguous"]} == AMBIGUOUS
