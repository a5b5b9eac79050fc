"""The results of a run as one table: a row per value, what it is about beside it, and why there is none."""

from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint, MetricSpec
from schemas.lineage import CodeVersion, DatasetNotice, Missing
from schemas.tables.results import Results
from tasks.lake.lake import Lake
from tasks.runs.past_run import PastRun
from tasks.runs.tidy import read_tidy
from tests.tasks.rows import answer, answers, item, judgement, judgements, response, responses, turn
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.runs import keep_run, run_of
from tests.tasks.scoring.samples import items, one_dataset

PLACE = {"dataset": "d", "model": "m", "setting": "base"}
ACCURACY = one_dataset(MetricSpec(metric="accuracy"))
CALL = "c" * 64


def run_with(
    folder: Path, given: list[dict[str, Any]], scores: pl.DataFrame, design: Blueprint = ACCURACY, **more: Any
) -> PastRun:
    """A run with these answers to items of one choice each, ice (right) or tea, and these scores."""
    asked: dict[str, Any] = {"dataset": "d", "options": ["ice", "tea"], "gold_indices": [0], "language": "zh"}
    texts = [{"item_id": "d-0", "call_keys": [CALL], **row} for row in given]
    layers = {
        "items": asked_items(*(item(name, "single_choice", **asked) for name in dict.fromkeys(row["item_id"] for row in texts))),
        "answers": answers(*(answer(row.pop("item_id"), row.pop("text", None), dataset="d", **row) for row in texts)),
        "item_scores": scores,
        **more,
    }
    return run_of(folder, design, layers, PLACE)


def rows_of(run: PastRun) -> list[dict[str, Any]]:
    frames = list(read_tidy(run))
    assert {tuple(frame.columns) for frame in frames} == {tuple(Results.columns())}
    return Results.validate(pl.concat(frames)).to_dicts()


def sent(*messages: tuple[str, str]) -> pl.DataFrame:
    text = dumps([{"content": content, "role": role} for role, content in messages])
    return responses(response("d-0", "A", dataset="d", call_key=CALL, messages=text))


def test_row_says_what_its_value_is_about(tmp_path: Path) -> None:
    scores = items("d", [0.5], parsed_answer="B")
    (row,) = rows_of(run_with(tmp_path, [{"text": "B"}], scores, responses=sent(("user", "Ice or tea?"))))
    assert row == {
        "run": "r",
        "benchmark": "tiny",
        "model": "m",
        "setting": "base",
        "ability": "a",
        "ability_title": "A",
        "task": "task_d",
        "task_title": "d",
        "dataset": "d",
        "dataset_title": "measured",
        "item_id": "d-0",
        "part": "",
        "repetition": 0,
        "cluster": "d-0",
        "language": "zh",
        "method": "choice",
        "metric": "accuracy",
        "prompt": "Ice or tea?",
        "reply": "B",
        "parsed_answer": "B",
        "gold": "ice",
        "value": 0.5,
        "status": "scored",
        "reason": None,
        "ratings": None,
    }


def test_prompt_of_several_messages_says_who_spoke(tmp_path: Path) -> None:
    asked = sent(("system", "Be kind."), ("user", "I am sad."))
    dialogue = [turn("seeker", "I am sad."), turn("tested", "I see.")]
    (row,) = rows_of(
        run_with(
            tmp_path,
            [{"status": "answered", "failed_role": None, "failure": None, "turns": dialogue}],
            items("d", [1.0]),
            responses=asked,
        )
    )
    assert (row["prompt"], row["reply"]) == ("system: Be kind.\n\nuser: I am sad.", "seeker: I am sad.\ntested: I see.")


def test_missing_value_is_null_with_its_reason(tmp_path: Path) -> None:
    given = [{"failed_role": "seeker"}, {}, {"text": "A"}, {"text": "?", "remark": "length"}, {"text": "A", "remark": "length"}]
    status = ["call_failed", "call_failed", "judge_failed", "unparsed", "scored"]
    scores = items("d", [None, None, None, 0.0, 1.0], status=status)
    run = run_with(tmp_path, [{"item_id": f"d-{number}", **row} for number, row in enumerate(given)], scores)
    assert [(row["value"], row["status"], row["reason"]) for row in rows_of(run)] == [
        (None, "call_failed", "timeout_total of the seeker"),
        (None, "call_failed", "timeout_total"),
        (None, "judge_failed", None),
        (0.0, "unparsed", "length"),
        (1.0, "scored", None),
    ]


