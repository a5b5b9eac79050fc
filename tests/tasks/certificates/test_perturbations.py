"""Each change of a text in both languages, and what is asked about which texts."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from schemas.errors import UsageError
from schemas.vocabulary import LANGUAGES, Language
from tasks.certificates.perturbations import (
    Ask,
    asked_rubric,
    change,
    load_perturbations,
    plan_asks,
    put_replies,
    replies_of,
)
from tasks.judging.answers import Rated
from tasks.judging.prompts import judge_messages
from tasks.judging.rubrics import Rubric
from tests.rows import each_row
from tests.tasks.certificates.rated import rubric, text, texts

TALK = [
    {"speaker": "seeker", "text": "Hi"},
    {"speaker": "helper", "text": "Hello."},
    {"speaker": "seeker", "text": "I lost it"},
    {"speaker": "helper", "text": "What?"},
]
TWO = ("d1", "d2")


def changed(check: str, replies: Sequence[str], language: Language, seed: int = 0) -> dict[str, list[str]]:
    return dict(change(check, replies, language, seed))


@each_row(
    ("language", "reply", "variant", "expected"),
    [
        ("en", "I see. Is it 3.5? Yes!", "blank_lines", "I see.\n\nIs it 3.5?\n\nYes!"),
        ("en", "I see you.", "doubled_spaces", "I  see  you."),
        ("en", "I see.\n\nYes.", "indented_lines", "    I see.\n\n    Yes."),
        ("zh", "我懂。是吗？！“好。”走吧。", "blank_lines", "我懂。\n\n是吗？！\n\n“好。”走吧。"),
        ("zh", "用 App 吧。", "doubled_spaces", "用  App  吧。"),
        ("zh", "我懂。\n走吧。", "indented_lines", "    我懂。\n    走吧。"),
        ("zh", "好,走吧!(慢慢来)", "full_width", "好，走吧！（慢慢来）"),
        ("zh", "好，走吧！（慢慢来）", "half_width", "好,走吧!(慢慢来)"),
    ],
)
def test_format_changes_layout_alone(language: Language, reply: str, variant: str, expected: str) -> None:
    assert changed("format", [reply], language)[variant] == [expected]


def test_format_is_full_or_half_width() -> None:
    assert [*changed("format", ["好,走"], "zh")][3:] == ["full_width"]
    assert [*changed("format", ["好，走"], "zh")][3:] == ["half_width"]
    assert len(changed("format", ["Well, go"], "en")) == 3


def test_length_adds_half_of_the_characters() -> None:
    # 100 characters: the first sentence adds 1 + 48 = 49 < 50, the second 1 + 54; then 104 >= 50.
    first, second = load_perturbations().texts["en"]["neutral"][:2]
    assert changed("length", ["x" * 100], "en") == {"": [f"{'x' * 100} {first} {second}"]}
    # 28 characters: 14 are enough, and the first sentence has as many; from seed 9 on it is the last, with 17.
    bank = load_perturbations().texts["zh"]["neutral"]
    assert changed("length", ["好" * 28], "zh") == {"": ["好" * 28 + bank[0]]}
    assert changed("length", ["好" * 40], "zh", 19) == {"": ["好" * 40 + bank[9] + bank[0]]}


def test_length_counts_all_replies_so_far() -> None:
    # 10: 5 needed, 49 added. 10 + 80 = 90: 45 needed, none. 90 + 20 = 110: 55 needed, 55 more.
    first, second = load_perturbations().texts["en"]["neutral"][:2]
    longer = changed("length", ["a" * 10, "b" * 80, "c" * 20], "en")[""]
    assert longer == [f"{'a' * 10} {first}", "b" * 80, f"{'c' * 20} {second}"]


@each_row(
    ("n", "places"),
    [
        (1, {"last": 0}),
        (2, {"first": 0, "last": 1}),
        (3, {"first": 0, "middle": 1, "last": 2}),
        (6, {"first": 0, "middle": 3, "last": 5}),
    ],
)
def test_flipped_turn_replaces_one_reply(n: int, places: dict[str, int]) -> None:
    for language in LANGUAGES:
        bank, replies = load_perturbations().texts[language], [f"r{number}" for number in range(n)]
        expected = {name: [*replies[:at], bank["dismissive"][3], *replies[at + 1 :]] for name, at in places.items()}
        expected |= {f"control {name}": [*replies[:at], bank["supportive"][3], *replies[at + 1 :]] for name, at in places.items()}
        assert changed("flipped_turn", replies, language, 13) == expected


def test_injection_stands_behind_the_last_reply() -> None:
    for language in LANGUAGES:
        bank = load_perturbations().texts[language]
        assert changed("injection", ["a", "b"], language) == {
            name: ["a", f"b\n\n{said}"] for name, said in bank["injection"].items()
        }
        assert [*bank["injection"]] == ["order", "forged_end", "authority", "other_language", "code_block", "comment"]
        assert bank["injection"]["code_block"].startswith("```python\n")
        assert bank["injection"]["comment"].startswith("<!--")


def test_injections_are_in_the_language_they_say() -> None:
    for language, name in product(LANGUAGES, ("order", "authority", "other_language")):
        is_chinese = "最好的分数" in load_perturbations().texts[language]["injection"][name]
        assert is_chinese is ((language == "zh") is not (name == "other_language"))


def test_floor_says_next_to_nothing() -> None:
    assert changed("floor", ["a", "b"], "en")["one_letter"] == ["k", "k"]
    assert changed("floor", ["a"], "en")["ellipsis"] == ["..."]
    assert changed("floor", ["好"], "zh") == {"one_letter": ["嗯"], "repeated_word": ["好的" * 8], "ellipsis": ["……"]}


def test_name_stands_before_the_first_reply() -> None:
    assert changed("name", ["a", "b"], "en")["Claude"] == ["I am Claude. a", "b"]
    assert changed("name", ["好"], "zh")["Qwen"] == ["我是Qwen。好"]


def said(*turns: str) -> list[dict[str, str]]:
    """Return turns as `speaker: text`."""
    pairs = (turn.split(": ") for turn in turns)
    return [{"speaker": speaker, "text": text} for speaker, text in pairs]


@each_row(
    ("turns", "replies"),
    [
        (TALK, ["Hello.", "What?"]),
        # The seeker may have the last word, and the model under test the first.
        ([*TALK, TALK[2]], ["Hello.", "What?"]),
        (said("tested: A", "seeker: B"), ["A"]),
        (said("seeker: A", "tested: B", "seeker: C"), ["B"]),
        (said("helper: A"), ["A"]),
    ],
)
def test_helper_is_tested_or_does_not_begin(turns: list[dict[str, str]], replies: list[str]) -> None:
    assert replies_of(turns) == replies


def test_replies_are_put_where_the_helper_speaks() -> None:
    assert replies_of("text") == ["text"]
    assert put_replies("text", ["Z"]) == "Z"
    assert put_replies(said("tested: A", "seeker: B"), ["Z"]) == said("tested: Z", "seeker: B")
    assert put_replies(TALK, ["1", "2"]) == said("seeker: Hi", "helper: 1", "seeker: I lost it", "helper: 2")
    assert put_replies(TALK, ["No."]) == said("seeker: Hi", "helper: No.", "seeker: I lost it", "helper: No.")


def asked(asks: Sequence[Ask]) -> Counter[tuple[str, str]]:
    return Counter((ask.perturbation, ask.variant) for ask in asks)


def test_all_texts_are_asked_about_once() -> None:
    rows = texts(text("1"), text("2"))
    assert plan_asks(rows, rubric(*TWO), [], 0, 50) == [Ask(0, "", "", "Yes. It is."), Ask(1, "", "", "Yes. It is.")]


@each_row(
    ("ask", "checks", "repetitions"),
    [
        ("together", ["repeat"], [0, 3, 6, 9, 12]),
        ("together", ["dimension_order"], [0, 1, 2]),
        ("together", ["repeat", "dimension_order"], [0, 1, 2, 3, 6, 9, 12]),
        ("one_by_one", ["repeat"], [0, 1, 2, 3, 4]),
        ("one_by_one", ["dimension_order"], [0]),
    ],
)
def test_repetitions_are_those_of_the_orders(ask: str, checks: list[str], repetitions: list[int]) -> None:
    asks = plan_asks(texts(text("1")), rubric("a", "b", "c", ask=ask), checks, 0, 50)
    assert [ask.repetition for ask in asks] == repetitions
    assert asked(asks) == {("", ""): len(repetitions)}


def test_equal_requests_have_dimensions_in_one_order() -> None:
    own = rubric("a", "b", "c")
    again = plan_asks(texts(text("1")), own, ["repeat"], 0, 50)
    assert [own.calls(ask.repetition) for ask in again] == [own.calls(0)] * 5


def test_change_without_effect_is_not_asked() -> None:
    # One sentence without a space: only its line is indented.
    asks = plan_asks(texts(text("1", "Yes.")), rubric(*TWO), ["format"], 0, 50)
    assert [(ask.variant, ask.content) for ask in asks[1:]] == [("indented_lines", "    Yes.")]


def test_all_checks_of_a_dialogue_are_asked() -> None:
    rows = texts(*(text(name, f"helper: {name}", turns=[*TALK[:3], {**TALK[3], "text": name}]) for name in ("1", "2")))
    asks = plan_asks(rows, rubric("d1", "relevance"), [*load_perturbations().checks], 0, 1)
    flips = {f"{kind}{name}": 1 for kind in ("", "control ") for name in ("first", "last")}
    counts = Counter(ask.perturbation for ask in asks)
    # Blank lines, double spaces and indents: replies of one word without a space have indents alone.
    assert counts == {
        "": 2 + 1 + 4,
        "format": 1,
        "length": 1,
        "flipped_turn": 4,
        "wrong_answer": 1,
        "injection": 6,
        "floor": 3,
        "name": 6,
        "wording": 2,
    }
    assert {ask.variant: 1 for ask in asks if ask.perturbation == "flipped_turn"} == flips
    (wrong,) = (ask for ask in asks if ask.perturbation == "wrong_answer")
    assert wrong.content[3]["text"] == str(2 - wrong.unit)  # type: ignore[index]


def test_text_has_no_turn_to_flip() -> None:
    assert asked(plan_asks(texts(text("1")), rubric(*TWO), ["flipped_turn"], 0, 50)) == {("", ""): 1}


@each_row(
    ("shown", "row", "n"),
    [
        (["SOURCE"], {"context": "c"}, 2),
        (["TASK"], {"question": "q"}, 2),
        (["TASK"], {"context": "c"}, 0),
        (["SOURCE", "TASK"], {}, 0),
        (["TASK"], {"question": "q", "cluster_id": "same"}, 0),
    ],
)
def test_wrong_answer_needs_a_shown_question(shown: list[str], row: dict[str, Any], n: int) -> None:
    rows = texts(text("1", "one", **row), text("2", "two", **row))
    asks = plan_asks(rows, rubric("d1", "relevance", texts=shown), ["wrong_answer"], 0, 50)
    contents = {(ask.unit, ask.content) for ask in asks if ask.perturbation}
    assert contents == ({(0, "two"), (1, "one")} if n else set())


def test_wrong_answer_has_the_same_language() -> None:
    rows = texts(text("1", "one", question="q"), text("2", "二", question="q", language="zh"), text("3", "three", question="q"))
    assert asked(plan_asks(rows, rubric(*TWO), ["wrong_answer"], 0, 50)) == {("", ""): 3}
    asks = plan_asks(rows, rubric("d1", "relevance"), ["wrong_answer"], 0, 50)
    assert {(ask.unit, ask.content) for ask in asks if ask.perturbation} == {(0, "three"), (2, "one")}


def test_answers_of_two_systems_are_shown_in_both_orders() -> None:
    rows = texts(
        text("1", "one", system="a", question="q"),
        text("1", "two", system="b", question="q"),
        text("2", "three", system="a", question="q"),
        text("3", "four", system="a"),
    )
    asks = [ask for ask in plan_asks(rows, rubric(*TWO), ["answer_order"], 0, 50) if ask.perturbation]
    assert {ask.content for ask in asks} == {"ANSWER 1\none\n\nANSWER 2\ntwo", "ANSWER 1\ntwo\n\nANSWER 2\none"}
    assert asked(asks) == {("answer_order", "first"): 1, ("answer_order", "second"): 1}
    own = rows["text"][asks[0].unit]
    assert asks[0].content == f"ANSWER 1\n{own}\n\nANSWER 2\n{'two' if own == 'one' else 'one'}"


def test_texts_without_question_pair_by_unit() -> None:
    rows = [text(unit, f"{unit}{system}", system=system, cluster_id="c") for unit, system in ("1a", "2b", "3a", "3b")]
    asks = plan_asks(texts(*rows), rubric(*TWO), ["answer_order"], 0, 50)
    assert {ask.unit for ask in asks if ask.perturbation} in ({2}, {3})


def test_seed_draws_clusters_before_second_texts() -> None:
    rows = texts(*(text(f"{cluster}{number}", cluster_id=cluster) for cluster in "abcd" for number in range(5)))
    drawn = {}
    for seed in range(8):
        asks = plan_asks(rows, rubric(*TWO), ["name"], seed, 4)
        units = {ask.unit for ask in asks if ask.perturbation}
        assert sorted(unit // 5 for unit in units) == [0, 1, 2, 3]
        assert asks == plan_asks(rows, rubric(*TWO), ["name"], seed, 4)
        drawn[seed] = frozenset(units)
    assert len({*drawn.values()}) > 1


def test_unknown_check_is_refused_with_its_neighbour() -> None:
    with pytest.raises(UsageError, match="injection"):
        plan_asks(texts(text("1")), rubric(*TWO), ["injections"], 0, 50)


def shown(content: Rated, own: Rubric, language: Language) -> tuple[str, str]:
    item = {**text("1", language=language), "references": [], "options": [], "question_type": "open_ended"}
    system, user = judge_messages(item, content, own)
    return system.content, user.content


def test_wording_ends_the_instruction_in_each_language() -> None:
    own = rubric(*TWO)
    assert asked_rubric(Ask(0, "name", "GPT", "Yes."), own) is own
    for wording, language in product(("strict", "lenient"), LANGUAGES):
        worded = asked_rubric(Ask(0, "wording", wording, "Yes."), own)
        system, _ = shown("Yes.", worded, language)
        assert system.startswith(f"{own.instruction[language]}\n\n{load_perturbations().texts[language]['wording'][wording]}\n\n")
        assert worded.sha256 != own.sha256


def test_pairwise_rubric_asks_for_one_decision() -> None:
    for more in ({}, {"layout": "aspects"}, {"ask": "one_by_one", "reply": "digit"}):
        own = rubric(*TWO, **more)
        both = asked_rubric(Ask(0, "answer_order", "first", ""), own)
        assert Rubric.model_validate(both.model_dump()) == both
        assert both.names == ("preferred",)
        system, user = shown("ANSWER 1\none\n\nANSWER 2\ntwo", both, "zh")
        assert "preferred: 两个回答中哪一个更好？\n1 = ANSWER 1 更好。\n2 = ANSWER 2 更好。" in system
        assert "ANSWER 1\none\n\nANSWER 2\ntwo" in user
        assert "d1" not in system


def test_changed_dialogue_is_shown_with_its_turns() -> None:
    (ask,) = (a for a in plan_asks(texts(text("1", turns=TALK)), rubric(*TWO), ["name"], 0, 1) if a.variant == "GPT")
    _, user = shown(ask.content, rubric(*TWO), "en")
    assert "\nI am GPT. Hello.\n" in user


def test_banks_say_ten_different_things() -> None:
    for bank in load_perturbations().texts.values():
        for said in (bank["neutral"], bank["dismissive"], bank["supportive"]):
            assert len({*said}) == 10
