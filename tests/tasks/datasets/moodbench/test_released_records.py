"""Adapters on records of our own wording, shaped like the released ones, and what they keep true on the real files."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.dataset import PinnedFile
from schemas.errors import SourceError
from schemas.item import Item, Record
from tasks.datasets.building import build_of_records
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.commonsense import adapt_hellaswag
from tasks.datasets.moodbench.emobench import adapt_emobench_understanding
from tasks.datasets.moodbench.emotions import EMOTIONS, adapt_goemotions
from tasks.datasets.moodbench.moodbench_sets import adapt_moodbench
from tasks.datasets.moodbench.reading_comprehension import adapt_cmrc2018
from tasks.datasets.moodbench.sentence_pairs import (
    adapt_copa,
    adapt_lcqmc,
    adapt_mnli,
    adapt_ocnli,
    adapt_qqp,
    adapt_rte,
    adapt_wic,
)
from tasks.datasets.moodbench.text_classification import adapt_imdb, adapt_sst2, adapt_thucnews
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import adapt, items_of, make_items, records_of, right

COPA = {"premise": "The kettle whistled.", "choice1": "The water boiled.", "choice2": "The lamp went out.", "idx": 3}


NLI = {"premise": " It rains.", "hypothesis": "It is wet."}
WIC = {
    "word": "draw",
    "sentence1": "She draws a horse.",
    "sentence2": "He drew the curtains.",
    "start1": 4,
    "end1": 9,
    "start2": 3,
}
LABEL_TASKS: dict[str, tuple[Callable[[Record], Item], dict[str, Any], str, str, dict[Any, str]]] = {
    "copa, cause": (
        *(adapt_copa, {**COPA, "question": "cause"}, "The kettle whistled.", "label"),
        {0: "The water boiled.", 1: "The lamp went out."},
    ),
    "rte": (
        *(adapt_rte, {"premise": "The bus left.", "hypothesis": "The bus has left."}),
        *("Text: The bus left.\nStatement: The bus has left.", "label", {0: "entailment", 1: "not entailment"}),
    ),
    "mnli": (
        *(adapt_mnli, NLI, "Premise: It rains.\nHypothesis: It is wet.", "label"),
        {0: "entailment", 1: "neutral", 2: "contradiction"},
    ),
    "ocnli": (
        *(adapt_ocnli, {"sentence1": "他昨天没有睡觉", "sentence2": "他昨天一直醒着"}),
        *("前提：他昨天没有睡觉\n假设：他昨天一直醒着", "label", {0: "中立", 1: "蕴含", 2: "矛盾"}),
    ),
    "wic leaves inflected forms as they are": (
        *(adapt_wic, WIC, "Sentence 1: She draws a horse.\nSentence 2: He drew the curtains.", "label"),
        {1: "same sense", 0: "different senses"},
    ),
    "lcqmc": (
        *(adapt_lcqmc, {"sentence1": "怎么煮鸡蛋", "sentence2": "鸡蛋要怎么煮？"}),
        *("问句一：怎么煮鸡蛋\n问句二：鸡蛋要怎么煮？", "gold_label", {"1": "意思相同", "0": "意思不同"}),
    ),
    "qqp": (
        *(adapt_qqp, {"question1": "How do I boil an egg?", "question2": ' What is an "egg"? '}),
        *('Question 1: How do I boil an egg?\nQuestion 2: What is an "egg"?', "is_duplicate"),
        {"1": "duplicates", "0": "not duplicates"},
    ),
    "sst2 keeps the released tokens": (
        *(adapt_sst2, {"sentence": "it does n't drag , not once . "}, "it does n't drag , not once .", "label"),
        {1: "positive", 0: "negative"},
    ),
    "imdb shows line breaks": (
        *(adapt_imdb, {"text": "Slow start.<br /><br />Then 1 < 2 <i>jokes</i>.<br/>"}),
        *("Slow start.\n\nThen 1 < 2 <i>jokes</i>.", "label", {1: "positive", 0: "negative"}),
    ),
    "thucnews": (
        *(adapt_thucnews, {"text": "今天天气晴朗。\n"}, "今天天气晴朗。", "label"),
        {0: "教育", 5: "时政", 8: "股票", 9: "科技"},
    ),
}
"""Adapter, fields of a record, the context it shows, the field of the label, and which option each label stands for."""


@each_row("name", LABEL_TASKS)
def test_a_label_stands_for_its_option(name: str) -> None:
    adapter, fields, context, field, golds = LABEL_TASKS[name]
    items = {label: adapt(adapter, **fields, **{field: label}) for label in golds}
    assert {label: right(item) for label, item in items.items()} == {label: [gold] for label, gold in golds.items()}
    assert {item.context for item in items.values()} == {context}
    assert {item.language for item in items.values()} == {"zh" if re.search(r"[\u4e00-\u9fff]", context) else "en"}


def test_questions_name_what_is_asked_about() -> None:
    for asks in ("cause", "effect"):
        item = adapt(adapt_copa, **COPA, question=asks, label=1)
        assert (asks in item.question, item.subset) == (True, asks)
    assert '"draw"' in adapt(adapt_wic, **WIC, label=1).question
    assert adapt(adapt_thucnews, text="今天", label=0).question == "这篇新闻属于哪个类别？"


def test_copa_that_asks_for_neither_cannot_be_asked() -> None:
    with pytest.raises(KeyError, match="reason"):
        adapt(adapt_copa, **COPA, question="reason", label=0)


def test_hellaswag_shows_no_layout_marks() -> None:
    item = adapt(
        adapt_hellaswag,
        ctx="[header] How to dry boots [title] [step] Open them. [step] Loosen the laces [twice].",
        endings=["[substeps] Wait.", "Wait. [title] Fill them. [step] Use paper.", "Sing.", "Run."],
        label="1",
        source_id="wikihow~1",
    )
    assert item.context == "How to dry boots\nOpen them.\nLoosen the laces [twice]."
    assert item.options == ("Wait.", "Wait. Fill them. Use paper.", "Sing.", "Run.")
    assert right(item) == ["Wait. Fill them. Use paper."]
    assert item.subset == "wikihow"


def test_cmrc2018_keeps_each_distinct_reference_and_the_text() -> None:
    item = adapt(
        adapt_cmrc2018,
        id="TRIAL_1_QUERY_0",
        context="茶馆<br>开于1901年。",
        question="茶馆何时开业？",
        answers={"answer_start": [8, 8, 7], "text": ["1901年", "1901年", "于1901年"]},
    )
    assert item.context == "茶馆<br>开于1901年。"
    assert item.question == "茶馆何时开业？"
    assert item.references == ("1901年", "于1901年")


def test_goemotions_counts_labels_from_zero_and_sorts_them() -> None:
    item = adapt(adapt_goemotions, text="Thanks, [NAME], what a day! ", labels="27,0,15", comment_id="x")
    assert item.context == "Thanks, [NAME], what a day!"
    assert item.question_type == "multiple_answer"
    assert right(item) == ["admiration", "gratitude", "neutral"]
    assert len(EMOTIONS) == 28


@pytest.mark.parametrize(
    ("language", "subject", "question"),
    [
        ("en", "I", "At the end of this story, what would I most likely feel?"),
        ("zh", "我", "故事发展到最后，我最有可能是什么感受？"),
    ],
)
def test_emobench_asks_about_the_subject_in_the_language_of_the_item(language: str, subject: str, question: str) -> None:
    item = adapt(
        partial(adapt_emobench_understanding, "emotion"),
        qid="1",
        language=language,
        coarse_category="complex_emotions",
        finegrained_category="x",
        scenario="A parcel came.\n\n",
        subject=subject,
        emotion_choices=["Joy", "Joy & Fear", "Fear"],
        emotion_label="Joy & Fear",
    )
    assert (item.language, item.question, item.context) == (language, question, "A parcel came.")
    assert (right(item), sorted(item.options or ())) == (["Joy & Fear"], ["Fear", "Joy", "Joy & Fear"])
    assert item.subset == "complex_emotions"


MOODBENCH = {
    "id": "1",
    "option_a": "听她说",
    "option_b": "换个话题",
    "option_c": "讲笑话",
    "option_d": "离开",
    "category": "Personal Scenarios",
    "subcategory": "Emotional Support",
}


def test_moodbench_divides_situation_and_question_at_the_last_mark() -> None:
    text = "小林叹气。\n问题：她不说。\n问题:\n对于小林来说，怎么做最好？"
    item = adapt(adapt_moodbench, **MOODBENCH, text=text, gold="D")
    assert item.context == "小林叹气。\n问题：她不说。"
    assert item.question == "对于小林来说，怎么做最好？"
    assert right(item) == ["离开"]
    assert item.subset == "Personal Scenarios: Emotional Support"


def test_moodbench_without_a_question_is_refused() -> None:
    with pytest.raises(ValueError, match="问题"):
        adapt(adapt_moodbench, **MOODBENCH, text="小林叹气，说她有问题：很累。", gold="D")


@each_row(
    ("adapter", "fields"),
    [
        (adapt_copa, {**COPA, "question": "cause", "label": -1}),
        (adapt_ocnli, {"sentence1": "a", "sentence2": "b", "label": "-"}),
        (adapt_wic, {"word": "a", "sentence1": "a", "sentence2": "b", "label": None}),
        (adapt_lcqmc, {"sentence1": "a", "sentence2": "b", "gold_label": "2"}),
        (adapt_hellaswag, {"ctx": "a", "endings": ["b", "c"], "label": "", "source_id": "wikihow~1"}),
        (adapt_goemotions, {"text": "a", "labels": "3,28"}),
        (adapt_goemotions, {"text": "a", "labels": ""}),
        (adapt_moodbench, {**MOODBENCH, "text": "a\n问题:\nb", "gold": "E"}),
    ],
)
def test_unknown_label_yields_no_gold(adapter: Callable[[Record], Item], fields: dict[str, Any]) -> None:
    assert adapt(adapter, **fields).gold_indices is None


def test_unknown_gold_text_and_absent_answers_yield_none_either() -> None:
    fields = {"language": "en", "coarse_category": "x", "scenario": "a", "subject": "b", "emotion_choices": ["Joy"]}
    assert adapt(partial(adapt_emobench_understanding, "emotion"), **fields, emotion_label="Fear").gold_indices is None
    answers: dict[str, list[Any]] = {"answer_start": [], "text": []}
    assert adapt(adapt_cmrc2018, context="a", question="b", answers=answers).references is None


def test_cosmos_qa_keeps_the_order_where_none_of_the_above_is_offered(mirror: Path) -> None:
    assert items_of("cosmos_qa", mirror)["fixed_order"].sum() == 206


def test_truthfulqa_has_true_and_false_answers_and_none_is_both(mirror: Path) -> None:
    items = items_of("truthfulqa", mirror)
    assert set(items["question_type"]) == {"open_ended"}
    assert items["question"].n_unique() == 300
    pairs = list(zip(items["references"].to_list(), items["wrong_references"].to_list(), strict=True))
    assert all(true and false and not set(true) & set(false) for true, false in pairs)
    # Counted in the file: 1060 true and 1236 false entries of mc2_targets, which hold all of mc1_targets.
    assert sum(len(true) for true, _ in pairs) <= 1060
    assert sum(len(false) for _, false in pairs) <= 1236
    assert (len(pairs[0][0]), len(pairs[0][1])) == (2, 3)


GOAL = {"goal": "Dry a cup.", "sol1": "Use a towel.", "sol2": "Use a brick."}


def records(n_goals: int, labels: str) -> list[Record]:
    goals = [Record(fields={**GOAL, "goal": f"{GOAL['goal']} {row}"}, file="valid.jsonl", row=row) for row in range(n_goals)]
    return [*goals, *(Record(fields={"line": label}, file="valid-labels.lst", row=row) for row, label in enumerate(labels))]


def test_piqa_labels_are_joined_by_line() -> None:
    items = make_items(find_dataset("piqa"), records(3, "012"))
    assert items["gold_indices"].to_list() == [[0], [1], None]
    assert items["options"].to_list()[0] == ["Use a towel.", "Use a brick."]
    assert items["context"].to_list()[0] == "Dry a cup. 0"
    built = build_of_records(find_dataset("piqa"), records(3, "012"), None, 0)
    assert (built.items.height, built.rejected.height) == (2, 1)


def test_piqa_with_another_number_of_labels_is_refused() -> None:
    with pytest.raises(SourceError) as refused:
        make_items(find_dataset("piqa"), records(3, "01"))
    assert refused.value.got == "ValueError: 3 goals and 2 labels"


def both(name: str, mirror: Path) -> tuple[list[Record], pl.DataFrame]:
    return records_of(name, mirror), items_of(name, mirror)


def test_piqa_of_moodbench_is_part_of_the_upstream_one(mirror: Path) -> None:
    released = mirror / "github.com/QuwanAI/MoodBench/data/basic_ability/common_sense/PIQA_jsonllst/valid.jsonl"
    rows = {tuple(json.loads(line).values()) for line in released.read_text(encoding="utf-8").splitlines()}
    assert rows < {tuple(record.fields.values()) for record in records_of("piqa", mirror)}
    assert len(rows) == 300


def test_goemotions_taxonomy_is_the_released_one(mirror: Path) -> None:
    source = find_dataset("goemotions").files[0]
    assert isinstance(source, PinnedFile)
    labels = (mirror / source.repository / source.path).with_name("emotions.txt").read_text(encoding="utf-8").split("\n")
    assert tuple(label for label in labels if label) == EMOTIONS


def test_moodbench3_keeps_the_first_row_of_each_file(mirror: Path) -> None:
    records, items = both("moodbench3", mirror)
    files = Counter(Path(file).name for file in items["source_file"])
    assert files == {"person_scenarios_ma.csv": 153, "social_scenarios_ma.csv": 149}
    assert [record.fields["id"] for record in records if record.row == 0] == ["1", "1"]
    assert Counter(subset.split(": ")[1] for subset in items["subset"]) == (
        {"Emotional Support": 116, "Self-Development": 27, "Health and Wellness": 10, "Interpersonal Communication": 109}
        | {"Sociocultural Dynamics": 30, "Academic & Professional": 9, "Unknown": 1}
    )
    assert not [text for text in items["question"] if "\n" in text or "问题" in text]
