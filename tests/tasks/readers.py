"""Everything that reads what a model wrote, by name, and shapes of text that patterns may stumble over."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import process_time
from typing import Any

import dataframely as dy
from pydantic import SecretStr

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.chat import ChatReply
from schemas.json_yaml import read_json
from schemas.metrics import Metric
from schemas.question_types import QUESTION_TYPES, suited_metrics
from schemas.tables.items import Items
from schemas.tables.scores import ItemScores
from tasks.benchmarks.attunebench.annotate import read_draft
from tasks.benchmarks.attunebench.conversation import part_of
from tasks.benchmarks.attunebench.metrics.conversation import measure_parts
from tasks.benchmarks.esc_eval.role_play import says_goodbye
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.solvers.emotion_expression import MARKED
from tasks.benchmarks.longemotion.solvers.rag import read_marks
from tasks.benchmarks.longemotion.solvers.search_o1 import find_query, without_searches
from tasks.benchmarks.moodbench.reference.scoring import clean_span, extract_letter, extract_letters, rouge_1
from tasks.judging.contract import Contract
from tasks.judging.prompts import fence_data, read_aspects
from tasks.judging.rubrics import Scale
from tasks.judging.simulation import find_rule_faults
from tasks.metrics.answer_forms import ParsedAnswer, Question, read_answer
from tasks.metrics.item_scores import MEASURED, score_items
from tasks.text.languages import find_language
from tasks.text.replies import read_object, strip_reasoning
from tasks.text.scrub_keys import Scrubber
from tests.tasks.benchmarks.attunebench.metrics.samples import ONE_TURN, gold_layers, visible
from tests.tasks.rows import answer, answers, item, items, judgement, judgements

Reader = Callable[[str], Any]
Shape = Callable[[int], str]

OPTIONS = ["She is relieved", "He feels nothing", "Both of them", "Cannot answer"]
CHINESE_OPTIONS = ["她松了一口气", "他很平静", "两人都是", "无法回答"]
REFERENCES = {"references": ["her cousin Tess came", "Tess"]}
CHOSEN = {"options": OPTIONS, "gold_indices": [1]}
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "single_choice": CHOSEN,
    "multiple_answer": {"options": OPTIONS, "gold_indices": [0, 1]},
    "extractive": {"references": ["\\frac{1}{2}"]},
    "open_ended": {**REFERENCES, "wrong_references": ["his cousin Tom"]},
    "ordered_recall": {"options": OPTIONS, "gold_indices": [2, 0, 1, 3]},
    "ranking": {**CHOSEN, "option_roles": ["stereotype", "anti_stereotype", "unrelated", "unknown"]},
    "questionnaire": {"options": OPTIONS, "option_points": [1.0, 2.0, 3.0, 4.0]},
    "judged_summary": REFERENCES,
    "label_choice": {"options": ["Joy", "Relief & Gratitude", "Anger"], "gold_indices": [1]},
    "odd_one_out": CHOSEN,
    "aspect_summary": {"references": ["a"] * 5},
}
"""Of an item of each question type, besides what all have; of those that are left out, nothing."""

UNREAD_HERE = ("truthful_similarity",)
"""Metrics that need more than words: a model that embeds the text."""


def question_of(question_type: str, **fields: Any) -> dict[str, Any]:
    """Return a row of `items`, null where nothing is said."""
    nothing = dict.fromkeys(Items.create_empty().columns)
    return {**nothing, **item(question_type, question_type), **FIELDS.get(question_type, {}), **fields}


def answering(question_type: str, *, cut: bool = False, **fields: Any) -> Reader:
    """Read an answer to a question of this type."""
    return partial(read_answer, Question.from_row(question_of(question_type, **fields)), cut=cut)


def measuring(metric: Metric, question_type: str) -> Reader:
    """Measure an answer in words."""
    question, measure = Question.from_row(question_of(question_type)), MEASURED[metric].answer
    assert measure is not None
    return lambda text: measure(question, ParsedAnswer(text), MetricSpec(metric=metric))


def score_replies(question_type: str, replies: Sequence[str]) -> dy.DataFrame[ItemScores]:
    """Score these replies to one item, each in a repetition of its own, by every metric of the type but those left out above."""
    metrics = [name for name in suited_metrics(question_type) if name not in UNREAD_HERE]
    rated = [name for name in metrics if MEASURED[name].ratings]
    if rated != metrics:
        metrics = [name for name in metrics if name not in rated]
    judged: dict[str, Any] = {"judged": True, "rubric": "summary"} if metrics == rated else {}
    specs = tuple(MetricSpec(metric=name, k=2 if name == "recall_at_k" else None) for name in metrics)
    row, known = question_of(question_type), ONE_TURN
    if question_type == "annotation":
        row = {**row, "item_id": known.conversation_id, "context": visible(known).to_json()}
    parts = (*(part_of(call, 1) for call in CALLS), "post") if question_type == "annotation" else ("",)
    said = [answer(row["item_id"], reply, repetition=turn, part=part) for turn, reply in enumerate(replies) for part in parts]
    ratings = judgements(*(judgement(row["item_id"], "warmth", 3, repetition=turn) for turn in range(len(replies))))
    method, gold = MethodSpec(id="m", metrics=specs, **judged), gold_layers({row["item_id"]: known})
    return score_items(items(row), answers(*said), ratings, method, gold)


WORDS = [name for name in suited_metrics("open_ended") if MEASURED[name].answer and "truthful" not in name]
CALLS = ("draft", "judge", "review", "hp_binary", "pairwise")
CONTRACT = Contract({"warmth": Scale(lowest=1, highest=3), "asks": "yes_no"}, rationale=True)
DIGIT = Contract({"warmth": Scale(lowest=1, highest=3)}, reply="digit")
SCRUBBER = Scrubber(SecretStr("AAAA-bbbb-0000-{a:"))
KNOWN = (ONE_TURN, visible(ONE_TURN))


def read_annotations(reply: str) -> None:
    """Read a text as each part of an annotated conversation, by both profiles."""
    parts = {part_of(call, 1): reply for call in CALLS}
    for profile in ("corrected", "reference"):
        measure_parts(KNOWN, {**parts, "post": reply}, profile)


def read_annotated_lists(reply: str) -> None:
    """Read lists as long as the text: emotions, phrases and words of a draft."""
    words = [reply[start : start + 10] for start in range(0, len(reply), 10)]
    wide = {"q1_lookingFor": words, "q3_followUp_whatFeltOff": words}
    given = {"emotion_tags": words, "conversation_wide": wide, "drafted_response": reply}
    read_annotations(json.dumps(given))


def read_json_quietly(text: str) -> None:
    """Read a document, which may be none."""
    with suppress(ValueError):
        read_json(text, lenient=True)


READERS: Mapping[str, Reader] = {
    **{name: answering(name) for name in QUESTION_TYPES},
    **{f"{name}, cut": answering(name, cut=True) for name in ("single_choice", "multiple_answer", "ordered_recall", "ranking")},
    **{f"by {name}": measuring(name, "open_ended") for name in WORDS},
    "by a formula": measuring("accuracy", "extractive"),
    "by qa_f1": measuring("qa_f1", "extractive"),
    "single_choice, Chinese": answering("single_choice", options=CHINESE_OPTIONS),
    "multiple_answer, Chinese": answering("multiple_answer", options=CHINESE_OPTIONS),
    "judge's object": CONTRACT.parse,
    "judge's digit": DIGIT.parse,
    "reference letter": extract_letter,
    "reference letters": extract_letters,
    "reference span": clean_span,
    "reference summary": lambda text: rouge_1(text, "她的表姐来了"),
    "object": read_object,
    "document": read_json_quietly,
    "aspects": lambda text: read_aspects(text, ASPECTS),
    "thoughts": strip_reasoning,
    "language": find_language,
    "key in an answer": SCRUBBER.clean,
    "fence": partial(fence_data, "TEXT"),
    "slips": lambda text: list(find_rule_faults(text, ["Hello.", text], "en")),
    "farewell": says_goodbye,
    "draft": read_draft,
    "annotations": read_annotations,
    "annotated lists": read_annotated_lists,
    "searches": lambda text: (find_query(ChatReply(text=text), set(), set()), without_searches(text), MARKED.sub("", text)),
    "marks of a critic": read_marks,
}


def repeated(unit: str, before: str = "", after: str = "") -> Shape:
    """Return the shape that repeats a unit."""
    return lambda length: before + (unit * (length // len(unit) + 1))[:length] + after


UNITS = [
    *(" ", "\n", "\t", "\r\n", " \n", "\u3000", "(", ")", "{", "}", "[", "]", '"', "'", "*", "_", "`", "\\", "&", "%", "$"),
    *("#", "-", "|", "a", "A", "A ", "A,", "A, ", "A or ", "A and ", "A. ", "A\n", "A) ", "(A) ", "AB", "not ", "no, ", "B? "),
    *(
        "I think ",
        "3 ",
        "the answer is ",
        "the answer is A ",
        "Answer: ",
        "Answer: A\n",
        "答案",
        "答案是",
        "选",
        "选A",
        "不是",
        "不",
    ),
    *("，", "。", "，A", "、A", "1. ", "1. A\n", "- A. ", "- A\n", "7", "3/3 ", "1-3", "(1-3", "3.", "Score: ", "warmth: 3\n"),
    *("<think>", "</think>", "<", ">", "</", "&lt;", "<answer>", "<answer>A</answer>", "<|channel|>", "<|begin_search_query|>"),
    *("<|begin_search_result|>", "<|end_search_result|>", "\\boxed{{}", "\\frac{", "\\frac1", '{"warmth": ', '{"warmth": 3} '),
    *("it's {", "[[9]]", "[ ", "(1 ", "3 out of ", "Score", '"warmth"', "True", "'", "你可以试试", "I'm an AI ", "\\sqrt{"),
    *("\\sqrt{}", "\\frac", "\\boxed{", "$A$ ", "x = ", "x=", "\\frac{1}{2}", "\\text ", "1,", "1,000", '{"a":', "{'a': "),
    *('{"answer": "A"}', '{"a": 1}', '{ "', "[1,", '"a": ', "```", "```json\n", "{}", "[]", "{a}", "<<<", ": "),
    *("She is relieved", "She is relieved. ", "She is ", "cannot ", "Both of them, ", "Joy & ", "Relief & ", "she ", "Tess "),
    *("\\n", "bye, ", "thank you ", "AAAA", "A\\n", "&amp;", "%25", "&#0", "0x41", "QUFBQS", "I will ", "你不妨", "You should\n"),
]
SHAPES: Mapping[str, Shape] = {
    **{repr(unit): repeated(unit) for unit in UNITS},
    **{f"A, blanks, {after!r}": repeated(" ", "A", after) for after in ("B", "x", "", ".")},
    **{f"Answer:, {unit!r}, A": repeated(unit, "Answer:", "A") for unit in (" ", "\n", "*", "(", "x ")},
    **{f"{unit!r} in an object": repeated(unit, '{"answer": "', '"}') for unit in (" ", "A ", "\\n", "a")},
    **{f"a fence, {unit!r}": repeated(unit, "```") for unit in (" ", "\n")},
    **{f"{unit!r}, closed once": repeated(unit, "", "}") for unit in ('{"a":', "{", '{"a": "b", ', "{'", "[{", '{"answer": [')},
    **{f"{unit!r} after a brace": repeated(unit, "{") for unit in ("{}", '"a": {}, ', " ", ",", ", ", "'a', ", "\\", '\\"')},
    "many keys": lambda length: "{" + ", ".join(f'"k{number}": 1' for number in range(length // 10)) + "}",
    "a key again and again": lambda length: "{" + ", ".join(['"key": 1'] * (length // 10)) + "}",
    "different words": lambda length: " ".join(f"word{number}" for number in range(length // 9)),
    "the words of an answer": repeated("her cousin came to see Tess and she "),
    "digits of a root": repeated("1", "\\sqrt{", ""),
}


def cpu_seconds(read: Reader, text: str) -> float:
    """Return the CPU time that it takes to read a text."""
    began = process_time()
    read(text)
    return process_time() - began
