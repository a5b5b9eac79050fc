"""Item scores of the reference profile on hand-made items; real files are in test_ceilings.py."""

from string import ascii_lowercase
from typing import Any

import pytest

from schemas.errors import ScoringError
from tasks.benchmarks.moodbench.reference.methods import reference_method
from tasks.benchmarks.moodbench.reference.scoring import (
    clean_span,
    extract_letter,
    extract_letters,
    rouge_1,
    score_reference,
    word_recall,
)
from tasks.scoring.reduction import reduce_item_scores
from tests.rows import each_row
from tests.tasks.benchmarks.moodbench.reference.rows import answer, item
from tests.tasks.rows import answers, items

TWO = ["Listening", "Leaving"]
SCALE = ["never", "rarely", "sometimes", "often", "mostly"]
EMOTIONS = [f"emotion {name}" for name in (*ascii_lowercase, "surprise", "neutral")]

COPA = item("copa", "single_choice", options=TWO, gold_indices=[1])
ANTI = item("crows_pairs", "single_choice", options=TWO, gold_indices=[1], reference_gold_indices=[0])
UNMATCHED = item("cped", "single_choice", options=TWO, gold_indices=[1], reference_gold_indices=[])
EDOS = item("edos", "single_choice", options=EMOTIONS, gold_indices=[26])
FOLIO = item("folio", "ranking", options=["True", "False", "Uncertain"], gold_indices=[2])
JEC = item(
    "agieval", "multiple_answer", options=[*TWO, "Talking"], gold_indices=[0, 1], reference_gold_indices=[], subset="jec-qa-ca"
)
SEVERAL = item("agieval", "multiple_answer", options=[*TWO, "Talking"], gold_indices=[0, 1], subset="gaokao-mathqa")
SKIPPED = item("agieval", "single_choice", options=TWO, gold_indices=[1], subset="sat-math")
FIRST = item("moodbench3", "single_choice", options=TWO, gold_indices=[1], source_row=0)
SECOND = item("moodbench3", "single_choice", options=TWO, gold_indices=[1], source_row=1)
TYPED = item("agieval", "extractive", references=["7"], subset="gaokao-mathcloze")
FEELINGS = item("goemotions", "multiple_answer", options=EMOTIONS, gold_indices=[0, 26])
SPAN = item("cmrc2018", "extractive", references=["小明", "李小明"])
SUMMARY = item("lcsts", "judged_summary", references=["我们真的很开心"])
WORDS = item("cnewsum", "judged_summary", references=["New York 开心"])
FORM = item("eq60", "questionnaire", options=SCALE, option_points=[2.0, 1.0, 0.0, 0.0, 0.0])
FILLER = item("eq60", "questionnaire", options=SCALE, option_points=[None] * 5)
KEYED = item("interpersonal_relationship", "questionnaire", options=SCALE[:3], option_points=[2.0, 3.0, 1.0])
MEMORY = item("longmemeval", "open_ended", references=["the blue box"])


def score(of: dict[str, Any], reply: str | None, **fields: Any) -> dict[str, Any]:
    method = reference_method(of["dataset"])
    assert method is not None
    scores = score_reference(items(of), answers(answer(of, reply, **fields)), method)
    assert scores.height == 1
    return scores.row(0, named=True)


