"""moodflow explain: from a total to the messages that were sent, every step added up once more from what is printed."""

import json
import shlex
import shutil
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import Ended, ended
from tests.flows.commands.past_runs import PastRuns
from tests.rows import each_row


def explain(runs: PastRuns, *options: str) -> Ended:
    return ended("explain", runs.after, *options, "--lake", runs.lake)


def document(runs: PastRuns, *options: str, status: int = 0) -> Any:
    done = explain(runs, *options, "--json")
    assert done.status == status, done.err
    return done.document


def stored(runs: PastRuns, layer: str) -> pl.DataFrame:
    (ref,) = [ref for ref in runs.manifest["partitions"] if ref["layer"] == layer]
    return pl.read_parquet(runs.lake / ref["path"], hive_partitioning=False)


def test_a_total_adds_up_from_what_is_printed(runs: PastRuns) -> None:
    (model,) = document(runs)["models"]
    below = [part for part in model["part"]["parts"] if part["score"] is not None]
    mean = fsum(part["weight"] * part["score"] for part in below) / fsum(part["weight"] for part in below)
    row = stored(runs, "totals").row(0, named=True)
    assert mean == row["total_before_veto"] == model["total"]["total_before_veto"]  # to the last bit
    assert fsum(part["contributes"] for part in below) == pytest.approx(mean, abs=1e-9)
    assert model["gate"]["id"] == "values_safety"
    assert model["gate"]["score"] == model["total"]["gate_score"] < model["gate"]["threshold"]
    assert (model["total"]["vetoed"], model["total"]["gate_coverage"]) == (None, 1 / 6)
    assert model["total"]["coverage"] == row["datasets_scored"] / row["datasets_total"] == 7 / 41


def test_raw_scores_follow_from_printed_rows(runs: PastRuns) -> None:
    found = document(runs, "--dataset", "mini_text_classification")
    values = [score["value"] for row in found["rows"] for score in row["scores"] if score["value"] is not None]
    (metric,) = found["metrics"]
    assert metric["counts"] == {"sum": sum(values), "n_scored": len(values)}
    measured = found["models"][0]["part"]["parts"][0]["measured"]
    assert measured["raw"] == sum(values) / len(values) == metric["value"]
    assert found["models"][0]["part"]["score"] == measured["raw"] * 100
    raw = stored(runs, "raw_scores").row(by_predicate=pl.col("dataset") == "mini_text_classification", named=True)
    assert measured["raw"] == raw["value"]
    # A model that always answers A has, of two orders, each option at A once.
    for row in found["rows"]:
        (chosen,) = [option for option in row["options"] if option["chosen"]]
        assert chosen["letter"] == "A"
        assert row["value"] == float(chosen["gold"])


def test_ratings_are_behind_a_judged_score(runs: PastRuns) -> None:
    found = document(runs, "--dataset", "mini_summarization")
    for row in found["rows"]:
        shares = [(rating["rating"] - rating["lowest"]) / (rating["highest"] - rating["lowest"]) for rating in row["ratings"]]
        assert row["value"] == pytest.approx(sum(shares) / len(shares))
        assert json.loads(row["ratings"][0]["raw_reply"])["fluency"] == 1


def test_every_printed_command_leads_to_what_it_says(runs: PastRuns) -> None:
    step, tiers = document(runs), []
    while step["level"] != "item":
        tiers.append(step["level"])
        following = step["rows"][0]["next"] if "rows" in step else step["next"]
        done = ended(*shlex.split(following)[1:], "--json")
        assert done.status == 0
        step = done.document
    assert tiers == ["total", "ability", "ability", "task", "dataset"]
    assert ended(*shlex.split(step["above"])[1:], "--json").document["level"] == "dataset"


def test_a_row_proves_what_was_sent(runs: PastRuns) -> None:
    row = document(runs, "--dataset", "mini_text_classification")["rows"][0]
    found = document(runs, "--item", row["item_id"])
    assert found["dataset"] == "mini_text_classification"
    assert len(found["asked"]) == 2  # two orders
    paths = [runs.lake / ref["path"] for ref in runs.manifest["partitions"] if ref["layer"] == "responses"]
    responses = pl.concat(pl.read_parquet(path, hive_partitioning=False) for path in paths)
    for asked in found["asked"]:
        (call,) = asked["calls"]
        one = responses.row(by_predicate=(pl.col("call_key") == call["call_key"]), named=True)
        text = json.dumps(call["messages"], ensure_ascii=False, sort_keys=True)
        assert sha256(text.encode()).hexdigest() == call["messages_sha256"] == one["messages_sha256"]
        assert call["proof"] == {"hash_holds": True, "rebuilt": "same", "why": None, "journal": "same", "journal_messages": None}
        lines = call["messages"][0]["content"].splitlines()
        for option in asked["options"]:
            assert f"{option['letter']}. {option['text']}" in lines
        assert [option["index"] for option in asked["options"]] == asked["option_order"]
        assert (call["reply"], call["attempts"], call["status"]) == ("A", 1, "answered")
    assert found["asked"][0]["option_order"] != found["asked"][1]["option_order"]
    items = next(ref for ref in found["stored"] if ref["layer"] == "items")
    source = pl.read_parquet(items["file"], hive_partitioning=False).filter(item_id=row["item_id"])
    assert [found["item"]["source"]["source_row_sha256"]] == source["source_row_sha256"].to_list()