def test_item_without_score_has_a_row(tmp_path: Path) -> None:
    layers = {
        "items": asked_items(
            *(item(f"d-{number}", "single_choice", dataset="d", options=["a", "b"], gold_indices=[1]) for number in (0, 1))
        ),
        "answers": answers(answer("d-1", "A", dataset="d")),
    }
    gap = Missing(dataset="d", model="m", setting="base", reason="was rated by nobody yet", next_step="")
    rest = gap.model_copy(update={"model": "n", "reason": "has no replies in the lake"})
    manifest = keep_run(tmp_path, "r", layers, PLACE, missing=(gap, rest))
    rows = rows_of(PastRun(manifest, ACCURACY, Lake(tmp_path, CodeVersion("1", None))))
    told = [
        (row["model"], row["item_id"], row["reply"], row["gold"], row["metric"], row["value"], row["status"], row["reason"])
        for row in rows
    ]
    assert told == [
        ("m", "d-0", None, "b", None, None, "not_asked", "was rated by nobody yet"),
        ("m", "d-1", "A", "b", None, None, "not_scored", "was rated by nobody yet"),
        ("n", "d-0", None, "b", None, None, "not_asked", "has no replies in the lake"),
        ("n", "d-1", None, "b", None, None, "not_asked", "has no replies in the lake"),
    ]


def test_value_of_all_parts_has_all_replies(tmp_path: Path) -> None:
    given = [{"part": "turn 1", "text": "Oh."}, {"part": "turn 2"}, {"part": "turn 3", "text": "Yes."}]
    (row,) = rows_of(run_with(tmp_path, given, items("d", [1.0]), responses=sent(("user", "Ice or tea?"))))
    assert (row["reply"], row["reason"], row["prompt"]) == ("turn 1: Oh.\nturn 3: Yes.", "timeout_total", None)


def test_ratings_stand_beside_the_method_of_their_rubric(tmp_path: Path) -> None:
    design = one_dataset(MetricSpec(metric="judged_rating"), method="judge", judged=True, rubric="summary")
    rated = [("fluency", 4, "j"), ("warmth", None, "j"), ("fluency", 2, "people")]
    kept = judgements(
        *(judgement("d-0", name, rating, judge=judge, dataset="d") for name, rating, judge in rated),
        judgement("d-0", "realism", 1, rubric="other", dataset="d"),
    )
    scores = items("d", [0.75], method="judge", metric="judged_rating")
    (row,) = rows_of(run_with(tmp_path, [{"text": "A"}], scores, design, judgements=kept))
    shared = {"judge_repetition": 0, "lowest": 1, "highest": 5}
    told = [
        {"judge": judge, "dimension": name, "rating": rating, **shared}
        for name, rating, judge in sorted(rated, key=lambda rating: rating[2])
    ]
    assert row["ratings"] == told


def test_redacted_run_keeps_texts_back(tmp_path: Path) -> None:
    scores = items("d", [1.0], parsed_answer="I say ice")
    run = run_with(tmp_path, [{"text": "I say ice"}], scores, responses=sent(("user", "Ice or tea?")))
    notice = DatasetNotice(id="d", title="D", licence="research only", redistributable=False, sources=(), evaluation_version="1")
    manifest = run.manifest.model_copy(update={"redacted": True, "datasets": (notice,)})
    (row,) = rows_of(replace(run, manifest=manifest))
    withheld = "text withheld: licence research only"
    assert [row[name] for name in ("prompt", "reply", "parsed_answer", "gold")] == [
        None,
        withheld,
        withheld,
        "option text 1, withheld",
    ]
    assert (row["value"], row["status"]) == (1.0, "scored")