@each_row(
    ("of", "reply", "read", "value", "status"),
    [
        (COPA, "B", "B", 1, "scored"),
        (COPA, "A", "A", 0, "scored"),
        (COPA, "I think it is B.", "I", 0, "scored"),  # a letter no option has is an answer there
        (COPA, "选B", "UNKNOWN", 0, "unparsed"),
        (COPA, None, "UNKNOWN", 0, "unparsed"),  # a failed call counts as wrong
        (ANTI, "A", "A", 1, "scored"),
        (ANTI, "B", "B", 0, "scored"),
        (UNMATCHED, "B", "B", 0, "scored"),
        # The 27th option is a in the released prompt and AA in ours; neither can be read.
        (EDOS, "a", "A", 0, "scored"),
        (EDOS, "AA", "UNKNOWN", 0, "unparsed"),
        (FOLIO, "C, A, B", "C", 1, "scored"),
        (JEC, "A, B", "A", 0, "scored"),
        (SEVERAL, "A, B", "A", 0, "scored"),
        (SKIPPED, "B", None, None, "not_counted"),
        (FIRST, "B", None, None, "not_counted"),
        (SECOND, "B", "B", 1, "scored"),
        (TYPED, "7", None, None, "not_counted"),
        # 1 hit of 2 named and 2 right: 2 * 1 / 4; the lower-case a of the 27th option is not the A that was named
        (FEELINGS, "A, B", "A,B", 0.5, "scored"),
        (FEELINGS, "A, AA", "A,UNKNOWN", 0.5, "scored"),
        (FEELINGS, "A", "A", 2 / 3, "scored"),
        (FEELINGS, "joy", "UNKNOWN", 0, "unparsed"),
        # The first reference only.
        (SPAN, "答案是小明。", "小明", 1, "scored"),
        # 2 * 4 / (9 + 4) = 0.61538...
        (SUMMARY, "我们在动物园玩得很开心，真的很开心。", "我们在动物园玩得很开心，真的很开心。", 0.6154, "scored"),
        (SUMMARY, None, None, 0, "unparsed"),
        # The reference loses its blanks and is NewYork开心, the reply keeps its own: 开心 is the only word shared, 2 / (2 + 3).
        (WORDS, "New York 开心", "New York 开心", 0.4, "scored"),
        (WORDS, "NewYork开心", "NewYork开心", 1, "scored"),
        # Points 1 to 5 upwards whatever our key says: (4 - 1) / (5 - 1).
        (FORM, "D", "D", 0.75, "scored"),
        (FILLER, "E", "E", 1, "scored"),
        (FORM, "F", "F", 0, "unparsed"),
        (FORM, None, "UNKNOWN", 0, "unparsed"),
        (KEYED, "A", "A", 0.5, "scored"),
        (MEMORY, "In the blue box.", "In the blue box.", 2 / 3, "scored"),
    ],
)
def test_a_reply_is_read_and_scored_as_released(
    of: dict[str, Any], reply: str | None, read: str | None, value: float | None, status: str
) -> None:
    row = score(of, reply)
    assert (row["parsed_answer"], row["status"]) == (read, status)
    assert row["value"] == (None if value is None else pytest.approx(value, abs=1e-12))


@pytest.mark.parametrize(("reply", "value", "chosen"), [("A", 1, 0), ("B", 0, 1), ("C", 0, None)])
def test_letters_are_those_of_the_places_shown(reply: str, value: float, chosen: int | None) -> None:
    row = score(COPA, reply, option_order=[1, 0])
    assert (row["value"], row["chosen_place"], row["gold_place"]) == (value, chosen, 0)
    assert (row["predicted"], row["gold"]) == ([reply], ["A"])


def test_a_gold_that_cannot_match_has_no_place() -> None:
    assert (score(UNMATCHED, "B")["gold"], score(UNMATCHED, "B")["gold_place"]) == ([], None)
    assert (score(EDOS, "a")["gold"], score(EDOS, "a")["gold_place"]) == (["a"], 26)


def test_letters_start_again_after_52_options() -> None:
    long = item("goemotions", "multiple_answer", options=[f"option {n}" for n in range(55)], gold_indices=[53])
    assert score(long, "B")["gold"] == ["B"]
    assert score(long, "B")["value"] == 1


def test_unknown_is_false_positive_of_pooled_f1() -> None:
    first, second = FEELINGS | {"item_id": "1", "gold_indices": [0]}, FEELINGS | {"item_id": "2", "gold_indices": [1]}
    replies = answers(answer(first, "A, "), answer(second, None))
    method = reference_method("goemotions")
    assert method is not None
    raw = reduce_item_scores(score_reference(items(first, second), replies, method).lazy()).row(0, named=True)
    # 1 hit; named: A, UNKNOWN, UNKNOWN; right: A, B. 2 * 1 / (3 + 2)
    assert raw["value"] == pytest.approx(0.4)
    assert (raw["n_scored"], raw["n_unparsed"], raw["n_total"]) == (2, 1, 2)


