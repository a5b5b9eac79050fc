"""Contract of judge replies: what is meant beyond doubt is read and marked, everything else refused with its reason."""

import json
import re
from typing import Any, get_args

import pytest

from schemas.vocabulary import Language
from tasks.judging.contract import Contract, Parsed, reparse_judgements
from tasks.judging.rubrics import FAULTS, RUBRICS, Scale, load_rubric
from tests.flows.served import ROOT
from tests.rows import each_row
from tests.tasks.judging.rows import judgement
from tests.tasks.rows import judgements

CONTRACT = Contract({"fluency": Scale(), "faithfulness": Scale()})
GOOD = '{"fluency": 4, "faithfulness": 2}'
RATINGS = {"fluency": 4, "faithfulness": 2}

READ = [
    GOOD,
    f"  {GOOD}\n",
    '{"faithfulness":2,"fluency":4}',
    '{\n  "fluency": 4,\n  "faithfulness": 2\n}',
    f"```json\n{GOOD}\n```",
    f"Here is my rating: {GOOD}",
    f"{GOOD}\nThe summary reads well but invents a name.",
    f"Ratings on [1-5]: {GOOD}",
    f"<think>Reads well.</think>{GOOD}",
    f"<think>Perhaps {GOOD.replace('4', '5')}</think>{GOOD}",
]

RATING_REPAIRED = [
    "4.0",
    "4e0",
    '"4"',
    '"4.0"',
    '"4/5"',
    '"4 out of 5"',
    '"4分"',
    '{"rating": 4}',
    '{"Score": "4"}',
]
RATING_REPAIRED += ['{"score": 4, "reason": "2 of 3 facts"}', '{"评分": 4, "理由": "通顺"}']

REPAIRED = [
    *(GOOD.replace("4", rating) for rating in RATING_REPAIRED),
    '{"Fluency": 4, "FAITHFULNESS": 2}',
    f'{{"ratings": {GOOD}}}',
    f'{{"final": {json.dumps(GOOD)}}}',
    f'{{"final": {json.dumps(f" {GOOD} ")}}}',
    '{"ratings": {"Fluency": {"score": "4/5"}, "Faithfulness": 2.0}}',
    "{'fluency': 4, 'faithfulness': 2}",
    "```json\n{'fluency': 4, 'faithfulness': 2}\n```\nIt's clear.",
    '{"fluency": 4, "faithfulness": 2,}',
    f"{GOOD}\n\nThe style is one of {{stiff, plain, lively}}.",
    f"{{see below}} {GOOD}",
    f"Of {{it's plain, it isn't}} the first. {GOOD}",
    f"{{}} {GOOD}",
    f'{{"note": "as asked"}}{GOOD}',
    f"{GOOD} In short: {GOOD}",
    f"[{GOOD}]",
]

RATINGS_REFUSED = [
    *(
        (rating, "fluency: Input should be a valid integer")
        for rating in ("4.5", '"4.5"', '"four"', '"4/10"', '"4 out of 10"', '"about 4"', '"4-5"', '"４"', "true", "null", "[4]")
    ),
    *(
        (rating, "fluency: Input should be a valid integer")
        for rating in ('{"rating": 4, "score": 5}', '{"score": 4, "max": 5}', '{"weight": 4}', "{}", '{"score": 4.5}', '""')
    ),
    *((rating, "fluency: Input should be greater than or equal to 1") for rating in ("0", "-4", '"0"', "0.0", '"-4"')),
    *((rating, "fluency: Input should be less than or equal to 5") for rating in ("6", "10", '"6"', "9.2e124", '"6/5"')),
    *((rating, f"{rating} is no number of JSON") for rating in ("NaN", "Infinity")),
    *((rating, "JSON that cannot be read") for rating in ("04", "４", "4/5", "[" * 100_000)),
]

