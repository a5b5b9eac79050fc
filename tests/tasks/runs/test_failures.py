"""Whose failures left values missing, and totals without the dialogues in which a person slipped, worked out by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.tables.layers import LAYERS
from schemas.tables.responses import Answers
from tasks.runs.failures import check_simulation, count_instruments, find_failures, find_lost, name_role
from tasks.runs.past_run import PastRun
from tests.tasks.rows import SYSTEM, Row, answer, frame, judgement, turn
from tests.tasks.rows import answers as answered
from tests.tasks.runs.runs import run_of
from tests.tasks.runs.test_comparable_runs import manifest
from tests.tasks.scoring.samples import ability, blueprint, items, task


def answers(*failed: tuple[str, str, str | None]) -> pl.DataFrame:
    """Item, part and whose call failed, perhaps with the kind of failure behind a slash."""

    def row(item: str, part: str, whose: str | None) -> Row:
        if whose is None:
            return answer(item, "A", part=part, dataset="d")
        role, _, failure = whose.partition("/")
        return answer(item, None, part=part, dataset="d", failed_role=role, failure=failure or "timeout_total")

    return answered(*(row(*one) for one in failed))


def scores(told: dict[tuple[str, str], str]) -> pl.DataFrame:
    """Status by item and part."""
    named, parts = zip(*told, strict=True)
    values = [1.0 if status == "scored" else None for status in told.values()]
    return items("d", values, status=list(told.values()), item_id=list(named), part=list(parts))


LOST = "call_failed"


def blamed(frame: pl.DataFrame) -> list[tuple[str, str]]:
    return sorted(frame.select("item_id", "failed_role").rows())


def test_missing_values_are_charged_to_failed_calls() -> None:
    status = [LOST, LOST, "judge_failed", "scored", "not_counted", LOST]
    whose = ["seeker", "tested", None, None, "seeker", "tested/budget"]
    found = find_failures(
        scores({(str(number), ""): each for number, each in enumerate(status)}),
        answers(*((str(number), "", role) for number, role in enumerate(whose))),
    )
    assert blamed(found) == [("0", "seeker"), ("1", "tested"), ("2", "judge"), ("5", "budget")]


def test_a_whole_rests_on_each_part() -> None:
    said = answers(("1", "a", "seeker"), ("1", "b", "tested"), ("2", "a", "seeker"), ("2", "b", None))
    whole = find_failures(scores({("1", ""): LOST, ("2", ""): LOST}), said)
    assert blamed(whole) == [("1", "seeker"), ("1", "tested"), ("2", "seeker")]
    assert blamed(find_failures(scores({("1", "a"): LOST}), said)) == [("1", "seeker")]
    # A failure that no answer names is the tested model's.
    assert blamed(find_failures(scores({("1", ""): LOST}), Answers.create_empty())) == [("1", "tested")]


def test_lost_items_are_those_that_lack_a_part() -> None:
    said = answers(
        ("1", "a", "seeker"),  # lost, though its other part is scored
        ("1", "b", None),
        ("2", "a", "seeker"),  # lost through the seeker alone
        ("3", "a", "seeker"),  # through the model under test, too
        ("3", "b", "tested"),
    )
    lost = dict.fromkeys([("1", "a"), ("2", "a"), ("3", "a"), ("3", "b")], LOST)
    found = find_lost(scores(lost | {("1", "b"): "scored"}), said)
    assert found == ({"d": frozenset({"seeker", "tested"})}, 2)


def test_a_role_is_named_with_its_models() -> None:
    run = manifest(plan={"roles": {"draft_judge": {"name": "j", "base_url": "http://j/v1"}}})
    names = {role: name_role(run, role, "m") for role in ("draft_judge", "seeker", "tested", "budget")}
    assert names == {"draft_judge": "draft judge (j)", "seeker": "seeker (m)", "tested": "tested", "budget": "budget"}


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
