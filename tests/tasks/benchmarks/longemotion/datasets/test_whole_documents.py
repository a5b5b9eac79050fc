"""Emotion QA, Summary, Expression and Conversation, on records of our own: what is shown, what is gold, what is refused."""

from typing import Any

import pytest

from schemas.context import Context, ContextOptions, SampleBuilder
from schemas.item import Item, Record, text_id
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.datasets.emotion_conversation import STAGES, checkpoints_of
from tasks.benchmarks.longemotion.datasets.emotion_expression import read_situations
from tasks.benchmarks.longemotion.datasets.whole_documents import join_readable, read_questions, read_reports
from tests.rows import each_row


def build(builder: SampleBuilder, *records: Record) -> dict[str, tuple[Item, Context]]:
    return {sample.item_id: sample.build() for sample in builder(records, ContextOptions(), 0)}


def question(number: str = "File3-1", **changes: Any) -> Record:
    article = "# On worry\n\nA slow walk is good.\n"
    fields = {"number": number, "problem": " What eases worry? ", "answer": "a slow walk", "context": article}
    return Record(fields | changes, "data/Emotion_QA.jsonl", 0)


def test_a_question_has_its_article_and_reference() -> None:
    samples = read_questions([question(), question("File3-2"), question(problem="Another?")], ContextOptions(), 0)
    assert [sample.item_id for sample in samples] == ["qa-File3-1", "qa-File3-2", "qa-File3-1-2"]
    assert (samples[0].record, samples[0].cluster) == (question(), text_id("# On worry\n\nA slow walk is good."))
    item, context = samples[0].build()
    assert item == Item(
        question_type="extractive",
        context="# On worry\n\nA slow walk is good.",
        question="What eases worry?",
        references=("a slow walk",),
    )
    # "#", "on", "worry", "a", "slow", "walk", "is", "good" and "." are 9 tokens.
    assert (context.task, context.query, context.needle, context.tokens) == ("qa", None, None, 9)


REPORT: dict[str, Any] = {
    "id": 7,
    "case_description": ["A baker who cannot sleep."],
    "consultation_process": [" First talk. ", "", "Second talk."],
    "experience_and_reflection": "Patience helped.",
    # In another order than ASPECTS.
    "treatment_effect": "sleeps again",
    "symptoms": "sleeplessness",
    "causes": "night work",
    "characteristics_of_illness": "comes with\nthe season",
    "treatment_process": "two talks",
}


def report(**changes: Any) -> Record:
    return Record(REPORT | changes, "f", 0)


def test_a_report_has_sections_and_five_references() -> None:
    item, context = build(read_reports, report())["es-7"]
    assert item.context == (
        "Case description:\nA baker who cannot sleep.\n\n"
        "Consultation process:\nFirst talk.\nSecond talk.\n\n"
        "Experience and reflection:\nPatience helped."
    )
    assert item.references == tuple(REPORT[aspect] for aspect in ASPECTS)
    assert (item.question_type, context.task, context.query) == ("aspect_summary", "es", None)
    assert context.tokens > len(item.context.split())


@each_row(
    ("value", "text"),
    [
        (" one ", "one"),
        (["one", " ", "two"], "one\ntwo"),
        ({"session 1": "talk", "session 2": ["walk", "rest"], "none": ""}, "session 1: talk\nsession 2: walk\nrest"),
        ([{"age": "34"}, "rest"], "age: 34\nrest"),
        ([], ""),
    ],
)
def test_texts_lists_and_objects_become_readable(value: Any, text: str) -> None:
    assert join_readable(value) == text


WORDS = [f"Word{number}" for number in range(1, 21)]
EMOTIONS = [
    {"name": "Anger", "factors": [{"name": "Traffic", "scenarios": ["A car cuts in.", " A horn sounds. "]}]},
    {"name": "Guilt", "factors": [{"name": "Lies", "scenarios": ["You told a lie.", "A car cuts in."]}]},
]


def situations(emotions: Any = EMOTIONS) -> Record:
    return Record({"key": "emotions", "value": emotions}, "situations.json", 0)


def panas(words: list[str] = WORDS) -> Record:
    # "10" sorts before "2" as text.
    questions = {str(number): word for number, word in sorted(enumerate(words, start=1), key=lambda pair: str(pair[0]))}
    return Record({"name": "PANAS", "questions": questions}, "questionnaires.json", 0)


def test_every_situation_is_an_item() -> None:
    samples = read_situations([situations(), panas()], ContextOptions(), 0)
    built = [sample.build() for sample in samples]
    assert [sample.item_id for sample in samples] == ["ee-001", "ee-002", "ee-003", "ee-004"]
    assert [item.context for item, _ in built] == ["A car cuts in.", "A horn sounds.", "You told a lie.", "A car cuts in."]
    assert [item.subset for item, _ in built] == ["Anger", "Anger", "Guilt", "Guilt"]
    # a car cuts in . : five tokens.
    assert (built[0][1].tokens, {context.task for _, context in built}) == (5, {"ee"})
    assert len({sample.record.sha256 for sample in samples}) == 4
    assert [sample.record.row for sample in samples] == [0, 1, 2, 3]
    for item, _ in built:
        assert (item.options, item.fixed_order) == (tuple(WORDS), True)
        # Neither emotion nor factor is shown.
        shown = f"{item.context} {item.question} {item.options}".casefold()
        assert not any(word in shown for word in ("anger", "guilt", "traffic"))


