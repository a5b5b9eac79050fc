"""Faults of simulated persons: scripted slips of each kind and honest lines, and what a judge names."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pytest

from schemas.folders import DATA_FOLDER
from schemas.vocabulary import Language
from tasks.judging.contract import Contract
from tasks.judging.rubrics import Rubric, load_rubric
from tasks.judging.simulation import FAULTS_VERSION, find_faults, find_rule_faults
from tests.rows import each_row
from tests.tasks.rows import answer, answers, item, items, judgement, judgements, turn

RUBRIC = load_rubric("esc_seeker")
CARDS: dict[Language, str] = {
    "en": "Age: middle-aged\nProblem: The seeker's landlord raised the rent twice, their brother refuses to share the costs, and "
    "they lie awake wondering whether moving back to the village would disappoint their daughter.",
    "zh": "年龄：中年\n问题：房东两次涨房租，弟弟不愿意分担费用，整夜失眠，担心搬回老家会让女儿失望。",
}


def kinds(*lines: str, language: Language = "en") -> list[tuple[object, object]]:
    """Where the rules find what, in these lines of one person."""
    return [(fault["turn"], fault["kind"]) for fault in find_rule_faults(CARDS[language], lines, language)]


def test_rules_that_changed_have_another_version() -> None:
    """Stored faults name the version, and not the file: a rule that changes needs another one of both."""
    found = sha256((DATA_FOLDER / "slips.yaml").read_bytes()).hexdigest()
    assert (FAULTS_VERSION, found) == ("2", "b84b207c68ee4a8f9631405c4c2567cf5a7f155a91784630da12839a7f4781fa")


SLIPS = [
    ("admits_machine", "I'm just an AI, so I have no landlord."),
    ("admits_machine", "Well, as an AI language model, I cannot feel that."),
    ("admits_machine", "我只是一个人工智能，没有房东。"),
    ("admits_machine", "作为一个语言模型，我没有女儿。"),
    ("out_of_role", "How can I help you with your rent?"),
    ("out_of_role", "As your assistant, I will look into it."),
    ("out_of_role", "It is the rent again.\nTherapist: And how does that feel?"),
    ("out_of_role", "很抱歉听到你这么说。"),
    ("gives_advice", "Maybe you should take a break yourself."),
    ("gives_advice", "Have you tried breathing slowly?"),
    ("gives_advice", "如果我是你，早就搬走了。"),
    ("gives_advice", "我建议你多休息。"),
    ("cheers_up_early", "Thank you, I'll call my brother tonight."),
    ("cheers_up_early", "I feel so much better."),
    ("cheers_up_early", "谢谢你，我会打电话给弟弟。"),
]
HONEST = [
    "I feel like I'm a chatbot at work, always polite.",
    "I'm an AI engineer, and my team was let go.",
    "我是人工智能专业的学生。",
    "我觉得我只是一个聊天机器人，没人在乎。",
    'My sister said: "You should get over it. How can I help you?"',
    "Do you think I should move? What would you do?",
    "You should know that my brother never pays.",
    "你应该能理解我吧。",
    "他总说你应该试试别的城市。",
    "Thanks. I'll try, but I'm still scared.",
    "Thank you for listening.",
    "I don't feel better.",
    "谢谢你的建议，我会试试，但我还是很担心。",
    "你可以试试" + "，想一想" * 100 + "吗？",
    "\n\n \nThe assistant: was late.",
]


def test_a_slip_after_blank_lines_is_found() -> None:
    assert kinds("Hi.", " \n\n\n  Supporter: I see.", "It is the rent.") == [(2, "out_of_role")]
    assert kinds("Hi.", "Yes.\n\n  you should call him.", "It is the rent.") == [(2, "gives_advice")]


@each_row(("kind", "line"), SLIPS)
def test_a_scripted_slip_is_found(kind: str, line: str) -> None:
    assert kinds("Hi.", line, "It is the rent.") == [(2, kind)]


@each_row("line", HONEST)
def test_an_honest_line_is_no_slip(line: str) -> None:
    assert kinds("Hi.", line, "It is the rent.") == []


def test_in_the_last_line_there_may_be_thanks() -> None:
    assert kinds("It is the rent.", "Thank you, I'll call him.") == []
    assert kinds("Thank you, I'll call him.", "Bye.") == [(1, "cheers_up_early")]


@each_row(
    ("language", "first", "tells_all"),
    [
        # The problem has 21 stems, of which the first line has 12 and the second 4.
        (
            "en",
            "My landlord raised the rent twice, my brother refuses to share the costs, I lie awake and wonder: move back?",
            True,
        ),
        ("en", "My landlord raised the rent, and I lie awake.", False),
        # Of 14 words 12 and 2.
        ("zh", "房东两次涨了房租，弟弟不愿意分担费用，我整夜失眠，担心女儿失望。", True),
        ("zh", "房东又涨房租了，我很烦。", False),
    ],
)
def test_a_first_line_that_recites_the_card(language: Language, first: str, tells_all: bool) -> None:
    assert kinds(first, "Yes.", language=language) == ([(1, "reveals_all_at_once")] if tells_all else [])
    assert kinds("Hi.", first, "Yes.", language=language) == []


TALK = [("seeker", "Hi.\nIt is the rent."), ("tested", "Tell me."), ("seeker", "As an AI, I pay none."), ("tested", "Oh.")]
CLEAR = {"coherence": 2, "fluency": 1, "theme": 2, "completeness": 0, "emotion": 2, "humanoid": 0}


def claim(turn: Any, quote: str, kind: str = "contradicts_card", severity: str = "minor") -> dict[str, Any]:
    return {"turn": turn, "kind": kind, "severity": severity, "quote": quote}


def reply(*claims: dict[str, Any], **changed: Any) -> str:
    return json.dumps({"faults": claims, **CLEAR, **changed}, ensure_ascii=False)


def faults_of(turns: Sequence[tuple[str, str]] | None, *replies: str, rubric: Rubric = RUBRIC) -> list[dict[str, Any]]:
    """Faults of one answer with these turns, which the judge reviewed so often."""
    said = [turn(speaker, text) for speaker, text in turns or ()] or None
    told = answers(answer("a", None if said else "A text.", **({"turns": said, "status": "answered"} | WELL if said else {})))
    marks = {"rubric": RUBRIC.id, "lowest": 0, "highest": 2}
    reviews = [
        judgement("a", name, CLEAR[name], raw_reply=text, judge_repetition=number, **marks)
        for number, text in enumerate(replies)
        for name in CLEAR
    ]
    asked = items(item("a", "open_ended", context=CARDS["en"], references=["x"]))
    return find_faults(judgements(*reviews), told, asked, {RUBRIC.id: rubric}).to_dicts()


WELL = {"failed_role": None, "failure": None}


def test_rule_and_judge_faults_are_listed_together() -> None:
    # Turn 3 of the dialogue is the seeker's second line; white space of a quote does not matter.
    found = faults_of(TALK, reply(claim(3, "I pay none.", severity="hindered"), claim(1, "Hi. It is")), reply())
    columns = ("found_by", "number", "speaker", "turn", "kind", "severity", "evidence", "refused")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("j", 0, "seeker", 2, "contradicts_card", "hindered", "I pay none.", None),
        ("j", 1, "seeker", 1, "contradicts_card", "minor", "Hi. It is", None),
        ("rule", 0, "seeker", 2, "admits_machine", "hindered", "As an AI, I pay none.", None),
    ]


def test_turns_are_numbered_as_the_judge_saw_them() -> None:
    greeted = RUBRIC.model_copy(update={"opening": {"tested": {"en": "Hello.", "zh": "你好。"}}})
    found = faults_of(TALK, reply(claim(2, "Hi. It is"), claim(1, "Hello.")), rubric=greeted)
    assert [(row["turn"], row["refused"]) for row in found if row["found_by"] == "j"] == [
        (1, None),
        (None, "turn 1 is none of a simulated person"),
    ]


@each_row(
    ("named", "why"),
    [
        (claim(1, "I own the house."), "turn 1 does not say that"),
        (claim(1, "I pay none."), "turn 1 does not say that"),
        (claim(1, " "), "turn 1 does not say that"),
        (claim(2, "Tell me."), "turn 2 is none of a simulated person"),
        (claim(9, "Hi."), "turn 9 is none of a simulated person"),
    ],
)
def test_fault_whose_quote_is_not_there_is_refused(named: dict[str, Any], why: str) -> None:
    refused = [row["refused"] for row in faults_of(TALK[:2], reply(named))]
    assert refused == [why]


def test_no_part_is_played_by_tested_model() -> None:
    assert faults_of(None, reply(claim(1, "A text."))) == []
    assert faults_of([("tested", "As an AI, I listen.")]) == []


def test_an_unreadable_review_names_no_fault() -> None:
    assert faults_of(TALK[:2], "It is fine.") == []


CONTRACT = Contract.of(RUBRIC, RUBRIC.dimensions)


def test_a_review_is_read_with_its_ratings() -> None:
    read = CONTRACT.parse(f"```json\n{reply(claim(1, '好'))}\n```")
    assert (read.ratings, [fault.model_dump() for fault in read.faults]) == (CLEAR, [claim(1, "好")])
    assert list(json.loads(CONTRACT.json_schema)["properties"]) == ["faults", *CLEAR]


@each_row(
    ("said", "why"),
    [
        (json.dumps(CLEAR), "faults: Field required"),
        (reply(claim(1, "x", kind="rude")), "faults.0.kind: Input should be 'out_of_role'"),
        (reply(claim(1, "x", severity="fatal")), "faults.0.severity: Input should be 'helped'"),
        (reply(claim("1", "x")), "faults.0.turn: Input should be a valid integer"),
        (reply({**claim(1, "x"), "note": "y"}), "faults.0.note: Extra inputs are not permitted"),
        (reply(humanoid=3), "humanoid: Input should be less than or equal to 2"),
        (f"{reply()}{reply(humanoid=1)}", "2 JSON objects that differ"),
    ],
)
def test_a_review_that_breaks_the_contract_is_refused(said: str, why: str) -> None:
    read = CONTRACT.parse(said)
    assert read.ratings is None
    assert why in (read.reason or "")


def test_rubric_with_faults_asks_in_one_call() -> None:
    content = RUBRIC.model_dump(mode="json")
    with pytest.raises(ValueError, match="faults need ask: together"):
        Rubric.model_validate(content | {"ask": "one_by_one"})
    with pytest.raises(ValueError, match="no text in zh"):
        Rubric.model_validate(content | {"faults": {"out_of_role": {"en": "x"}}})
