"""Questionnaires against the published keys; personalisation and memory against files and upstream layouts."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.dataset import DatasetSpec, PinnedFile
from schemas.errors import SourceError
from schemas.item import Record
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.companionship import adapt_booksort
from tasks.datasets.moodbench.questionnaires import AGREEMENT_SCORES, DISAGREEMENT_SCORES, adapt_empathy_quotient
from tasks.metrics.measures import points_share
from tasks.sources.reading import read_dataset
from tests.tasks.datasets.real_datasets import adapt, build, items_of, make_items, paths, records_of

QUESTIONNAIRES = ("eq60", "iri30", "interpersonal_relationship", "effective_communication")
LEVELS = ["完全不同意", "不同意", "中立", "同意", "完全同意"]


def score(points: list[list[float | None]], places: list[int]) -> float:
    """Score of a form: mean share over the items that count."""
    shares = [points_share(known, place) for known, place in zip(points, places, strict=True) if None not in known]
    return sum(shares) / len(shares)


@pytest.mark.parametrize("name", QUESTIONNAIRES)
def test_every_statement_is_asked_once_in_chinese_and_has_no_gold(name: str, mirror: Path) -> None:
    items = build(name, mirror).items
    assert items["question"].str.contains(r"\p{Han}").all()
    assert items["question"].n_unique() == items["gold_indices"].null_count() == items.height


@pytest.mark.parametrize("name", QUESTIONNAIRES)
def test_choices_are_shown_in_the_order_of_the_file(name: str, mirror: Path) -> None:
    assert [record.fields["Choices"] for record in records_of(name, mirror)] == items_of(name, mirror)["options"].to_list()


def test_empathy_quotient_is_scored_by_its_published_key(mirror: Path) -> None:
    items = items_of("eq60", mirror)
    assert items["options"].to_list() == [LEVELS] * 60
    assert Counter(items["subset"]) == {"agreement scores": 21, "disagreement scores": 19, "filler": 20}
    points = items["option_points"].to_list()
    # Numbers 1, 60 score for agreement, 4, 50 for disagreement, 2, 56 do not count.
    assert points[0] == points[59] == [0, 0, 0, 1, 2]
    assert points[3] == points[49] == [2, 1, 0, 0, 0]
    assert points[1] == points[55] == [None] * 5
    # The instrument goes from 0 to 80 points.
    assert sum(max(known) for known in points if None not in known) == 80


def test_agreeing_with_everything_is_not_perfect_empathy(mirror: Path) -> None:
    points = items_of("eq60", mirror)["option_points"].to_list()
    # 21 of the 40 items that count score for agreement, 19 for disagreement, none for a neutral answer.
    assert score(points, [4] * 60) == pytest.approx(21 / 40)
    assert score(points, [3] * 60) == pytest.approx(21 / 80)
    assert score(points, [2] * 60) == 0
    assert score(points, [0] * 60) == pytest.approx(19 / 40)
    empathic = [4 if number in AGREEMENT_SCORES else 0 if number in DISAGREEMENT_SCORES else 2 for number in range(1, 61)]
    assert score(points, empathic) == 1


def test_empathy_quotient_follows_the_texts_of_the_choices() -> None:
    record = Record(fields={"Question": "我爱听。", "Choices": LEVELS[::-1], "Score": [1, 2, 3, 4, 5]}, file="file", row=0)
    assert adapt_empathy_quotient(record).option_points == (2, 1, 0, 0, 0)
    other = Record(fields={**record.fields, "Choices": ["是", "否"]}, file="file", row=0)
    with pytest.raises(ValueError, match="five levels"):
        adapt_empathy_quotient(other)


@pytest.mark.parametrize(
    ("name", "choices"), [("iri30", LEVELS), ("effective_communication", ["从来不", "很少", "有时", "经常", "大部分"])]
)
def test_forms_that_are_scored_upwards(name: str, choices: list[str], mirror: Path) -> None:
    items = items_of(name, mirror)
    points = items["option_points"].to_list()
    assert items["options"].to_list() == [choices] * items.height
    assert points == [[1, 2, 3, 4, 5]] * items.height
    assert [score(points, [place] * items.height) for place in range(5)] == [0, 0.25, 0.5, 0.75, 1]


def test_interpersonal_relationship_has_a_key_per_item(mirror: Path) -> None:
    key = "321 123 321 132 321 231 123 321 231 321 213 231 312 132 312 231"
    points = items_of("interpersonal_relationship", mirror)["option_points"].to_list()
    assert points == [[int(point) for point in item] for item in key.split()]


def test_booksort_reads_gold_off_the_excerpt(mirror: Path) -> None:
    built = build("booksort", mirror)
    assert Counter(built.items["gold_indices"].explode()) == {0: 149, 1: 151}
    assert Counter(built.items["subset"]) == {"distance 250": 62, "distance 333": 79, "distance 500": 84, "distance 800": 75}
    for item in built.items.iter_rows(named=True):
        starts = [" ".join(item["context"].split()).index(" ".join(option.split())) for option in item["options"]]
        assert item["gold_indices"] == [starts.index(min(starts))]
        assert not any(option.startswith("*") or option.endswith("*") for option in item["options"])


def test_booksort_loses_its_marks_and_nothing_else() -> None:
    fields: dict[str, Any] = {"excerpt_text": "*One. * * * Two. Three.*\n\n", "segment_1": "*One.*", "segment_2": "*Three.*"}
    fields |= {"present_seg1_first": 0, "distance_bin": 250, "book_idx": 9}
    item = adapt(adapt_booksort, **fields)
    assert (item.context, item.options) == ("One. * * * Two. Three.", ("Three.", "One."))
    assert (item.gold_indices, item.reference_gold_indices) == ((1,), (0,))
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        adapt(adapt_booksort, **{**fields, "present_seg1_first": 2})


PERSONA = {
    "Name": "Ada",
    "Demographics": {"Age": 61, "Career_Information": "Retired pilot"},
    "Personality": {"Extraversion_or_Introversion": "Introversion", "Values_and_Interests": ["birds", "maps"]},
    "Preference": {"Content_Interests": ["short texts"], "Social": "Writes letters"},
}


def write_personas(folder: Path, users: tuple[str, ...] = ("1", "2")) -> DatasetSpec:
    """A small copy of the dataset in its upstream layout, and the entry without the files that are not in it."""
    spec = find_dataset("personafeedback")
    questions: dict[str, list[dict[str, Any]]] = {
        "data/general/easy.jsonl": [
            {"user_id": 1, "question": f"What about day {day}?", "chosen": f" Birds {day}. ", "reject": f"Disco {day}."}
            for day in range(20)
        ],
        "data/spedific/hard.jsonl": [{"user_id": "2", "question": "A trip?", "chosen": "By boat.", "reject": "By car."}],
    }
    base = folder / "huggingface.co/PersonalAILab/PersonaFeedback"
    for path, rows in questions.items():
        (base / path).parent.mkdir(parents=True)
        (base / path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (base / "persona").mkdir()
    for user in users:
        (base / f"persona/{user}.json").write_text(json.dumps({**PERSONA, "Name": f"Ada {user}"}, indent=1), encoding="utf-8")
    here = {*questions, *(f"persona/{user}.json" for user in users)}
    return replace(spec, files=tuple(file for file in spec.files if isinstance(file, PinnedFile) and file.path in here))


def test_personafeedback_joins_the_persona_of_each_question(tmp_path: Path) -> None:
    spec = write_personas(tmp_path)
    built = build_items(spec, paths(spec, tmp_path), None, 0)
    assert (built.items.height, built.rejected.height) == (21, 0)
    assert Counter(built.items["subset"]) == {"general, easy": 20, "specific, hard": 1}
    trip = built.items.filter(pl.col("subset") == "specific, hard").row(0, named=True)
    assert trip["context"] == (
        "User:\nName: Ada 2\nAge: 61\nCareer Information: Retired pilot\nExtraversion or Introversion: Introversion\n"
        "Values and Interests: birds; maps\nContent Interests: short texts\nSocial: Writes letters\n\nRequest: A trip?"
    )
    assert trip["options"][trip["gold_indices"][0]] == "By boat."
    assert (trip["source_file"], trip["source_row"]) == ("data/spedific/hard.jsonl", 0)


def test_personafeedback_without_a_persona_is_an_error(tmp_path: Path) -> None:
    spec = write_personas(tmp_path, users=("1",))
    with pytest.raises(SourceError, match="no items of personafeedback can be built") as caught:
        make_items(spec, read_dataset(spec, paths(spec, tmp_path)))
    assert "no persona of 1 users, such as 2" in str(caught.value.got)


def session(*turns: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": text, "has_answer": number == 0} for number, text in enumerate(turns)]


def memory(name: str, kind: str, question: str, answer: Any, sessions: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    asked = {"question_id": name, "question_type": kind, "question": question, "question_date": "2023/06/01 (Thu) 10:00"}
    return asked | {"answer": answer, "haystack_dates": list(sessions), "haystack_sessions": list(sessions.values())}


BOUGHT = {"2023/05/13 (Sat) 09:00": session("I bought a fig.", "Lovely.")}
MEMORIES = [
    memory(
        *("q1", "temporal-reasoning", "How many days passed?", 7),
        {"2023/05/20 (Sat) 02:21": session("I planted a fig.", "Well done!"), **BOUGHT},
    ),
    memory("q2", "single-session-preference", "What should I cook?", "Prefers dishes with figs.", BOUGHT),
    memory("q3_abs", "multi-session", "When did I buy a plum?", "You mentioned a fig but no plum.", BOUGHT),
    memory("q4", "single-session-user", "What did I buy?", None, BOUGHT),
]


@pytest.mark.parametrize("upstream", [True, False])
def test_longmemeval_shows_dated_sessions_in_order(upstream: bool, tmp_path: Path) -> None:
    entry = find_dataset("longmemeval")
    chosen = entry if upstream else entry.alternative
    assert chosen is not None
    assert chosen.expected_rows == 500
    (file,) = chosen.files
    assert isinstance(file, PinnedFile)
    path = tmp_path / file.repository / file.path
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(MEMORIES), encoding="utf-8")

    spec = replace(chosen, expected_rows=4)
    built = build_items(spec, paths(spec, tmp_path), None, 0)
    assert built.items.height == 3
    assert built.rejected["broken_rules"].to_list() == [["references_are_given_and_not_empty"]]
    items = {item["source_row"]: item for item in built.items.iter_rows(named=True)}
    assert items[0]["context"] == (
        "[Session of 2023/05/13 (Sat) 09:00]\nUser: I bought a fig.\nAssistant: Lovely.\n\n"
        "[Session of 2023/05/20 (Sat) 02:21]\nUser: I planted a fig.\nAssistant: Well done!"
    )
    assert items[0]["question"] == "(Asked on 2023/06/01 (Thu) 10:00.) How many days passed?"
    references = [text for row in range(3) for text in items[row]["references"]]
    assert references == ["7", "Prefers dishes with figs.", "You mentioned a fig but no plum."]
    assert [items[row]["subset"] for row in range(3)] == ["temporal-reasoning", "single-session-preference", "abstention"]
    assert set(built.items["question_type"]) == {"open_ended"}


def test_longmemeval_with_a_date_too_few_cannot_be_asked(tmp_path: Path) -> None:
    entry = find_dataset("longmemeval")
    path = tmp_path / "huggingface.co/xiaowu0162/longmemeval/longmemeval_oracle"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{**MEMORIES[0], "haystack_dates": ["2023/05/20 (Sat) 02:21"]}]), encoding="utf-8")
    spec = replace(entry, expected_rows=1)
    with pytest.raises(SourceError, match="no item of longmemeval"):
        make_items(spec, read_dataset(spec, paths(spec, tmp_path)))
