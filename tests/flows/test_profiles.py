"""The same stored replies in both profiles: replies over real HTTP, and the runs of both held against each other."""

from pathlib import Path

import polars as pl

from tests.flows.command import assert_one_message, ended
from tests.flows.scripted import policy
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer


@needs_mirror
def test_failed_calls_are_missing_or_wrong(tmp_path: Path) -> None:
    with ModelServer(policy(("copa",), "gold", MIRROR), fault=lambda number: "401" if number % 2 else None) as server:
        model = ("--model", "scripted", "--base-url", server.base_url, "--set", "bootstrap=0")
        command = ("moodbench", *model, "--datasets", "copa", "--mirror", MIRROR, "--lake", tmp_path)
        assert [ended(stage, *command).status for stage in ("build", "infer")] == [0, 1]
    for profile in ("corrected", "reference"):
        ended("score", *command, "--set", f"profile={profile}")
    raw = pl.concat(map(pl.read_parquet, (tmp_path / "raw_scores").rglob("*.parquet")), how="diagonal")
    assert sorted(raw.select("value", "n_scored").iter_rows()) == [(0.5, 100), (1.0, 50)]
    assert [len(list((tmp_path / name).rglob("*.parquet"))) for name in ("item_scores", "responses")] == [2, 1]


def test_bundled_items_have_no_reference_score(tmp_path: Path) -> None:
    done = ended("build", "moodbench-mini", "--set", "profile=reference", "--lake", tmp_path)
    expected = "no dataset of moodbench-mini is available in the reference profile"
    assert_one_message(done, expected, "it is none of the sixty datasets that the released code scores")
