"""What the steps of an emotion expression come to, which answers are rated, and gold replies as answers."""

import json

import dataframely as dy
import polars as pl
import pytest

from schemas.errors import ScoringError
from schemas.tables.items import Items
from tasks.benchmarks.longemotion.solvers.search_o1 import END_QUERY
from tasks.judging.answers import gold_answers, judged_answers, rated_content, rates_gold
from tasks.judging.rubrics import load_rubric
from tests.rows import each_row
from tests.tasks.judging.rows import items, response
from tests.tasks.replies import answers_of_replies
from tests.tasks.rows import Row, item, responses
from tests.tasks.rows import items as items_of
from tests.thinking import FORMS, THOUGHT

TEXTS = ["calm 2", "A jolt.", "They forgot me.", "I blush.", "I breathe.", "I will ask."]
NARRATIVE = (
    "[Step 0]\ncalm 2\n\n[Step 1]\nA jolt.\n\n[Step 2]\nThey forgot me.\n\n"
    "[Step 3]\nI blush.\n\n[Step 4]\nI breathe.\n\n[Step 5]\nI will ask."
)
SITUATIONS = items("emotion_expression", "a", options=["calm", "upset"])


def told(*texts: str | None) -> list[Row]:
    return [response("a", turn, text) for turn, text in enumerate(texts)]


def judged_of(rows: list[Row], asked: dy.DataFrame[Items]) -> pl.DataFrame:
    return judged_answers(answers_of_replies(responses(*rows), asked), asked)


def answers(rows: list[Row], question_type: str = "emotion_expression") -> list[tuple[str, str]]:
    judged = judged_of(rows, items(question_type, "a", "b", options=["calm", "upset"]))
    return [(row["item_id"], row["answer"]) for row in judged.iter_rows(named=True)]


def test_steps_are_headed_in_the_items_language() -> None:
    judged = judged_of(told(*TEXTS), items("emotion_expression", "a", language="zh"))
    assert judged["answer"].item().startswith("[步骤 0]\ncalm 2\n\n[步骤 1]\nA jolt.")


@pytest.mark.parametrize("failed", range(6))
def test_a_failed_step_leaves_nothing_to_rate(failed: int) -> None:
    assert answers(told(*TEXTS[:failed], None, *TEXTS[failed + 1 :])) == []
    assert answers(told(*TEXTS[:failed], None)) == []


@pytest.mark.parametrize("texts", [TEXTS[:1], TEXTS[:5], [*TEXTS, "more"], ["", "...", "-", "!", "", "?"]])
def test_six_steps_with_word_among_them_are_rated(texts: list[str]) -> None:
    assert answers(told(*texts)) == []


def said(*texts: str) -> str:
    """A conversation after its system message: user, assistant, user, ..."""
    roles = ("user", "assistant")
    return json.dumps([{"role": "system", "content": "s"}, *({"role": roles[n % 2], "content": t} for n, t in enumerate(texts))])


def searched(query: str) -> str:
    return f"<|begin_search_query|>{query}{END_QUERY}"


RESULT = "<|begin_search_result|>\n1. a jolt\n<|end_search_result|>\n\nSearches left: 4"
STEP = "Go through step 3. What is found comes back between <|begin_search_result|> and <|end_search_result|>."


def test_step_with_searches_is_its_text_without_them() -> None:
    body, face = f"I {searched('body')}", f"bl{searched('face')}"
    rows = [
        *told(*TEXTS[:3]),
        response("a", 3, "I ", messages=said("2", TEXTS[2], STEP)),
        response("a", 4, f"bl{searched('face')}", messages=said("2", TEXTS[2], STEP, body, RESULT)),
        # A repeated search is answered without a result.
        response("a", 5, "ush.<|begin_search_query|>more", messages=said("2", TEXTS[2], STEP, body, RESULT, face, "see above")),
        response("a", 6, TEXTS[4], messages=said("2", TEXTS[2], STEP, TEXTS[3], "4")),
        response("a", 7, TEXTS[5], messages=said("2", TEXTS[2], STEP, TEXTS[3], "4", TEXTS[4], "5")),
    ]
    # As the model's own conversation has it: what it goes on with stands in a paragraph of its own.
    assert answers(rows) == [("a", NARRATIVE.replace("I blush.", "I\n\nbl\n\nush."))]


@pytest.mark.parametrize("question_type", ["counselor_reply", "judged_summary"])
def test_of_other_items_last_turn_is_answer(question_type: str) -> None:
    asked = items(question_type, "a", references=["x"])
    judged = judged_of(told("First.", "Second."), asked)
    assert judged["answer"].to_list() == ["Second."]
    assert judged_of(told("First.", None), asked).is_empty()
    assert judged_of(told("First.", "..."), asked).is_empty()


@each_row("text", ["42", "4 / 5", "四二", "٤٢"])
def test_answer_of_digits_alone_is_rated(text: str) -> None:
    # The third are Chinese characters, the last Arabic digits.
    assert answers([response("a", 0, text)], "counselor_reply") == [("a", text)]


def test_a_response_without_item_is_an_error() -> None:
    with pytest.raises(ScoringError, match="belong to no item"):
        judged_of([response("z", 0, "x")], SITUATIONS)


@each_row("name", FORMS)
def test_a_judge_is_not_shown_thoughts(name: str) -> None:
    rows = [response("a", 0, FORMS[name](THOUGHT, "I hear you.")), response("b", 0, f"<think>{THOUGHT}")]
    (judged,) = judged_of(rows, items("counselor_reply", "a", "b")).iter_rows(named=True)
    assert rated_content(judged) == "I hear you."


def test_item_with_one_reference_has_gold_reply() -> None:
    golden = items_of(
        item("a", "counselor_reply", references=["I hear you."]),
        item("b", "counselor_reply"),
        item("c", "open_ended", references=["Yes.", "No."]),
    )
    answers = gold_answers(golden)
    columns = answers.select("item_id", "model", "setting", "repetition", "part", "status", "text", "call_keys").rows()
    assert columns == [("a", "gold", "gold", 0, "", "answered", "I hear you.", [])]
    assert judged_answers(answers, golden)["answer"].to_list() == ["I hear you."]


@pytest.mark.parametrize(
    ("rubric", "gold"), [("mc_stage1", True), ("es_aspects", False), ("ee_expression", True), ("answer", False)]
)
def test_a_rubric_that_shows_references_rates_no_gold(rubric: str, gold: bool) -> None:
    assert rates_gold(load_rubric(rubric)) == gold
