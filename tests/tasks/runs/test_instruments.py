"""Totals without the dialogues in which a simulated person slipped, worked out by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.tables.layers import LAYERS
from tasks.runs.instruments import check_simulation, count_instruments
from tasks.runs.past_run import PastRun
from tests.tasks.rows import SYSTEM, answer, frame, judgement, turn
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, task

DESIGN = blueprint(ability("english", task("en")), ability("chinese", task("zh")))
TALK = [turn("seeker", "Hi."), turn("tested", "Hello.")]
MARKS: dict[str, Any] = {"rubric": "esc_seeker", "dimension": "emotion", "lowest": 0, "highest": 2, "found_by": "rule"}


def talked(
    folder: Path, values: dict[tuple[str, str], list[float]], faults: list[dict[str, Any]], ratings: list[dict[str, Any]] | None
) -> PastRun:
    """A run in which each model has these scores of its items, an answer to each, and these faults and ratings."""
    scores = pl.concat([items(dataset, given, model) for (model, dataset), given in values.items()])
    told = [
        answer(row["item_id"], None, turns=TALK, status="answered", failed_role=None, failure=None, **names_of(row))
        for row in scores.iter_rows(named=True)
    ]
    layers: dict[str, pl.DataFrame] = {"item_scores": scores, "answers": frame(LAYERS["answers"].schema, tuple(told))}
    layers |= {"simulation_faults": frame(LAYERS["simulation_faults"].schema, tuple(faults))}
    if ratings is not None:
        layers["judgements"] = frame(LAYERS["judgements"].schema, tuple(ratings))
    rubric = None if ratings is None else "esc_seeker"
    return run_of(folder, DESIGN, layers, {"rubric": "esc_seeker"}, simulation_rubric=rubric)


def names_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("dataset", "model", "setting", "repetition")}


def fault(model: str, dataset: str, item: str, number: int = 0, **more: Any) -> dict[str, Any]:
    found = {"speaker": "seeker", "turn": 1, "kind": "gives_advice", "severity": "hindered", "evidence": "x"}
    asked = {**SYSTEM, "dataset": dataset, "model": model, "item_id": item, "part": "", "number": number, "found_by": "rule"}
    return {**asked, **found, **more}


def test_the_total_without_tainted_dialogues(tmp_path: Path) -> None:
    values = {("a", "en"): [1.0, 0, 0, 1], ("a", "zh"): [1.0, 1], ("b", "en"): [1.0, 1, 0, 0], ("b", "zh"): [0.0, 0]}
    early: dict[str, Any] = {"kind": "cheers_up_early", "severity": "helped"}
    faults = [
        fault("a", "en", "en-0", **early),
        fault("a", "en", "en-0", 1),
        fault("a", "en", "en-1", **early, found_by="judge"),
        fault("a", "en", "en-2", found_by="judge", refused="turn 1 does not say that"),
        fault("a", "zh", "zh-0"),
    ]
    found = {row.model: row for row in check_simulation(talked(tmp_path, values, faults, None))}
    a, b = found["a"], found["b"]
    assert (a.dialogues, a.tainted, a.share, a.refused, a.unreviewed) == (6, 3, 0.5, 1, None)
    # The first of en has both; a dialogue counts once for each kind.
    assert (a.kinds, a.severities) == ({"cheers_up_early": 2, "gives_advice": 2}, {"helped": 2, "hindered": 2})
    # All: en 2 of 4, zh 2 of 2, (50 + 100) / 2. Left of en 0 and 1, of zh 1: (50 + 100) / 2 again, over 3 items.
    assert (a.all.total, a.all.n_scored) == (75, 6)
    assert a.untainted
    assert b.untainted
    assert (a.untainted.total, a.untainted.n_scored, a.untainted.ci_low) == (75, 3, None)
    # Nobody slipped with b: (50 + 0) / 2.
    assert (b.tainted, b.all.total, b.untainted.total, b.untainted.n_scored) == (0, 25, 25, 6)


def test_a_dataset_or_nothing_may_be_left(tmp_path: Path) -> None:
    values = {("a", "en"): [1.0], ("b", "en"): [1.0], ("b", "zh"): [0.0]}
    a, b = check_simulation(talked(tmp_path / "some", values, [fault("a", "en", "en-0"), fault("b", "zh", "zh-0")], None))
    assert (a.untainted, a.share) == (None, 1)
    assert b.untainted
    assert (b.untainted.total, b.untainted.n_scored, b.untainted.datasets_scored) == (100, 1, 1)
    tainted = [fault(model, dataset, f"{dataset}-0") for model, dataset in values]
    assert [row.untainted for row in check_simulation(talked(tmp_path / "none", values, tainted, None))] == [None, None]


def test_ratings_are_shown_from_0_to_10(tmp_path: Path) -> None:
    values = {("a", "en"): [1.0, 1.0, 1.0], ("a", "zh"): [1.0]}

    def rated(dataset: str, item: str, rating: int | None, name: str = "emotion", **more: Any) -> dict[str, Any]:
        own = {"dataset": dataset, "model": "a", "rubric": "esc_seeker", "lowest": 0, "highest": 2}
        return judgement(item, name, rating, **own, **more)

    ratings = [rated("en", "en-0", 2), rated("en", "en-0", 1, judge_repetition=1), rated("en", "en-1", 0), rated("zh", "zh-0", 2)]
    ratings += [rated("en", "en-2", None), rated("en", "en-0", None, "theme"), rated("zh", "zh-0", 1, "theme")]
    (a,) = check_simulation(talked(tmp_path, values, [], ratings))
    # en: (1.5 + 0) / 2, over 2 times 10.
    assert a.criteria == {"en": {"theme": None, "emotion": pytest.approx(3.75)}, "zh": {"theme": 5, "emotion": 10}}
    # In the order of the rubric, so that a page's columns are those of its head.
    assert [list(names) for names in a.criteria.values()] == [["theme", "emotion"]] * 2
    assert (a.unreviewed, a.tainted) == (1, 0)


def test_empty_replies_and_refusals_are_the_models_own(tmp_path: Path) -> None:
    # Of ten replies five cannot be read, one of them empty and one a refusal.
    scores = items("en", [0.0] * 5 + [1.0] * 5, status=["unparsed"] * 5 + ["scored"] * 5)
    texts = [(" ", None), ("No.", "refusal"), *[("?", None)] * 3, *[("A", None)] * 5]
    told = (answer(f"en-{n}", text, dataset="en", remark=remark) for n, (text, remark) in enumerate(texts))
    layers = {"item_scores": scores, "answers": frame(LAYERS["answers"].schema, tuple(told))}
    (count,) = count_instruments(run_of(tmp_path, DESIGN, layers, {"dataset": "en", "model": "m", "setting": "base"}))
    assert (count.instrument, count.faulty, count.total, count.failed) == ("reader", 3, 10, True)
    assert count.words == "3 of 10 replies of the model in en cannot be read"
