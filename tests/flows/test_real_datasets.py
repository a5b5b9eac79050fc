"""Datasets that the mirror makes ready, through the whole pipeline: gold is 100, always-A what the check predicts.

One in three; all of them in the long tests.
"""

from pathlib import Path

import polars as pl
import pytest

from tasks.datasets.catalogue import find_dataset
from tasks.sources.locating import Locator
from tasks.verify.dataset_check import check_dataset
from tests.flows.command import Ended, ended
from tests.flows.scripted import Behaviour, policy_of_lake
from tests.mirror import MIRROR, MOODBENCH, needs_mirror, ready
from tests.model_server import ModelServer

pytestmark = needs_mirror

EVERYTHING = 20_000
"""Items per dataset: more than any has."""


def run_real(
    lake: Path, names: tuple[str, ...], behaviour: Behaviour, sample: int, permute: int = 0
) -> tuple[Ended, dict[str, float]]:
    with ModelServer(policy_of_lake(lake, behaviour, permute)) as server:
        model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
        judge = ("--judge", "scripted", "--judge-base-url", server.base_url)
        where = ("--datasets", ",".join(names), "--mirror", MIRROR, "--lake", lake)
        size = ("--sample", str(sample), "--set", f"permute={permute}", "--set", "bootstrap=50")
        done = ended("run", "moodbench", *model, *judge, *where, *size, "--json")
    rows = pl.read_parquet(lake / "dataset_scores/**/*.parquet", hive_partitioning=False)
    return done, dict(rows.drop_nulls("score_0_100").select("dataset", "score_0_100").iter_rows())


@pytest.mark.parametrize(
    ("step", "sample", "permute"),
    [(3, 4, 2), pytest.param(1, 4, 2, marks=pytest.mark.long), pytest.param(1, EVERYTHING, 0, marks=pytest.mark.long)],
)
def test_gold_scores_100_in_every_option_order(tmp_path: Path, step: int, sample: int, permute: int) -> None:
    names = ready()[::step]
    done, scores = run_real(tmp_path, names, "gold", sample, permute)
    assert done.status == 0
    assert {name: round(score, 6) for name, score in scores.items()} == dict.fromkeys(names, 100)
    (model,) = done.document["models"]
    # Part of the gate alone decides nothing.
    assert (model["vetoed"], model["rank"]) == (False if step == 1 else None, None)
    assert model["coverage"] == len(names) / 60


@pytest.mark.long
def test_always_a_scores_what_the_check_predicts(tmp_path: Path) -> None:
    locator = Locator(mirror=MIRROR)
    checks = {name: check_dataset(find_dataset(name), MOODBENCH, locator) for name in ready()}
    predicted = {name: check.constant["A"] for name, check in checks.items() if check.constant}
    assert len(predicted) >= 45
    _, scores = run_real(tmp_path, ready(), "always_a", EVERYTHING)
    assert {name: scores[name] for name in predicted} == pytest.approx(predicted)
