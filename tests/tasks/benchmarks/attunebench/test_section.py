"""What a model reads well in two conversations about being upset and nervous, worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MetricSpec
from tasks.benchmarks.attunebench.section import read_annotations
from tasks.metrics.item_scores import score_items
from tests.tasks.benchmarks.attunebench.metrics.samples import gold, gold_layers, judged, pairs, tags, turn, visible
from tests.tasks.reporting.example_run import example_data
from tests.tasks.reporting.pages import render_html, section
from tests.tasks.rows import answer, answers, item, items
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, measured, task
from tests.tasks.scoring.samples import items as scored_items

METRICS = [f"binary_{name}_accuracy{end}" for name in ("om", "human") for end in ("", "_hp")]
OWN = measured(*(MetricSpec(metric=name) for name in METRICS), method="annotations")
DESIGN = blueprint(ability("a", task("own")), datasets={"own": OWN})
ANNOTATIONS = {
    "c-1": gold(
        turn(
            emotions=tags(("upset", 5), ("nervous", 3)),
            judgements=judged(B1=("yes", "yes"), B2=("no", "yes")),
            comparisons=pairs(1, "original", "original", "human"),
        ),
        turn(2, emotions=tags(("upset", 2)), judgements=judged(B1=("yes", "no"))),
    ),
    "c-2": gold(
        turn(judgements=judged(B1=("no", "no"))),
        turn(2),
        turn(3, emotions=tags(("upset", 5), ("nervous", None)), judgements=judged(B1=("no", "yes"))),
    ),
}


def words(om: dict[str, str], human: dict[str, str], *emotions: tuple[str, int]) -> dict[str, Any]:
    """Return the reply of a review or of `hp_binary`."""
    listed = [{"emotion": name, "intensity": intensity} for name, intensity in emotions]
    return {"binary_om_assessment": om, "binary_human_prediction": human, **({"emotion_tags": listed} if listed else {})}


YES, NO = {"B1": "yes"}, {"B1": "no"}
REPLIES: dict[str, dict[str, Any]] = {
    "c-1": {
        "turn 1 judge": {"overall_score": 7},
        "turn 1 review": words({**YES, "B2": "yes"}, {**YES, "B2": "yes"}, ("upset", 4), ("guilty", 5)),
        "turn 1 hp_binary": words({**YES, "B2": "no"}, {**NO, "B2": "yes"}),
        "turn 1 pairwise": {"pairwise_selections": {"0": "A", "1": "A", "2": "A"}},
        "turn 2 review": words(YES, YES, ("nervous", 6)),
        "turn 2 hp_binary": words(YES, NO),
    },
    "c-2": {
        "turn 1 review": None,
        "turn 1 hp_binary": words(NO, NO),
        "turn 2 review": {},
        "turn 3 review": words(NO, NO, ("upset", 3)),
    },
}


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The only row of the section in a run about both conversations."""
    rows = [
        answer(name, None if reply is None else json.dumps(reply), part=part)
        for name, replies in REPLIES.items()
        for part, reply in replies.items()
    ]
    asked_items = items(*(item(name, "annotation", context=visible(gold).to_json()) for name, gold in ANNOTATIONS.items()))
    layers: dict[str, pl.DataFrame] = {"items": asked_items, "answers": answers(*rows), **gold_layers(ANNOTATIONS)}
    scores = score_items(asked_items, answers(*rows), None, OWN.methods[0], layers)
    run = run_of(tmp_path_factory.mktemp("annotated"), DESIGN, {**layers, "item_scores": scores}, {"dataset": "own"})
    (row,) = read_annotations(run)
    assert [row[name] for name in ("dataset", "method", "model", "setting")] == ["own", "annotations", "m", "base"]
    return row


