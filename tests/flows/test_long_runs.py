"""LongEmotion's six settings, from the question to the total, with models whose behaviour is known."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from tests.flows.command import Ended
from tests.flows.scripted_roles import SETTINGS, ScriptedServers, layer, rows_of, scripted_servers

FORECAST = ("base", "rag", "coem", "self_rag", "retrieve_only")
"""Of a model that searches it is not known how often it is asked."""

ABILITIES = {
    "ec_emobench": "emotion_classification",
    "ed": "emotion_detection",
    "qa": "emotion_qa",
    "es": "emotion_summary",
    "mc4": "emotion_conversation",
    "ee": "emotion_expression",
}
RUBRICS = {"mc2": ("mc_stage2", 5), "mc4": ("mc_stage4", 5), "es": ("es_aspects", 5), "ee": ("ee_expression", 100)}
"""By the name of a dataset: its rubric and the highest rating."""

ANSWERED = ("long_mini_ec_emobench", "long_mini_ed", "long_mini_qa")
"""Datasets whose items have one right answer; the others are judged."""

HELP = ("sage", "critic")

FEW = ("ec_emobench", "qa", "mc2", "mc4", "ee")
"""A needle, a text for each question, stages that retrieve nothing and something, and a text written before it is searched."""
DRAWN = ("--sample", "2")
"""Of each of these but the first an item in either language."""
ALL = ("ec_emobench", "ed", "qa", "es", "mc2", "mc4", "ee")
"""One of each task, and a conversation's second stage."""


class Played(NamedTuple):
    names: tuple[str, ...]
    scripted_servers: ScriptedServers
    forecast: dict[str, Any]
    asked: Ended
    scored: Ended

    @property
    def lake(self) -> Path:
        return self.scripted_servers.lake

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(f"long_mini_{name}" for name in self.names)


@pytest.fixture(scope="module", params=[(FEW, DRAWN), pytest.param((ALL, ()), marks=pytest.mark.long)], ids=["few", "all"])
def perfect(
    prefect_server: str,  # noqa: ARG001  the server runs
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Played]:
    names, drawn = request.param
    chosen = ("--datasets", ",".join(f"long_mini_{name}" for name in names), *drawn)
    with scripted_servers(tmp_path_factory.mktemp("perfect") / "lake") as servers:
        # The forecast builds the items.
        forecast = servers.run(*chosen, "--settings", ",".join(FORECAST), "--dry-run").document
        assert sum(servers.calls.values()) == 0
        stages = (servers.ask(stage, *chosen, "--settings", ",".join(SETTINGS)) for stage in ("infer", "score"))
        yield Played(names, servers, forecast, *stages)


def test_gold_answers_score_100_in_every_setting(perfect: Played) -> None:
    assert (perfect.asked.status, perfect.scored.status) == (0, 0), perfect.asked.err
    assert perfect.asked.document["missing"] == perfect.scored.document["missing"] == []
    raw, abilities, totals = (
        rows_of(perfect.lake, perfect.scored.document, name) for name in ("raw_scores", "ability_scores", "totals")
    )
    weighed = {(row["dataset"], row["setting"]) for row in raw if row["metric"] in ("accuracy", "qa_f1", "mean_rating")}
    assert weighed == {(dataset, setting) for dataset in perfect.datasets for setting in SETTINGS}
    assert [row for row in raw if row["value"] != 1 or row["n_unparsed"]] == []
    known = {ability: 100 if name in perfect.names else None for name, ability in ABILITIES.items()}
    of_setting = {(row["setting"], row["ability"]): row["score_0_100"] for row in abilities}
    assert of_setting == {(setting, ability): score for setting in SETTINGS for ability, score in known.items()}
    of_all = (100, len(perfect.names) / 10, False)
    assert {row["setting"]: (row["total"], row["coverage"], row["vetoed"]) for row in totals} == dict.fromkeys(SETTINGS, of_all)


def test_a_forecast_is_what_the_run_then_asks(perfect: Played) -> None:
    expected = Counter[tuple[str, str]]()
    for row in perfect.forecast["datasets"]:
        expected[row["dataset"], row["role"]] += row["calls"] + row["in_journal"]
    # Sage and critic take part in one setting each.
    usage = perfect.asked.document["usage"]
    made = Counter({(row["dataset"], row["role"]): row["calls"] for row in usage if row["role"] in HELP})
    made += Counter((name, "tested") for name in in_forecast(layer(perfect.lake, "responses")).filter(role="tested")["dataset"])
    calls = in_forecast(layer(perfect.lake, "judgements")).select("dataset", "setting", "item_id").unique()
    made += Counter((name, "judge") for name in calls["dataset"])
    # What is written about a situation may be shorter than it may be: no more calls than expected.
    written = {("long_mini_ee", role) for role in HELP}
    assert {key: count for key, count in expected.items() if key not in written} == {
        key: count for key, count in made.items() if key not in written
    }
    assert all(0 < made[key] <= expected[key] for key in written)
    # Of each item 4 + 8 + 8 + 8 chunks.
    assert expected["long_mini_ee", "sage"] == layer(perfect.lake, "items").filter(dataset="long_mini_ee").height * 28
    most = {(row["dataset"], row["role"]) for row in perfect.forecast["datasets"] if row["upper_bound"]}
    assert most == written | {(name, "judge") for name in perfect.datasets if name not in ANSWERED}
    assert "lower bound" not in " ".join(perfect.forecast["notes"])  # a critic without a verdict is not asked again


def in_forecast(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("setting").is_in(FORECAST))
