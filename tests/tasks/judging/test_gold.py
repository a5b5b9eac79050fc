"""Gold replies as answers, and what rubrics rate."""

import pytest

from tasks.judging.answers import gold_answers, judged_answers, rates_gold
from tasks.judging.rubrics import load_rubric
from tests.tasks.rows import item, items


def test_item_with_one_reference_has_gold_reply() -> None:
    asked = items(
        item("a", "counselor_reply", references=["I hear you."]),
        item("b", "counselor_reply"),
        item("c", "open_ended", references=["Yes.", "No."]),
    )
    answers = gold_answers(asked)
    said = answers.select("item_id", "model", "setting", "repetition", "part", "status", "text", "call_keys").rows()
    assert said == [("a", "gold", "gold", 0, "", "answered", "I hear you.", [])]
    assert judged_answers(answers, asked)["answer"].to_list() == ["I hear you."]


@pytest.mark.parametrize(
    ("rubric", "gold"), [("mc_stage1", True), ("es_aspects", False), ("ee_expression", True), ("answer", False)]
)
def test_a_rubric_that_shows_references_rates_no_gold(rubric: str, gold: bool) -> None:
    assert rates_gold(load_rubric(rubric)) == gold
