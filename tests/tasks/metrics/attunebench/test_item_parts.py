import json
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.vocabulary import Profile
from tasks.datasets.attunebench.conversations import ATTUNEBENCH_MINI
from tasks.datasets.building import build_items
from tasks.metrics.attunebench.item_parts import known_items, measure_parts
from tasks.metrics.item_scores import score_items
from tasks.sources.locating import BUNDLED
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


@pytest.mark.parametrize(("profile", "unchanged"), [("corrected", 100), ("reference", 94.6)])
def test_who_knows_the_bundled_annotations_has_100(profile: Profile, unchanged: float) -> None:
    built = build_items(ATTUNEBENCH_MINI, [BUNDLED / "attunebench_mini.jsonl"], None, 0)
    known = known_items(built.items, built.annotations)
    said = {item: {part: json.dumps(one) for part, one in oracle(whole).items()} for item, (whole, _) in known.items()}
    found = {item: measure_parts(known[item], parts, profile)["composite_score"] for item, parts in said.items()}
    # The mood did not change in one of them.
    still = [item for item, (whole, _) in known.items() if whole.pre_panas.items == whole.post_panas.items]
    assert (len(found), len(still)) == (4, 1)
    assert found == {item: pytest.approx(unchanged if item in still else 100) for item in found}