def test_perspective_and_pooled_judgements(row: dict[str, Any]) -> None:
    did, wanted = row["judgements"]
    assert (did["judged"], wanted["judged"]) == ("binary_om_accuracy", "binary_human_accuracy")
    # Observer: right, wrong (a false yes), right; right. Turns of the first 1/2 and 1, of the second 1.
    assert did["observer"] == pytest.approx(
        {"n": 4, "accuracy": 0.875, "precision": 2 / 3, "recall": 1, "f1": 0.8, "mcc": 2 / 12**0.5}
    )
    assert did["participant"] == {"n": 4, "accuracy": 1, "precision": 1, "recall": 1, "f1": 1, "mcc": 1}
    # Per conversation, then the mean: 3/4 and 1, 1 and 1.
    assert did["shift"]["accuracy"] == pytest.approx({"gap": -0.125, "ratio": (4 / 3 + 1) / 2})
    # Observer: 2 right, a false yes, a false no: turns 1 and 0, and 0. Person: a false no, 3 right: turns 1/2 and 1, and 1.
    assert (wanted["observer"]["accuracy"], wanted["participant"]["accuracy"]) == (0.25, 0.875)
    assert (wanted["observer"]["mcc"], wanted["participant"]["mcc"]) == pytest.approx((-1 / 3, 2 / 12**0.5))
    # Of the first 0 (never no) and 1 / sqrt(4), of the second 0 on both sides.
    assert wanted["shift"]["mcc"] == pytest.approx({"gap": -1 / 4, "ratio": 0})


def test_emotions_are_recalled_or_others_named(row: dict[str, Any]) -> None:
    # The first review of the second conversation failed and counts nowhere.
    assert row["emotions"] == [
        {"emotion": "upset", "n": 3, "recall": pytest.approx(2 / 3), "instead": {"nervous": 1}},
        {"emotion": "nervous", "n": 2, "recall": 0, "instead": {"guilty": 1, "nothing else": 1}},
        {"emotion": "none", "n": 1, "recall": 0, "instead": {"unread": 1}},
    ]


def test_intensities_of_emotions_in_common(row: dict[str, Any]) -> None:
    # 4 and 3 where the person said 5.
    assert row["intensities"] == [{"intensity": 5, "n": 2, "mean": 3.5}]


def test_scores_by_turn_shrink_with_conversations(row: dict[str, Any]) -> None:
    nothing = (None, 0)
    # Likeness in the first turn (1 + 0.911) / 2, F1 1/2; in the second 0.9483 and F1 0, and 0 of what is unread.
    emotion = [100 * (0.9555 + 0.5) / 2, 100 * 0.9483 / 2 / 2, 100 * (1 / 2 + 2 / 3) / 2]
    expected: dict[str, list[tuple[float | None, int]]] = {
        "pillar_emotion": [(emotion[0], 1), (emotion[1], 2), (emotion[2], 1)],
        "binary_accuracy": [(75, 1), (50, 1), (50, 1)],
        "pairwise_accuracy": [(200 / 3, 1), nothing, nothing],
        "draft_judge_score": [(100, 1), nothing, nothing],
    }
    assert [(turn["turn"], turn["n"]) for turn in row["turns"]] == [(1, 2), (2, 2), (3, 1)]
    for name, scores in expected.items():
        assert [tuple(turn[name].values()) for turn in row["turns"]] == [pytest.approx(score) for score in scores]


def test_a_run_without_conversations_has_no_annotations(tmp_path: Path) -> None:
    # Its blueprint has the dataset, but another one was asked.
    both = blueprint(ability("a", task("own")), ability("b", task("d")), datasets={"own": OWN})
    assert read_annotations(run_of(tmp_path, both, {"item_scores": scored_items("d", [1.0])}, {})) == ()


def test_report_renders_blocks_of_section(row: dict[str, Any]) -> None:
    data = example_data()
    row_of_run = {**row, "dataset": next(iter(data.blueprint.datasets))}
    html = render_html(replace(data, sections={"annotations": (row_of_run,)}))
    assert '<a href="#annotations">Annotated conversations</a>' in html
    words = section(html, "annotations")
    # Observer and person, of what the reply did; upset was tagged in three turns and named in two.
    assert "reply did observer 4 0.875 0.577 0.667 1.000 0.800" in words
    assert "upset 3 67 nervous 1" in words
    assert 'id="annotations"' not in render_html(data)
