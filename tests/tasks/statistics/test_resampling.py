"""Replicates of one metric; items that share a source are drawn together; parts of an item are averaged first."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from schemas.blueprint import MetricSpec
from schemas.metrics import METRICS
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import setting_gains
from tasks.scoring.label_scores import preference_replicates
from tasks.scoring.reduction import average_parts, reduce_item_scores
from tasks.statistics.resampling import (
    Floats,
    Grid,
    design_effects,
    draw_weights,
    expanded_tail,
    macro_f1_replicates,
    mean_replicates,
    micro_f1_replicates,
    place_clusters,
)
from tests.tasks.scoring.samples import ability, blueprint, by_labels, items, labelled, one_dataset, share, task

DESIGN = blueprint(ability("a", task("d")))
SETTINGS = ScoreSettings()


def placed(values: list[float], clusters: str) -> pl.DataFrame:
    rows = pl.DataFrame({"system": 0, "item_id": [f"i{n}" for n in range(len(values))], "cluster": list(clusters)})
    return place_clusters(rows.with_columns(value=pl.Series(values, dtype=pl.Float64)))


def test_design_effect_by_hand() -> None:
    # 1 1 | 0: mean 2/3, sums 2/3 and -2/3. SE^2 = 2/1 x (4/9 + 4/9) / 9 = 16/81; variance/n = (1/3) / 3 = 1/9.
    assert design_effects(placed([1, 1, 0], "xxy"))["design_effect"].item() == pytest.approx(16 / 9)
    # 1 0 | 1 0: the clusters are alike, the mean varies with them not at all.
    assert design_effects(placed([1, 0, 1, 0], "xxyy"))["design_effect"].item() == 0.0


def test_repetitions_are_averaged_before_the_design_effect() -> None:
    rows = placed([1, 1, 0], "xxy")
    # The first item four times, with the mean 1.
    again = [rows.filter(item_id="i0").with_columns(value=pl.lit(value)) for value in (0.5, 1.5, 1.0)]
    assert design_effects(pl.concat([rows, *again]))["design_effect"].item() == pytest.approx(16 / 9)


@pytest.mark.parametrize(
    ("values", "clusters"), [([1, 0, 1], "xyz"), ([1, 0, 1], "xxx"), ([1, 1, 1], "xxy")], ids=["alone", "one", "equal"]
)
def test_no_design_effect(values: list[float], clusters: str) -> None:
    assert design_effects(placed(values, clusters))["design_effect"].item() is None


def test_single_item_clusters_keep_item_places() -> None:
    rows = pl.DataFrame({"item_id": ["c", "a", "b", "a"], "cluster": ["1", "3", "2", "3"]})
    assert dict(place_clusters(rows).select("item_id", "place").iter_rows()) == {"a": 0, "b": 1, "c": 2}


def test_item_takes_cluster_any_row_states() -> None:
    rows = pl.DataFrame({"item_id": ["a", "b", "c", "a", "b"], "cluster": ["a", "b", "c", "x", "x"]})
    assert set(place_clusters(rows).select("item_id", "cluster", "place").iter_rows()) == {
        ("a", "x", 0),
        ("b", "x", 0),
        ("c", "c", 1),
    }


def scored(frame: pl.DataFrame, design: Any = DESIGN) -> pl.DataFrame:
    return score_benchmark(frame.lazy(), design, SETTINGS).raw


def test_cluster_names_change_nothing() -> None:
    values: list[float | None] = [1.0, 0.0, 0.5, 1.0, None, 0.25]
    plain = scored(items("d", values))
    named = scored(items("d", values, cluster=["f", "e", "d", "c", "b", "a"]))
    assert plain.equals(named)
    assert plain.select("n_clusters", "design_effect").row(0) == (5, None)


def test_interval_of_clusters_is_that_of_their_means() -> None:
    """Forty clusters of two equal items: the interval of forty values, and twice the variance of eighty."""
    values = share(26, 40)
    pairs: list[float | None] = [value for value in values for _ in range(2)]
    twice = items("d", pairs, cluster=[f"c{n:02}" for n in range(40) for _ in range(2)])
    names = {f"d-{n}": f"d-{n:02}" for n in range(80)}
    of_clusters = scored(twice.with_columns(pl.col("item_id").replace(names)))
    # p = 0.65 of n = 39 answers, t of 39 degrees: 2.022691.
    lost = 2.022691**2 / 39
    middle, half = (0.65 + lost / 2) / (1 + lost), (0.2275 * lost + lost**2 / 4) ** 0.5 / (1 + lost)
    assert of_clusters.select("ci_low", "ci_high").row(0) == pytest.approx((middle - half, middle + half), abs=1e-6)
    # SE^2 = 40/39 x 4 x S / 80^2, where S sums 40 squares; variance/n = 2 S / (79 x 80). The ratio is 2 x 79/78.
    assert of_clusters.select("n_clusters", "design_effect").row(0) == (40, pytest.approx(2 * 79 / 78))


def test_f1_is_counted_over_clusters() -> None:
    gold, said = [["a"], ["b"]] * 20, [["a"], ["a"]] * 20
    found = scored(labelled("d", "micro_f1", gold, said, cluster=[f"c{n // 2}" for n in range(40)]), by_labels("micro_f1"))
    # Each cluster has one hit of two: without any of them F1 is 2 x 1 / 4. With t of 19 degrees, u = 4.380750 / 24.380750.
    u = 4.380750 / 24.380750
    assert found.select("ci_low", "ci_high").row(0) == pytest.approx((0.5 - u / 2, 0.5 + u / 2), abs=1e-6)
    assert found.select("n_clusters", "design_effect").row(0) == (20, None)


def test_terms_within_a_cluster_stay_apart() -> None:
    """One cluster holds an item of either term; drawn twice beside none of the other cluster, both terms count once."""
    order = ["stereotype", "anti_stereotype", "unrelated"]
    rows = pl.DataFrame({"predicted": [order] * 3, "gold": [["nurse"], ["chef"], ["chef"]], "value": [1.0, 0.5, 0.0]})
    weights = np.array([[2.0, 1.0], [0.0, 1.0]])
    found = preference_replicates(rows, "language_model_score", Grid(1, 2, np.array([0, 0, 1])), weights)
    # (1 + 0.5) / 2; then the chef has (0.5 + 0) / 2: (1 + 0.25) / 2.
    assert found[0].tolist() == [0.75, 0.625]


def gain(rows: pl.DataFrame) -> dict[str, Any]:
    return setting_gains(rows.lazy(), DESIGN).filter(scope="d").row(0, named=True)


def test_gains_draw_clusters() -> None:
    values: list[float | None] = [1.0, 1.0, 0.0, 0.0] * 3
    clusters = [f"c{n // 2}" for n in range(12)]
    base = items("d", [0.0] * 12, setting="base", cluster=clusters)
    rag = items("d", values, setting="rag", cluster=clusters)
    both, mixed = gain(pl.concat([base, rag])), gain(pl.concat([items("d", [0.0] * 12), rag]))
    assert both == mixed
    alone = gain(pl.concat([items("d", [0.0] * 12), items("d", values, setting="rag")]))
    assert both["gain"] == alone["gain"] == 50.0
    assert both["ci_high"] - both["ci_low"] > alone["ci_high"] - alone["ci_low"]


def in_parts(values: list[float | None], item: str, **columns: Any) -> pl.DataFrame:
    rows = items("d", values, part=[f"turn {n}" for n in range(len(values))], **columns)
    return rows.with_columns(item_id=pl.lit(item))


def test_parts_are_averaged_before_items() -> None:
    # Two turns with 1 and 0, four with 1: (0.5 + 1) / 2, not 5 / 6.
    rows = pl.concat([in_parts([1.0, 0.0], "a"), in_parts([1.0] * 4, "b")])
    found = reduce_item_scores(rows.lazy()).row(0, named=True)
    assert (found["value"], found["n_scored"], found["n_total"]) == (0.75, 2, 2)


def test_item_is_missing_if_part_of_it_is() -> None:
    half_counted = [in_parts([1.0], "d"), in_parts([None], "d", status="not_counted").with_columns(part=pl.lit("turn 1"))]
    rows = pl.concat(
        [
            in_parts([1.0, None], "a"),
            in_parts([None, None], "b", status="judge_failed"),
            in_parts([0.0, 0.0], "c", status="unparsed"),
            *half_counted,
        ]
    )
    averaged = average_parts(rows.lazy()).collect().sort("item_id")
    assert averaged.select("item_id", "value", "status").rows() == [
        ("a", None, "call_failed"),
        ("b", None, "judge_failed"),
        ("c", 0.0, "unparsed"),
        ("d", 1.0, "scored"),
    ]
    found = reduce_item_scores(rows.lazy()).row(0, named=True)
    assert (found["value"], found["n_scored"], found["n_unparsed"], found["n_total"]) == (0.5, 2, 1, 4)


def test_parts_stay_within_their_repetition() -> None:
    twice = pl.concat([in_parts([1.0, 0.0], "a"), in_parts([1.0, 1.0], "a", repetition=1)])
    assert average_parts(twice.lazy()).collect().sort("repetition")["value"].to_list() == [0.5, 1.0]
    labels = labelled("d", "micro_f1", [["a"], ["b"]], [["a"], ["a"]], part=["1", "2"]).with_columns(item_id=pl.lit("i"))
    # 2 x 1 hit / (2 named + 2 right).
    assert reduce_item_scores(labels.lazy())["value"].item() == 0.5


def test_a_mean_over_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS.by_name, "mrr", replace(METRICS["mrr"], reduction="clusters"))
    design = one_dataset(MetricSpec(metric="mrr"))
    rows = items("d", [1.0, 1.0, 1.0, 0.0], metric="mrr", cluster=["x", "x", "x", "y"])
    found = scored(rows, design).row(0, named=True)
    # (1 + 0) / 2, not 3 / 4. Without x or y it is 0 or 1: s^2 = 1/4, n = 1, t of 1 degree 12.706205.
    lost = 12.706205**2
    half = (0.25 * lost + lost**2 / 4) ** 0.5 / (1 + lost)
    assert found["value"] == 0.5
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert (found["n_clusters"], found["design_effect"]) == (2, None)


@pytest.mark.parametrize(("clusters", "near"), [(2, 1e-9), (4, 1e-3), (10, 1e-5), (300, 1e-9)])
def test_less_is_cut_off_where_clusters_are_few(clusters: int, near: float) -> None:
    t = stats.t.ppf(0.975, clusters - 1)
    assert expanded_tail(clusters) == pytest.approx(stats.norm.cdf(-np.sqrt(clusters / (clusters - 1)) * t), abs=near)


def binary(rng: np.random.Generator, clusters: int, size: int) -> pl.DataFrame:
    """Items that are right at their cluster's own rate, drawn from Beta(2, 2): half of all, with a correlation of 1 / 5."""
    right = rng.random((clusters, size)) < rng.beta(2, 2, (clusters, 1))
    names = [f"c{number:03}" for number in range(clusters) for _ in range(size)]
    values: list[float | None] = right.astype(float).ravel().tolist()
    return items("d", values, cluster=names) if size > 1 else items("d", values)