REFUSED = [
    ("", "no JSON object"),
    ("fluency: 4, faithfulness: 2", "no JSON object"),
    (f'{GOOD}\nOr rather {{"fluency": 5, "faithfulness": 2}}', "2 JSON objects that differ"),
    (f'{GOOD}\nOr rather {{"fluency": 5}}', "faithfulness: Field required"),
    (f'{GOOD}\nOr rather {{"fluency": 4.5, "faithfulness": 2}}', "fluency: Input should be a valid integer"),
    (f'{GOOD}\nOr rather {{"fluency": 5, "faithfulness": ...}}', "JSON that cannot be read"),
    (f'{GOOD}\nOr rather {{"fluency": 5', "JSON that cannot be read"),
    (f'[{GOOD}, {{"fluency": 5, "faithfulness": 2}}]', "2 JSON objects that differ"),
    (f"<think>Perhaps {GOOD}", "no JSON object"),
    ("{}", "Field required"),
    ('{"fluency": 4}', "faithfulness: Field required"),
    ('{"fluency": 4, "faithfulness": 2, "reason": "reads well"}', "reason: Extra inputs are not permitted"),
    (f'{{"ratings": {GOOD}, "sure": true}}', "ratings: Extra inputs are not permitted"),
    (f'{{"ratings": {{"mine": {GOOD}}}}}', "fluency: Field required"),
    ('{"ratings": "warm"}', "fluency: Field required"),
    ('{"ratings": "{fluency}"}', "JSON that cannot be read"),
    *((GOOD.replace("4", rating), reason) for rating, reason in RATINGS_REFUSED),
    ('{"fluency": 4, "fluency": 5, "faithfulness": 2}', "key fluency twice"),
    ("{'fluency': 4, 'fluency': 5, 'faithfulness': 2}", "key fluency twice"),
    ('{"fluency": 4, "Fluency": 5, "faithfulness": 2}', "key fluency twice"),
    ('{"fluency": 4, "faithfulness": 2', "JSON that cannot be read"),
    ("{'fluency': 4, 'faithfulness': None}", "faithfulness: Input should be a valid integer"),
    ('{"fluency": 4,, "faithfulness": 2}', "JSON that cannot be read"),
    ('{"fluency": 4, // good\n"faithfulness": 2}', "JSON that cannot be read"),
    (f"{{{GOOD}}}", "JSON that cannot be read"),
    ("{“fluency”: 4, “faithfulness”: 2}", "JSON that cannot be read"),
    ('{"fluency":' * 3_000, "JSON that cannot be read"),
]


