"""Benchmarks whose models think aloud: what is sent, said and scored is what it is of models that do not."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows import annotating, test_esc_eval
from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import LONG_MINI, READING, VERDICT, best, core, helpers
from tests.model_server import ModelServer
from tests.thinking import FORMS, THOUGHT, Wrap

Messages = list[dict[str, str]]
Reply = Callable[[Messages], str]
USUAL = {("esc_eval", "think"), ("esc_eval", "gpt-oss"), ("attunebench", "think"), ("longemotion", "think")}
"""Plays and forms that are not long: each play once, and both ways in which a thought may come."""

COLUMNS = {
    "answers": ("dataset", "item_id", "setting", "part", "status", "text"),
    "judgements": ("dataset", "item_id", "setting", "part", "dimension", "parse_status", "rating"),
    "item_scores": ("dataset", "item_id", "setting", "part", "metric", "status", "value"),
    "retrievals": ("dataset", "item_id", "setting", "query", "rank", "chunk", "kept", "enriched"),
}
"""Columns of layers that say what came of a run."""


def esc_eval(serve: Callable[[Reply], ModelServer], lake: Path) -> Ended:
    server = serve(test_esc_eval.Cast(test_esc_eval.cards_of("esc-eval-mini")))
    return test_esc_eval.run("esc-eval-mini", server, lake, "--sample", "1")


def attunebench(serve: Callable[[Reply], ModelServer], lake: Path) -> Ended:
    tested, judge = serve(annotating.knowing(annotating.MODELS["oracle"])), serve(annotating.judge)
    roles = f"draft_judge=judge@{judge.base_url}"
    command = ("--model", "oracle", "--base-url", tested.base_url, "--role", roles, "--lake", lake, "--json")
    return ended("run", "attunebench-mini", "--sample", "1", *command)


def longemotion(serve: Callable[[Reply], ModelServer], lake: Path) -> Ended:
    roles = lake.parent / "roles.json"
    tested, judge = serve(core(lake, "gold")), serve(best)
    roles.write_text(helpers(sage=serve(lambda _: READING), critic=serve(lambda _: VERDICT)), encoding="utf-8")
    command = ("--model", "core", "--base-url", tested.base_url, "--judge", "judge", "--judge-base-url", judge.base_url)
    chosen = ("--datasets", "long_mini_ec_emobench,long_mini_qa,long_mini_ee", "--settings", "coem,self_rag,search_o1")
    more = ("--set", "retrieval.ranking=bm25", "--set", "bootstrap=0", "--config", roles, "--lake", lake, "--json")
    return ended("run", LONG_MINI, *command, *chosen, *more)


def came_of(play: Callable[[Callable[[Reply], ModelServer], Path], Ended], wrap: Wrap, lake: Path) -> dict[str, Any]:
    """What was sent to whom, what is stored, and the scores, of models whose replies are wrapped."""
    with ExitStack() as stack:
        servers: list[ModelServer] = []

        def serve(reply: Reply) -> ModelServer:
            servers.append(stack.enter_context(ModelServer(lambda messages: wrap(THOUGHT, reply(messages)))))
            return servers[-1]

        done = play(serve, lake)
        assert done.status == 0, done.err
        sent = [sorted(json.dumps([body["model"], body["messages"]]) for body in server.bodies) for server in servers]
    rows = {
        name: pl.read_parquet(sorted((lake / name).rglob("*.parquet")), hive_partitioning=False)
        for name in COLUMNS
        if (lake / name).is_dir()
    }
    turns = rows["answers"].select("item_id", pl.col("turns").list.eval(pl.element().struct["text"])).rows()
    tables = {name: sorted(frame.select(COLUMNS[name]).rows(), key=repr) for name, frame in rows.items()}
    scores = {name: done.document[name] for name in ("raw_scores", "missing")}
    totals = [(model["total"], model["abilities"]) for model in done.document["models"]]
    return {"sent": sent, "turns": sorted(turns, key=repr), **tables, **scores, "totals": totals}


PLAYS = {"esc_eval": esc_eval, "attunebench": attunebench, "longemotion": longemotion}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What came of each with models that do not think aloud, played once."""
    return cache(lambda name: came_of(PLAYS[name], lambda _, answer: answer, tmp_path_factory.mktemp(name) / "lake"))


@pytest.mark.parametrize(
    ("name", "form"),
    [each if each in USUAL else pytest.param(*each, marks=pytest.mark.long) for each in product(PLAYS, FORMS)],
)
def test_thinking_aloud_changes_nothing(name: str, form: str, plain: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    expected, got = plain(name), came_of(PLAYS[name], FORMS[form], tmp_path / "lake")
    assert sum(map(len, expected["sent"])) > 0
    assert {key: rows for key, rows in got.items() if rows != expected[key]} == {}