@pytest.mark.parametrize("seed", range(3))
def test_interval_of_clusters_is_near_that_of_a_plain_bootstrap(seed: int) -> None:
    """As SemEval-2018 Task 1 whole: clusters of eleven, here thirty, resampled one by one with numpy."""
    rng = np.random.default_rng(seed)
    frame = binary(rng, 30, 11)
    means = frame["value"].to_numpy().reshape(30, 11).mean(axis=1)
    plain = [means[rng.integers(30, size=30)].mean() for _ in range(20_000)]
    # Phi(-sqrt(30 / 29) x 2.0452), t of 29 degrees of freedom: 0.0187.
    expected = np.quantile(plain, [0.0187, 0.9813])
    assert scored(frame).select("ci_low", "ci_high").row(0) == pytest.approx(expected, abs=0.01)


LABELS = ["joy", "grief", "anger"]


def every_cell(systems: int, items: int) -> Grid:
    return Grid(systems, items, np.arange(systems * items))


def test_resample_draws_as_many_items_as_there_are() -> None:
    weights = draw_weights("d", 7, 50, seed=0)
    assert weights.shape == (7, 50)
    assert (weights.sum(axis=0) == 7).all()
    assert (weights == np.round(weights)).all()
    # The chance that an item is left out is (6/7)**7 = 0.34.
    assert np.mean(weights == 0) == pytest.approx(0.34, abs=0.06)


