"""`moodflow export` writes the results of past runs as one table."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.flows.command import assert_one_message, ended
from tests.flows.commands.past_runs import PastRuns


def item_scores(runs: PastRuns, run: str) -> int:
    """Rows of the layer in the files that a run lists."""
    listed = pl.read_parquet(runs.lake / "runs" / run / "partitions.parquet").filter(layer="item_scores")
    assert listed["run"].unique().to_list() == [run]
    assert all((runs.lake / path).is_file() for path in listed["path"])
    return int(listed["rows"].sum())


def test_two_runs_stand_side_by_side(runs: PastRuns, tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    names = (runs.before, runs.after)
    # A run that is named twice is written once.
    done = ended("export", *names, runs.before, "--to", file, "--lake", runs.lake, "--json")
    assert done.status == 0, done.err
    results = pl.read_parquet(file)
    rows = {name: results.filter(run=name).height for name in names}
    assert rows == {name: item_scores(runs, name) for name in names}
    assert done.document == {
        "runs": list(names),
        "file": str(file),
        "rows": sum(rows.values()),
        "without_value": results["value"].null_count(),
    }
    # Who knows the gold chooses it, whatever its letter was.
    assert results.filter(run=runs.before, metric="accuracy")["value"].unique().to_list() == [1.0]


def test_forms_hold_the_same_values(runs: PastRuns, tmp_path: Path) -> None:
    for ending in ("parquet", "csv", "sqlite"):
        done = ended("export", runs.after, "--to", tmp_path / f"results.{ending}", "--lake", runs.lake)
        assert (done.status, done.err) == (0, "")
    results = pl.read_parquet(tmp_path / "results.parquet").filter(method="judge")
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as opened:
        of_csv = [row for row in csv.DictReader(opened) if row["method"] == "judge"]
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as connection:
        of_sqlite = connection.execute("SELECT value, ratings FROM results WHERE method = 'judge'").fetchall()
    expected = [(row["value"], row["ratings"]) for row in results.iter_rows(named=True)]
    assert expected
    assert all(len(ratings) == 4 for _, ratings in expected)
    assert [(float(row["value"]), json.loads(row["ratings"])) for row in of_csv] == expected
    assert [(value, json.loads(ratings)) for value, ratings in of_sqlite] == expected


def test_redacted_table_keeps_texts_back(runs: PastRuns, tmp_path: Path) -> None:
    runs = runs.copied(tmp_path, datasets=[{**notice, "redistributable": False} for notice in runs.manifest["datasets"]])
    prompts = {}
    for option in ((), ("--redact",)):
        file = tmp_path / f"results{len(option)}.parquet"
        assert ended("export", runs.after, "--to", file, *option, "--lake", runs.lake).status == 0
        prompts[option] = pl.read_parquet(file)["prompt"]
    assert [each.null_count() for each in prompts.values()] == [0, prompts[()].len()]


def test_columns_are_left_out(runs: PastRuns, tmp_path: Path) -> None:
    left_out = ("--without", "prompt", "--without", "ratings")
    assert ended("export", runs.after, "--to", tmp_path / "some.csv", *left_out, "--lake", runs.lake).status == 0
    head = (tmp_path / "some.csv").read_text(encoding="utf-8").partition("\n")[0].split(",")
    assert (len(head), {"prompt", "ratings"} & set(head)) == (23, set())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ("--to", "results.txt"),
            (
                "results.txt ends in no known format\n",
                ".parquet or .csv or .sqlite or .xlsx\n",
                "for example --to results.parquet\n",
            ),
        ),
        (("--to", "some.csv", "--without", "promt"), ("there is no column promt", "did you mean prompt?")),
        (("nothing", "--to", "some.csv"), ("there is no run nothing",)),
    ],
)
def test_what_cannot_be_written_is_refused(runs: PastRuns, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_one_message(ended("export", runs.after, *arguments, "--lake", runs.lake), *parts)
    assert not Path("some.csv").exists()


def test_records_are_written_for_others(runs: PastRuns, tmp_path: Path) -> None:
    arguments = ("--to", "every-eval-ever", "--out", tmp_path / "data", "--hub-id", "m=maker/model-1", "--organisation", "Lab")
    done = ended("export", runs.before, runs.after, *arguments, "--lake", runs.lake, "--json")
    assert done.status == 0, done.err
    assert done.document["runs"] == [runs.before, runs.after]
    assert len(done.document["files"]) == 2
    records = [json.loads((tmp_path / "data" / file).read_text(encoding="utf-8")) for file in done.document["files"]]
    assert [record["evaluation_id"] for record in records] == [
        f"moodbench-mini/maker_model-1/{run}" for run in (runs.before, runs.after)
    ]
    assert {record["source_metadata"]["source_organization_name"] for record in records} == {"Lab"}


def test_published_table_is_written_for_others(tmp_path: Path) -> None:
    done = ended("export", "--published", "moodbench", "--to", "every-eval-ever", "--out", tmp_path, "--json")
    assert (done.status, len(done.document["files"]), done.document["runs"]) == (0, 30, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "hub"), "hub is written to a folder"),
        (("--to", "some.csv", "--out", "folder"), "a table is one file and has no folder"),
        (("--to", "hub", "--out", "folder"), "no model of the run has an id on the hub"),
        (("--to", "hub", "--out", "folder", "--hub-id", "m=name"), "an id on the hub cannot be read"),
        (("--to", "hub", "--out", "folder", "--published", "moodbench"), "results come from runs, or from a paper's table"),
    ],
)
def test_unfitting_options_are_refused(runs: PastRuns, arguments: tuple[str, ...], message: str) -> None:
    assert_one_message(ended("export", runs.after, *arguments, "--lake", runs.lake), message)
