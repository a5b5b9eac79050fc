"""Answers of a run as samples: the last call that each rests on, its target, its scores and what a judge said of it."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tasks.interchange.samples import count_tokens, exported, identify, read_samples
from tests.tasks.interchange.written_run import restricted, written_run

SHA256 = sha256(b'[{"content": "Who sat? Say a letter.", "role": "user"}]').hexdigest()


def test_sample_has_last_call_of_its_answer(tmp_path: Path) -> None:
    (samples,) = read_samples(written_run(tmp_path))
    assert (samples.dataset, samples.model, samples.setting, samples.scores) == ("d", "org/m", "base", {"accuracy": 0.5})
    first, *others = samples.rows
    assert first == {
        "dataset": "d",
        "setting": "base",
        "item_id": "a",
        "repetition": 0,
        "part": "",
        "turn": 1,
        "messages": [{"content": "Who sat? Say a letter.", "role": "user"}],
        "messages_sha256": SHA256,
        "call_key": "b" * 64,
        "options": ["Ann", "Ben"],
        "option_order": [1, 0],
        "target": "Ben",
        "reply": "B",
        "reasoning": "Ben did.",
        "failure": None,
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "scores": [{"metric": "accuracy", "value": 1.0}],
        "parsed_answer": "Ben",
        "reasons": None,
    }
    # The reply about c was asked for twice, by the same call.
    assert [(row["item_id"], row["repetition"], row["turn"], row["reply"], row["failure"]) for row in others] == [
        ("a", 1, 0, "A", None),
        ("b", 0, 0, None, "timeout_total"),
        ("c", 0, 1, "I hear you.", None),
    ]


def test_target_is_right_option_or_references(tmp_path: Path) -> None:
    (samples,) = read_samples(written_run(tmp_path))
    assert [row["target"] for row in samples.rows] == ["Ben", "Ben", "Ann", "I hear it.\nYes."]
    assert [[score["value"] for score in row["scores"]] for row in samples.rows] == [[1.0], [0.0], [None], []]
    # What the judge says stands by dimension; of depth she gave no reason.
    assert [row["reasons"] for row in samples.rows] == [None, None, None, "depth: 2 \nwarmth: 4 It is kind."]


def test_restricted_dataset_yields_no_samples(tmp_path: Path) -> None:
    run = restricted(written_run(tmp_path))
    assert [*read_samples(run)] == []
    told = exported(run, tmp_path, [tmp_path / "x" / "y.json"], [])
    assert (told.files, told.samples, told.runs) == (("x/y.json",), 0, ("r",))
    assert [each.model_dump() for each in told.withheld] == [{"dataset": "d", "licence": "on request", "lines": False}]


def test_task_is_named_by_setting_unless_base(tmp_path: Path) -> None:
    (samples,) = read_samples(written_run(tmp_path))
    assert (samples.task, replace(samples, setting="cot").task) == ("d", "d-cot")


def test_sample_says_which_call_it_is(tmp_path: Path) -> None:
    (samples,) = read_samples(written_run(tmp_path))
    assert identify(samples.rows[1]) == {
        "prompt_sha256": SHA256,
        "dataset": "d",
        "setting": "base",
        "item_id": "a",
        "repetition": 1,
        "turn": 0,
        "option_order": None,
        "failure": None,
        "reasoning": None,
        "finish_reason": "length",
        "prompt_tokens": 10,
        "completion_tokens": 2,
    }


@pytest.mark.parametrize(
    ("calls", "counts"),
    [
        ([(5, 1), (10, 2)], (15, 3, 18)),
        ([(5, 0)], (5, 0, 5)),
        ([(5, 1), (None, 2)], None),
        ([(5, None)], None),
        ([], None),
    ],
)
def test_tokens_are_added_up_where_counted(calls: list[tuple[Any, Any]], counts: tuple[int, int, int] | None) -> None:
    named = [{"prompt_tokens": sent, "completion_tokens": received} for sent, received in calls]
    expected = counts and dict(zip(("input_tokens", "output_tokens", "total_tokens"), counts, strict=True))
    assert count_tokens(named) == expected
