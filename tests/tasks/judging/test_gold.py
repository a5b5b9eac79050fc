"""Gold replies as answers, and what rubrics rate."""

import pytest

from tasks.judging.answers import judged_answers
from tasks.judging.gold import gold_answers, rates_gold
from tasks.judging.rubrics import load_rubric
from tests.tasks.rows import item, items


def test_an_item_with_one_reference_has_a_gold_reply() -> None:
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
    ("rubric", "dimensions", "gold"),
    [
        *((f"mc_stage{stage}", 3, True) for stage in (1, 2, 3, 4)),
        ("es_aspects", 15, False),
        ("ee_expression", 6, True),
        ("summary", 4, True),
        ("answer", 1, False),
    ],
)
def test_rubrics_have_the_dimensions_of_their_papers(rubric: str, dimensions: int, gold: bool) -> None:
    found = load_rubric(rubric)
    assert (len(found.names), len(found.calls()), rates_gold(found)) == (dimensions, 1, gold)
