import json
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.vocabulary import Profile
from tasks.metrics.item_scores import score_items
from tests.tasks.metrics.attunebench.samples import WHOLE, gold, gold_layers, oracle, shown
from tests.tasks.rows import answer, answers, item, items

METRICS = ("pairwise_accuracy", "panas_baseline_adjusted", "composite_score")


def score(profile: Profile, known: Any, **parts: Any) -> pl.DataFrame:
    """Score one item, all of whose parts are as the person said but these; null = the call failed."""
    method = MethodSpec(id="m", profile=profile, metrics=tuple(MetricSpec(metric=name) for name in METRICS))
    said = {**oracle(known), **{name.replace("_", " "): reply for name, reply in parts.items()}}
    rows = [answer("c-1", None if reply is None else json.dumps(reply), part=part) for part, reply in said.items()]
    asked = items(item("c-1", "annotation", context=shown(known).to_json()))
    return score_items(asked, answers(*rows), None, method, gold_layers({"c-1": known})).sort("metric")


@pytest.mark.parametrize(("profile", "value"), [("corrected", None), ("reference", 94.6)])
def test_a_method_has_its_profile(profile: Profile, value: float | None) -> None:
    still = WHOLE.model_copy(update={"post_panas": WHOLE.pre_panas})
    scores = score(profile, still)
    # Nothing changed: dropped, or half of the member.
    assert scores["value"].to_list() == [1, None, pytest.approx(value or 100)]
    assert scores["status"].to_list() == ["scored", "not_counted", "scored"]
    assert scores["part"].to_list() == [""] * 3


def test_a_value_that_is_lost_with_a_call_is_missing() -> None:
    scores = score("corrected", WHOLE, post=None)
    assert scores["status"].to_list() == ["scored", "call_failed", "call_failed"]
    # One of two turns is enough.
    assert score("corrected", WHOLE, turn_1_pairwise=None)["status"].to_list() == ["scored"] * 3


def test_nothing_to_score_is_not_counted() -> None:
    empty = gold()
    assert score("corrected", empty)["status"].to_list() == ["not_counted"] * 3
