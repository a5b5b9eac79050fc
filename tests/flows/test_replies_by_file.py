"""Replies from a file are scored like those of a server, to the last bit, and every row is used or refused by its rule."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import polars as pl
import pytest

from tests.flows.command import Ended, ask_mini, assert_one_message, ended
from tests.flows.scripted import policy, reply_in_part
from tests.model_server import ModelServer

CHOICES = "mini_reading_comprehension"
DATASETS = (CHOICES, "mini_first_order_logic_reasoning", "mini_summarization", "mini_eq_test")
COLUMNS = (
    *("dataset", "item_id", "model", "setting", "repetition", "turn", "reply", "reasoning", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "failure"),
)
BLUEPRINT = """
name: numbers
title: Numbers
version: "1.0"
source: our own
level_rules: [{weights: {low: 1}}]
abilities:
  - {id: count, title: Count, tasks: [{id: read, title: Read, level: low, datasets: [items]}]}
datasets:
  items: {title: Items, source: {path: items.jsonl}, methods: [{id: choice, metrics: [{metric: accuracy}]}]}
"""
FEW = ("--set", "bootstrap=20", "--json")
Write = Callable[[pl.DataFrame, Path], object]


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    order = pl.format("[{}]", pl.col("option_order").cast(pl.List(pl.String)).list.join(","))
    frame.with_columns(option_order=order).write_csv(path)


FORMS: dict[str, Write] = {
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "csv": write_csv,
    "parquet": lambda frame, path: frame.write_parquet(path),
}


class Live(NamedTuple):
    """A run of a scripted model that answers 70 of 100 prompts rightly, and its replies as rows of a file."""

    lake: Path
    url: str
    document: dict[str, Any]
    rows: pl.DataFrame


def rows_of(lake: Path) -> pl.DataFrame:
    """Return stored replies as rows of a file, with the order in which the options were shown."""
    frames = (pl.read_parquet(lake / layer / "**/*.parquet", hive_partitioning=False) for layer in ("responses", "items"))
    responses, items = frames
    shown = pl.coalesce("option_order", pl.int_ranges(pl.col("options").list.len()))
    joined = responses.join(items.select("dataset", "item_id", "options"), on=["dataset", "item_id"])
    return joined.with_columns(pl.col("failure").cast(pl.String)).select(*COLUMNS, option_order=shown)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    lake = tmp_path_factory.mktemp("live")
    good, bad = policy(DATASETS, "gold"), policy(DATASETS, "wrong")
    with ModelServer(lambda messages: reply_in_part(70, good, bad, messages)) as server:
        run = ask_mini("run", server.base_url, lake, DATASETS, *FEW)
        yield Live(lake, server.base_url, run.document, rows_of(lake))


def score(file: Path, lake: Path, url: str, *more: str, datasets: tuple[str, ...] = DATASETS) -> Ended:
    judge = ("--judge", "j", "--judge-base-url", url, "--datasets", ",".join(datasets))
    return ended("run", "moodbench-mini", "--replies", file, *judge, "--lake", lake, *FEW, *more)


@pytest.mark.parametrize("form", ["jsonl", "csv", pytest.param("parquet", marks=pytest.mark.long)])
def test_replies_from_a_file_score_as_live(live: Live, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"replies.{form}"
    FORMS[form](live.rows, file)
    done = score(file, tmp_path / "lake", live.url)
    document = done.document
    assert (document["replies"]["refused"], document["replies"]["placed"]) == (0, live.rows.height)
    assert document["raw_scores"] == live.document["raw_scores"]
    (ours,), (theirs,) = document["models"], live.document["models"]
    assert (done.status, ours["total_before_veto"], ours["abilities"]) == (0, theirs["total_before_veto"], theirs["abilities"])
    assert "replies from a file" in ours["headline"]
    stored = pl.read_parquet(tmp_path / "lake/responses/**/*.parquet", hive_partitioning=False)
    assert stored["latency_s"].null_count() == stored.height


def test_each_rule_refuses_its_row(live: Live, tmp_path: Path) -> None:
    row = live.rows.filter(dataset=CHOICES).sort("item_id").to_dicts()
    first, second, third, fourth = row[:4]
    fifth = row[4]
    lines = [
        first,
        {**first, "dataset": "mini_unknown"},
        {**first, "item_id": "no such item"},
        first,
        {**second, "prompt_sha256": "0" * 64},
        {**third, "item_id": None, "prompt_sha256": "0" * 64},
        {**third, "reply": None},
        {**third, "reply": 7},
        {**third, "option_order": [*third["option_order"]][::-1]},
        {**fourth, "turn": 1},
        {**fourth, "setting": "rag"},
        {**fourth, "reply": None, "failure": "content_filter"},
        {**fifth, "item_id": None},
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = score(file, tmp_path / "lake", live.url, datasets=(CHOICES,))
    assert done.document["replies"]["rows"] == [
        {"line": line, "rule": rule}
        for line, rule in (
            (2, "dataset_is_known"),
            (3, "item_is_known"),
            (4, "row_is_unique"),
            (5, "ids_agree"),
            (6, "prompt_is_ours"),
            (7, "reply_or_failure_is_given"),
            (8, "values_are_of_their_types"),
            (9, "option_order_is_that_shown"),
            (10, "call_is_made"),
            (11, "setting_is_asked"),
            (13, "item_or_prompt_is_named"),
        )
    ]
    assert (done.status, done.document["replies"]["placed"]) == (1, 2)
    failures = {row["what"]: row["calls"] for row in done.document["failures"]}
    total = len(row)
    assert sorted(failures.values()) == [1, total - 2]
    stored = pl.read_parquet(tmp_path / "lake/responses/**/*.parquet", hive_partitioning=False)
    assert dict(stored.group_by("failure").len().iter_rows()) == {None: 1, "content_filter": 1, "not_in_file": total - 2}


def test_letters_need_the_order_of_options(live: Live, tmp_path: Path) -> None:
    rows = live.rows.filter(dataset=CHOICES).drop("option_order")
    file = tmp_path / "replies.jsonl"
    rows.write_ndjson(file)
    done = score(file, tmp_path / "lake", live.url, "--set", "permute=1", datasets=(CHOICES,))
    assert done.document["replies"]["rules"] == {"option_order_is_stated": rows.height}


def test_template_names_every_call_and_scores_when_filled(live: Live, tmp_path: Path) -> None:
    file = tmp_path / "fill.jsonl"
    two = DATASETS[2:]
    asked = ("--datasets", ",".join(two), "--lake", live.lake, "--judge", "j", "--judge-base-url", live.url)
    done = ended("replies", "template", "moodbench-mini", *asked, "--model", "m", "--to", file, "--json")
    assert (done.status, done.document["rows"]) == (0, live.rows.filter(pl.col("dataset").is_in(two)).height)
    keys = ["dataset", "item_id", "repetition", "turn"]
    template = pl.read_ndjson(file).drop("reply")
    template.join(live.rows.select(*keys, "reply"), on=keys).write_ndjson(tmp_path / "full.jsonl")
    scored = score(tmp_path / "full.jsonl", tmp_path / "lake", live.url, datasets=two)
    assert scored.status == 0, scored.err
    for name in two:
        assert scores_of(scored.document, name) == scores_of(live.document, name)


def test_option_of_a_server_is_refused(live: Live, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    live.rows.write_ndjson(file)
    done = score(file, tmp_path / "lake", live.url, "--base-url", live.url)
    assert_one_message(done, "replies from a file have no server", "--base-url")


def test_lm_eval_samples_are_read_back(live: Live, tmp_path: Path) -> None:
    first, second = (
        ended("export", "latest", "--lake", live.lake, "--to", "lm-eval", "--out", tmp_path / name, "--json")
        for name in ("a", "b")
    )
    files = first.document["files"]
    assert files == second.document["files"]
    results = json.loads((tmp_path / "a" / next(name for name in files if "/results_" in name)).read_text())
    (samples,) = [tmp_path / "a" / name for name in files if f"samples_{CHOICES}" in name]
    assert results["n-samples"][CHOICES]["effective"] == len(samples.read_text().splitlines())
    done = score(samples, tmp_path / "lake", live.url, datasets=(CHOICES,))
    assert (done.document["replies"]["refused"], done.document["models"][0]["model"]) == (0, "m")
    assert scores_of(done.document, CHOICES) == scores_of(live.document, CHOICES)


def test_every_eval_ever_samples_are_read_back(live: Live, tmp_path: Path) -> None:
    done = ended("export", "latest", "--lake", live.lake, "--to", "every-eval-ever", "--out", tmp_path / "out", "--json")
    (samples,) = (tmp_path / "out").rglob("*_samples.jsonl")
    read = score(samples, tmp_path / "lake", live.url)
    assert (done.status, read.status, read.document["replies"]["refused"]) == (0, 0, 0)
    assert read.document["replies"]["placed"] == live.rows.height
    assert read.document["raw_scores"] == live.document["raw_scores"]


def scores_of(document: dict[str, Any], dataset: str) -> list[dict[str, Any]]:
    return [row for row in document["raw_scores"] if row["dataset"] == dataset]


def test_inspect_logs_are_read_back_and_listed(live: Live, tmp_path: Path) -> None:
    log = pytest.importorskip(
        "inspect_ai.log", reason="needs inspect-ai, which has an environment of its own: docs/replies-by-file.md"
    )
    first, second = (
        ended("export", "latest", "--lake", live.lake, "--to", "inspect", "--out", tmp_path / name, "--json")
        for name in ("a", "b")
    )
    assert first.document["files"] == second.document["files"]
    listed = log.list_eval_logs(str(tmp_path / "a"))
    assert sorted(entry.task for entry in listed) == sorted(name.replace("_", "-") for name in DATASETS)
    (path,) = [tmp_path / "a" / name for name in first.document["files"] if "mini-reading-comprehension" in name]
    read = log.read_eval_log(str(path))
    rows = live.rows.filter(dataset="mini_reading_comprehension").sort("item_id")
    assert [sample.output.completion for sample in read.samples] == rows["reply"].to_list()
    assert [sample.messages[-1].text for sample in read.samples] == rows["reply"].to_list()
    assert [len(sample.messages) - len(sample.input) for sample in read.samples] == [1] * rows.height
    assert read.stats.started_at < read.stats.completed_at
    values = {row["metric"]: row["value"] for row in scores_of(live.document, "mini_reading_comprehension")}
    assert {score.name: score.metrics["mean"].value for score in read.results.scores} == values
    done = score(path, tmp_path / "lake", live.url)
    assert done.document["replies"]["refused"] == 0
    assert scores_of(done.document, "mini_reading_comprehension") == scores_of(live.document, "mini_reading_comprehension")


def test_missing_inspect_names_the_page(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.interchange.inspect_logs.find_spec", lambda _name: None)
    done = ended("export", "latest", "--lake", live.lake, "--to", "inspect", "--out", tmp_path, "--json")
    assert_one_message(done, "logs of Inspect need the package inspect-ai", "moodflow docs replies-by-file says how")


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_three_thousand_replies_score_as_live(tmp_path: Path, form: str) -> None:
    shared_by_all = {"language": "en", "question_type": "single_choice", "options": ["one", "two", "three"]}
    items = [
        {"item_id": f"i{number:04d}", "question": f"What is item {number}?", "gold_indices": [number % 3], **shared_by_all}
        for number in range(3000)
    ]
    (tmp_path / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    blueprint = tmp_path / "numbers.yaml"
    blueprint.write_text(BLUEPRINT)
    shared = ("--sample", "3000", *FEW)
    with ModelServer(lambda messages: "ABC"[crc32(messages[-1]["content"].encode()) % 3]) as server:
        live = ended("run", blueprint, "--model", "m", "--base-url", server.base_url, "--lake", tmp_path / "live", *shared)
    rows = rows_of(tmp_path / "live")
    FORMS[form](rows, file := tmp_path / f"replies.{form}")
    done = ended("run", blueprint, "--replies", file, "--lake", tmp_path / "lake", *shared)
    assert (rows.height, done.document["replies"]["placed"], done.status) == (3000, 3000, live.status)
    assert done.document["raw_scores"] == live.document["raw_scores"]
