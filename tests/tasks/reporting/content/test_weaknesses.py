"""Evidence rows: which are picked, how they are shown, why they earned less than the full score."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.documents.answered_item import ShownOption
from schemas.tables.responses import Responses
from schemas.tables.scores import ItemScores
from tasks.reporting.content.advice import Diagnosis
from tasks.reporting.content.evidence import Excerpt, make_excerpt
from tasks.reporting.content.weaknesses import Example, pick_examples, text_limit
from tasks.reporting.report import build_report
from tasks.runs.answers import ScoredItem, chosen_letters, collect_answers, explain_answer
from tests.tasks.reporting.example_items import LONG, NASTY, make_table
from tests.tasks.reporting.example_run import ALPHA, example_data


def picked(*datasets: str, limit: int = 1000) -> tuple[Example, ...]:
    """Examples of alpha's answers to these datasets."""
    data = example_data()
    rows = {row.path.dataset: row for row in build_report(data).systems[0].raw}
    chosen = (rows[name] for name in datasets)
    return pick_examples(tuple(Diagnosis(row, collect_answers(data, ALPHA, *row.path.key)) for row in chosen), limit)


def test_wrong_items_of_both_languages_precede_unreadable_ones() -> None:
    shown = [(example.item_id, example.language, example.status) for example in picked("mood")]
    assert shown == [("mood-1", "en", "scored"), ("mood-2", "zh", "scored"), ("mood-3", "en", "unparsed")]
    # Datasets take turns.
    assert [example.item_id for example in picked("mood", "tale")] == ["mood-1", "tale-0", "mood-3"]


def test_items_with_their_full_score_are_no_examples() -> None:
    data = example_data()
    (row,) = (row for row in build_report(data).systems[0].raw if row.path.dataset == "mood")
    answers = [each for each in collect_answers(data, ALPHA, *row.path.key) if each.score["status"] == "scored"]
    full = tuple(replace(each, score={**each.score, "value": 1.0}, points=100.0) for each in answers)
    assert len(full) > 0
    assert pick_examples((Diagnosis(row, full),), 1000) == ()


def test_an_example_in_full() -> None:
    example, _, unreadable = picked("mood")
    assert example.options == (
        ShownOption("A", 0, "calm", gold=False, chosen=False, points=None),
        ShownOption("B", 1, "angry", gold=True, chosen=False, points=None),
        ShownOption("C", 2, "sad", gold=False, chosen=True, points=None),
    )
    assert (example.reply, example.why) == (Excerpt("C", None, 0), "Read as C, right is B.")
    assert example.source == "items.jsonl, row 1"
    # A reply that cannot be read is kept as it came.
    assert unreadable.reply == Excerpt(NASTY, None, 0)
    assert unreadable.why == "No answer could be read from the reply, so the item counts as wrong. It stopped at the token limit."


def test_a_long_context_is_shortened_and_capped() -> None:
    (example,) = picked("tale", limit=100)
    # 40 repetitions of 14 characters are 560; the short form shows 150 + 60 of them, a Chinese character counting twice.
    assert len(LONG) == 560
    assert example.context == Excerpt(f"{LONG[:150]} […] {LONG[-60:]}", LONG[:100], 460)
    assert example.why == "The ratings of the reply come to 0.25 of 1."


def test_short_text_stays_whole() -> None:
    assert make_excerpt("  two words ", 1) == Excerpt("two words", None, 0)
    words = "word " * 200
    assert make_excerpt(words, 5000).short.startswith("word word")
    assert " wor […]" not in make_excerpt(words, 5000).short


def answer(kind: str, parsed: str | None, **changes: Any) -> ScoredItem:
    item = {"question_type": kind, "options": ["one", "two", "three"], "gold_indices": [0, 2], "option_points": [1.0, 2.0, None]}
    score = {"parsed_answer": parsed, "status": "scored", "value": 0.5, "metric": "accuracy"}
    return ScoredItem(item | changes.pop("item", {}), score | changes, {"text": "x", "finish_reason": "stop"})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (answer("multiple_answer", "A,B"), "Read as A,B, right is A and C; missing C; too many: B."),
        (answer("questionnaire", "B"), "Read as B and earns 2 points; the item's points go from 1 to 2."),
        (
            answer("questionnaire", "B", item={"option_points": [None, None, None]}),
            "Read as B; no option of the item has points.",
        ),
        (answer("single_choice", "two", item={"gold_indices": [0]}), "Read as two, right is A."),
    ],
)
def test_reason_by_question_type(given: ScoredItem, why: str) -> None:
    assert explain_answer(given) == why


def test_an_empty_reply_is_called_empty() -> None:
    given = answer("single_choice", None, status="unparsed")
    empty = replace(given, answer={"text": " ", "finish_reason": "stop"})
    assert explain_answer(empty) == "The reply is empty, so the item counts as wrong."


@pytest.mark.parametrize(
    ("parsed", "letters"), [("A, C", ("A", "C")), ("AC", ()), ("three", ("C",)), (None, ()), ("Maybe A", ()), ("Z", ())]
)
def test_letters_are_found_in_answers_of_letters(parsed: str | None, letters: tuple[str, ...]) -> None:
    assert chosen_letters(answer("multiple_answer", parsed)) == letters


def test_full_text_shrinks_with_more_models() -> None:
    # 250,000 characters over 5 tasks x 3 examples x 3 texts: 5,555 for one model, 555 for ten, never below 300.
    assert [text_limit(n) for n in (1, 10, 100)] == [5555, 555, 300]


def test_each_repetition_has_its_own_answer() -> None:
    data = example_data()
    scores = [row for row in data.item_scores.to_dicts() if row["item_id"] == "mood-0" and row["model"] == "alpha"]
    reply = next(row for row in data.responses.to_dicts() if row["item_id"] == "mood-0" and row["model"] == "alpha")
    said = [(0, 0, "first"), (0, 1, "second"), (1, 0, "third")]
    replies = [reply | {"repetition": repetition, "turn": turn, "reply": text} for repetition, turn, text in said]
    repeated = example_data(
        item_scores=make_table(ItemScores, [row | {"repetition": n} for row in scores for n in range(3)]),
        responses=make_table(Responses, replies),
    )
    mood = next(row for row in build_report(repeated).systems[0].raw if row.path.dataset == "mood")
    found = collect_answers(repeated, ALPHA, *mood.path.key)
    assert [answer.answer and answer.answer["text"] for answer in found] == ["second", "third", None]
