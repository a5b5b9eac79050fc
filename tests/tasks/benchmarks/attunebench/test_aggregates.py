from typing import Any

import polars as pl
import pytest

from tasks.benchmarks.attunebench.aggregates import aggregate_conversations, conversation_rows, score_file
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.metrics.conversation import score_conversation
from tasks.benchmarks.attunebench.metrics.rules import PROFILES
from tasks.scoring.uncertainty import Resampling
from tests.tasks.benchmarks.attunebench.metrics.samples import WHOLE, oracle, visible

NONE = Resampling(0, 0)


def scored(item: int, composite_score: float | None, **fields: Any) -> dict[str, Any]:
    names = {"model": "m", "mode": "default", "strategy": "absolute", "item_id": f"c-{item}", "cluster": f"c-{item}"}
    return {**names, "composite_score": composite_score, **fields}


def one_model(*composites: float | None, **fields: Any) -> list[dict[str, Any]]:
    return [scored(item, composite, **fields) for item, composite in enumerate(composites)]


def row(frame: pl.DataFrame, **key: str) -> dict[str, Any]:
    return frame.filter(metric="composite_score", **key).row(0, named=True)


def test_mean_and_standard_error() -> None:
    statistics = row(aggregate_conversations(conversation_rows(one_model(60, 70, 80, None)), NONE))
    # The standard deviation is 10, divided by the root of 3.
    assert (statistics["mean"], statistics["se"], statistics["n"]) == (70, pytest.approx(5.773502692, abs=1e-9), 3)
    assert statistics["z_score"] is statistics["ci_low"] is None
    assert row(aggregate_conversations(conversation_rows(one_model(60)), NONE))["se"] is None


def test_z_scores_between_rows_and_within_mode() -> None:
    rows = [scored(0, value, model=name) for name, value in {"a": 60, "b": 70, "c": 80}.items()]
    rows.append(scored(0, 90, model="a", mode="verbose"))
    statistics = aggregate_conversations(conversation_rows(rows), NONE).filter(metric="composite_score")
    in_mode = statistics.filter(mode="default")
    assert in_mode["z_in_mode"].to_list() == pytest.approx([-1, 0, 1], abs=1e-9)
    # 60 to 90: mean 75, sd of 15, 5, 5, 15 is sqrt(500 / 3)
    assert in_mode["z_score"].to_list() == pytest.approx([-15 / (500 / 3) ** 0.5, -5 / (500 / 3) ** 0.5, 5 / (500 / 3) ** 0.5])
    assert statistics.filter(mode="verbose")["z_in_mode"].to_list() == [None]
    same = aggregate_conversations(conversation_rows([scored(0, 70), scored(0, 70, model="other")]), NONE)
    assert same["z_score"].to_list() == [None, None]


def test_intervals_by_conversation_and_by_person() -> None:
    values = [float(value) for value in range(40, 80, 2)]
    alone = one_model(*values)
    # Two people, one of whom has the lower half: a draw has one of them twice, or both.
    people = [{**of_item, "cluster": f"p-{index // 10}"} for index, of_item in enumerate(alone)]
    narrow, wide = (row(aggregate_conversations(conversation_rows(rows), Resampling(500, 1))) for rows in (alone, people))
    assert narrow["mean"] == wide["mean"] == 59
    # +- 1.96 x sqrt(133) / sqrt(20) = 5.1
    assert (narrow["ci_low"], narrow["ci_high"]) == (pytest.approx(59 - 5.1, abs=1), pytest.approx(59 + 5.1, abs=1))
    assert (wide["ci_low"], wide["ci_high"]) == (49, 69)


def test_score_file_has_the_official_names() -> None:
    rows = conversation_rows(one_model(60, 80, emotion_f1=0.5))
    written: Any = score_file(rows, {"profile": "corrected"}, Resampling(200, 0))
    # 60 and 80: sd of 10 and 10 is root 200, by root 2
    spread = {"sd": pytest.approx(200**0.5), "se": pytest.approx(10), "min": 60, "max": 80}
    # Of two drawn from two, both are the lower one in a quarter of the draws, and the higher one in a quarter.
    limits = {"ci_low": 60, "ci_high": 80}
    key = {"em_model": "m", "mode": "default", "panas_strategy": "absolute"}
    composite = {**key, "metric": "composite_score", "n": 2, "mean": 70, "median": 70, **spread, **limits}
    assert written.pop("model_stats")[0] == composite
    (aggregate,) = written.pop("aggregates")
    assert {name: value for name, value in aggregate.items() if value is not None and "pooled" not in name} == {
        **key,
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


def test_aggregate_has_all_official_names() -> None:
    """All values of a conversation stand under the official names; a missing value is null."""
    values = score_conversation(WHOLE, visible(WHOLE), oracle(WHOLE), PROFILES["reference"])
    written: Any = score_file(conversation_rows([scored(1, **values), scored(2, **values)]), {}, NONE)
    (fields,) = written["aggregates"]
    means = {name.removeprefix("avg_") for name in fields if not name.startswith(("se_", "pooled_"))}
    assert {*load_codebook().score_names.values()} <= means
    assert not means & {"hit_rate", "kendall_tau", "q1_score", "composite_equal", "preference_alignment"}
    errors = ("emotion_hit_rate", "binary_om_accuracy", "binary_human_accuracy", "pairwise_accuracy", "panas_normalized")
    assert [fields[f"se_{name}"] for name in errors] == [0] * 5
    assert fields["avg_four_branch_mae"] is fields["avg_draft_judge_score"] is None
    pooled = [name for name in fields if name.startswith("pooled_")]
    assert pooled == [f"pooled_binary_{name}_metrics{end}" for name in ("om", "human") for end in ("", "_hp")]
    # Each of two conversations has four judgements of yes or no: B1 yes, B4 no, B6 no, and B1 yes in the second turn.
    ratios = dict.fromkeys(("accuracy", "precision", "recall", "f1", "mcc"), 1)
    assert fields["pooled_binary_om_metrics"] == {"tp": 4, "tn": 4, "fp": 0, "fn": 0, **ratios}
    assert (fields["avg_hp_perspective_gap"], fields["avg_hp_perspective_alignment_mcc"]) == (0, 1)
    assert (fields["turn_level_average"], fields["equal_weight_composite"]) == (1, 100)
    (first, _) = written["conversations"]
    assert {"conversationId", "em_model", "mode", "emotion_hit_rate", "composite_score"} <= set(first)