def test_without_a_journal_a_prompt_is_still_proven(runs: PastRuns, tmp_path: Path) -> None:
    copy = runs.copied(tmp_path)
    shutil.rmtree(copy.lake / "journal")
    row = document(copy, "--dataset", "mini_eq_test")["rows"][0]
    proof = document(copy, "--item", row["item_id"])["asked"][0]["calls"][0]["proof"]
    assert (proof["hash_holds"], proof["rebuilt"], proof["journal"]) == (True, "same", "no journal")
    shown = " ".join(explain(copy, "--item", row["item_id"]).out.split())
    assert "rebuilt: same journal: no journal" in shown


def test_worst_rows_come_first_and_only_as_many(runs: PastRuns) -> None:
    dataset = ("--dataset", "mini_degree_of_personalization")
    rows, worst = document(runs, *dataset)["rows"], document(runs, *dataset, "--worst", "3")
    assert [row["value"] for row in worst["rows"]] == sorted(row["value"] for row in rows)[:3]
    assert document(runs, "--task", "Degree of Personalization", "--worst", "3") == worst
    below = sum(row["value"] < 1 for row in rows)
    assert worst["notes"] == [f"{below} of {len(rows)} rows below full marks, 3 shown"]
    context = " ".join(worst["rows"][0]["context"].split())
    assert f"Context: {context[:60]}" in " ".join(explain(runs, *dataset, "--worst", "3").out.split())


def test_a_terminal_is_told_the_same_numbers(runs: PastRuns) -> None:
    out = explain(runs).out
    total = document(runs)["models"][0]["total"]
    assert f"{total['total_before_veto']:.2f}" in out
    assert "7 of 41 datasets" in out
    out = " ".join(explain(runs, "--dataset", "mini_text_classification").out.split())
    assert "sum of values / items scored: sum" in out
    assert "Read as A, right is" in out
    assert "Go deeper: moodflow explain" in out


@each_row(
    ("options", "expected"),
    [
        (("--ability", "emotionl"), "next step: did you mean emotional"),
        (("--ability", "irony_detection"), "next step: it is a task: --task irony_detection"),
        (("--task", "mini_irony_detection"), "next step: it is a dataset: --dataset mini_irony_detection"),
        (("--dataset", "mini_irony_detektion"), "did you mean mini_irony_detection"),
        (("--setting", "rag"), "expected: one of base"),
        (("--ability", "emotional", "--task", "bias_detection"), "task bias_detection does not belong to ability emotional"),
        (("--task", "irony_detection", "--dataset", "mini_eq_test"), "mini_eq_test does not belong to task irony_detection"),
        (("--item", "nothing"), "no item nothing was asked in this run"),
        (("--dataset", "EQ Test"), "next step: it is a task: --task eq_test"),
        (("--worst", "2"), "expected: --dataset with one of mini_bias_detection, mini_morality_detection"),
        (("--where", "nope = 1"), "the condition cannot be read"),
        (("--where", "1 = 1", "--worst", "3"), "one of the three"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(options: tuple[str, ...], expected: str, runs: PastRuns) -> None:
    done = explain(runs, *options)
    assert (done.status, done.out, expected in done.err) == (2, "", True)


def test_texts_of_a_redacted_run_stay_out(runs: PastRuns, tmp_path: Path) -> None:
    row = document(runs, "--dataset", "mini_text_classification")["rows"][0]
    notices = [{**notice, "redistributable": notice["id"] != "mini_text_classification"} for notice in runs.manifest["datasets"]]
    copy = runs.copied(tmp_path, redacted=True, datasets=notices)
    texts = [row["question"], *(option["text"] for option in row["options"])]
    for options in (("--dataset", "mini_text_classification"), ("--item", row["item_id"])):
        for form in ((), ("--json",)):
            out = explain(copy, *options, *form).out
            assert not any(text in out for text in texts)
            assert "withheld" in out or "left out" in out
    call = document(copy, "--item", row["item_id"])["asked"][0]["calls"][0]
    assert call["messages"] is None
    assert call["proof"]["hash_holds"]  # proven all the same
    assert document(copy, "--dataset", "mini_eq_test")["rows"][0]["question"][:5] not in ("", "text ")


def test_items_that_fulfil_a_condition_are_scored_apart(runs: PastRuns) -> None:
    found = document(runs, "--where", "dataset = 'mini_text_classification'")
    assert found["items"]["unknown"] == 0
    (model,) = found["models"]
    (row,) = (row for row in model["scores"] if row["dataset"] == "mini_text_classification")
    whole = document(runs, "--dataset", "mini_text_classification")["models"][0]["part"]
    assert row["complement"]["suppressed"]
    assert row["subset"]["suppressed"] == (found["items"]["subset"] < 5)
    assert row["subset"]["score"] in (None, whole["score"])
    assert "Where dataset = 'mini_text_classification'" in explain(runs, "--where", "dataset = 'mini_text_classification'").out