def stage(number: int, clients: int, *, counselor_first: bool = False) -> dict[str, Any]:
    """Messages `c1.0 k1.0 c1.1 k1.1 ...`: c by the client, k by the counselor, stage and number."""
    messages: list[dict[str, str]] = []
    for turn in range(clients):
        pair = [{"role": role, "context": f"{sign}{number}.{turn}"} for role, sign in (("Client", "c"), ("Counselor", "k"))]
        messages += pair[::-1] if counselor_first else pair
    return {"stage": ("Opening", "Diagnosis", "Work", "End")[number - 1], "conversations": messages}


def dialogue(clients: tuple[int, int, int, int] = (8, 3, 5, 4), **changes: Any) -> Record:
    stages = [stage(number, count, counselor_first=number > 1) for number, count in enumerate(clients, start=1)]
    return Record({"id": 12, "description": ["A case."], "stages": stages} | changes, "f", 0)


def checkpoints(task: ContextTask, record: Record) -> list[tuple[Item, Context]]:
    return list(build(checkpoints_of(task), record).values())


@each_row(
    ("task", "expected"),
    [
        ("mc1", [2, 4, 6]),  # n = 8: 8 div 4, 8 div 2, 24 div 4
        ("mc2", [0, 1, 2]),  # n = 3: 3 div 4, 3 div 2, 9 div 4
        ("mc3", [1, 2, 3]),  # n = 5: 5 div 4, 5 div 2, 15 div 4
        ("mc4", [1, 2, 3]),  # n = 4: 4 div 4, 4 div 2, 12 div 4
    ],
)
def test_checkpoints_are_at_the_clients_quarters(task: ContextTask, expected: list[int]) -> None:
    last = [item.question.split("\n")[-1] for item, _ in checkpoints(task, dialogue())]
    assert last == [f"Client: c{task[-1]}.{number}" for number in expected]


def test_a_checkpoint_shows_all_said_so_far() -> None:
    built = build(checkpoints_of("mc2"), dialogue((3, 4, 3, 3)))
    assert list(built) == ["mc2-12-1", "mc2-12-2", "mc2-12-3"]
    item, context = built["mc2-12-1"]
    # Stage 1 in full, then stage 2 up to its client's message 1: k2.0 c2.0 k2.1 c2.1.
    assert item.context == (
        "Client: c1.0\nCounselor: k1.0\nClient: c1.1\nCounselor: k1.1\nClient: c1.2\nCounselor: k1.2\nCounselor: k2.0"
    )
    assert item.question == "Client: c2.0\nCounselor: k2.1\nClient: c2.1"
    assert (item.subset, context.task, context.query) == ("Diagnosis", "mc2", None)
    assert (item.question_type, item.references, item.options) == ("counselor_reply", ("k2.2",), None)


@each_row("task", STAGES)
def test_nothing_that_comes_later_is_shown(task: ContextTask) -> None:
    record = dialogue((8, 8, 8, 8))
    said = [f"{one['role']}: {one['context']}" for part in record.fields["stages"] for one in part["conversations"]]
    for item, _ in checkpoints(task, record):
        shown = f"{item.context}\n{item.question}".split("\n")
        assert shown == said[: len(shown)]
        assert shown[-1].startswith("Client: ")


def test_a_dialogue_that_has_only_begun() -> None:
    (item, context), (second, _), _ = checkpoints("mc1", dialogue((3, 3, 3, 3)))
    assert (item.context, item.question, context.tokens) == ("", "Client: c1.0", 0)
    assert (second.context, second.question) == ("", "Client: c1.0\nCounselor: k1.0\nClient: c1.1")


def test_end_of_stage_has_no_gold_reply() -> None:
    spoken = stage(1, 3)
    spoken["conversations"].pop()  # up to the client's last message, which is the third point
    spoken["conversations"][0]["context"] = " Good day.\nI am tired. "
    built = checkpoints("mc1", dialogue(stages=[spoken, *(stage(number, 3) for number in (2, 3, 4))]))
    assert [item.references for item, _ in built] == [("k1.0",), ("k1.1",), None]
    # A message is one line.
    assert built[0][0].question == "Client: Good day. I am tired."


def test_the_case_description_changes_nothing() -> None:
    without = {name: value for name, value in dialogue().fields.items() if name != "description"}
    assert checkpoints("mc4", dialogue()) == checkpoints("mc4", Record(without, "f", 0))


@each_row(
    ("builder", "records", "error", "message"),
    [
        (read_questions, [question(answer=" ")], ValueError, "answer is empty"),
        (read_questions, [question(context=None)], TypeError, "context is not a text, but NoneType"),
        (read_reports, [report(case_description=[])], ValueError, "case_description is empty"),
        (read_reports, [report(case_description={"age": ""})], ValueError, "case_description is empty"),
        (read_reports, [report(consultation_process=[34])], TypeError, "got int"),
        (read_reports, [report(experience_and_reflection=None)], TypeError, "got NoneType"),
        (read_reports, [report(symptoms="\n")], ValueError, "symptoms is empty"),
        (read_reports, [report(causes=["a", "b"])], TypeError, "causes is not a text, but list"),
        (
            *(read_situations, [situations([{"name": "Joy", "factors": [{"name": "T", "scenarios": [" "]}]}]), panas()]),
            *(ValueError, "scenario is empty"),
        ),
    ],
)
def test_records_that_are_no_items(builder: SampleBuilder, records: list[Record], error: type[Exception], message: str) -> None:
    for sample in builder(records, ContextOptions(), 0):
        with pytest.raises(error, match=message):
            sample.build()