def test_batch_size_changes_no_resample() -> None:
    generator = np.random.default_rng([3, int.from_bytes(sha256(b"d").digest()[:8], "big")])
    drawn = generator.integers(5, size=(41, 5))
    counts = [[list(row).count(cluster) for row in drawn] for cluster in range(5)]
    assert draw_weights("d", 5, 41, seed=3).tolist() == counts


def test_draws_follow_seed_and_dataset() -> None:
    same = draw_weights("d", 20, 10, seed=1)
    assert (draw_weights("d", 20, 10, seed=1) == same).all()
    assert (draw_weights("d", 20, 10, seed=2) != same).any()
    assert (draw_weights("e", 20, 10, seed=1) != same).any()


def test_mean_by_hand() -> None:
    # Unit 0 has values 1, 0.5, 0; system 1 has only the last item, 0.25. Resamples: (3, 0, 0), (1, 1, 1), (0, 1, 2).
    grid = Grid(2, 3, np.array([0, 1, 2, 5]))
    weights = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    found = mean_replicates(np.array([1.0, 0.5, 0.0, 0.25]), grid, weights)
    # 3 / 3, 1.5 / 3, 0.5 / 3; system 1 is not in the first resample.
    assert found[0].tolist() == pytest.approx([1.0, 0.5, 0.5 / 3])
    assert np.isnan(found[1, 0])
    assert found[1, 1:].tolist() == [0.25, 0.25]


