"""Each rule fires on the numbers it is about, and on no others."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.blueprint import MetricSpec
from schemas.metrics import Metric
from tasks.reporting.content.advice import AdviceOptions, Diagnosis, advise
from tasks.reporting.content.tables import RawRow, metric_paths
from tasks.reporting.report import build_report
from tasks.runs.answers import ScoredItem
from tasks.runs.baselines import Baselines, FixedAnswer
from tests.tasks.reporting.example_run import BLUEPRINT, example_data

SAMPLES = dict.fromkeys(BLUEPRINT.datasets, 300)
ASKED = AdviceOptions(SAMPLES, max_tokens=64)
TASK = next(row for row in build_report(example_data()).systems[0].tasks if row.part.id == "moods")
MOOD = next(path for path in metric_paths(BLUEPRINT) if path.dataset == "mood")


def raw_row(metric: Metric = "accuracy", **changes: Any) -> RawRow:
    path = replace(MOOD, spec=MetricSpec(metric=metric))
    fields: dict[str, Any] = {"value": 0.6, "ci_low": 0.55, "ci_high": 0.65, "normalized_0_100": 60.0}
    fields |= {"n_scored": 40, "n_unparsed": 0, "n_total": 40, "baselines": Baselines(FixedAnswer("B", 0.5)), "reason": None}
    return RawRow(path, **(fields | changes))


def answer(
    value: float | None = 1.0, *, parsed: str | None = "A", language: str = "en", finish: str = "stop", **score: Any
) -> ScoredItem:
    status = score.pop("status", "scored")
    item = {"language": language}
    full = {"value": value, "parsed_answer": parsed, "status": status, "gold": None, "predicted": None} | score
    return ScoredItem(item, full, {"finish_reason": finish}, points=None if value is None else 100 * value)


def advice_of(raw: RawRow, *answers: ScoredItem, asked: AdviceOptions = ASKED) -> str:
    return "\n".join(advise((Diagnosis(raw, answers),), asked)).replace("\u00a0", " ")


def unparsed(finish: str, times: int) -> list[ScoredItem]:
    return [answer(0.0, parsed=None, status="unparsed", finish=finish)] * times


ENGLISH, CHINESE = answer(1.0), answer(0.0, language="zh")
WRONG = answer(0.0, gold=["sad"], predicted=["angry"])
MAJORITY = Baselines(FixedAnswer("B", 0.5), FixedAnswer("calm", 0.7))


@pytest.mark.parametrize(
    ("changes", "answers", "text"),
    [
        ({"n_unparsed": 4}, [], "Mood: unreadable replies: 4 of 40 (10 %). Check the chat template"),
        (
            *({"n_unparsed": 4}, [*unparsed("length", 2), *unparsed("stop", 2)]),
            "Mood: unreadable replies: 4 of 40 (10 %), 2 of them cut off at the token limit. Raise max_tokens (now 64).",
        ),
        ({"value": 0.5, "ci_low": 0.4}, [], "an accuracy of 0.500 is no better than always answering B (0.500)."),
        # 0.2 x 40 = 8 of 20 readable ones: 0.4, below 0.5.
        ({"value": 0.2, "n_unparsed": 20}, [], "0.400 among the 20 readable replies is no better"),
        ({"ci_low": 0.5}, [], "cannot be told from always answering B (0.500): its interval begins at 0.500"),
        ({"baselines": MAJORITY}, [], "an accuracy of 0.600 is no better than always choosing calm (0.700)."),
        (
            *({}, [ENGLISH] * 10 + [CHINESE] * 10),
            "Chinese items do worse than English ones (0 against 100 of 100 per item)",
        ),
        ({}, [WRONG] * 3, "Mood: the commonest mistake is sad taken for angry (3 times)."),
        # Half of 30 is 15, three times the aim of 5: nine times the 40 items.
        (
            *({"ci_low": 0.45, "ci_high": 0.75, "n_total": 300}, []),
            "About 360 items would narrow it to plus or minus 5; raise --sample.",
        ),
        ({"ci_low": 0.45, "ci_high": 0.75}, [], "has no more items"),
    ],
)
def test_a_rule_says_which_numbers_it_saw(changes: dict[str, Any], answers: list[ScoredItem], text: str) -> None:
    assert text in advice_of(raw_row(**changes), *answers)


@pytest.mark.parametrize(
    ("words", "changes", "answers"),
    [
        ("unreadable replies", {"n_unparsed": 3}, []),
        # 0.4 x 40 = 16 right of 20 readable ones: 0.8, well above 0.5.
        ("an accuracy of", {"value": 0.4, "n_unparsed": 20}, []),
        ("an accuracy of", {"value": 0.0, "n_unparsed": 40}, []),
        ("an accuracy of", {"value": 0.1, "metric": "macro_f1"}, []),
        ("an accuracy of", {"value": 0.1, "baselines": Baselines()}, []),
        ("items do worse", {}, [ENGLISH] * 10 + [CHINESE] * 9),
        ("the commonest mistake", {}, [WRONG] * 2),
        ("the interval spans", {"ci_low": 0.55, "ci_high": 0.74}, []),
    ],
)
def test_a_rule_is_silent_below_its_limit(words: str, changes: dict[str, Any], answers: list[ScoredItem]) -> None:
    assert words not in advice_of(raw_row(**changes), *answers)


def test_no_rule_speaks_of_good_numbers() -> None:
    assert advice_of(raw_row()) == ""


def test_without_a_limit_none_is_to_be_raised() -> None:
    asked = AdviceOptions(SAMPLES, max_tokens=None)
    text = advice_of(raw_row(n_unparsed=4), *unparsed("length", 4), asked=asked)
    assert text.endswith("4 of them cut off at the token limit. Compare the replies below.")
