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
from tests.flows.command import ended
from tests.flows.scripted_roles import LONG_MINI, READING, VERDICT, best, core, helpers
from tests.model_server import ModelServer
from tests.thinking import FORMS, THOUGHT, Wrap

Messages = list[dict[str, str]]
Reply = Callable[[Messages], str]
USUAL = {("esc_eval", "think"), ("attunebench", "gpt-oss"), ("longemotion", "think")}
"""Plays and forms that are not long: each play once, and both ways in which a thought may come."""

COUNTS = ("n_scored", "n_total")
COLUMNS = {
    "answers": ("dataset", "item_id", "setting", "part", "status", "text"),
    "judgements": ("dataset", "item_id", "setting", "part", "dimension", "parse_status", "rating"),
    "item_scores": ("dataset", "item_id", "setting", "part", "metric", "status", "value"),
    "retrievals": ("dataset", "item_id", "setting", "query", "rank", "chunk", "kept", "enriched"),
    "raw_scores": ("dataset", "method", "metric", "setting", "value", "n_unparsed", *COUNTS),
    "ability_scores": ("ability", "setting", "score_0_100"),
    "totals": ("setting", "total", "total_before_veto", "item_coverage", *COUNTS),
}
"""Columns of layers that say what came of a run. Not compared are those of its models' addresses."""

Serve = Callable[[Reply], ModelServer]
Options = tuple[str | Path, ...]


def esc_eval(serve: Serve, _: Path) -> Options:
    url = serve(test_esc_eval.Cast(test_esc_eval.cards_of("esc-eval-mini"))).base_url
    roles = (part for role in ("judge", "seeker") for part in ("--role", f"{role}={role}@{url}"))
    return ("esc-eval-mini", "--model", "tested", "--base-url", url, *roles)


def attunebench(serve: Serve, _: Path) -> Options:
    tested, judge = serve(annotating.knowing(annotating.MODELS["oracle"])), serve(annotating.judge)
    role = f"draft_judge=judge@{judge.base_url}"
    return ("attunebench-mini", "--model", "oracle", "--base-url", tested.base_url, "--role", role)


def longemotion(serve: Serve, lake: Path) -> Options:
    roles = lake.parent / "roles.json"
    tested, judge = serve(core(lake, "gold")), serve(best)
    roles.write_text(helpers(sage=serve(lambda _: READING), critic=serve(lambda _: VERDICT)), encoding="utf-8")
    command = ("--model", "core", "--base-url", tested.base_url, "--judge", "judge", "--judge-base-url", judge.base_url)
    chosen = ("--datasets", "long_mini_ec_emobench,long_mini_qa,long_mini_ee", "--settings", "coem,self_rag,search_o1")
    return (LONG_MINI, *command, *chosen, "--set", "retrieval.ranking=bm25", "--config", roles)


def came_of(play: Callable[[Serve, Path], Options], wrap: Wrap, lake: Path) -> dict[str, Any]:
    """What was sent to whom, and what is stored, of models whose replies are wrapped; an item of each dataset, without report."""
    with ExitStack() as stack:
        servers: list[ModelServer] = []

        def serve(reply: Reply) -> ModelServer:
            servers.append(stack.enter_context(ModelServer(lambda messages: wrap(THOUGHT, reply(messages)))))
            return servers[-1]

        options = (*play(serve, lake), "--sample", "1", "--set", "bootstrap=0", "--lake", lake, "--json")
        ran = [ended(stage, *options) for stage in ("build", "infer", "score")]
        assert [done.status for done in ran] == [0, 0, 0], ran
        sent = [sorted(json.dumps([body["model"], body["messages"]]) for body in server.bodies) for server in servers]
    rows = {
        name: pl.read_parquet(sorted((lake / name).rglob("*.parquet")), hive_partitioning=False)
        for name in COLUMNS
        if (lake / name).is_dir()
    }
    turns = rows["answers"].select("item_id", pl.col("turns").list.eval(pl.element().struct["text"])).rows()
    tables = {name: sorted(frame.select(COLUMNS[name]).rows(), key=repr) for name, frame in rows.items()}
    return {"sent": sent, "turns": sorted(turns, key=repr), **tables}


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
    assert min(map(len, (*expected["sent"], expected["totals"]))) > 0
    assert {key: rows for key, rows in got.items() if rows != expected[key]} == {}
