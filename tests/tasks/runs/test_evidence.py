"""What a model answered to an item and what that earned, read from a lake and told as one row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import MetricSpec
from schemas.documents.answered_item import AnsweredItem
from schemas.lineage import DatasetNotice
from tasks.runs.evidence import answered_item, read_evidence
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tests.tasks.rows import answer, answers, item
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import items, one_dataset

M = System("m", "base")
DESIGN = one_dataset(MetricSpec(metric="accuracy"), MetricSpec(metric="strict_accuracy"))
NOTICE = DatasetNotice(
    id="d", title="D", licence="research only", redistributable=False, sources=("example.org",), evaluation_version="1"
)


def left(folder: Path, given: list[dict[str, Any]], *scores: pl.DataFrame) -> PastRun:
    """A run with these answers to items of one choice each, ice (right) or tea, and these scores."""
    asked: dict[str, Any] = {"dataset": "d", "options": ["ice", "tea"], "gold_indices": [0]}
    layers = {
        "items": asked_items(*(item(f"d-{n}", "single_choice", **asked) for n in range(len(given)))),
        "answers": answers(*(answer(f"d-{n}", row.pop("text", None), dataset="d", **row) for n, row in enumerate(given))),
        "item_scores": pl.concat(scores),
    }
    return run_of(folder, DESIGN, layers, {"dataset": "d", **M._asdict()})


def told(run: PastRun) -> list[AnsweredItem]:
    evidence = read_evidence(run, "d", M)
    return [answered_item(run, evidence, key, ()) for key in evidence.answers]


def test_a_row_has_the_mean_of_its_metrics(tmp_path: Path) -> None:
    chosen: dict[str, Any] = {"parsed_answer": "tea", "chosen_place": 0}
    scores = (items("d", [1.0], **chosen), items("d", [0.5], metric="strict_accuracy", **chosen))
    (row,) = told(left(tmp_path, [{"text": "A", "option_order": [1, 0]}], *scores))
    assert (row.item_id, row.repetition, row.value, row.call, row.reply) == ("d-0", 0, 0.75, "answered", "A")
    # Shown in the other order: A was the second option of the item.
    shown = [(option.letter, option.index, option.text, option.gold, option.chosen) for option in row.options or ()]
    assert shown == [("A", 1, "tea", False, True), ("B", 0, "ice", True, False)]
    assert [score.why for score in row.scores] == ["Read as A, right is B."] * 2
    assert row.next == f"moodflow explain r --dataset d --item d-0 --lake {tmp_path}"


def test_a_missing_value_says_whose_call_failed(tmp_path: Path) -> None:
    given = [{"failed_role": "seeker"}, {}, {"text": "A"}, {"text": "A"}]
    status = ["call_failed", "call_failed", "judge_failed", "not_counted"]
    rows = told(left(tmp_path, given, items("d", [None] * 4, status=status)))
    lost = "The call failed, so the item has no score: it is missing and not 0. What went wrong: timeout_total"
    assert [row.scores[0].why for row in rows] == [
        f"{lost}, of the seeker.",
        f"{lost}.",
        "The judge gave no rating that can be read, so the item has no score: it is missing and not 0.",
        "The metric does not count this item.",
    ]
    assert {row.value for row in rows} == {None}


def test_texts_of_a_redacted_run_are_withheld(tmp_path: Path) -> None:
    run = left(tmp_path, [{"text": "I say ice"}], items("d", [1.0]))
    assert (told(run)[0].question, read_evidence(run, "d", M).withheld) == ("What fits?", None)
    closed = replace(run, manifest=run.manifest.model_copy(update={"redacted": True, "datasets": (NOTICE,)}))
    (row,) = told(closed)
    withheld = "text withheld: licence research only"
    assert (row.question, row.reply, read_evidence(closed, "d", M).withheld) == (withheld, withheld, "research only")
    assert [option.text for option in row.options or ()] == [f"option text {n}, withheld" for n in (1, 2)]
