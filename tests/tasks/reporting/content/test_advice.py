"""Each rule fires on the numbers it is about, and on no others."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.blueprint import MetricSpec
from schemas.metrics import Metric
from tasks.reporting.content.advice import AdviceOptions, Diagnosis, advise
from tasks.reporting.content.benchmark import metric_paths
from tasks.reporting.content.tables import RawRow
from tasks.reporting.report import build_report
from tasks.runs.answers import ScoredItem
from tasks.runs.baselines import Baselines, ConstantAnswer, MajorityLabel
from tests.tasks.reporting.example_run import BLUEPRINT, example_data

SAMPLES = dict.fromkeys(BLUEPRINT.datasets, 300)
ASKED = AdviceOptions(SAMPLES, max_tokens=64)
TASK = next(row for row in build_report(example_data()).systems[0].tasks if row.part.id == "moods")
MOOD = next(path for path in metric_paths(BLUEPRINT) if path.dataset == "mood")


def raw_row(metric: Metric = "accuracy", **changes: Any) -> RawRow:
    path = replace(MOOD, spec=MetricSpec(metric=metric))
    fields: dict[str, Any] = {"value": 0.6, "ci_low": 0.55, "ci_high": 0.65, "normalized_0_100": 60.0}
    fields |= {"n_scored": 40, "n_unparsed": 0, "n_total": 40, "baselines": Baselines(ConstantAnswer("B", 0.5)), "reason": None}
    return RawRow(path, **(fields | changes))


def answer(
    value: float | None = 1.0, *, parsed: str | None = "A", language: str = "en", finish: str = "stop", **score: Any
) -> ScoredItem:
    status = score.pop("status", "scored")
    item = {"language": language}
    full = {"value": value, "parsed_answer": parsed, "status": status, "gold": None, "predicted": None} | score
    return ScoredItem(item, full, {"finish_reason": finish})


def advice_of(raw: RawRow, *answers: ScoredItem, asked: AdviceOptions = ASKED) -> dict[str, str]:
    return {entry.kind: entry.text for entry in advise(TASK, (Diagnosis(raw, answers),), asked)}


def test_a_weakness_by_content_names_what_the_task_measures() -> None:
    assert advice_of(raw_row()) == {
        "content": "Moods is measured at the low level of Emotional Ability › Emotion Recognition. None of the rules on format, "
        "guessing and interval width applies, so the weakness seems to lie in the content: read the rows below and look "
        "for what they share."
    }


def test_unreadable_replies_ask_for_the_format() -> None:
    text = advice_of(raw_row(n_unparsed=4))["format"]
    assert text.startswith("Mood: unreadable replies: 4 of 40 (10\u00a0%). Check the chat template")
    assert "format" not in advice_of(raw_row(n_unparsed=3))


def test_replies_cut_off_at_the_token_limit_ask_for_more_tokens() -> None:
    cut = [answer(0.0, parsed=None, status="unparsed", finish="length") for _ in range(2)]
    whole = [answer(0.0, parsed=None, status="unparsed") for _ in range(2)]
    text = advice_of(raw_row(n_unparsed=4), *cut, *whole)["format"]
    assert (
        text == "Mood: unreadable replies: 4 of 40 (10\u00a0%), 2 of them cut off at the token limit. Raise max_tokens (now 64)."
    )


def test_where_the_plan_sets_no_limit_none_is_to_be_raised() -> None:
    cut = [answer(0.0, parsed=None, status="unparsed", finish="length") for _ in range(4)]
    diagnoses = (Diagnosis(raw_row(n_unparsed=4), tuple(cut)),)
    texts = [advice.text for advice in advise(TASK, diagnoses, AdviceOptions(SAMPLES, max_tokens=None))]
    assert (
        "Mood: unreadable replies: 4 of 40 (10\u00a0%), 4 of them cut off at the token limit. Compare the replies below." in texts
    )


def test_accuracy_below_the_constant_answer_is_guessing() -> None:
    text = advice_of(raw_row(value=0.5, ci_low=0.4))["guessing"]
    assert text.startswith("Mood: an accuracy of 0.500 is no better than always answering B (0.500).")


def test_guessing_is_judged_on_readable_replies() -> None:
    # 0.4 x 40 = 16 right of 20 readable ones: 0.8, well above 0.5; 0.2 x 40 = 8 of 20: 0.4, below.
    assert "guessing" not in advice_of(raw_row(value=0.4, n_unparsed=20))
    assert "0.400 among the 20 readable replies is no better" in advice_of(raw_row(value=0.2, n_unparsed=20))["guessing"]
    assert "guessing" not in advice_of(raw_row(value=0.0, n_unparsed=40))


def test_an_interval_that_reaches_the_constant_answer_is_no_evidence() -> None:
    assert (
        "cannot be told from always answering B (0.500): its interval begins at 0.500"
        in advice_of(raw_row(ci_low=0.5))["guessing"]
    )


def test_the_better_of_constant_answer_and_majority_label_is_to_beat() -> None:
    baselines = Baselines(ConstantAnswer("B", 0.5), MajorityLabel("calm", 0.7))
    text = advice_of(raw_row(value=0.6, baselines=baselines))["guessing"]
    assert text.startswith("Mood: an accuracy of 0.600 is no better than always choosing calm (0.700).")


@pytest.mark.parametrize("changes", [{"metric": "macro_f1"}, {"baselines": Baselines()}])
def test_only_accuracy_is_compared_with_a_constant_answer(changes: dict[str, Any]) -> None:
    assert "guessing" not in advice_of(raw_row(value=0.1, **changes))


def test_languages_far_apart() -> None:
    english, chinese = [answer(1.0)] * 10, [answer(0.0, language="zh")] * 10
    assert (
        "Chinese items do worse than English ones (0.00 against 1.00 per item)"
        in advice_of(raw_row(), *english, *chinese)["language"]
    )
    assert "language" not in advice_of(raw_row(), *english, *chinese[:9])


def test_commonest_confusion() -> None:
    wrong = answer(0.0, gold=["sad"], predicted=["angry"])
    assert advice_of(raw_row(), *[wrong] * 3)["confusion"] == "Mood: the commonest mistake is sad taken for angry (3 times)."
    assert "confusion" not in advice_of(raw_row(), *[wrong] * 2)


def test_a_wide_interval_says_how_many_items_would_narrow_it() -> None:
    # Half of 30 is 15, three times the aim of 5: nine times the 40 items.
    wide = raw_row(ci_low=0.45, ci_high=0.75, n_total=300)
    assert "About 360 items would narrow it to plus or minus 5; raise --sample." in advice_of(wide)["precision"]
    assert "has no more items" in advice_of(raw_row(ci_low=0.45, ci_high=0.75, n_total=40))["precision"]
    assert "precision" not in advice_of(raw_row(ci_low=0.55, ci_high=0.74))