def test_replicates_do_not_depend_on_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    values, order = rng.random(3 * 40), rng.permutation(3 * 40)
    weights = draw_weights("d", 40, 100, seed=0)
    found = mean_replicates(values, every_cell(3, 40), weights)
    shuffled = mean_replicates(values[order], Grid(3, 40, np.arange(120)[order]), weights)
    assert (found == shuffled).all()
    plain = values.reshape(3, 40) @ weights / 40
    assert found == pytest.approx(plain, abs=1e-12)


def label_rows(rng: np.random.Generator, count: int) -> pl.DataFrame:
    def labels(smallest: int) -> list[str]:
        return list(rng.choice(LABELS, size=rng.integers(smallest, 3), replace=False))

    rows = {"predicted": [labels(0) for _ in range(count)], "gold": [labels(1) for _ in range(count)]}
    return pl.DataFrame(rows, schema={"predicted": pl.List(pl.String), "gold": pl.List(pl.String)})


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_f1_of_each_resample_as_scikit_learn(average: str) -> None:
    """Two systems of eight items: each replicate is scikit-learn's F1 of the items drawn, as their raw score is."""
    rows, weights = label_rows(np.random.default_rng(3), 16), draw_weights("d", 8, 40, seed=0)
    replicates = {"macro": macro_f1_replicates, "micro": micro_f1_replicates}[average](rows, every_cell(2, 8), weights)
    for system in range(2):
        for resample in range(weights.shape[1]):
            drawn = 8 * system + np.repeat(np.arange(8), weights[:, resample].astype(int))
            gold, predicted = rows["gold"].gather(drawn).to_list(), rows["predicted"].gather(drawn).to_list()
            occurring = sorted({label for labels in [*gold, *predicted] for label in labels})
            binarizer = MultiLabelBinarizer(classes=occurring)
            truth, guess = binarizer.fit_transform(gold), binarizer.fit_transform(predicted)
            expected = f1_score(truth, guess, average=average, zero_division=0)
            assert replicates[system, resample] == pytest.approx(expected, abs=1e-12)
            if resample < 10:
                raw = reduce_item_scores(labelled("d", f"{average}_f1", gold, predicted).lazy())
                assert raw["value"].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("replicates", [macro_f1_replicates, micro_f1_replicates])
def test_undrawn_f1_is_undefined_unlabelled_zero(replicates: Callable[..., Floats]) -> None:
    # Unit 0 has item 0 only. In the second resample only item 1 is drawn.
    labels = {name: pl.List(pl.String) for name in ("predicted", "gold")}
    rows = pl.DataFrame({"predicted": [None, ["joy"], ["joy"]], "gold": [["joy"], ["joy"], ["grief"]]}, schema=labels)
    found = replicates(rows, Grid(2, 2, np.array([0, 2, 3])), np.array([[2.0, 0.0], [0.0, 2.0]]))
    assert found[0, 0] == 0.0
    assert np.isnan(found[0, 1])
    assert found[1].tolist() == [1.0, 0.0]
