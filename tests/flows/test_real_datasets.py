"""Every dataset that the mirror makes ready, through the whole pipeline: gold is 100, always-A what the check predicts."""

from pathlib import Path

import polars as pl
import pytest

from tasks.analysis.dataset_check.checking import check_dataset
from tasks.datasets.catalogue import find_dataset
from tasks.sources.locating import Locator
from tests.flows.command import Ended, ended
from tests.flows.scripted import Behaviour, policy_of_lake
from tests.mirror import MIRROR, MOODBENCH, needs_mirror, ready
from tests.model_server import ModelServer

pytestmark = [needs_mirror, pytest.mark.usefixtures("prefect_server")]

EVERYTHING = 20_000
"""Items per dataset: more than any has."""


def run_all(lake: Path, behaviour: Behaviour, sample: int, permute: int = 0) -> tuple[Ended, dict[str, float]]:
    """The run and the score of each dataset on 0-100."""
    names = ready()
    with ModelServer(policy_of_lake(lake, behaviour, permute)) as server:
        model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
        judge = ("--judge", "scripted", "--judge-base-url", server.base_url)
        where = ("--datasets", ",".join(names), "--mirror", MIRROR, "--lake", lake)
        size = ("--sample", str(sample), "--set", f"permute={permute}", "--set", "bootstrap=50")
        done = ended("run", "moodbench", *model, *judge, *where, *size, "--json")
    rows = pl.read_parquet(lake / "dataset_scores/**/*.parquet", hive_partitioning=False)
    return done, dict(rows.drop_nulls("score_0_100").select("dataset", "score_0_100").iter_rows())


@pytest.mark.parametrize(("sample", "permute"), [(4, 2), pytest.param(EVERYTHING, 0, marks=pytest.mark.long)])
def test_the_gold_content_scores_100_wherever_its_option_stands(tmp_path: Path, sample: int, permute: int) -> None:
    done, scores = run_all(tmp_path, "gold", sample, permute)
    assert done.status == 0
    assert {name: round(score, 6) for name, score in scores.items()} == dict.fromkeys(ready(), 100)
    (model,) = done.document["models"]
    assert (model["vetoed"], model["rank"]) == (False, None)
    assert model["coverage"] == len(ready()) / 60


@pytest.mark.long
def test_always_a_scores_what_the_check_predicts(tmp_path: Path) -> None:
    locator = Locator(mirror=MIRROR)
    checks = {name: check_dataset(find_dataset(name), MOODBENCH, locator) for name in ready()}
    predicted = {
        name: check.reachable.constant["A"] for name, check in checks.items() if check.reachable and check.reachable.constant
    }
    assert len(predicted) >= 45
    _, scores = run_all(tmp_path, "always_a", EVERYTHING)
    assert {name: scores[name] for name in predicted} == pytest.approx(predicted)
