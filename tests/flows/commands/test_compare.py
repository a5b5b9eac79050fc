"""moodflow compare RUN RUN: a model that knows the gold against one that always answers A."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.flows.command import Ended, ended
from tests.flows.commands.past_runs import PastRuns
from tests.rows import each_row


def compare(runs: PastRuns, *options: str) -> Ended:
    return ended("compare", runs.before, runs.after, *options, "--lake", runs.lake)


def values(runs: PastRuns, run: str, dataset: str) -> dict[str, float]:
    manifest = json.loads((runs.lake / "runs" / run / "manifest.json").read_text(encoding="utf-8"))
    scored = [ref for ref in manifest["partitions"] if ref["layer"] == "item_scores"]
    (path,) = [ref["path"] for ref in scored if ["dataset", dataset] in ref["place"]]
    rows = pl.read_parquet(runs.lake / path, hive_partitioning=False)
    return dict(rows.group_by("item_id").agg(pl.col("value").mean()).iter_rows())


def test_compare_holds_scores_items_and_ranks_together(runs: PastRuns) -> None:
    done = compare(runs, "--flips", "2", "--json")
    assert (done.status, done.err) == (0, "")  # that the judge answers at another address matters as little as for ranks
    found = done.document
    (model,) = found["models"]
    changes = {(row["kind"], row["id"]): row for row in model["common"]}
    dataset = changes["dataset", "mini_text_classification"]
    before, after = (values(runs, run, "mini_text_classification") for run in (runs.before, runs.after))
    assert dataset["before"] == 100 == 100 * sum(before.values()) / len(before)
    assert dataset["after"] == pytest.approx(100 * sum(after.values()) / len(after))
    assert dataset["difference"] == pytest.approx(dataset["after"] - 100)
    assert dataset["n_items"] == len(before)
    total = changes["total", "moodbench-mini"]
    assert total["before"] == pytest.approx(model["before"]["total_before_veto"])
    assert total["after"] == pytest.approx(model["after"]["total_before_veto"])
    assert total["ci_low"] <= total["difference"] <= total["ci_high"] < 0
    assert total["answer"] == "different"
    assert {row["id"]: row["before"] for row in model["stored"] if row["kind"] == "ability"}["emotional"] == pytest.approx(100)

    flips = {row["dataset"]: row for row in model["flips"]}
    fell = [item for item in before if after[item] <= 0.5]  # asked in two orders, right in both before
    flipped = flips["mini_text_classification"]
    assert (sorted(flipped["fell"]), flipped["rose"], flipped["binary"]) == (sorted(fell), [], True)
    assert not flips["mini_summarization"]["binary"]  # ratings have no right and wrong
    (shown, *_) = model["flipped"]
    assert shown["direction"] == "fell"
    assert [row["value"] for row in shown["before"]] == [1, 1]
    assert {row["reply"] for row in shown["after"]} == {"A"}


def test_the_terminal_names_what_fell(runs: PastRuns) -> None:
    done = compare(runs, "--flips", "1")
    out = " ".join(done.out.split())
    assert done.status == 0
    told = ("right -> wrong", "of mini_bias_detection fell")
    assert [text for text in told if text not in out] == []


def test_the_largest_fall_comes_first(runs: PastRuns) -> None:
    out = compare(runs).out
    order = ("no total, mean", "Foundational Ability", "Values & Safety", "  Summarization", "  Text Classification", "  EQ Test")
    places = [out.index(name) for name in order]  # the falls: 62, 92, 72, then 100, 81, 50
    assert places == sorted(places)
    assert "Items that flipped: 63 lower, 0 higher; --flips 3 lists them by dataset" in out


def test_a_run_against_itself_has_no_difference(runs: PastRuns) -> None:
    done = ended("compare", runs.after, runs.after, "--lake", runs.lake, "--json")
    assert done.status == 0
    (model,) = done.document["models"]
    assert {row["difference"] for row in model["common"]} == {0}
    assert model["unchanged"]
    assert [row for row in model["flips"] if row["fell"] or row["rose"]] == []
    assert (done.document["differences"], done.document["warnings"]) == ([], [])


def test_runs_of_different_benchmarks_are_refused(runs: PastRuns, tmp_path: Path) -> None:
    plan = {**runs.manifest["plan"], "benchmark": "longemotion-mini"}
    done = compare(runs.copied(tmp_path, benchmark="longemotion-mini", plan=plan))
    assert (done.status, done.out) == (2, "")
    assert "got: moodbench-mini and longemotion-mini" in done.err


@each_row(
    ("arguments", "expected"),
    [
        (("nothing", "nothing"), "there is no run nothing"),
        (("any", "other", "--model", "m"), "No such option: --model"),
        (("moodbench-mini",), "Missing argument 'RUN'"),
    ],
)
def test_wrong_arguments_are_told(arguments: tuple[str, ...], expected: str, runs: PastRuns) -> None:
    done = ended("compare", *arguments, "--lake", runs.lake)
    assert (done.status, done.out) == (2, "")
    assert expected in done.err
