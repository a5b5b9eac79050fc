"""`moodflow judges certify` over HTTP: a fair judge, one that always says the same, dry run, failures, wrong input."""

import json
from pathlib import Path

import polars as pl

from tests.flows.certifying import REPLIES, certify, fair, rate, rows, write_source
from tests.flows.command import assert_one_message, ended
from tests.model_server import ModelServer


def test_fair_judge_beside_people(tmp_path: Path) -> None:
    with ModelServer(fair) as server:
        dry = certify(tmp_path, server, "--checks", "none", "--dry-run")
        assert (dry.status, dry.document["total"]["calls"], server.calls) == (0, REPLIES, 0), dry.err
        done = certify(tmp_path, server, "--checks", "none")
        assert (done.status, server.calls) == (0, REPLIES), done.err
        again = certify(tmp_path, server, "--checks", "none")
        assert (again.status, again.document["calls"]["sent"], server.calls) == (0, 0, REPLIES), again.err
    document = done.document
    assert (document["texts"], document["ratings"], document["unread"], document["refused"]) == (30, 90, 0, 0)
    (warmth,) = document["dimensions"]
    # It gives the mean of the people, which is the first one's rating.
    assert (warmth["spearman"], warmth["mae"], warmth["bias_steps"]) == (1.0, 0.0, 0.0)
    # Always 3: the distances from 1 to 5 are 2, 1, 0, 1, 2.
    assert warmth["constant_mae"] == 1.2
    assert (warmth["n_units"], warmth["n_clusters"]) == (30, 15)
    assert again.document["dimensions"] == document["dimensions"]
    parquet, stored, page = (tmp_path / "lake" / file for file in document["files"])
    assert json.loads(stored.read_text(encoding="utf-8"))["identity"] == document["identity"]
    assert pl.read_parquet(parquet).filter(statistic="spearman", level="pooled", judge="j")["value"].to_list() == [1.0]
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert (
        text.index("Rule that decided")
        < text.index("People with each other")
        < text.index("All figures</h2>")
        < text.index("Counts and cost</h2>")
    )
    listed = ended("judges", "certificates", "--lake", tmp_path / "lake", "--json")
    assert [row["identity"] for row in listed.document["certificates"]] == [document["identity"]]
