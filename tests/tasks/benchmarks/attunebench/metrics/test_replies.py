from typing import Any

from tasks.benchmarks.attunebench.datasets.codebook import read_scale
from tasks.benchmarks.attunebench.metrics.replies import (
    missing_keys,
    read_items,
    read_phrases,
    read_selections,
    read_tags,
    read_words,
)
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.metrics.samples import pair


def test_yes_and_no_in_all_spellings() -> None:
    answers = {"B1": True, "B2": " Y ", "B3": 1, "B4": "FALSE", "B5": "n", "B6": 0, "B7": "N/A", "B8": "perhaps", "B9": None}
    assert " ".join(read_words(answers).values()) == "yes yes yes no no no na"
    assert read_words(["yes"]) == {}


@each_row(
    ("value", "read"),
    [(3.6, 4), ("2", 2), (0, 1), (99, 7), (True, None), (float("nan"), None), ("a lot", None), (None, None), ([5], None)],
)
def test_scale_is_rounded_into_1_to_7(value: Any, read: int | None) -> None:
    assert read_scale(value) == read


def test_emotions_keep_order_and_unknown_ones_go() -> None:
    tags = [{"emotion": " Upset", "intensity": 9}, "proud", {"emotion": "neutral"}, {"emotion": "sad", "intensity": 3}, {}]
    assert read_tags(tags) == [("upset", 7), ("proud", None)]
    assert read_tags([]) == []
    assert read_tags({"upset": 4}) is None


def test_side_is_letter_number_or_label() -> None:
    sides = {"0": "a", 1: "response_2", "2": "Human", "3": "original", "4": "both", "9": "A"}
    assert read_selections(sides, [pair("original", "human")] * 5) == {"0": "A", "1": "B", "2": "B", "3": "A"}


def test_changes_are_added_to_the_items_before() -> None:
    assert read_items({"post_panas": {"Upset": 8, "proud": "3", "merry": 2}}, {}) == {"upset": 7, "proud": 3}
    assert read_items({"panas_changes": {"upset": -3, "proud": 1.6, "active": 1}}, {"upset": 2, "proud": 4}) == {
        "upset": 1,
        "proud": 6,
    }


def test_phrases_are_trimmed_and_lower_case() -> None:
    assert read_phrases([" Felt rushed ", "", 3]) == ["felt rushed"]
    assert read_phrases("Advice") == ["advice"]
    assert read_phrases(None) is None


@each_row(
    ("part", "reply", "missing"),
    [
        ("turn 1 draft", {}, ("drafted_response",)),
        ("turn 12 hp_binary", {"binary_om_assessment": {}}, ("binary_human_prediction",)),
        ("turn 1 judge", {"draft_binary_assessment": {}}, ()),
        ("post", {"conversation_wide": {}}, ("post_panas",)),
        ("post", {"panas_changes": {}}, ("conversation_wide",)),
    ],
)
def test_missing_keys_of_each_call(part: str, reply: dict[str, Any], missing: tuple[str, ...]) -> None:
    assert missing_keys(part, reply) == missing
