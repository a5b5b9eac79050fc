"""The twelve real datasets through the whole pipeline: gold is 100 on each, wrong is 0."""

from pathlib import Path

import pytest

from tests.flows.command import moodflow
from tests.flows.scripted import Behaviour, policy
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

DATASETS = (
    "copa",
    "wic",
    "rte",
    "ocnli",
    "sst2",
    "imdb",
    "hellaswag",
    "lcqmc",
    "cmrc2018",
    "goemotions",
    "emobench1",
    "moodbench3",
)


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("sample", [20, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize(("behaviour", "value"), [("gold", 1), ("wrong", 0)])
def test_every_real_dataset_can_be_won_and_lost(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, behaviour: Behaviour, value: int, sample: int
) -> None:
    with ModelServer(policy(DATASETS, behaviour, MIRROR)) as server:
        model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
        where = ("--datasets", ",".join(DATASETS), "--mirror", MIRROR, "--sample", str(sample), "--lake", tmp_path)
        ended = moodflow(capsys, "run", "moodbench", *model, *where, "--bootstrap", "20", "--json")
    assert ended.status == 0
    rows = ended.document["raw_scores"]
    assert {row["dataset"]: row["value"] for row in rows} == dict.fromkeys(DATASETS, value)
    assert {row["n_unparsed"] for row in rows} == {0}
    assert min(row["n_total"] for row in rows) == min(sample, 100)  # COPA has 100 rows
    # The gate has no dataset among the twelve: the veto is undecided, and nobody below full coverage is ranked.
    (model_row,) = ended.document["models"]
    assert (model_row["vetoed"], model_row["rank"], model_row["coverage"]) == (None, None, 12 / 60)
    assert model_row["abilities"]["values_safety"] is None
