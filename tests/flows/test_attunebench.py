"""AttuneBench as a user runs it: models that know the annotations, copy the mood or always say yes, and a judge of drafts."""

import json
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest
import yaml

from schemas.attunebench import TurnGold
from schemas.folders import DATA_FOLDER
from tests.flows.annotating import MODELS, conversations, judge, knowing
from tests.flows.command import Ended, ended
from tests.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("prefect_server")


def share_of_yes(side: str) -> float:
    """What always saying yes earns, in percent: shares of turns, averaged over turns, then over conversations."""

    def of_turn(turn: TurnGold) -> float:
        said = [getattr(one, side) for one in turn.judgements]
        return said.count("yes") / (said.count("yes") + said.count("no"))

    return 100 * fmean(fmean(map(of_turn, gold.turns)) for gold, _ in conversations().values())


def layer(lake: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(sorted((lake / name).rglob("*.parquet")), hive_partitioning=False)


def total(done: Ended, model: str) -> float:
    (score,) = (row["total"] for row in done.document["models"] if row["model"] == model)
    return float(score)


def raw(done: Ended, model: str) -> dict[str, float]:
    return {row["metric"]: row["value"] for row in done.document["raw_scores"] if row["model"] == model}


def test_from_the_conversation_to_the_score(tmp_path: Path) -> None:
    lake, named = tmp_path / "lake", tmp_path / "models.yaml"
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ModelServer(knowing(change))) for name, change in MODELS.items()}
        rating = stack.enter_context(ModelServer(judge))
        entries = [{"name": name, "base_url": server.base_url} for name, server in servers.items()]
        roles = {"draft_judge": {"name": "judge", "base_url": rating.base_url}}
        named.write_text(json.dumps({"models": entries, "roles": roles}))
        command = ("--config", named, "--lake", lake, "--json")
        forecast = ended("run", "attunebench-mini", *command, "--dry-run")
        assert sum(server.calls for server in (*servers.values(), rating)) == 0
        done = ended("run", "attunebench-mini", *command)
        again = ended("run", "attunebench-mini", *command)
        port = ended("run", port_blueprint(tmp_path), *command)
        # Four conversations of three turns: 4 x 3 + 1 calls to each model, and 3 to the judge, who is sent equal drafts once.
        assert {name: (server.calls, server.repeated) for name, server in servers.items()} == dict.fromkeys(MODELS, (52, 0))
        assert (rating.calls, rating.repeated) == (12, 0)
        (entry, *_) = entries
        alone = ended("run", "attunebench-mini", "--model", "oracle", "--base-url", entry["base_url"], *command[2:])
        # Without a judge these are other partitions; their calls are those of before.
        assert (servers["oracle"].calls, servers["oracle"].repeated) == (52, 0)
    assert [run.status for run in (forecast, done, again, port, alone)] == [0] * 5, done.err + port.err + alone.err
    assert again.document["state"] == "UpToDate"
    assert_calls(forecast.document, done.document, layer(lake, "answers"))
    assert_scores(done, port, alone)
    assert_shown(done.document, lake)


def port_blueprint(folder: Path) -> Path:
    """The benchmark, scored as the public port does."""
    blueprint = yaml.safe_load((DATA_FOLDER / "blueprints" / "attunebench-mini.yaml").read_text(encoding="utf-8"))
    blueprint["datasets"]["attunebench_mini"]["methods"][0]["profile"] = "reference"
    path = folder / "port.yaml"
    path.write_text(json.dumps({**blueprint, "name": "port"}))
    return path


def assert_calls(forecast: dict[str, Any], document: dict[str, Any], answers: pl.DataFrame) -> None:
    """5T + 1 of them are foreseen, and stand behind the numbers; each gives one answer."""
    foreseen = {(row["model"], row["role"]): 0 for row in forecast["datasets"]}
    for row in forecast["datasets"]:
        foreseen[row["model"], row["role"]] += row["calls"]
    assert foreseen == {**{(name, "tested"): 52 for name in MODELS}, ("judge", "draft_judge"): 36}
    assert {(row["model"], row["role"]): row["calls"] for row in document["usage"]} == foreseen
    (item,) = answers.filter(model="yes").unique("item_id").sort("item_id").head(1)["item_id"]
    parts = answers.filter(model="yes", item_id=item)["part"]
    calls = ("draft", "judge", "review", "hp_binary", "pairwise")
    assert set(parts) == {"post", *(f"turn {number} {call}" for number in (1, 2, 3) for call in calls)}
    assert len(parts) == 16


def assert_scores(done: Ended, port: Ended, alone: Ended) -> None:
    """Known models have known scores; the mood changed in three of the four conversations."""
    assert total(done, "oracle") == total(alone, "oracle") == pytest.approx(100)
    # Where the mood did not change, nobody can be compared with who copies it: that conversation has 100.
    assert total(done, "copier") == pytest.approx((3 * 94.6 + 100) / 4)
    # The port gives half of the points there, to all.
    assert total(port, "copier") == pytest.approx(94.6)
    assert total(port, "oracle") == pytest.approx((3 * 100 + 94.6) / 4)
    values, unjudged = raw(done, "yes"), raw(alone, "oracle")
    for metric, side in {"binary_om_accuracy": "observed", "binary_human_accuracy": "preferred"}.items():
        assert 100 * values[metric] == 100 * values[f"{metric}_hp"] == pytest.approx(share_of_yes(side))
    # Ratings of 5, 6, 4 and 5 have the mean 5, and 4 of 6 steps; the judge says yes to everything.
    assert values["draft_judge_score"] == pytest.approx(4 / 6)
    assert 100 * values["draft_binary_alignment"] == pytest.approx(share_of_yes("preferred"))
    assert unjudged["draft_judge_score"] is unjudged["draft_binary_alignment"] is None


def assert_shown(document: dict[str, Any], lake: Path) -> None:
    """The report names judge, mode and strategy; a number is explained down to the replies; and the run is verified."""
    page = Path(document["report"]).read_text(encoding="utf-8")
    assert '<th scope="row">Draft judge</th>' in page
    for option in ("mode=&#34;default", "strategy=&#34;absolute", "labels=&#34;neutral"):
        assert f"solvers.annotate.{option}&#34;" in page
    assert "orders chunks" not in page
    told = ended("explain", document["run"], "--dataset", "attunebench_mini", "--model", "copier", "--lake", lake)
    assert (told.status, "95.95" in told.out) == (0, True)
    item = layer(lake, "items")["item_id"][0]
    row = ended("explain", document["run"], "--dataset", "attunebench_mini", "--model", "yes", "--item", item, "--lake", lake)
    assert (row.status, "turn 2 hp_binary" in row.out) == (0, True)
    checked = ended("verify", document["run"], "--lake", lake)
    assert checked.status == 0, checked.out
