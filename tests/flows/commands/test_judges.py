"""`moodflow judges check`: a run and its judge beside ratings by people, good and bad."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import assert_one_message, ended
from tests.flows.test_judged_dimensions import CLUSTERS, judge, run, write_files
from tests.model_server import ModelServer

WARMTH = {"ann": (4, 3, 1, 0), "bob": (4, 1, 1, 1)}
"""Of a1, a2, b1 and b2; the judge says 4, 2, 1, 1."""


def rating(unit: str, rater: str, value: float | None, **more: Any) -> dict[str, Any]:
    said = {"source": "days", "unit_id": unit, "system": "curt", "cluster_id": CLUSTERS.get(unit), "dimension": "warmth"}
    return {**said, "rater": rater, "rater_kind": "expert", "rating": value, "scale": [0, 1, 2, 3, 4], **more}


def people() -> list[dict[str, Any]]:
    return [rating(unit, name, value) for name, values in WARMTH.items() for unit, value in zip(CLUSTERS, values, strict=True)]


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The name of a run of four replies that a judge rated, and its lake."""
    folder = tmp_path_factory.mktemp("judged")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, ModelServer(judge) as server:
        patch.chdir(folder)
        return run("curt", server, folder / "lake").document["run"], folder / "lake"


def test_a_judge_beside_two_people(judged: tuple[str, Path], tmp_path: Path) -> None:
    assert_counts(*judged, tmp_path)
    assert_agreement(*judged, tmp_path)
    assert_wrong_input(*judged, tmp_path)


def assert_agreement(name: str, lake: Path, folder: Path) -> None:
    done = ended("judges", "check", name, "--human", write(folder / "good.jsonl", people()), "--lake", lake, "--json")
    assert (done.status, done.document["good"], done.document["refused"]) == (0, 8, 0)
    table = {(row["judge"], row["statistic"], row["level"]): row for row in done.document["agreements"]}
    exact, mae, bias = (table["judge", one, "pooled"] for one in ("exact", "mae", "bias"))
    sides = ("value", "human_value", "same_targets_value", "constant_value")
    # With ann a1 and b1, with bob these and b2; ann with bob a1 and b1; always 1: one of ann's and three of bob's.
    assert [exact[side] for side in sides] == [0.625, 0.5, 0.625, 0.5]
    # Means 4, 2, 1, 0.5. Ann with bob: 0, 2, 0, 1. The judge with bob 0, 1, 0, 0 and with ann 0, 1, 0, 1. Always 1: 3, 1, 0, 0.5.
    assert [mae[side] for side in sides] == [0.125, 0.75, 0.375, 1.125]
    assert (exact["rubric"], exact["n_units"], exact["n_pairs"], exact["n_clusters"]) == ("kindness", 4, 8, 2)
    assert (bias["value"], table["judge", "spearman", "pooled"]["value"] > 0.9) == (0.125, True)
    # Every reply is four different words; beside "So sorry." none is right. Neither varies, nor has it a scale.
    for metric in ("bleu_1", "bleu_2", "bleu_4", "rouge_l", "distinct_1", "distinct_2"):
        assert [table[metric, one, "pooled"]["value"] for one in ("exact", "spearman")] == [None, None]
        assert table[metric, "spearman", "pooled"]["n_units"] == 4
    assert done.document["across"] == []
    shown = ended("judges", "check", name, "--human", folder / "good.jsonl", "--lake", lake).out
    for part in ("judge kindness", "warmth", "kappa_quadratic", "0.62", "Same targets", "Intervals rest on few clusters"):
        assert part in shown


def assert_counts(name: str, lake: Path, folder: Path) -> None:
    right, wrong = (sha256(text.encode()).hexdigest() for text in ("curt reply to a1", "another text"))
    rows = [
        *({**row, "text_sha256": right} if row["unit_id"] == "a1" else row for row in people()),
        rating("b1", "eve", 1, text_sha256=wrong),
        rating("b2", "eve", None),
        rating("b2", "dan", 3, turn=1),
        rating("b2", "judge-2", 3, rater_kind="judge"),
        rating("zz", "eve", 2),
        rating("a1", "eve", 7),
        rating("a2", "eve", 2),
        rating("a2", "eve", 3),
        rating("a1", "eve", 1, dimension="asks", scale=[0, 1]),
        rating("a2", "eve", 1, dimension="asks"),
    ]
    done = ended("judges", "check", name, "--human", write(folder / "mixed.jsonl", rows), "--lake", lake, "--json")
    document = done.document
    assert (done.status, document["read"], document["good"], document["refused"]) == (1, 18, 13, 5)
    rules = {"rating_is_on_its_scale": 1, "rated_once": 2, "one_scale_and_direction_per_dimension": 2}
    assert document["refused_by_rule"] == rules
    assert [row["line"] for row in document["refused_rows"]] == [14, 15, 16, 17, 18]
    assert document["left_out"] == {"not given, of a turn or by a judge": 3, "of no answer of the run": 1, "of another text": 1}
    (exact,) = (row for row in document["agreements"] if (row["judge"], row["statistic"]) == ("judge", "exact"))
    assert (exact["value"], exact["n_pairs"]) == (0.625, 8)


def assert_wrong_input(name: str, lake: Path, folder: Path) -> None:
    def refused(*parts: str, rows: list[dict[str, Any]], run: str = name) -> None:
        file = write(folder / "bad.jsonl", rows)
        assert_one_message(ended("judges", "check", run, "--human", file, "--lake", lake), *parts)

    refused("there is no column raters", "did you mean rater", rows=[{**rating("a1", "ann", 1), "raters": 2}])
    refused(
        "no rating in the file matches an answer", "system: curt", "system: kind", rows=[rating("a1", "ann", 1, system="kind")]
    )
    refused("no rating in the file", "source: days", rows=[rating("a1", "ann", 9)])
    refused("there is no run nowhere", rows=people(), run="nowhere")
    good, lone = write(folder / "good.jsonl", people()), ("judges", "check", name, "--lake", lake, "--human")
    assert_one_message(ended(*lone, good, "--panel", "mean,mode"), "there is no panel mode", "mean, median, majority, weighted")
    assert_one_message(
        ended(*lone, good, "--panel", "mean", "--panel-min", "2"), "a panel has one member only", "leave --panel out"
    )


def test_dimensions_across_criteria_of_other_names(judged: tuple[str, Path], tmp_path: Path) -> None:
    name, lake = judged
    file = write(tmp_path / "other.jsonl", [{**row, "dimension": "empathy"} for row in people()])
    asked = ("judges", "check", name, "--human", file, "--lake", lake, "--across")
    rows = ended(*asked, "--json").document["across"]
    # People's means 4, 2, 1, 0.5 and the judge's 4, 2, 1, 1: 5 of 6 pairs are in order, one is tied for the judge.
    (kendall,) = (
        row
        for row in rows
        if (row["dimension"], row["criterion"], row["statistic"], row["level"])
        == ("warmth", "empathy", "kendall_tau_b", "pooled")
    )
    assert kendall["value"] == pytest.approx(5 / (5 * 6) ** 0.5)
    shown = ended(*asked).out
    assert "days: kendall_tau_b pooled" in shown
    assert "0.91" in shown
