"""Replies as LongEmotion's released code reads them."""

from schemas.blueprint import MetricSpec
from tasks.benchmarks.longemotion.metrics import final_answer, strict_accuracy
from tasks.metrics.answer_forms import Question, read_answer
from tests.rows import each_row
from tests.tasks.metrics.test_answer_forms import FEELINGS, INDICES, LABELS, SEGMENTS, fenced
from tests.tasks.readers import question_of

REPLIES = {
    "label_choice": [(FEELINGS, strict, reply) for (_, strict), replies in LABELS.items() for reply in replies],
    "odd_one_out": [(SEGMENTS, strict, reply) for (_, strict), replies in INDICES.items() for reply in replies],
}


@each_row(("question_type", "options", "strict", "reply"), [(name, *row) for name, rows in REPLIES.items() for row in rows])
def test_strict_accuracy_reads_as_released_code(question_type: str, options: list[str], strict: int | None, reply: str) -> None:
    right, spec = [], MetricSpec(metric="strict_accuracy")
    for gold in range(len(options)):
        question = Question.from_row(question_of(question_type, options=options, gold_indices=[gold]))
        answer = read_answer(question, reply)
        right += [gold] if answer and strict_accuracy(question, answer, spec) else []
    assert right == ([] if strict is None else [strict])


def test_final_answer_is_object_field_or_whole() -> None:
    assert final_answer(fenced('{"answer": "two weeks"}')) == "two weeks"
    assert final_answer("two weeks") == "two weeks"
    assert final_answer('{"answer": ["two", "weeks"]}') == '{"answer": ["two", "weeks"]}'
