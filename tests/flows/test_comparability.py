"""A model that always says B, over a few datasets with a few items: no place among published models, and the reasons why."""

from pathlib import Path

import pytest

from tests.flows.command import ended
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

pytestmark = [needs_mirror, pytest.mark.usefixtures("prefect_server")]

SIX = "crows_pairs,safetybench_offensiveness,copa,wic,ocnli,eq60"


def test_six_of_sixty_datasets_have_no_place_among_published_models(tmp_path: Path) -> None:
    lake = ("--lake", str(tmp_path))
    with ModelServer(lambda _: "B") as server:
        model = ("--model", "always-b", "--base-url", server.base_url)
        size = ("--sample", "12", "--datasets", SIX, "--mirror", MIRROR, "--set", "rank_incomplete=true")
        run = ended("run", "moodbench", *model, *size, *lake, "--json").document
    (row,) = run["models"]
    assert (row["coverage"], row["vetoed"]) == (0.1, None)
    found = row["comparability"]
    assert (found["verdict"], found["position"]) == ("not comparable", None)
    said = {each["respect"]: each["text"] for each in found["reasons"]}
    assert said["coverage"] == "6 of 60 datasets scored"
    assert said["sample"] == "6 of 60 datasets with fewer items (12 items, in the paper up to 300)"
    assert found["languages"]["gate"] == {"en": 0.5, "zh": 0.5}
    assert {one["dataset"]: one["items"] for one in run["lengths"]} == dict.fromkeys(SIX.split(","), 12)
    for about in ((), ("--dataset", "copa")):
        assert "Beside the published numbers of MoodBench" in " ".join(ended("explain", run["run"], *about, *lake).out.split())
    (listed,) = ended("leaderboard", "moodbench", *lake, "--json").document["models"]
    assert listed["comparability"] == found
    page = Path(run["report"]).read_text(encoding="utf-8")
    assert "Beside the published numbers of MoodBench: not comparable" in page
    assert "ranked published models" not in page
