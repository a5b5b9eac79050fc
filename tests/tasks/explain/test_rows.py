"""Raw scores broken down into what their formulas are computed from, and the items behind them."""

from pathlib import Path
from typing import Any

import pytest

from schemas.documents.explanation import LabelCount
from schemas.errors import UsageError
from schemas.lineage import CodeVersion
from schemas.tables.scores import ItemScores
from tasks.explain.rows import answered_items, break_down, find_dataset_of
from tasks.lake.lake import Lake
from tasks.runs.evidence import Evidence
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import answer, answers, item
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, labelled, task

DESIGN = blueprint(ability("able", task("d")), ability("kind", task("e")))


def test_a_mean_is_broken_down_into_a_sum() -> None:
    found = break_down(items("d", [1, 0.5, 0, None], status=["scored", "scored", "unparsed", "call_failed"]))
    assert (found.counts, found.value) == ({"sum": 1.5, "n_scored": 3}, 0.5)
    assert found.statuses == {"call_failed": 1, "scored": 2, "unparsed": 1}


def test_macro_f1_is_broken_down_into_labels() -> None:
    # joy: predicted 2, right 1, hit 1; anger: predicted 0 (one unreadable), right 2, hit 0.
    found = break_down(labelled("d", "macro_f1", [["joy"], ["anger"], ["anger"]], [["joy"], ["joy"], None]))
    assert found.labels == (
        LabelCount(label="anger", hits=0, predicted=0, gold=2, f1=0.0),
        LabelCount(label="joy", hits=1, predicted=2, gold=1, f1=2 / 3),
    )
    assert found.value == pytest.approx((0 + 2 / 3) / 2)


def test_micro_f1_is_broken_down_into_hits() -> None:
    found = break_down(labelled("d", "micro_f1", [["x", "y"], ["z"]], [["x"], ["x"]]))
    assert found.counts == {"hits": 1, "predicted": 2, "gold": 3}
    assert found.value == pytest.approx(2 * 1 / (2 + 3))


def test_a_bias_score_is_broken_down_into_roles() -> None:
    chosen = [["target"], ["target"], ["other"], ["unknown"], None]
    found = break_down(labelled("d", "bias_score_disambiguated", [["unknown"]] * 5, chosen))
    assert found.counts == {"target": 2, "other": 1, "unknown": 1, "unreadable": 1, "items": 5}
    # (2 - 1) / 3 over the four that can be read, and 1 for the one that cannot.
    assert found.value == pytest.approx((1 / 3 * 4 + 1) / 5)


def test_binary_f1_of_nothing_is_1() -> None:
    found = break_down(labelled("d", "binary_f1", [[], []], [[], None]))
    assert (found.counts, found.value) == ({"hits": 0, "predicted": 0, "gold": 0}, 1)
    assert found.formula == "2 hits / (predicted + gold), 1 if there is neither"
    assert break_down(labelled("d", "micro_f1", [["x"]], [["x"]])).formula.endswith(", 0 if there is neither")


def test_an_ambiguous_bias_is_scaled_by_its_share() -> None:
    chosen = [["target"], ["unknown"], ["unknown"], ["unknown"]]
    found = break_down(labelled("d", "bias_score_ambiguous", [["unknown"]] * 4, chosen))
    assert found.value == pytest.approx(1 / 1 * 1 / 4)
    assert " x (target + other) / readable;" in found.formula
    assert " x " not in break_down(labelled("d", "bias_score_disambiguated", [["unknown"]], [["other"]])).formula


def test_worst_rows_are_the_lowest_with_a_value(tmp_path: Path) -> None:
    values = [1.0, None, 0.0, 0.5, 0.0]
    asked: dict[str, Any] = {"dataset": "d", "options": ["ice", "tea"], "gold_indices": [0]}
    data = ReportData(
        bare_manifest(),
        DESIGN,
        items=asked_items(*(item(f"d-{n}", "single_choice", **asked) for n in range(5))),
        answers=answers(*(answer(f"d-{n}", None if value is None else "A", dataset="d") for n, value in enumerate(values))),
        item_scores=ItemScores.validate(items("d", values)),
    )
    run = PastRun(bare_manifest(), DESIGN, Lake(tmp_path, CodeVersion("1", None)))

    def ids(worst: int | None) -> list[str]:
        return [row.item_id for row in answered_items(run, Evidence(data, ()), (), worst)]

    assert ids(None) == ["d-0", "d-1", "d-2", "d-3", "d-4"]
    # What has no value is no 0 and comes last.
    assert (ids(3), ids(9)) == (["d-2", "d-4", "d-3"], ["d-2", "d-4", "d-3", "d-0", "d-1"])


def test_the_dataset_of_an_item_is_found(tmp_path: Path) -> None:
    rows = [item(name, "counselor_reply", dataset="d") for name in ("one", "two")]
    layers = {"items": asked_items(*rows), "item_scores": items("d", [1.0])}
    run = run_of(tmp_path, DESIGN, layers, {"dataset": "d"})
    assert find_dataset_of(run, "two", ("d", "e")) == "d"
    for datasets, expected in ((("d",), "the id of one of 2 items of d"), (("e",), "the id of one of 0 items")):
        with pytest.raises(UsageError, match="no item tow was asked in this run") as caught:
            find_dataset_of(run, "tow", datasets)
        assert (caught.value.expected, "did you mean two" in str(caught.value)) == (expected, datasets == ("d",))


def test_an_item_of_two_datasets_is_not_guessed(tmp_path: Path) -> None:
    layers = {"item_scores": items("d", [1.0]), "items": asked_items(item("one", "counselor_reply", dataset="d"))}
    run = run_of(tmp_path, DESIGN, layers, {"dataset": "d"})
    other = run.partitions("items")[0].model_copy(update={"place": (("dataset", "e"),)})
    partitions = (*run.manifest.partitions, other)
    both = PastRun(run.manifest.model_copy(update={"partitions": partitions}), DESIGN, run.lake)
    with pytest.raises(UsageError, match="several datasets have an item one") as caught:
        find_dataset_of(both, "one", ("d", "e"))
    assert (caught.value.got, caught.value.next_step) == ("d, e", "--dataset d")
