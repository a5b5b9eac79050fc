"""SafetyBench: questions on seven kinds of safety, one entry each over the same files of questions and of answers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.datasets.catalogue import pinned_in

# Such options speak of the options shown with them, so they have to stay where they are.
NAMES_OTHERS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?i)\b(?:all|none|any|both|neither|either)(?: of)? (?:the )?(?:above|options|other options|these|of them)\b"
    ),
    "zh": re.compile(r"^(?:以上[都皆均选]|所有选项|两者都|都是$)"),
}


def join_safetybench_answers(category: str, records: Sequence[Record]) -> Sequence[Record]:
    """Give each question of one category, in file order, its `answer` from the file of answers, by id; null if it has none.

    Raise ValueError if an answer is to no question, or the two files disagree about its category.
    """
    answers = {record.fields["key"]: record.fields["value"] for record in records if "key" in record.fields}
    questions = {str(record.fields["id"]): record for record in records if "key" not in record.fields}
    if unasked := [key for key in answers if key not in questions]:
        raise ValueError(f"{len(unasked)} answers without a question, such as {unasked[0]}")
    for key, answer in answers.items():
        if (own_category := questions[key].fields["category"]) != answer["category"]:
            raise ValueError(f"{key} has category {own_category} in the questions, {answer['category']} in the answers")
    return [
        replace(record, fields={**record.fields, "answer": answers.get(key, {}).get("answer")})
        for key, record in questions.items()
        if record.fields["category"] == category
    ]


def adapt_safetybench(language: Language, record: Record) -> Item:
    """`answer` is the index of the right one of `options`. A right answer printed twice has no gold."""
    fields = record.fields
    # Options have to stay one line each.
    options = tuple(" ".join(option.split()) for option in fields["options"])
    answer = fields["answer"]
    clear = answer in range(len(options)) and options.count(options[answer]) == 1
    return Item(
        language=language,
        question=fields["question"].strip(),
        options=options,
        gold_indices=(answer,) if clear else None,
        fixed_order=any(NAMES_OTHERS[language].search(option) for option in options),
        item_id=str(fields["id"]),
    )


_pin = pinned_in("github.com/thu-coai/SafetyBench", "960833692a1ec82b191ff3e902daca7993c35cc1")
QUESTIONS_EN = _pin("opensource_data/test_en.json", None)
ANSWERS_EN = _pin("opensource_data/test_answers_en.json", record_format="json_object")
QUESTIONS_ZH = _pin("opensource_data/test_zh_subset.json")
ANSWERS_ZH = _pin("opensource_data/test_answers_zh_subset.json", record_format="json_object")

FEW_SHOT = (
    "The released code asks the five few-shot examples of the category; we ask its test questions, whose answers are public."
)

UNSEEN = (
    "The file of English questions could not be had when this entry was made: it is pinned by its revision only, without a hash."
)

TRANSLATED = (
    "The paper asks in English; these are the 300 questions of the Chinese subset, used where the English ones are not here."
)


def _describe(
    name: str, category: str, n_english: int, *differences: str, of_chinese: tuple[str, ...] = (), **chinese: Any
) -> DatasetSpec:
    """Describe one category: its English test questions, else those of the Chinese subset, which has fields of its own."""
    english = DatasetSpec(
        id=f"safetybench_{name}",
        title=f"SafetyBench: {category}",
        files=(QUESTIONS_EN, ANSWERS_EN),
        join_records=partial(join_safetybench_answers, category),
        adapter=partial(adapt_safetybench, "en"),
        licence="MIT",
        paper="Zhang et al. 2024, arXiv:2309.07045, ACL 2024",
        required=("id", "category", "question", "options"),
        expected_rows=2 * 11_435,
        differences=(FEW_SHOT, UNSEEN, f"{n_english:,} English questions; the paper draws 300.", *differences),
    )
    return english.with_alternative(
        files=(QUESTIONS_ZH, ANSWERS_ZH),
        adapter=partial(adapt_safetybench, "zh"),
        languages=("zh",),
        expected_rows=2 * 2_100,
        differences=(FEW_SHOT, TRANSLATED, *of_chinese, *differences),
        **chinese,
    )


SAFETYBENCH = (
    _describe("unfairness_bias", "Unfairness and Bias", 1_904),
    _describe("ethics_morality", "Ethics and Morality", 1_934),
    _describe("offensiveness", "Offensiveness", 1_805),
    _describe(
        "privacy_property",
        "Privacy and Property",
        1_299,
        of_chinese=(
            "Questions 10678 and 11358 print one of their options twice and are rejected; in 10678 it is the right one.",
        ),
        broken_rows=2,
    ),
    _describe("mental_health", "Mental Health", 1_566),
    _describe("physical_health", "Physical Health", 1_149),
    _describe(
        "illegal_activities",
        "Illegal Activities",
        1_778,
        "Table 5 of the MoodBench paper can be read as level Medium or High; we take Medium, as its published scores fit.",
        ambiguous=(
            "Questions 7973 and 8027 are one question in two wordings with two right answers: who answers both alike misses one.",
        ),
    ),
)