@each_row("reply", READ)
def test_one_object_is_read(reply: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert (parsed.ratings, parsed.repaired) == (RATINGS, False)


@each_row("reply", REPAIRED)
def test_what_is_meant_beyond_doubt_is_repaired(reply: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert (parsed.ratings, parsed.repaired, parsed.reason) == (RATINGS, True, None)


def test_the_how_to_says_which_objects_are_read() -> None:
    page = (ROOT / "docs/how-to/own-judge.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[{].+) \| ([4-]) \|$", page, re.MULTILINE)
    said = [(reply, read) for replies, read in rows for reply in re.findall(r"`([^`]+)`", replies)]
    assert len(said) == 19
    for reply, read in said:
        parsed = Contract({"fluency": Scale()}).parse(reply)
        assert (reply, parsed.ratings, parsed.repaired) == (reply, None if read == "-" else {"fluency": 4}, read != "-")


def test_scale_counts_only_where_it_is_own() -> None:
    contract = Contract({"fluency": Scale(lowest=1, highest=3), "asks": "yes_no"})
    assert contract.parse('{"fluency": "3/3", "asks": "Yes"}').ratings == {"fluency": 3, "asks": 1}
    assert contract.parse('{"fluency": "3/5", "asks": "yes"}').ratings is None
    assert contract.parse('{"fluency": "3", "asks": "1"}').ratings is None


def test_python_texts_keep_their_quotes() -> None:
    contract = Contract({"warmth": Scale()}, rationale=True)
    said = """{'rationale': 'It\\'s "warm", they say.', 'warmth': 4}"""
    assert contract.parse(said).rationale == 'It\'s "warm", they say.'
    assert contract.parse("""{'rationale': "It's {warm}, [True].", 'warmth': 4,}""").rationale == "It's {warm}, [True]."


def test_an_error_in_reading_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str) -> str:
        raise OverflowError("too large")

    monkeypatch.setattr("tasks.judging.contract.strip_reasoning", broken)
    assert CONTRACT.parse(GOOD) == Parsed(None, "OverflowError while it was read")


@each_row(("reply", "reason"), REFUSED)
def test_anything_else_is_refused(reply: str, reason: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert parsed.ratings is None
    assert reason in str(parsed.reason)


@each_row("name", sorted(path.stem for path in RUBRICS.glob("*.yaml")))
@each_row("repetition", [0, 1, 2])
def test_rubrics_read_what_they_ask_for(name: str, repetition: int) -> None:
    rubric = load_rubric(name)
    asked = rubric.calls(repetition)[0]
    contract, order = Contract.of(rubric, asked), [dimension.name for dimension in asked]
    assert f"a whole number from {rubric.scale.lowest} to {rubric.scale.highest}" in contract.instruction("en")
    for language in get_args(Language) if rubric.reply == "json" else ():
        instruction = contract.instruction(language)
        assert ", ".join(f'"{name}"' for name in order) in instruction
        assert list(contract.parse(instruction).ratings or {}) == order
    # Servers that enforce a schema have the reply follow the order of its properties.
    schema = json.loads(contract.json_schema)
    assert list(schema["properties"]) == schema["required"] == ([FAULTS] if rubric.faults else []) + order
    assert schema["additionalProperties"] is False
    rating = {"type": "integer", "minimum": rubric.scale.lowest, "maximum": rubric.scale.highest}
    assert all(rating.items() <= schema["properties"][name].items() for name in order)


def test_example_spreads_over_a_long_scale() -> None:
    def instruction(highest: int) -> str:
        return Contract(dict.fromkeys("abcdef", Scale(lowest=0, highest=highest))).instruction("en")

    assert '{"a": 40, "b": 60, "c": 80, "d": 100, "e": 19, "f": 39}' in instruction(100)
    assert '{"a": 2, "b": 3, "c": 4, "d": 5, "e": 0, "f": 1}' in instruction(5)


MIXED = Contract({"warmth": Scale(lowest=0, highest=4), "asks": "yes_no", "depth": Scale(lowest=0, highest=4)}, rationale=True)


def test_instruction_for_scales_that_differ_says_each() -> None:
    assert MIXED.instruction("en").endswith(
        'Its keys are exactly "rationale", "warmth", "asks", "depth"; the value of "rationale" is one or two sentences that say '
        'why, written before you rate; the value of "warmth", "depth" is a whole number from 0 to 4; the value of "asks" is '
        '"yes" or "no". For example: {"rationale": "Because ...", "warmth": 2, "asks": "yes", "depth": 4}'
    )
    assert '"asks" 的值是 "yes"（是）或 "no"（否）' in MIXED.instruction("zh")
    assert 'each value is "yes" or "no". For example: {"a": "no", "b": "yes"}' in Contract(
        {"a": "yes_no", "b": "yes_no"}
    ).instruction("en")
    assert list(json.loads(MIXED.json_schema)["properties"]) == ["rationale", "warmth", "asks", "depth"]


@pytest.mark.parametrize(
    ("said", "ratings", "reason"),
    [
        ({"rationale": "It asks.", "warmth": 4, "asks": "yes", "depth": 0}, {"warmth": 4, "asks": 1, "depth": 0}, None),
        ({"rationale": "It does not.", "warmth": 0, "asks": "no", "depth": 0}, {"warmth": 0, "asks": 0, "depth": 0}, None),
        ({"rationale": "So.", "warmth": 4, "asks": "Yes", "depth": 0}, {"warmth": 4, "asks": 1, "depth": 0}, None),
        ({"rationale": "So.", "warmth": 4, "asks": "perhaps", "depth": 0}, None, "asks: Input should be 'no' or 'yes'"),
        ({"rationale": "So.", "warmth": 4, "asks": 1, "depth": 0}, None, "asks: Input should be 'no' or 'yes'"),
        ({"rationale": "So.", "warmth": 4, "asks": True, "depth": 0}, None, "asks: Input should be 'no' or 'yes'"),
        ({"rationale": "", "warmth": 4, "asks": "yes", "depth": 0}, None, "rationale: String should have at least 1 character"),
        ({"warmth": 4, "asks": "yes", "depth": 0}, None, "rationale: Field required"),
        (
            {"rationale": "\ud800", "warmth": 4, "asks": "yes", "depth": 0},
            None,
            "rationale: Input should be a valid string, unable to parse raw data as a unicode string",
        ),
    ],
)
def test_reply_with_a_reason_and_yes_or_no(said: dict[str, Any], ratings: dict[str, int] | None, reason: str | None) -> None:
    parsed = MIXED.parse(json.dumps(said))
    assert (parsed.ratings, parsed.reason, parsed.rationale) == (ratings, reason, said["rationale"] if ratings else None)


RUBRIC = load_rubric("mc_stage1")
FIRST, SECOND, THIRD = RUBRIC.names
SAID = f'{{"{FIRST}": 2, "{SECOND}": 3, "{THIRD}": 5}}'


def test_ratings_follow_raw_replies() -> None:
    stored = judgements(*(judgement(RUBRIC, name, "a", 1, raw_reply=SAID) for name in sorted(RUBRIC.names)))
    again = reparse_judgements(stored, RUBRIC)
    assert {row["dimension"]: row["rating"] for row in again.iter_rows(named=True)} == {FIRST: 2, SECOND: 3, THIRD: 5}
    assert set(again["parse_status"]) == {"parsed"}
    assert again.drop("rating").equals(stored.drop("rating"))


@pytest.mark.parametrize(
    ("raw", "status"), [("no object at all", "unparsed"), (SAID.replace("5", "6"), "unparsed"), (None, "failed")]
)
def test_what_cannot_be_read_has_no_rating(raw: str | None, status: str) -> None:
    stored = judgements(*(judgement(RUBRIC, name, "a", 1, raw_reply=raw) for name in RUBRIC.names))
    again = reparse_judgements(stored, RUBRIC)
    assert set(again["parse_status"]) == {status}
    assert again["rating"].null_count() == len(RUBRIC.names)


def test_each_repetition_and_judge_is_read_by_itself() -> None:
    rows = [
        judgement(RUBRIC, name, item, 1, judge=judge, judge_repetition=repetition, raw_reply=SAID.replace("2", str(rating)))
        for rating, (item, judge, repetition) in enumerate([("a", "j", 0), ("a", "j", 1), ("a", "k", 0), ("b", "j", 0)], start=1)
        for name in RUBRIC.names
    ]
    again = reparse_judgements(judgements(*rows), RUBRIC).filter(dimension=FIRST)
    assert again.select("item_id", "judge", "judge_repetition", "rating").rows() == [
        ("a", "j", 0, 1),
        ("a", "j", 1, 2),
        ("a", "k", 0, 3),
        ("b", "j", 0, 4),
    ]


def test_a_dimension_that_was_left_out_comes_back() -> None:
    stored = judgements(judgement(RUBRIC, FIRST, "a", 2, raw_reply=SAID))
    assert set(reparse_judgements(stored, RUBRIC)["dimension"]) == set(RUBRIC.names)
