from typing import Any

import polars as pl
import pytest

from tasks.benchmarks.attunebench.aggregates import aggregate_conversations, conversation_rows, score_file
from tasks.benchmarks.attunebench.metrics.conversation import score_conversation
from tasks.benchmarks.attunebench.metrics.rules import PROFILES
from tasks.scoring.uncertainty import Resampling
from tests.tasks.benchmarks.attunebench.metrics.samples import WHOLE as WHOLE_CONVERSATION
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle, shown

NONE = Resampling(0, 0)


def scored(item: int, composite_score: float | None, **fields: Any) -> dict[str, Any]:
    names = {"model": "m", "mode": "default", "strategy": "absolute", "item_id": f"c-{item}", "cluster": f"c-{item}"}
    return {**names, "composite_score": composite_score, **fields}


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
    (aggregate,) = written.pop("aggregates")
    assert {name: one for name, one in aggregate.items() if one is not None and "pooled" not in name} == {
        **who,
        "n_conversations": 2,
        "avg_emotion_f1": 0.5,
        "se_emotion_f1": 0,
        "composite_score": 70,
        "se_composite": pytest.approx(10),
    }
    assert written == {
        "metadata": {"profile": "corrected"},
        "conversations": [
            {"conversationId": f"c-{item}", "em_model": "m", "mode": "default", "composite_score": value, "emotion_f1": 0.5}
            for item, value in enumerate((60, 80))
        ],
    }


MEANS = """emotion_hit_rate emotion_hit_rate_tagged_only emotion_intensity_mae emotion_f1 emotion_f1_intensity emotion_va_score
emotion_va_intensity_score binary_om_accuracy binary_human_accuracy binary_om_accuracy_hp binary_human_accuracy_hp
pairwise_accuracy pairwise_kendall_tau response_similarity response_similarity_original response_similarity_llm_improved
response_similarity_human_edited response_preference_alignment draft_judge_score draft_binary_alignment four_branch_mae
panas_normalized panas_item_mae panas_item_normalized q1_looking_for_score q2_emotion_clarity_match q3_model_fit_match
q3_model_fit_ordinal_distance q3_follow_up_score post_four_branch_normalized hp_perspective_gap hp_perspective_alignment
hp_perspective_gap_mcc hp_perspective_alignment_mcc"""
WHOLE = "n_conversations turn_level_average conversation_wide_average composite_score equal_weight_composite se_composite z_score"
POOLED = ["pooled_binary_om_metrics", "pooled_binary_human_metrics"]


def test_an_aggregate_has_all_official_names() -> None:
    """All values of a conversation stand under the official names, those nobody gave as null."""
    known, rules = (WHOLE_CONVERSATION, shown(WHOLE_CONVERSATION)), PROFILES["reference"]
    values = score_conversation(*known, oracle(WHOLE_CONVERSATION), rules)
    written = score_file(conversation_rows([scored(1, **values), scored(2, **values)]), {}, NONE)
    (found,) = written["aggregates"]
    assert {*(f"avg_{name}" for name in MEANS.split()), *WHOLE.split(), *POOLED, *(f"{name}_hp" for name in POOLED)} <= set(found)
    errors = ("emotion_hit_rate", "binary_om_accuracy", "binary_human_accuracy", "pairwise_accuracy", "panas_normalized")
    assert [found[f"se_{name}"] for name in errors] == [0] * 5
    assert found["avg_four_branch_mae"] is found["avg_draft_judge_score"] is None
    assert not {
        f"avg_{name}" for name in ("hit_rate", "kendall_tau", "q1_score", "composite_equal", "preference_alignment")
    } & set(found)
    # Of each of two conversations four judgements are yes or no: B1 yes, B4 no, B6 no, and B1 yes in the second turn.
    ratios = dict.fromkeys(("accuracy", "precision", "recall", "f1", "mcc"), 1)
    assert found["pooled_binary_om_metrics"] == {"tp": 4, "tn": 4, "fp": 0, "fn": 0, **ratios}
    assert (found["avg_hp_perspective_gap"], found["avg_hp_perspective_alignment_mcc"]) == (0, 1)
    assert (found["turn_level_average"], found["equal_weight_composite"]) == (1, 100)
    (first, _) = written["conversations"]
    assert {"conversationId", "em_model", "mode", "emotion_hit_rate", "composite_score"} <= set(first)


def test_equal_composites_have_no_z_score() -> None:
    rows = [*one_model(70), *one_model(70, model="other")]
    assert aggregate_conversations(conversation_rows(rows), NONE).filter(metric="composite_score")["z_score"].to_list() == [
        None,
        None,
    ]
