from collections.abc import Callable
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from tasks.scoring.reduction import reduce_item_scores
from tasks.scoring.resampling import Floats, Grid, draw_weights, macro_f1_replicates, mean_replicates, micro_f1_replicates
from tests.tasks.scoring.samples import labelled

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
