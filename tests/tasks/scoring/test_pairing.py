"""Any two of many models: pairs by hand, intervals against scipy."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tasks.scoring.gains import Pairing, pair_models, weigh_gain
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import Resampling
from tests.tasks.scoring.samples import ability, blueprint, items, task

TWO = blueprint(ability("a", task("d")), ability("b", task("e")))
SPEC = ("d", "choice", "accuracy")


def pairing(*parts: pl.DataFrame, resamples: int = 0) -> Pairing:
    return pair_models(pl.concat(parts).lazy(), TWO.datasets, tree_tables(TWO), Resampling(resamples, 0))


def test_each_pair_counts_the_items_that_both_have() -> None:
    found = pairing(
        items("d", [1, 0, 1, 1], "x"), items("d", [0, 0, 1, 1], "y"), items("d", [1, None, 0, 1], "z"), items("e", [1], "x")
    )
    # x and y share all items: 3 / 4 and 2 / 4. x and z share items 0, 2 and 3: 3 / 3 and 2 / 3. No other model has e.
    assert {spec: pair.scores.tolist() for spec, pair in found.pair("x", "y", ["d", "e"]).items()} == {SPEC: [75, 50]}
    assert found.pair("y", "x", ["d"])[SPEC].scores.tolist() == [50, 75]
    apart = found.pair("x", "z", ["d"])[SPEC]
    assert apart.scores.tolist() == pytest.approx([100, 200 / 3])
    assert apart.items == {"d-0", "d-2", "d-3"}
    assert found.pair("x", "unknown", ["d"]) == {}


def test_intervals_of_a_difference_are_those_of_a_paired_bootstrap() -> None:
    generator = np.random.default_rng(7)
    x, y = (generator.random(200) < share for share in (0.6, 0.5))
    # A third model with other items does not change the pair.
    parts = [items("d", list(map(float, values)), model) for model, values in (("x", x), ("y", y))]
    found = pairing(*parts, items("d", [1.0, None] * 100, "z"), resamples=4000)
    limits = weigh_gain(found.pair("y", "x", ["d"]), {SPEC: 1.0})
    apart = weigh_gain(found.pair("z", "x", ["d"]), {SPEC: 1.0})
    for gain, values in ((limits, 100 * (x - y.astype(float))), (apart, 100 * (x[::2] - 1.0))):
        expected = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
        assert (gain["ci_low"], gain["ci_high"]) == pytest.approx((expected.low, expected.high), abs=1.0)
    assert (limits["n_items"], apart["n_items"]) == (200, 100)
