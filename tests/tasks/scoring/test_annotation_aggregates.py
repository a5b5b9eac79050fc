from typing import Any

import polars as pl
import pytest

from tasks.scoring.annotation_aggregates import (
    aggregate_conversations,
    conversation_rows,
    perspective,
    score_file,
)
from tasks.scoring.uncertainty import Resampling

NONE = Resampling(0, 0)


def scored(item: int, composite: float | None, **fields: Any) -> dict[str, Any]:
    names = {"model": "m", "mode": "default", "strategy": "absolute", "item_id": f"c-{item}", "cluster": f"c-{item}"}
    return {**names, "composite_score": composite, **fields}


def one_model(*composites: float | None, **fields: Any) -> list[dict[str, Any]]:
    return [scored(item, composite, **fields) for item, composite in enumerate(composites)]


def row(frame: pl.DataFrame, **key: str) -> dict[str, Any]:
    return frame.filter(metric="composite_score", **key).row(0, named=True)


def test_mean_and_standard_error() -> None:
    found = row(aggregate_conversations(conversation_rows(one_model(60, 70, 80, None)), NONE))
    # The standard deviation is 10, divided by the root of 3.
    assert (found["mean"], found["se"], found["n"]) == (70, pytest.approx(5.773502692, abs=1e-9), 3)
    assert found["z_score"] is found["ci_low"] is None
    assert row(aggregate_conversations(conversation_rows(one_model(60)), NONE))["se"] is None


def test_z_scores_between_rows_and_within_a_mode() -> None:
    rows = [one for name, value in {"a": 60, "b": 70, "c": 80}.items() for one in one_model(value, model=name)]
    rows += one_model(90, model="a", mode="verbose")
    found = aggregate_conversations(conversation_rows(rows), NONE).filter(metric="composite_score")
    in_mode = found.filter(mode="default")
    assert in_mode["z_in_mode"].to_list() == pytest.approx([-1, 0, 1], abs=1e-9)
    # 60 to 90: mean 75, sd of 15, 5, 5, 15 is sqrt(500 / 3)
    assert in_mode["z_score"].to_list() == pytest.approx([-15 / (500 / 3) ** 0.5, -5 / (500 / 3) ** 0.5, 5 / (500 / 3) ** 0.5])
    assert found.filter(mode="verbose")["z_in_mode"].to_list() == [None]


def test_intervals_by_conversation_and_by_person() -> None:
    values = [float(value) for value in range(40, 80, 2)]
    alone = one_model(*values)
    # Two people, one of whom has the lower half: a draw has one of them twice, or both.
    people = [{**one, "cluster": f"p-{place // 10}"} for place, one in enumerate(alone)]
    narrow, wide = (row(aggregate_conversations(conversation_rows(rows), Resampling(500, 1))) for rows in (alone, people))
    assert narrow["mean"] == wide["mean"] == 59
    # +- 1.96 x sqrt(133) / sqrt(20) = 5.1
    assert (narrow["ci_low"], narrow["ci_high"]) == (pytest.approx(59 - 5.1, abs=1), pytest.approx(59 + 5.1, abs=1))
    assert (wide["ci_low"], wide["ci_high"]) == (49, 69)


def test_perspective() -> None:
    assert perspective(0.8, 0.6) == pytest.approx({"gap": 0.2, "ratio": 0.75}, abs=1e-9)
    assert perspective(-0.1, 0.2) == pytest.approx({"gap": -0.3, "ratio": 0}, abs=1e-9)
    assert perspective(None, 0.2) == {"gap": None, "ratio": None}


def test_a_score_file_has_the_official_names() -> None:
    rows = conversation_rows(one_model(60, 80, emotion_f1=0.5))
    written = score_file(rows, {"profile": "corrected"}, Resampling(200, 0))
    # 60 and 80: sd of 10 and 10 is root 200, by root 2
    spread = {"sd": pytest.approx(200**0.5), "se": pytest.approx(10), "min": 60, "max": 80}
    # Of two drawn from two, both are the lower one in a quarter of the draws, and the higher one in a quarter.
    limits = {"ci_low": 60, "ci_high": 80}
    who = {"em_model": "m", "mode": "default", "panas_strategy": "absolute"}
    composite = {**who, "metric": "composite_score", "n": 2, "mean": 70, "median": 70, **spread, **limits}
    assert written.pop("model_stats")[0] == composite
    unknown = {f"perspective_{kind}_{name}": None for name in ("binary_om", "binary_human") for kind in ("gap", "ratio")}
    assert written == {
        "metadata": {"profile": "corrected"},
        "aggregates": [
            {
                **who,
                **unknown,
                "n": 2,
                "avg_emotion_f1": 0.5,
                "se_emotion_f1": 0,
                "composite_score": 70,
                "se_composite": pytest.approx(10),
                "z_score": None,
            }
        ],
        "conversations": [
            {"conversationId": f"c-{item}", "em_model": "m", "mode": "default", "composite_score": value, "emotion_f1": 0.5}
            for item, value in enumerate((60, 80))
        ],
    }


def test_equal_composites_have_no_z_score() -> None:
    rows = [*one_model(70), *one_model(70, model="other")]
    assert aggregate_conversations(conversation_rows(rows), NONE).filter(metric="composite_score")["z_score"].to_list() == [
        None,
        None,
    ]
