"""How often a difference is seen where there is none, and equivalence where there is a difference: simulated, with tables."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tasks.statistics.paired import Stratum, compare_pairs, compare_strata
from tasks.statistics.resampling import Floats

pytestmark = pytest.mark.long
DRAWS = 3000
Draw = Callable[[np.random.Generator, int], Floats]


def graded(rng: np.random.Generator, clusters: int) -> Floats:
    """Shares of one item per cluster, in points."""
    return np.multiply(100.0, np.clip(rng.normal(0, 0.2, clusters), -1, 1))


def right(rng: np.random.Generator, n: int, share: float) -> Floats:
    return np.where(rng.random(n) < share, 100.0, 0.0)


def single(rng: np.random.Generator, clusters: int) -> Floats:
    """One item per cluster, right in 70 % of cases by either system."""
    return right(rng, clusters, 0.7) - right(rng, clusters, 0.7)


def of_twelve(rng: np.random.Generator, clusters: int) -> Floats:
    """Clusters of 12 items, right or wrong, that a system finds more or less easy."""
    easy = rng.beta(3, 1.5, clusters)
    sides = [rng.random((clusters, 12)) < np.clip(easy + rng.normal(0, 0.1, clusters), 0, 1)[:, None] for _ in range(2)]
    differences: Floats = np.subtract(*(100.0 * side.mean(axis=1) for side in sides))
    return differences


def alarms(draw: Draw, clusters: int) -> float:
    rng = np.random.default_rng(clusters)
    return 100 * float(np.mean([compare_pairs(draw(rng, clusters), 1.0, 100.0).differs for _ in range(DRAWS)]))


@pytest.mark.parametrize("draw", [graded, single, of_twelve])
def test_one_in_twenty_false_alarms(draw: Draw) -> None:
    shares = {clusters: alarms(draw, clusters) for clusters in (5, 8, 15, 40, 300)}
    print(f"false alarms in % by clusters, {draw.__name__}: {shares}")  # noqa: T201
    # Five items that are right or wrong have too few outcomes for 5 %: four or five must fall, and none rise.
    least = {5: 0.5} if draw is single else {}
    assert [clusters for clusters, share in shares.items() if not least.get(clusters, 3.5) <= share <= 6.5] == []


def datasets(rng: np.random.Generator, sizes: tuple[int, ...]) -> Iterator[Stratum]:
    for size in sizes:
        values = of_twelve(rng, size)
        yield Stratum(1 / len(sizes), float(values.mean()), (values.sum() - values) / (size - 1))


@pytest.mark.parametrize("sizes", [(5, 40), (8, 8, 8, 8), (5, 15, 300)])
def test_totals_of_several_datasets(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    share = 100 * float(np.mean([compare_strata([*datasets(rng, sizes)], 1.0, 100.0).differs for _ in range(DRAWS)]))
    print(f"false alarms in % of datasets with {sizes} clusters: {share}")  # noqa: T201
    assert 3.5 <= share <= 6.5


@pytest.mark.parametrize(("better", "worse"), [(0.99, 0.95), (0.95, 0.90)])
def test_different_models_are_not_equivalent(better: float, worse: float) -> None:
    rng, shares = np.random.default_rng(2), dict[int, float]()
    for n in (5, 10, 20, 50):
        pairs = (right(rng, n, better) - right(rng, n, worse) for _ in range(DRAWS))
        answers = [compare_pairs(pair, 1.0, 100.0).answer for pair in pairs]
        shares[n] = 100 * float(np.mean([answer in {"equivalent", "both"} for answer in answers]))
    print(f"falsely equivalent in % by items, {better} and {worse}: {shares}")  # noqa: T201
    assert max(shares.values()) <= 5