def test_an_item_without_response_is_an_error() -> None:
    method = reference_method("copa")
    assert method is not None
    with pytest.raises(ScoringError, match="items have no answer"):
        score_reference(items(COPA, COPA | {"item_id": "2"}), answers(answer(COPA, "B")), method)


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        # Computed by rouge-chinese 1.0.3 over jieba 0.42.1 tokens. The first text has 11 tokens, 9 of them distinct; the 4 of the
        # reference are all shared: 2 * 4 / (9 + 4). Counting 很 and 开心 twice it would be 8 / 15.
        ("我们在动物园玩得很开心，真的很开心。", "我们真的很开心", 0.615385),
        ("北京市发布新规，规范共享单车停放", "北京规范共享单车停放秩序，发布新规定", 0.666667),
        ("苹果公司周二发布新手机，新手机售价更高。", "苹果发布新手机", 0.363636),
        ("iPhone 17 发布", "苹果公司发布 iPhone 17", 0.857143),
        ("UNKNOWN", "小明", 0),
        *((empty, "小明", 0) for empty in ("", " \n")),
    ],
)
def test_rouge_1_is_that_of_rouge_chinese(text: str, reference: str, value: float) -> None:
    assert rouge_1(text, reference) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("It was in the blue box.", "the blue box", 2 / 3),  # "box." is not "box"
        ("The blue box", "the blue box", 2 / 3),  # nor "The" "the"
        ("very good", "very very good", 2 / 3),  # "very" occurs once
        ("", "the box", 0),
        ("anything", " ", 0),
    ],
)
def test_word_recall_counts_words_between_blanks(text: str, reference: str, value: float) -> None:
    assert word_recall(text, reference) == value


OBSERVED: dict[str, tuple[str, ...]] = {
    "B": ("B", "b", "Option B", "我选择B", "答案是B"),
    "C": ("(C)", "**C**", "C.", "选项C", "The answer is C"),
    # Chinese characters are word characters: no boundary before the letter.
    "UNKNOWN": ("选B", "应选B。", "我认为是C", "", "no idea"),
    "I": ("I think the answer is B.", "I'd say C"),
    "A": ("A dog is shown, so the answer is C", "<think>a</think>B"),
    "N": ("答案是None",),
}


@each_row(
    ("reply", "letter"),
    [
        *((reply, letter) for letter, replies in OBSERVED.items() for reply in replies),
        ("A好, 但答案为：c", "C"),  # after 答案 before a letter that stands earlier
        ("答案是A，我选择B", "A"),  # 答案 before 选择
        ("B项比C好，选择：D", "D"),  # 选择 before a letter with 项
        ("I would take\nD\nand C项", "C"),  # a letter with 项 before a line of its own
        ("I would take\nD\n", "D"),  # a line of its own before a letter that stands alone
        ("I say 选项c", "C"),  # after 选项 before a letter that stands alone
    ],
)
def test_observed_letters_and_the_order_of_the_patterns(reply: str, letter: str) -> None:
    assert extract_letter(reply) == letter


@each_row(
    ("reply", "letters"),
    [
        ("A,B", {"A", "B"}),
        ("A，B", {"A"}),
        ("A、B", {"A"}),
        ("A B", {"A"}),
        ("AB", {"UNKNOWN"}),
        ("", {"UNKNOWN"}),
        # The piece after the last comma is read too.
        ("A, ", {"A", "UNKNOWN"}),
        ("b, B", {"B"}),
    ],
)
def test_observed_sets_of_letters(reply: str, letters: set[str]) -> None:
    assert extract_letters(reply) == letters


@each_row(
    ("reply", "span"),
    [
        ("“小明”", "小明"),
        ("答案是：小明。", "小明"),
        ("根据文本，答案是小明！", "小明"),
        ("小明的答案", "小明的答案"),
        ("", "UNKNOWN"),
        ("。", "UNKNOWN"),
        # 5 characters, 。, 200 characters: 206 are more than 200.
        ("他去了北京。" + "很" * 200, "他去了北京"),
        # 200 are not.
        ("他去了北京。" + "很" * 194, "他去了北京。" + "很" * 194),
    ],
)
def test_spans_lose_what_surrounds_them(reply: str, span: str) -> None:
    assert clean_span(reply) == span
