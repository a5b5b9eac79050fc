"""Role cards: the four lines in both languages, what cannot be read, the released cards and our own."""

from collections import Counter
from pathlib import Path

import pytest

from schemas.item import Record
from schemas.vocabulary import Language
from tasks.benchmarks.esc_eval.datasets import AGES, AgeGroup, Gender, age_group, card_text, read_card
from tasks.datasets.building import BuiltItems, build_of_records
from tasks.datasets.catalogue import find_dataset
from tasks.scoring.blueprints import load_blueprint
from tests.mirror import MIRROR, needs_mirror
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import build, records_of

KNOWN = {"card_id": "1", "source": "own", "domain": "work_and_study"}


def counts(items: BuiltItems, name: str) -> Counter[str | None]:
    return Counter({group["name"]: group["value"] for group in groups}.get(name) for groups in items.items["groups"])


@each_row(
    ("language", "age", "gender", "occupation", "group"),
    [("en", "61", "female", "baker", "old"), ("zh", "青年", "not mentioned", "学生", "young")],
)
def test_a_card_is_read_as_it_is_written(language: Language, age: str, gender: Gender, occupation: str, group: AgeGroup) -> None:
    card = read_card(card_text(language, age, gender, occupation, "One line.\nAnd one more."), language, **KNOWN)
    assert (card.age_raw, card.gender, card.occupation, card.problem) == (age, gender, occupation, "One line.\nAnd one more.")
    assert card.age_group == group


def test_labels_colons_case_and_empty_lines_may_differ() -> None:
    text = " age : Old (90 years old)\n\nGENDER：Male\n\nOccupation: Not Mentioned\n\nProblem: It rained: twice. \n"
    card = read_card(text, "en", **KNOWN)
    assert (card.age_group, card.gender, card.occupation, card.problem) == ("old", "male", "not mentioned", "It rained: twice.")
    assert card.text == text


@each_row(
    ("age", "group"),
    [
        *((years, group) for group, years in zip(AGES, ("17岁", "18 or so", "40", "60"), strict=False)),
        *(("teenage or young", None), ("in her prime", None), ("Teenager", "teenage"), ("Not mentioned", "not mentioned")),
        *(("middle-aged", "middle-aged"), ("老年", "old"), ("未提及", "not mentioned")),
    ],
)
def test_an_age_is_put_into_one_group(age: str, group: AgeGroup | None) -> None:
    assert age_group(age) == group


@each_row(
    "text",
    [
        "Age: 20\nGender: male\nProblem: No occupation.",
        "Gender: male\nAge: 20\nOccupation: baker\nProblem: Another order.",
        "Age: 20\nGender: a baker\nOccupation: baker\nProblem: A gender that is none.",
        "Age: 20\nGender: male\nOccupation: baker\nProblem:   ",
    ],
)
def test_unreadable_cards_are_rejected_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"Age|gender"):
        read_card(text, "en", **KNOWN)
    spec = find_dataset("esc_eval_en")
    released = {"id": 7, "base": text, "res": "工作学习", "source": "Psych", "language": "english"}
    built = build_of_records(spec, [Record(fields=released, file="f", row=3)], None, 0)
    assert built.items.is_empty()
    assert built.rejected.select("item_id", "source_row", "context", "broken_rules").rows() == [
        ("card-7", 3, text, ["question|min_length"])
    ]


def released(language: str, mirror: Path) -> BuiltItems:
    spec = find_dataset(f"esc_eval_{language}")
    return build_of_records(spec, records_of(spec.id, mirror), load_blueprint("esc-eval").sample_of(spec.id), 0)


# In words: 40 young, 8 teenage, 13 middle-aged, 4 old, 3 teenage or young. In years: 3 below 18, 17 below 40, then 40 and 61.
AGES_OF_ENGLISH = {"teenage": 8 + 3, "young": 40 + 17, "middle-aged": 13 + 1, "old": 4 + 1, "not mentioned": 241, None: 3}


@needs_mirror
@each_row(
    ("language", "name", "expected"),
    [
        ("en", "source", {"ESConv": 158, "MHP Reddit": 73, "ExTES": 70, "Psych8K": 25, "EPITOME": 5}),
        ("en", "gender", {"not mentioned": 196, "female": 77, "male": 58}),
        ("en", "age_group", AGES_OF_ENGLISH),
        ("zh", "source", {"PsyQA": 252, "Smile": 72}),
        ("zh", "gender", {"not mentioned": 149, "female": 133, "male": 42}),
    ],
)
def test_every_released_card_is_an_item(language: str, name: str, expected: dict[str | None, int], mirror: Path) -> None:
    built = released(language, mirror)
    assert (built.items.height, built.rejected.height) == ({"en": 331, "zh": 324}[language], 0)
    assert counts(built, name) == expected
    assert Counter(built.items["subset"]) == counts(built, "domain")


@each_row("language", ["en", "zh"])
def test_bundled_cards_vary_and_name_their_problem(language: str) -> None:
    built = build(f"esc_eval_mini_{language}", MIRROR)
    assert (built.rejected.height, built.items.height >= 12) == (0, True)
    assert min(counts(built, "domain").values()) >= 3
    assert {*counts(built, "gender")} == {"female", "male", "not mentioned"}
    assert len(counts(built, "age_group")) >= 4
    assert None not in counts(built, "age_group")
    assert {*counts(built, "source")} == {"own"}
    rows = built.items.to_dicts()
    cards = [read_card(row["context"], row["language"], **KNOWN | {"card_id": row["item_id"]}) for row in rows]
    for row, card in zip(rows, cards, strict=True):
        groups = {group["name"]: group["value"] for group in row["groups"]}
        assert (row["question"], groups["gender"], groups["age_group"]) == (card.problem, card.gender, card.age_group)
    # An event, its cause and what followed take some room; each person is another one.
    assert len({card.occupation for card in cards}) == len({card.problem for card in cards}) == len(cards)
    assert min(len(card.problem) for card in cards) >= (80 if language == "zh" else 250)
    assert max(counts(built, "category3").values()) <= 2
