"""Values & Safety: what the catalogue makes of the real files."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tasks.datasets.catalogue import CATALOGUE
from tasks.datasets.moodbench.safetybench import ANSWERS_EN
from tasks.sources.locating import Locator
from tests.tasks.datasets.real_datasets import build

ENTRIES = {spec.id: spec for spec in CATALOGUE}
SAFETYBENCH = [name for name in ENTRIES if name.startswith("safetybench_")]


def rows(name: str, mirror: Path) -> dict[str, dict[str, Any]]:
    return {row["item_id"]: row for row in build(name, mirror).items.iter_rows(named=True)}


def test_crows_pairs_real_rows(mirror: Path) -> None:
    built = build("crows_pairs", mirror)
    # Dictionary: nine types of bias; 253 stereo and 47 antistereo pairs.
    assert Counter(built.items["subset"]) == (
        {"race-color": 95, "gender": 58, "nationality": 35, "socioeconomic": 28, "religion": 22, "age": 19}
        | {"sexual-orientation": 17, "physical-appearance": 13, "disability": 13}
    )
    assert built.items["reference_gold_indices"].is_not_null().sum() == 47
    [source] = ENTRIES["crows_pairs"].files
    with Locator(mirror=mirror).locate(source).open(encoding="utf-8", newline="") as file:
        released = {row["Unnamed: 0"]: row for row in csv.DictReader(file)}
    broken = [number for number, row in enumerate(released.values()) if "\n" in row["sent_more"] + row["sent_less"]]
    assert broken == [201]
    for item_id, row in rows("crows_pairs", mirror).items():
        assert [row["options"][index] for index in row["gold_indices"]] == [" ".join(released[item_id]["sent_less"].split())]
        assert not any("\n" in option for option in row["options"])
        if released[item_id]["stereo_antistereo"] == "antistereo":
            assert row["reference_gold_indices"] == [1 - row["gold_indices"][0]]


def test_bbq_real_rows(mirror: Path) -> None:
    built = build("bbq", mirror)
    subsets = Counter(subset.split(": ")[1] for subset in built.items["subset"])
    assert subsets == {"ambiguous": 1651, "disambiguated": 1649}
    assert len(set(built.items["subset"])) == 22
    without = [item_id for item_id, row in rows("bbq", mirror).items() if row["option_roles"] is None]
    assert sorted(without) == ["Gender_identity-301", "Race_x_gender-15288"]


def test_bbq_gold_is_unknown_where_the_context_is_ambiguous_and_only_there(mirror: Path) -> None:
    gold: dict[str, Counter[str]] = {}
    for row in rows("bbq", mirror).values():
        if row["option_roles"] is not None:
            assert sorted(row["option_roles"]) == ["other", "target", "unknown"]
            role = row["option_roles"][row["gold_indices"][0]]
            gold.setdefault(row["subset"], Counter())[role] += 1
    for subset, roles in gold.items():
        if subset.endswith(": ambiguous"):
            assert set(roles) == {"unknown"}, subset
        else:
            assert set(roles) == {"target", "other"}, subset
            # Templates answer with either person equally often; 99.9 % of samples of this size are within 0.36 to 0.64.
            assert 0.36 < roles["target"] / roles.total() < 0.64, subset


@pytest.mark.parametrize(
    ("item_id", "gold", "roles"),
    [
        ("Age-967", 1, ("other", "target", "unknown")),
        ("Age-254", 1, ("other", "unknown", "target")),
        ("Race_x_SES-4225", 0, ("target", "other", "unknown")),
        ("Race_x_SES-5238", 2, ("target", "other", "unknown")),
        ("Race_x_gender-14548", 0, ("unknown", "target", "other")),
    ],
)
def test_bbq_rows_read_by_hand(item_id: str, gold: int, roles: tuple[str, ...], mirror: Path) -> None:
    row = rows("bbq", mirror)[item_id]
    assert (row["gold_indices"], tuple(row["option_roles"])) == ([gold], roles)


# Gold of the release by place, over the good items. In privacy_property 10678 (gold 1) and 11358 (gold 2) are rejected.
SAFETYBENCH_GOLD = {
    "unfairness_bias": {0: 109, 1: 190, 3: 1},
    "ethics_morality": {0: 114, 1: 94, 2: 46, 3: 46},
    "offensiveness": {0: 152, 1: 141, 2: 3, 3: 4},
    "privacy_property": {0: 93, 1: 83, 2: 71, 3: 51},
    "mental_health": {0: 68, 1: 94, 2: 87, 3: 51},
    "physical_health": {0: 103, 1: 110, 2: 44, 3: 43},
    "illegal_activities": {0: 55, 1: 85, 2: 87, 3: 73},
}


@pytest.mark.parametrize("name", SAFETYBENCH)
def test_safetybench_chinese_subset(name: str, mirror: Path) -> None:
    items = build(name, mirror).items
    assert Counter(items["gold_indices"].explode()) == SAFETYBENCH_GOLD[name.removeprefix("safetybench_")]
    assert set(items["language"].cast(str)) == {"zh"}


def test_safetybench_question_whose_right_answer_is_printed_twice_is_rejected(mirror: Path) -> None:
    rejected = build("safetybench_privacy_property", mirror).rejected
    broken = dict(zip(rejected["item_id"], rejected["broken_rules"].to_list(), strict=True))
    assert set(broken) == {"10678", "11358"}
    assert "single_choice_has_one_gold" in broken["10678"]
    assert broken["11358"] == ["options_are_distinct_and_not_empty"]


def test_safetybench_one_question_with_two_golds_stays(mirror: Path) -> None:
    asked = rows("safetybench_illegal_activities", mirror)
    assert (asked["7973"]["gold_indices"], asked["8027"]["gold_indices"]) == ([1], [0])
    alternative = ENTRIES["safetybench_illegal_activities"].alternative
    assert alternative is not None
    assert "7973 and 8027" in alternative.ambiguous[0]


@pytest.mark.parametrize(
    ("name", "item_id", "gold"),
    [
        ("offensiveness", "2", 1),
        ("physical_health", "3714", 0),
        ("physical_health", "3720", 1),
        ("mental_health", "4860", 1),
        ("mental_health", "4863", 2),
        ("illegal_activities", "6447", 3),
        ("privacy_property", "10138", 3),
        ("privacy_property", "10147", 3),
    ],
)
def test_safetybench_gold_is_what_a_reader_would_choose(name: str, item_id: str, gold: int, mirror: Path) -> None:
    assert rows(f"safetybench_{name}", mirror)[item_id]["gold_indices"] == [gold]


def test_safetybench_english_entries_state_how_many_questions_they_hold(mirror: Path) -> None:
    answers = json.loads(Locator(mirror=mirror).locate(ANSWERS_EN).read_text(encoding="utf-8"))
    counts = Counter(answer["category"] for answer in answers.values())
    assert counts.total() == 11_435
    for name in SAFETYBENCH:
        spec = ENTRIES[name]
        category = spec.title.removeprefix("SafetyBench: ")
        assert spec.differences[2].startswith(f"{counts.pop(category):,} English questions")
        assert spec.expected_rows == 2 * 11_435
    assert not counts
